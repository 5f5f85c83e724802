"""The page's view of a database with stand-in judges, made once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.judges.page import Judging
from tests.leaderboard import judge_stand_ins


@pytest.fixture(scope="session")
def judging(tmp_path_factory):
    db = judge_stand_ins.opened(tmp_path_factory.mktemp("judges"))
    return Judging(SimpleNamespace(db=db, suite_cache=SuiteCache(db)))
