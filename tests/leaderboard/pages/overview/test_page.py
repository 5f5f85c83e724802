"""The first page shows every benchmark with its leaders, and numbers of the database."""

from __future__ import annotations

from types import SimpleNamespace

from leaderboard.data import suite_queries
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.overview.page import LEADERS, SUITES, benchmarks, starts


def test_every_start_has_its_numbers(site: SimpleNamespace) -> None:
    counts, claims, markup = suite_queries.counts(site.db).iloc[0], suite_queries.claim_counts(site.db), starts(site)
    assert markup.count("<a ") == 4
    assert f"Rank {counts.models} models" in markup and claims["recomputed"] < claims["claims"]
    assert f"{claims['recomputed']:,} statements of the papers recomputed" in markup
    assert f"; {claims['conflicts']} do not match" in markup


def test_every_benchmark_with_scores_has_its_leaders(site: SimpleNamespace) -> None:
    markup = benchmarks(site)
    shown = [key for key in SUITES if site.suite_cache.table(key).rows]
    assert [key for key in SUITES if f'href="board?suite={key}"' in markup] == shown
    ranked = [site.suite_cache.ranked(key) for key in shown]
    leaders = [LEADERS if ranks is None else min(LEADERS, int((ranks.rank > 0).sum())) for ranks in ranked]
    assert markup.count('<th scope="row">') == sum(leaders)
    assert "models ranked on" in markup and "9 generators" in markup


def test_an_unknown_interval_is_said_with_its_reason(papers_cache: SuiteCache) -> None:
    """The means of MIEB's paper rest on printed ones: neither a whisker nor a class."""
    markup = benchmarks(SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache))
    mieb = markup[markup.index("<h2>MIEB") : markup.index('href="board?suite=mieb"')]
    assert 'class="pg-whisker"' not in mieb and mieb.count(">unknown</span>") == 2 * LEADERS
    assert "Unknown: printed means are used for Multilingual Retrieval and Retrieval" in mieb
    unisim = markup[: markup.index('href="board?suite=unisim-core"')]
    assert unisim.count('class="pg-whisker"') == LEADERS and "The intervals rest on few tasks" in unisim


def test_synthetic_and_computed_leaders_are_marked(stand_in_site: SimpleNamespace) -> None:
    markup = benchmarks(stand_in_site)
    assert 'class="pg-whisker"' in markup and "trained on some of these data sets" in markup
    assert "computed" in markup
