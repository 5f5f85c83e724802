"""What is said of a rank among rows that others measured, and of runs that differ from a protocol or one another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from compute.analysis.ranked_model import RankedModel
from compute.analysis.table import ScoreTable, of_scores
from compute.catalog import shipped
from compute.cli.workspace import suite_scores
from compute.engine.run_folders import StoredRun
from compute.interface import standing
from compute.interface.comparability import Comparability, comparability, measured_twice
from compute.types import ORIGINS, Model, Score, Task
from tests.compute.sharing import results

SUITE = "unisim-core"
NEW = Model(key="own/new", title="New")


def counting() -> list[Task]:
    return [task for task in shipped().tasks if SUITE in task.suites and task.ranked]


def stored(root: Path, key: str, **settings: object) -> StoredRun:
    task = shipped().task(key)
    score = Score(run="", subset=task.subsets[0], metric=task.metrics[0], value=0.5, n=100, stderr=0.01)
    return results.store(root, key, scores=[score], settings=settings)


def runs_of(root: Path, **given: object) -> dict[str, StoredRun]:
    """A run of every task that counts; `given` are settings of the first."""
    first, *others = (task.key for task in counting())
    return {first: stored(root, first, **given)} | {key: stored(root, key) for key in others}


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


def test_a_rank_among_all_origins_counts_them_and_says_that_others_computed_most(database, tmp_path):
    others = rows(database)
    others = replace(others, origins=tuple(ORIGINS[at % 3] for at in range(len(others.models))))
    result = ranked(runs_of(tmp_path), others, "all")
    counts = result.others
    assert sum(counts.values()) == result.of - 1 and min(counts.values()) > 0
    assert all(f"{count} {origin}" in str(result) for origin, count in counts.items())
    assert "Others computed the published and imported scores" in str(result)


def test_the_protocol_is_the_same_only_where_no_run_departs_from_it(database, tmp_path):
    usual, others = runs_of(tmp_path, variant="quality=prompt"), rows(database)
    assert compared(usual, others).unlike == ()
    first = next(iter(usual))
    for given, words in (
        ({"variant": "classifier=logistic"}, "classifier=logistic"),
        ({"coverage": 0.75}, "75.0%"),
        ({"items": 40, "catalogue_items": 1824}, "1,824"),
    ):
        [unlike] = compared(usual | {first: stored(tmp_path, first, **given)}, others).unlike
        assert first in unlike and words in unlike


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
