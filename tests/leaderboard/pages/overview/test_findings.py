"""Who leads a benchmark, by how much and whether significantly."""

from __future__ import annotations

import dataclasses
import html
import re
from types import SimpleNamespace

import pytest

from compute.analysis.comparison import compared
from leaderboard.data.leaders import ranked_rows
from leaderboard.html.formatting import number
from leaderboard.pages.overview import findings
from leaderboard.pages.overview.page import findings as drawn


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


@pytest.mark.parametrize("key", ["unisim-core", "pairbench", "mieb"])
def test_a_lead_is_that_of_the_ranking(site, key):
    table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
    lead = findings.lead(table, ranked)
    _, (first, second, *others) = ranked_rows(table, ranked)
    assert (lead["first"]["key"], lead["second"]["key"]) == (table.rows[first].model, table.rows[second].model)
    column = table.category_columns[0]
    gap = number(ranked.mean[first] - ranked.mean[second], digits=column.digits, scale=column.scale)
    assert lead["gap"] == gap and lead["significant"] == ranked.better[first, second]
    better = int(ranked.better[first, [second, *others]].sum())
    assert (lead["behind"], lead["others"]) == (better, len(others) + 1)
    sure = "significant" if lead["significant"] else "not significant"
    said = f"{lead['value']}, {gap} points ahead of {lead['second']['title']} ({sure})"
    assert f"{said}, and is significantly better than {better} of the {lead['others']} others" in words(drawn(site))


def test_others_that_cannot_be_tested_do_not_count(site):
    table, ranked = site.suite_cache.table("unisim-core"), site.suite_cache.ranked("unisim-core")
    _, (first, second, *_) = ranked_rows(table, ranked)
    decided = ranked.decided.copy()
    decided[first, second] = False
    unknown = tuple("no error" if at == second else why for at, why in enumerate(ranked.unknown))
    lead = findings.lead(table, dataclasses.replace(ranked, decided=decided, unknown=unknown))
    assert (lead["significant"], lead["unknown"], lead["others"]) == (None, "no error", 20)


def test_an_unknown_lead_says_why(papers_cache):
    site = SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache)
    assert "(significance unknown: printed means are used for" in words(drawn(site))


def test_a_model_without_a_rank_that_is_ahead_of_the_leader_is_said(site):
    table, ranked = site.suite_cache.table("mieb"), site.suite_cache.ranked("mieb")
    found = findings.unranked_ahead(table, ranked)
    origin, (first, *_) = ranked_rows(table, ranked)
    row = next(at for at in table.rows_of(origin) if table.rows[at].model == found["model"]["key"])
    test = compared(ranked.table, row, first)
    assert ranked.rank[row] < 1 and test.better == found["model"]["key"] and test.n == found["shared"]
    assert found["shared"] + found["missing"] == 130 and found["gap"] == number(test.difference, digits=1, scale=100)
    assert f"{found['gap']} points ahead of it on the {found['shared']} tasks that both have" in words(drawn(site))
    assert findings.unranked_ahead(site.suite_cache.table("pairbench"), site.suite_cache.ranked("pairbench")) is None
