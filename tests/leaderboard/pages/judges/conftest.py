"""The page's view of a database with stand-in judges, made once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.judges.page import Judging
from tests.leaderboard import judge_stand_ins


@pytest.fixture(scope="session")
def judged_database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judges")
    judge_stand_ins.make(folder / "results")
    return judge_stand_ins.database(folder, results=folder / "results")


@pytest.fixture(scope="session")
def judging(judged_database):
    db = Database(judged_database)
    return Judging(SimpleNamespace(db=db, suite_cache=SuiteCache(db)))
