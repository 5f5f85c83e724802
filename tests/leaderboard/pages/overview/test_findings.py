"""What the first page says first: leaders with what is proved, disagreement, and claims that fail."""

from __future__ import annotations

import dataclasses
import html
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from leaderboard.data.leaders import ranked_rows
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import render
from leaderboard.pages.overview import findings
from leaderboard.pages.overview.page import SUITES
from leaderboard.pages.overview.page import findings as drawn


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


def test_every_benchmark_of_real_data_has_one_and_drawn_data_lead_nothing(site: SimpleNamespace) -> None:
    found = findings.findings(site, SUITES)
    assert [finding.suite for finding in found] == [key for key in SUITES if key != "mini"]
    failing = [finding for finding in found if finding.claim is not None]
    assert {finding.suite for finding in found} - {finding.suite for finding in failing} == {"vidore-v3"}, "its paper"
    markup = drawn(site)
    assert markup.count("<dt>") == len(found) and markup.count("claims?claim=") == len(failing)
    assert "Tiny CLIP" not in words(markup)


def test_a_lead_is_significant_over_those_that_are_proved_worse_only(site: SimpleNamespace) -> None:
    for key in ("unisim-core", "pairbench"):
        table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
        lead = findings.lead(table, ranked)
        first = next(at for at, row in enumerate(table.rows) if (row.model, row.origin) == (lead.model, lead.origin))
        assert ranked.rank[first] == 1 and not lead.unknown
        rows = [at for at, row in enumerate(table.rows) if row.origin == lead.origin and ranked.rank[at] > 0]
        level = int((~ranked.better[first, rows]).sum()) - 1
        assert (lead.tied, lead.untested, lead.others) == (level, 0, len(rows) - 1)
        assert lead.proof in words(drawn(site))
    alone = dataclasses.replace(lead, tied=0)
    assert alone.proof == f", significantly better than each of the {alone.others} others"


def test_others_that_cannot_be_tested_are_counted_apart(site: SimpleNamespace) -> None:
    table, ranked = site.suite_cache.table("unisim-core"), site.suite_cache.ranked("unisim-core")
    _, (first, *others) = ranked_rows(table, ranked)
    level = next(at for at in others if not ranked.better[first, at])
    unknown = tuple("no error" if at == level else why for at, why in enumerate(ranked.unknown))
    lead = findings.lead(table, dataclasses.replace(ranked, unknown=unknown))
    tied = int((~ranked.better[first, others]).sum()) - 1
    assert (lead.tied, lead.untested, lead.others) == (tied, 1, 21) and tied > 0
    found = dataclasses.replace(findings.findings(site, ("unisim-core",))[0], lead=lead)
    text = words(render("pages/overview/findings.html", findings=[found]))
    assert f"no significant difference from {tied} of the 21 others; 1 cannot be tested." in text


def test_an_unknown_lead_says_why(papers_cache: SuiteCache) -> None:
    site = SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache)
    assert "leads; whether that is more than chance is unknown: printed means are used" in words(drawn(site))


def test_the_widest_disagreement_is_scipys_correlation(site: SimpleNamespace) -> None:
    table, ranked = site.suite_cache.table("mieb"), site.suite_cache.ranked("mieb")
    apart = findings.disagreement(table, ranked)
    titles = [column.title for column in table.category_columns]
    origin, _ = ranked_rows(table, ranked)
    pair = ranked.category_means[table.rows_of(origin)][:, [titles.index(title) for title in apart.titles]]
    a, b = pair[~np.isnan(pair).any(axis=1)].T
    assert apart.r == pytest.approx(stats.spearmanr(a, b).statistic) and apart.low < apart.r < apart.high


def test_people_lead_the_generators(site: SimpleNamespace) -> None:
    lead = findings.people_first(site.suite_cache.table("cfred-coco"))
    assert (lead.title, lead.rank, lead.of) == ("FLUX.1 [dev]", 4, 9)
