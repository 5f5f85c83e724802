"""Suites of one's own data on the board: named as such, after the others, and in no list of papers."""

from types import SimpleNamespace

import pytest

from leaderboard.data import payload
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.about import page as about
from leaderboard.pages.overview import page as overview
from tests.leaderboard.served import copied


@pytest.fixture(scope="module")
def own(changed):
    """The shipped database with a drawn suite of one's own: its one task has a figure, better than any published."""
    suite, task, benchmark = "'pairs-holiday'", "'own/pairs-holiday/cj'", "'own-synthetic'"
    title = "'Own pairs: holiday (synthetic)'"
    run = "model = 'microsoft/phi-3.5-vision-instruct' AND id LIKE 'pairbench-table-3/%coco-cj'"
    return SuiteCache(
        changed(
            copied("benchmarks", "key = 'pairbench'", key=benchmark, title="'Own data'", url="''"),
            copied("suites", "key = 'pairbench'", key=suite, title=title, benchmark=benchmark, position="99"),
            copied("tasks", "key = 'pairbench/coco-cj'", key=task, benchmark=benchmark, position="999"),
            copied("suite_tasks", "task = 'pairbench/coco-cj'", suite=suite, task=task),
            copied("runs", run, id="'own-run'", task=task, origin="'computed'"),
            "INSERT INTO scores (run, subset, metric, value) VALUES ('own-run', 'default', 'mmscore', 1)",
        )
    )


def test_the_only_ranked_model_has_no_range_no_class_and_no_mark(own, changed):
    """Whatever its size, which the front of score and size compares."""
    suite_cache = SuiteCache(
        changed(
            "UPDATE scores SET stderr = 0.01, value = 0.8 WHERE run = 'own-run'",
            "UPDATE models SET parameters_m = 4200",
            of=own.db.path,
        )
    )
    ranking = payload.ranking(suite_cache.table("pairs-holiday"), suite_cache.ranked("pairs-holiday"))
    assert (ranking["rank"], ranking["low"], ranking["tie"], ranking["front"]) == ([1], [None], [""], [])
    assert ranking["unknown"] == ["only one model has a rank"]
    assert ranking["mean_low"][0] == pytest.approx(100 * (0.8 - 1.959964 * 0.01))


def test_the_board_names_it_as_own_and_as_synthetic(own):
    *others, last = payload.board(own.db, own.table("pairs-holiday"), own.ranked("pairs-holiday"))["suites"]
    assert (last["key"], last["title"]) == ("pairs-holiday", "Own pairs: holiday")
    assert last["own"] and last["synthetic"] and not any(suite["own"] for suite in others)


def test_it_changes_no_published_rank_and_is_in_no_list_of_papers(own, suite_cache):
    assert own.ranked("pairbench").rank.tolist() == suite_cache.ranked("pairbench").rank.tolist()
    site = SimpleNamespace(db=own.db, suite_cache=own, data=None)
    assert "holiday" not in overview.benchmarks(site) and "Own data" not in overview.benchmarks(site)
    assert "Own data" not in about.body(site)
