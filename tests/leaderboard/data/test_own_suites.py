"""Suites of one's own data on the board: named as such, after the others, and in no list of papers."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import duckdb
import pytest
from scipy.stats import binomtest

from leaderboard.data import payload
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.about import page as about
from leaderboard.pages.overview import page as overview


@pytest.fixture(scope="module")
def own(database, tmp_path_factory):
    """The shipped database with a drawn suite of one's own: its one task has a figure, better than any published."""
    path = tmp_path_factory.mktemp("own") / "own.duckdb"
    shutil.copy(database, path)
    with duckdb.connect(str(path)) as connection:

        def copied(table: str, where: str, **changes: str) -> None:
            replaced = ", ".join(f"{value} AS {name}" for name, value in changes.items())
            connection.execute(f"INSERT INTO {table} SELECT * REPLACE ({replaced}) FROM {table} WHERE {where}")

        suite, task, benchmark = "'pairs-holiday'", "'own/pairs-holiday/cj'", "'own-synthetic'"
        title = "'Own pairs: holiday (synthetic)'"
        copied("benchmarks", "key = 'pairbench'", key=benchmark, title="'Own data'", url="''")
        copied("suites", "key = 'pairbench'", key=suite, title=title, benchmark=benchmark, position="99")
        copied("tasks", "key = 'pairbench/coco-cj'", key=task, benchmark=benchmark, position="999")
        copied("suite_tasks", "task = 'pairbench/coco-cj'", suite=suite, task=task)
        run = "model = 'microsoft/phi-3.5-vision-instruct' AND id LIKE 'pairbench-table-3/%coco-cj'"
        copied("runs", run, id="'own-run'", task=task, origin="'computed'")
        connection.execute(
            "INSERT INTO scores (run, subset, metric, value) VALUES ('own-run', 'default', 'mmscore', 1)"
        )
    return SuiteCache(Database(path))


@pytest.fixture(scope="module")
def triplets(own, tmp_path_factory):
    """The same with a suite of choices, whose category no visitor chose: all 40 answers of one model are right."""
    path = tmp_path_factory.mktemp("triplets") / "own.duckdb"
    shutil.copy(own.db.path, path)
    with duckdb.connect(str(path)) as connection:
        for sql in (
            "INSERT INTO suites SELECT * REPLACE ('own-triplets' AS key, 'Own data: triplets' AS title) FROM suites "
            "WHERE key = 'pairs-holiday'",
            "INSERT INTO tasks SELECT * REPLACE ('own/own-triplets/choices' AS key, 'triplets: choices' AS title, "
            "'Img-2AFC' AS category, ['accuracy'] AS metrics, ['default'] AS subsets) FROM tasks "
            "WHERE key = 'own/pairs-holiday/cj'",
            "INSERT INTO suite_tasks SELECT * REPLACE ('own-triplets' AS suite, 'own/own-triplets/choices' AS task) "
            "FROM suite_tasks WHERE suite = 'pairs-holiday'",
            "INSERT INTO runs SELECT * REPLACE (model || '-triplets' AS id, 'own/own-triplets/choices' AS task, "
            "'computed' AS origin) FROM runs WHERE id LIKE 'pairbench-table-3/%coco-cj' "
            "AND model IN ('microsoft/phi-3.5-vision-instruct', 'qwen/qwen2-vl-7b-instruct')",
        ):
            connection.execute(sql)
        runs = [row[0] for row in connection.execute("SELECT id FROM runs WHERE id LIKE '%-triplets'").fetchall()]
        assert len(runs) == 2, runs
        for run, value, error in zip(sorted(runs), (1.0, 0.5), (0.0, 0.079), strict=True):
            connection.execute(
                "INSERT INTO scores (run, subset, metric, value, stderr, n) "
                "VALUES (?, 'default', 'accuracy', ?, ?, 40)",
                [run, value, error],
            )
    return SuiteCache(Database(path))


def test_a_score_of_all_right_has_the_range_and_the_class_that_its_interval_gives(triplets):
    """Its mean has the interval that its cell has: Wilson's, 40 of 40."""
    ranking = payload.ranking(triplets.table("own-triplets"), triplets.ranked("own-triplets"))
    assert ranking["rank"] == [1, 2] and ranking["unknown"] == ["", ""]
    assert [ranking[key] for key in ("low", "high", "tie")] == [[1, 2], [1, 2], ["A", "B"]]
    low = 100 * binomtest(40, 40).proportion_ci(0.95, method="wilson").low
    assert (ranking["mean_low"][0], ranking["mean_high"][0]) == pytest.approx((low, 100))


def test_the_only_ranked_model_has_no_range_no_class_and_no_mark(own, tmp_path):
    """Whatever its size, which the front of score and size compares."""
    shutil.copy(own.db.path, tmp_path / "one.duckdb")
    with duckdb.connect(str(tmp_path / "one.duckdb")) as connection:
        connection.execute("UPDATE scores SET stderr = 0.01, value = 0.8 WHERE run = 'own-run'")
        connection.execute("UPDATE models SET parameters_m = 4200")
    suite_cache = SuiteCache(Database(tmp_path / "one.duckdb"))
    ranking = payload.ranking(suite_cache.table("pairs-holiday"), suite_cache.ranked("pairs-holiday"))
    assert (ranking["rank"], ranking["low"], ranking["tie"], ranking["front"]) == ([1], [None], [""], [])
    assert ranking["unknown"] == ["only one model has a rank"]
    assert ranking["mean_low"][0] == pytest.approx(100 * (0.8 - 1.959964 * 0.01))


def test_the_board_names_it_as_own_and_as_synthetic(own):
    data = payload.board(own.db, own.table("pairs-holiday"), own.ranked("pairs-holiday"))
    suites = {suite["key"]: suite for suite in data["suites"]}
    assert data["suites"][-1]["key"] == "pairs-holiday"
    assert suites["pairs-holiday"]["own"] and not suites["pairbench"]["own"]
    assert suites["pairs-holiday"]["title"] == "Own pairs: holiday" and suites["pairs-holiday"]["synthetic"]
    assert suites["mini"]["title"] == "Mini" and suites["mini"]["synthetic"]
    assert data["ranking"]["rank"] == [1]


def test_it_changes_no_published_rank_and_is_in_no_list_of_papers(own, suite_cache):
    assert own.ranked("pairbench").rank.tolist() == suite_cache.ranked("pairbench").rank.tolist()
    site = SimpleNamespace(db=own.db, suite_cache=own, data=None)
    assert "holiday" not in overview.benchmarks(site) and "Own data" not in overview.benchmarks(site)
    assert "Own data" not in about.body(site)
