"""A database with stand-in judges, made once."""

import pytest

from leaderboard.data.suite_cache import SuiteCache
from tests.leaderboard import judge_stand_ins


@pytest.fixture(scope="session")
def judging(tmp_path_factory):
    return SuiteCache(judge_stand_ins.opened(tmp_path_factory.mktemp("judges")))
