"""Who leads each benchmark, by how much and whether significantly, and which claims fail."""

from __future__ import annotations

import dataclasses
import html
import re
from types import SimpleNamespace

import pytest

from compute.analysis.comparison import compared
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number
from leaderboard.pages.claims.listing import claims
from leaderboard.pages.overview import findings
from leaderboard.pages.overview.page import SUITES, shown
from leaderboard.pages.overview.page import findings as drawn


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


def test_every_benchmark_of_real_data_has_one_with_the_numbers_of_the_pages_it_links_to(site: SimpleNamespace) -> None:
    found = findings.findings(site, shown(site))
    assert [finding["suite"] for finding in found] == [key for key in SUITES if key != "mini"], (
        "drawn data lead nothing"
    )
    listed = claims(site.db)
    rows = [dict(zip(listed["fields"], row, strict=True)) for row in listed["rows"]]
    failing = [row["paper"] for row in rows if row["verdict"] == "conflict"]
    markup = drawn(site)
    for finding in found:
        paper, count = finding["about"]["benchmark_title"], len(finding["claims"])
        assert count == failing.count(paper)
        assert (f'claims?paper={paper}&amp;verdict=conflict">{count} claims' in markup) == bool(count)
    recomputed = sum(row["verdict"] != "cannot be recomputed" for row in rows)
    assert f"{len(failing):,} of the {recomputed:,} claims" in words(markup)
    assert markup.count("claims?claim=") == sum(bool(finding["claims"]) for finding in found)


@pytest.mark.parametrize("key", ["unisim-core", "pairbench", "mieb"])
def test_a_lead_is_that_of_the_ranking(site: SimpleNamespace, key: str) -> None:
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


def test_others_that_cannot_be_tested_do_not_count(site: SimpleNamespace) -> None:
    table, ranked = site.suite_cache.table("unisim-core"), site.suite_cache.ranked("unisim-core")
    _, (first, second, *_) = ranked_rows(table, ranked)
    decided = ranked.decided.copy()
    decided[first, second] = False
    unknown = tuple("no error" if at == second else why for at, why in enumerate(ranked.unknown))
    lead = findings.lead(table, dataclasses.replace(ranked, decided=decided, unknown=unknown))
    assert (lead["significant"], lead["unknown"], lead["others"]) == (None, "no error", 20)


def test_an_unknown_lead_says_why(papers_cache: SuiteCache) -> None:
    site = SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache)
    assert "(significance unknown: printed means are used for" in words(drawn(site))


def test_a_model_without_a_rank_that_is_ahead_of_the_leader_is_said(site: SimpleNamespace) -> None:
    table, ranked = site.suite_cache.table("mieb"), site.suite_cache.ranked("mieb")
    found = findings.unranked_ahead(table, ranked)
    origin, (first, *_) = ranked_rows(table, ranked)
    row = next(at for at in table.rows_of(origin) if table.rows[at].model == found["model"]["key"])
    test = compared(ranked.table, row, first)
    assert ranked.rank[row] < 1 and test.better == found["model"]["key"] and test.n == found["shared"]
    assert found["shared"] + found["missing"] == 130 and found["gap"] == number(test.difference, digits=1, scale=100)
    assert f"{found['gap']} points ahead of it on the {found['shared']} tasks that both have" in words(drawn(site))
    assert findings.unranked_ahead(site.suite_cache.table("pairbench"), site.suite_cache.ranked("pairbench")) is None


def test_people_lead_the_generators(site: SimpleNamespace) -> None:
    lead = findings.people_first(site.suite_cache.table("cfred-coco"))
    assert [lead[key] for key in ("gap", "metric", "rank", "of")] == ["10", "cFreD", 4, 9]
    assert lead["first"]["title"] == "FLUX.1 [dev]"
