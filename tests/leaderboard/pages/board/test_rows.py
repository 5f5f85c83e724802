"""The first rows of a board, before its table is there."""

import re

import pytest

from leaderboard.pages.board.page import HOME, MOST_ROWS, rows


@pytest.mark.parametrize("suite", ["mieb", "cfred-coco"])
def test_they_are_the_best_of_the_ranking(site, suite):
    markup = rows(site, {"suite": suite})
    ranks = [int(rank) for rank in re.findall(r'<tr>\s*<td class="pg-num">(\d+)</td>', markup)]
    assert ranks == sorted(ranks) and ranks[0] == 1 and 3 < len(ranks) <= MOST_ROWS
    assert f"board?suite={suite}" in markup and "<script" not in markup


def test_an_unknown_suite_gives_the_one_that_the_board_opens_on(site):
    assert rows(site, {"suite": '"><script>'}) == rows(site, {}) == rows(site, {"suite": HOME})
