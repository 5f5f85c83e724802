"""The section on judges of pairs of images."""

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.judges.page import pairs


def test_both_measures_stand_with_their_denominators(suite_cache, changed):
    section = pairs(suite_cache)
    for said in ("74.4%", "971", "56.4%", "1,306", "10 of 13 answer by position", "the first"):
        assert said in section
    assert not pairs(SuiteCache(changed("DELETE FROM votes"))).strip()
