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

from compute.analysis.table import USUAL
from leaderboard.data.database import Database
from leaderboard.pages.smaller_suite.choice import SmallerSuiteQuery, choose, export

USUAL_QUERY = SmallerSuiteQuery(suite="mieb", origin=USUAL, by="tasks", size=15, hours=5, high=0.5, low=0.45)


@pytest.fixture(scope="module")
def db(papers_database):
    return Database(papers_database)


def test_the_export_is_the_choice_as_mteb_knows_it(db):
    query = USUAL_QUERY
    path = choose(db, query).selection.path
    body = html.unescape(export(db, query))
    names = ast.literal_eval(re.search(r"mteb\.get_tasks\(tasks=(\[.*?\])\)", body, re.DOTALL)[1])
    assert [task.metadata.name for task in mteb.get_tasks(tasks=names)] == names and len(set(names)) == 15
    board = re.search(r'board\?suite=mieb&tasks=([^"]+)', body)[1].split(",")
    table = pd.read_csv(io.StringIO(unquote(re.search(r'"data:text/csv;charset=utf-8,([^"]+)"', body)[1])))
    assert table["task"].tolist() == board == [choose(db, query).scores.tasks[task] for task in path]
    assert sorted(table["title"]) == names
    rows = json.loads(unquote(re.search(r'"data:application/json;charset=utf-8,([^"]+)"', body)[1]))
    assert pd.DataFrame(rows).equals(table)
    other = html.unescape(export(db, query._replace(suite="unisim-core", size=6)))
    assert "likeness run --suite unisim-core --tasks unisim/" in other and "mteb" not in other
