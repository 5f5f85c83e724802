"""The choice of a smaller suite: MIEB section 6.3 by default, beside MIEB-lite's own tasks."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from compute.analysis.lite import smaller
from leaderboard.data import model_queries, suite_queries
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.smaller_suite import choice
from leaderboard.pages.smaller_suite.choice import SmallerSuiteQuery, SmallerSuites, answer, tables
from leaderboard.web.parameters import parse


@pytest.fixture(scope="session")
def database(papers_database: Path) -> Path:
    return papers_database


@pytest.fixture(scope="module")
def suites(database: Path) -> SmallerSuites:
    return SmallerSuites(Database(database))


def query_of(suites: SmallerSuites, **query: str) -> SmallerSuiteQuery:
    values, note = parse(choice.parameters(suite_queries.suites(suites.db)), query)
    assert note == ""
    return SmallerSuiteQuery(
        **{name: values[name] for name in ("suite", "origin", "by", "size", "hours", "high", "low")}
    )


def report(suites: SmallerSuites, query: SmallerSuiteQuery) -> str:
    """The page's text for one choice."""
    return answer(suites, query) + tables(suites, query, titles=model_queries.models(suites.db)["title"])


def test_the_default_is_section_6_3(suites: SmallerSuites) -> None:
    query = query_of(suites)
    assert (query.suite, query.size, query.high, query.low) == ("mieb", 51, 0.5, 0.45)
    body = report(suites, query)
    assert "Chosen here: 51 tasks" in body and "MIEB-lite's own 51 tasks" in html.unescape(body)
    link = re.search(r"board\?suite=mieb&amp;tasks=([^'\"]+)", body).group(1)
    assert len(set(link.split(","))) == 51
    assert "totals for two models only" in body  # no running times without imports, and none made up
    assert "0.992" in body and "0.986" in body  # the paper's own figures, as its claims print them


def test_own_line_is_the_correlation_of_the_two_boards_means(suites: SmallerSuites, database: Path) -> None:
    suite_cache = SuiteCache(Database(database))
    means = []
    for suite in ("mieb", "mieb-lite"):
        sheet, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
        means.append(
            {
                row.model: mean
                for row, mean in zip(sheet.rows, ranked.mean, strict=True)
                if row.origin == "published" and mean == mean
            }
        )
    models = sorted(set(means[0]) & set(means[1]))
    own = suites.own("mieb", "published")
    assert own.fidelity.n_models == len(models)
    pairs = [[mean[model] for model in models] for mean in means]
    assert own.fidelity.spearman == pytest.approx(stats.spearmanr(*pairs).statistic, abs=1e-9)
    assert own.fidelity.pearson == pytest.approx(stats.pearsonr(*pairs).statistic, abs=1e-9)


def test_other_suites_have_no_line_of_their_own(suites: SmallerSuites) -> None:
    body = report(suites, query_of(suites, suite="unisim-core", size="6"))
    assert "Chosen here: 6 tasks" in body and "own" not in body.split("</table>")[0]


def test_what_is_lost_is_every_task_left_out_with_scipys_correlation(suites: SmallerSuites) -> None:
    result = suites.choose(query_of(suites))
    scores, chosen = result.scores, result.selection.chosen
    lost = smaller.lost(result)
    assert sorted([row.task for row in lost] + chosen.tolist()) == list(range(len(scores.tasks)))
    known = [row for row in lost if row.nearest >= 0]
    assert [row.r for row in known] == sorted(row.r for row in known) and known[0].nearest in chosen
    for row in (known[0], known[-1]):
        both = ~np.isnan(scores.values[:, [row.task, row.nearest]]).any(axis=1)
        a, b = scores.values[np.ix_(both, [row.task, row.nearest])].T
        assert row.r == pytest.approx(stats.spearmanr(a, b).statistic) and row.n_models == both.sum() >= 10
    words = html.unescape(re.sub("<[^>]+>", "", answer(suites, query_of(suites))))
    assert f"of the {len(lost)} tasks left out, {sum(row.r >= 0.8 for row in known)} have a Spearman" in words
