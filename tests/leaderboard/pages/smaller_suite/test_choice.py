"""The choice of a smaller suite: the knee by default, next to MIEB-lite's own tasks."""

from __future__ import annotations

import ast
import html
import io
import json
import re
from urllib.parse import unquote

import mteb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from compute.analysis.figures.curve import curve
from compute.analysis.lite import smaller
from compute.analysis.lite.selection import knee
from leaderboard.data import model_queries
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.smaller_suite import choice
from leaderboard.pages.smaller_suite.choice import SmallerSuiteQuery, SmallerSuites, answer, export, tables
from leaderboard.web.parameters import parse


@pytest.fixture(scope="session")
def database(papers_database):
    return papers_database


@pytest.fixture(scope="module")
def suites(database):
    return SmallerSuites(Database(database))


def query_of(suites: SmallerSuites, **query: str) -> SmallerSuiteQuery:
    values, note = parse(choice.parameters(suites.db.query("suites")), query)
    assert note == ""
    return SmallerSuiteQuery(
        **{name: values[name] for name in ("suite", "origin", "by", "size", "hours", "high", "low")}
    )


def report(suites: SmallerSuites, query: SmallerSuiteQuery) -> str:
    """The page's text for one choice."""
    parts = (
        answer(suites, query),
        export(suites, query),
        tables(suites, query, titles=model_queries.models(suites.db)["title"]),
    )
    return "".join(parts)


def test_the_default_is_the_knee(suites):
    query = query_of(suites)
    assert (query.suite, query.size, query.high, query.low) == ("mieb", 0, 0.5, 0.45)
    selection = suites.choose(query).selection
    assert selection.size == knee(
        selection.curve, fewest=selection.fewest, models=suites.choose(query).fidelity.n_models
    )
    body = report(suites, query)
    assert f"Chosen here: {selection.size} tasks" in body and "MIEB-lite's own 51 tasks" in html.unescape(body)
    assert "This is the knee" in body and "This is the knee" not in report(suites, query_of(suites, size="20"))
    assert "totals for two models only" in body  # no running times without imports, and none made up
    assert "0.992" in body and "0.986" in body  # the paper's own values, as its claims print them


def test_the_export_is_the_choice_as_mteb_knows_it(suites):
    query = query_of(suites, size="15")
    path = suites.choose(query).selection.path
    body = html.unescape(export(suites, query))
    names = ast.literal_eval(re.search(r"mteb\.get_tasks\(tasks=(\[.*?\])\)", body, re.DOTALL)[1])
    assert [task.metadata.name for task in mteb.get_tasks(tasks=names)] == names and len(set(names)) == 15
    board = re.search(r'board\?suite=mieb&tasks=([^"]+)', body)[1].split(",")
    table = pd.read_csv(io.StringIO(unquote(re.search(r'"data:text/csv;charset=utf-8,([^"]+)"', body)[1])))
    assert table["task"].tolist() == board == [suites.choose(query).scores.tasks[task] for task in path]
    assert sorted(table["title"]) == names
    rows = json.loads(unquote(re.search(r'"data:application/json;charset=utf-8,([^"]+)"', body)[1]))
    assert pd.DataFrame(rows).equals(table)
    other = html.unescape(export(suites, query_of(suites, suite="unisim-core", size="6")))
    assert "likeness run --suite unisim-core --tasks unisim/" in other and "mteb" not in other


def test_the_curve_marks_the_choice(suites):
    query = query_of(suites, size="12")
    result, own = suites.choose(query), suites.own("mieb", "usual")
    figure = curve(result, held_out=suites.held_out(query), own=own)
    traces = {trace.name: trace for trace in figure.data}
    assert (traces["12 tasks"].x[0], traces["12 tasks"].y[0]) == (12, pytest.approx(result.fidelity.spearman, abs=6e-4))
    assert traces["MIEB-lite: 51 tasks"].x[0] == 51
    whole = traces["the models that the tasks were chosen on"]
    assert whole.x[0] == result.selection.fewest and whole.x[-1] == len(result.selection.order)


def test_own_line_is_the_correlation_of_the_two_boards_means(suites, database):
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


def test_other_suites_have_no_line_of_their_own(suites):
    body = report(suites, query_of(suites, suite="unisim-core", size="6"))
    assert "Chosen here: 6 tasks" in body and "MIEB-lite" not in body


def test_what_is_lost_is_every_other_task_with_scipys_correlation(suites):
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
    words = html.unescape(re.sub("<[^>]+>", "", report(suites, query_of(suites))))
    assert f"Of the {len(lost)} other tasks, {sum(row.r >= 0.8 for row in known)} have a Spearman" in words
