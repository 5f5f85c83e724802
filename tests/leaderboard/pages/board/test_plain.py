"""The table of a page without scripts: the same ranks as the grid's, of any suite."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace

import pytest

from compute.catalog import shipped
from leaderboard.data import payload
from leaderboard.pages.board.page import HOME, MOST_PLAIN, plain


@pytest.mark.parametrize("suite", [suite.key for suite in shipped().suites])
def test_its_rows_are_the_best_of_the_ranking(suite_cache, suite):
    markup = plain(SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache), suite)
    table = suite_cache.table(suite)
    ranking = payload.ranking(table, suite_cache.ranked(suite))
    ranks = {
        row.model: rank for row, rank in zip(table.rows, ranking["rank"], strict=True) if row.origin == table.origin
    }
    rows = [
        (int(rank), unescape(model))
        for rank, model in re.findall(r'<tr>\s*<td>(\d+)</td>.*?href="model\?model=([^"]+)"', markup, re.DOTALL)
    ]
    known = sorted(filter(None, ranks.values()))
    assert [rank for rank, _ in rows] == known[:MOST_PLAIN] and (len(rows) > 3 or suite.startswith("mini"))
    assert all(ranks[model] == rank for rank, model in rows)
    assert markup.count("<noscript>") == 1 and f"board?suite={suite}" in markup and "<script" not in markup


def test_an_unknown_suite_gives_the_one_that_the_board_opens_on(suite_cache):
    site = SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache)
    assert plain(site, '"><script>') == plain(site, "") == plain(site, HOME)
