"""The table that a run prints."""

from pathlib import Path

import pytest

from compute.engine import plan, results_table, run
from compute.engine.run_folders import StoredRun
from compute.types import Run, Score
from tests.compute.small_bench import CATALOG, World


def kept(value, *, stderr, coverage=1.0, tied=None):
    return StoredRun(
        run=Run(id="r", model="m", task="t", settings={"coverage": coverage, "tied": tied}),
        folder=Path("r"),
        scores=(Score(run="r", subset="default", metric="accuracy", value=value, n=100, stderr=stderr),),
    )


@pytest.mark.parametrize(
    "given, said",
    [
        (kept(0.851, stderr=0.01), "85.1 ± 2.0"),
        (kept(0.5, stderr=None), "50.0"),
        (kept(1.0, stderr=0.0), "100.0 (≥ 96.3)"),
        (kept(0.0, stderr=0.0), "0.0 (≤ 3.7)"),
        (kept(0.851, stderr=0.01, coverage=0.98), "85.1 ± 2.0 (98.0% of items)"),
        (kept(0.5, stderr=None, tied=0.1754), "50.0 (17.5% tied)"),
        (kept(0.5, stderr=None, coverage=0.98, tied=1.0), "50.0 (98.0% of items, 100.0% tied)"),
    ],
)
def test_a_cell_is_in_the_units_that_papers_print(given, said):
    assert results_table.cell(given, CATALOG.metrics[0]) == said


def test_answers_without_a_score_are_told_beside_a_judges_figure():
    def told(**found):
        run = Run(id="r", model="m", task="t", settings={"found": found})
        return results_table.how_answers_were_read(StoredRun(run=run, folder=Path("r"), scores=()))

    clear = {"asked": 36, "errors": 0, "refused": 0, "truncated": 0, "invalid": 0}
    silent = told(sensitive={**clear, "errors": 1, "refused": 30, "invalid": 2}, invariant={**clear, "refused": 35})
    assert silent == ["m, t: 67 of 71 answers state no score (65 refused, 2 invalid)"] and told(sensitive=clear) == []
    [added] = told(sensitive={**clear, "added": 9}, invariant={**clear, "added": 0})
    assert "9 of 72" in added


def test_a_row_a_task_a_column_a_model(tmp_path):
    world = World(folder=tmp_path)
    bench = world.bench()
    models = [f"small/{name}" for name in ("eye", "vision", "gauge", "paper", "dim")]
    planned = plan.make(CATALOG, suite="small", models=models, bench=bench)
    outcomes = run.execute(planned, bench=bench)
    lines = results_table.lines(planned, outcomes, catalog=CATALOG)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert rows[0] == ["task", "metric", "n", "chance", "small/eye", "small/vision", "small/gauge", "small/dim"]
    assert [row[0] for row in rows[2:]] == [task.key for task in CATALOG.tasks]
    assert rows[3][5:7] == ["-", "-"]
    assert [line.partition(",")[0] for line in lines if "2 variants" in line] == ["small/eye", "small/dim"]
