"""What is said of a rank among rows that others measured, and of runs that differ from a protocol or one another."""

from dataclasses import replace

import pytest

from compute.analysis.table import of_scores
from compute.catalog import shipped
from compute.cli.workspace import suite_scores
from compute.interface import standing
from compute.interface.standing import comparability
from compute.types import ORIGINS, Model
from tests.compute.sharing import results

SUITE = "unisim-core"
NEW = Model(key="own/new", title="New")


CATALOG = shipped()
TASKS = [task for task in CATALOG.tasks if SUITE in task.suites and task.ranked]
FIRST = TASKS[0].key


def runs_of(root, **given):
    """A run of every task that counts; `given` are settings of the first."""
    out = {}
    for task in TASKS:
        score = results.score(0.5, task.metrics[0], subset=task.subsets[0], n=100, stderr=0.01)
        settings = given if task.key == FIRST else {}
        out[task.key] = results.store(root, task.key, scores=[score], settings=settings)
    return out


@pytest.fixture(scope="module")
def rows(database):
    return suite_scores(database, suites=(SUITE,), origin="published")[0]


def compared(runs, others, origin="published", **more):
    return comparability(model=NEW.key, origin=origin, tasks=TASKS, runs=runs, others=others, **more)


def test_a_rank_among_all_origins_counts_them_and_says_that_others_computed_most(rows, tmp_path):
    others = replace(rows, origins=tuple(ORIGINS[at % 3] for at in range(len(rows.models))))
    runs = runs_of(tmp_path)
    scores = {NEW.key: {task: run.scores[0] for task, run in runs.items()}}
    metrics = {row.key: row for row in CATALOG.metrics}
    mine = of_scores(CATALOG.suite(SUITE), scores, tasks=CATALOG.tasks, metrics=metrics)
    result = standing.rank_of(mine, others, origin="all", notes=compared(runs, others, "all"))
    counts = result.others
    assert sum(counts.values()) == result.of - 1 and min(counts.values()) > 0
    assert all(f"{count} {origin}" in str(result) for origin, count in counts.items())
    assert "Others computed the published and imported scores" in str(result)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"variant": "quality=prompt"}, ()),
        ({"variant": "classifier=logistic"}, ("classifier=logistic",)),
        ({"coverage": 0.75}, ("75.0%",)),
        ({"items": 40, "catalogue_items": 1824}, ("1,824",)),
    ],
)
def test_the_protocol_is_the_same_only_where_no_run_departs_from_it(rows, tmp_path, given, words):
    _, *unlike = compared(runs_of(tmp_path, **given), rows)
    assert len(unlike) == len(words) and all(FIRST in each and words[0] in each for each in unlike)


def test_runs_of_two_revisions_or_number_formats_are_said_to_be_mixed(rows, tmp_path):
    runs = runs_of(tmp_path, model={"revision": "9" * 40})
    runs[FIRST] = replace(runs[FIRST], run=replace(runs[FIRST].run, dtype="float16"))
    others, revisions, formats = compared(runs, rows)
    assert "9" * 12 in revisions and results.COMMIT[:12] in revisions and "float16 and float32" in formats
    assert "it is the same" in others and compared(runs_of(tmp_path / "same"), rows) == (others,)
