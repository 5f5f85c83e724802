"""Ranks that moved beyond the ranges that they had, and suites that are gone."""

import shutil

import duckdb
import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.moved.page import versions

MODEL = "google/siglip-so400m-patch14-384"


@pytest.fixture
def newest(database, tmp_path):
    """What the newest version changed, after the stored ranks of the one before are others."""
    path = shutil.copy(database, tmp_path / "changed.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE past_ranks SET suite = 'gone' WHERE suite = 'vidore-v1'")
        sql = "UPDATE past_ranks SET rank = 39, rank_low = 38, rank_high = 40 WHERE suite = 'mieb' AND model = ?"
        connection.execute(sql, [MODEL])
        connection.execute("UPDATE past_ranks SET rank_low = NULL, rank_high = NULL WHERE suite = 'mieb-lite'")
    db = Database(path)
    yield versions(SuiteCache(db))[0]
    db.close()


def test_only_ranks_outside_their_earlier_range_moved(newest):
    (row,) = newest["ranks"]
    assert (row["suite"], row["model"], row["rank_before"], row["range_before"]) == ("mieb", MODEL, 39, "38–40")
    assert 1 <= row["rank"] < 38 and newest["stored"]
