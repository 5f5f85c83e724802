"""What is said of a rank among rows that others measured, and of runs that differ from a protocol or one another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compute.analysis.ranked_model import RankedModel
from compute.analysis.table import ScoreTable, of_scores
from compute.catalog import shipped
from compute.cli.workspace import suite_scores
from compute.engine.run_folders import StoredRun
from compute.interface import standing
from compute.interface.comparability import Comparability, comparability, measured_twice
from compute.types import Model, Score, Task
from tests.compute.sharing import results

SUITE = "unisim-core"
NEW = Model(key="own/new", title="New")


def counting() -> list[Task]:
    return [task for task in shipped().tasks if SUITE in task.suites and task.ranked]


def runs_of(root: Path, **given: object) -> dict[str, StoredRun]:
    """A run of every task that counts; `given` are settings of the first."""
    runs = {}
    for at, task in enumerate(counting()):
        score = Score(run="", subset=task.subsets[0], metric=task.metrics[0], value=0.5 + at / 100, n=100, stderr=0.01)
        settings = dict(given) if at == 0 else {}
        runs[task.key] = results.store(root, task.key, scores=[score], settings=settings)
    return runs


def rows(database: Path, origin: str = "published") -> ScoreTable:
    return suite_scores(database, suites=(SUITE,), origin=origin)[0]


def compared(runs: dict[str, StoredRun], others: ScoreTable, origin: str = "published") -> Comparability:
    return comparability(model=NEW.key, origin=origin, tasks=counting(), runs=runs, others=others)


def ranked(runs: dict[str, StoredRun], others: ScoreTable, origin: str = "published") -> RankedModel:
    scores = {task: run.scores[0] for task, run in runs.items()}
    catalog = shipped()
    metrics = {row.key: row for row in catalog.metrics}
    mine = of_scores(catalog.suite(SUITE), {NEW.key: scores}, tasks=catalog.tasks, metrics=metrics)
    return standing.rank_of(mine, others, comparable=compared(runs, others, origin))


def of_origins(scores: ScoreTable, *origins: str) -> ScoreTable:
    """The rows, with these origins in turn."""
    return replace(scores, origins=tuple(origins[at % len(origins)] for at in range(len(scores.models))))


def test_a_rank_among_all_origins_counts_them_and_says_that_others_computed_most(database, tmp_path):
    result = ranked(runs_of(tmp_path), of_origins(rows(database), "published", "imported", "computed"), "all")
    counts = result.others
    assert sum(counts.values()) == result.of - 1 and min(counts.values()) > 0
    text = str(result)
    assert text.startswith(f"Rank {result.rank} of {result.of} on {SUITE}")
    assert all(f"{count} {origin}" in text for origin, count in counts.items())
    assert "Others computed the published and imported scores" in text
    alone = ranked(runs_of(tmp_path / "alone"), of_origins(rows(database), "computed"), "all")
    assert "Others computed" not in str(alone)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"variant": "classifier=logistic"}, "was run with classifier=logistic."),
        ({"coverage": 0.75}, "rests on 75.0% of its items."),
        ({"items": 40, "catalogue_items": 1824}, "has 40 items here, 1,824 in the catalogue."),
    ],
)
def test_the_protocol_is_the_same_only_where_no_run_departs_from_it(database, tmp_path, given, sentence):
    assert compared(runs_of(tmp_path / "usual", variant="quality=prompt"), rows(database)).unlike == ()
    comparable = compared(runs_of(tmp_path / "other", **given), rows(database))
    assert f"{counting()[0].key} {sentence}" in str(comparable) and comparable.unlike


def test_runs_of_two_revisions_or_number_formats_are_said_to_be_mixed(database, tmp_path):
    runs = runs_of(tmp_path, model={"revision": "9" * 40})
    first = next(iter(runs))
    runs[first] = replace(runs[first], run=replace(runs[first].run, dtype="float16"))
    comparable = compared(runs, rows(database))
    revisions, formats = comparable.mixed
    assert "9" * 12 in revisions and results.COMMIT[:12] in revisions and "float16 and float32" in formats
    assert comparable.unlike == () and comparable.mixed[0] in str(comparable)
    assert compared(runs_of(tmp_path / "same"), rows(database)).mixed == ()


def test_what_was_measured_twice_is_said_only_where_somebody_looked(database):
    scores = rows(database)
    again = replace(scores, values=scores.values + 0.01)

    def text(measured: tuple[tuple[str, ...], float | None] | None) -> str:
        return str(
            comparability(model=NEW.key, origin="published", tasks=(), runs={}, others=scores, measured=measured)
        )

    assert "on the same task" not in text(None)
    other = replace(again, models=("x",) * len(again.models))
    assert "No other model has both" in text(measured_twice([scores], other, but=""))
    many = int((~np.isnan(scores.values)).any(axis=1).sum())
    said = text(measured_twice([scores], again, but=""))
    assert f"{many} other models have such scores" in said and "0.0100" in said
