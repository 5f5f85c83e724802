"""What a chosen smaller suite is exported as; what the page shows is frozen in tests/golden."""

from __future__ import annotations

import ast
import html
import io
import json
import re
from urllib.parse import unquote

import mteb
import pandas as pd
import pytest

from leaderboard.data.database import Database
from leaderboard.pages.smaller_suite import choice
from leaderboard.pages.smaller_suite.choice import SmallerSuiteQuery, SmallerSuites, export
from leaderboard.web.parameters import parse


@pytest.fixture(scope="module")
def suites(papers_database):
    return SmallerSuites(Database(papers_database))


def query_of(suites: SmallerSuites, **query: str) -> SmallerSuiteQuery:
    values, note = parse(choice.parameters(suites.db.query("suites")), query)
    assert note == ""
    return SmallerSuiteQuery(
        **{name: values[name] for name in ("suite", "origin", "by", "size", "hours", "high", "low")}
    )


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
