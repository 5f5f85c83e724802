"""The table of a page without scripts: the best ranked rows of a suite."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from leaderboard.pages.board.page import HOME, MOST_PLAIN, plain


@pytest.fixture(scope="module")
def site(suite_cache):
    return SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache)


@pytest.mark.parametrize("suite", ["mieb", "cfred-coco"])
def test_its_rows_are_the_best_of_the_ranking(site, suite):
    markup = plain(site, suite)
    ranks = [int(rank) for rank in re.findall(r"<tr>\s*<td>(\d+)</td>", markup)]
    assert ranks == sorted(ranks) and ranks[0] == 1 and 3 < len(ranks) <= MOST_PLAIN
    assert markup.count("<noscript>") == 1 and f"board?suite={suite}" in markup and "<script" not in markup


def test_an_unknown_suite_gives_the_one_that_the_board_opens_on(site):
    assert plain(site, '"><script>') == plain(site, "") == plain(site, HOME)
