"""Who leads a benchmark, by how much and whether significantly."""

from __future__ import annotations

import dataclasses
import html
import re
from types import SimpleNamespace

from leaderboard.data.leaders import ranked_rows
from leaderboard.pages.overview import findings
from leaderboard.pages.overview.page import findings as drawn


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


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
