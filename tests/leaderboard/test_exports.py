"""Every file that a visitor can save opens in a spreadsheet without running anything, and under a plain name."""

import csv
import io
import re

import pytest

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.web.responses import safe_cell
from tests.leaderboard.served import client as client_of

FORMULA = '=HYPERLINK("http://192.0.2.1")'
NUMBER = re.compile(r"-|-?\d+(\.\d+)?(e[-+]\d+)?%?", re.IGNORECASE)
TEXTS = {
    "models": ("title", "organisation", "license", "released"),
    "tasks": ("title", "category"),
    "suites": ("title",),
    "metrics": ("title",),
    "runs": ("source",),
    "scores": ("printed",),
}
# What answers with a file: method, address, and body. A further such route is to be added here.
VIEW = {"rows": ["dreamsim-ensemble~published"], "columns": ["unisim/nights"]}
FILES = {
    "/export/board/{suite}": ("POST", "/export/board/unisim-core", VIEW | {"format": "csv"}),
    "/export/everything": ("GET", "/export/everything?format=csv", None),
    "/export/relations": ("GET", "/export/relations?suites=cfred-hpdv2&level=tasks", None),
    "/published/{name}": ("GET", "/published/unisim-table-2.csv", None),
}


@pytest.fixture(scope="module")
def client(changed):
    """The routes over a database whose every text begins like a formula."""
    pairs = ((table, column) for table, columns in TEXTS.items() for column in columns)
    statements = (
        f"UPDATE {table} SET {column} = '{FORMULA}' || {column} WHERE {column} <> '' AND NOT starts_with({column}, '-')"
        for table, column in pairs
    )
    return client_of(SuiteCache(changed(*statements)))


def cells(text):
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def test_every_route_that_answers_with_a_file_is_tested(client):
    paths = {getattr(route, "path", "") for route in client.app.routes}
    assert {path for path in paths if path.startswith(("/export/", "/published/"))} == set(FILES)


@pytest.mark.parametrize("path", sorted(FILES))
def test_no_cell_is_a_formula_and_numbers_stay_numbers(client, path):
    method, address, body = FILES[path]
    answer = client.request(method, address, json=body)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/csv"), answer.text[:200]
    texts = cells(answer.text)
    harmful = [cell for cell in texts if cell[:1] in "=+-@\t\r\n＝＋－＠" and cell and not NUMBER.fullmatch(cell)]
    assert not harmful
    assert path.startswith("/published/") or any(cell.startswith("'=HYPERLINK") for cell in texts)
    assert not [cell for cell in texts if NUMBER.fullmatch(cell.removeprefix("'")) and cell.startswith("'")]
    name = re.fullmatch(r'attachment; filename="([\w.-]+)"', answer.headers["content-disposition"])
    assert name and name[1].endswith(".csv")


@pytest.mark.parametrize("text", ["-8.1", "+3", "-1e-05", "-12.5%", "0.3", "text", "", "-"])
def test_numbers_blanks_and_plain_texts_are_not_quoted(text):
    assert safe_cell(text) == text


@pytest.mark.parametrize("text", ["-1+1", "-8.1 ", "--", "+", "--1", "-1-cmd", "-1\n=2", "+1|2", "-.5e", "-٣"])
def test_what_only_begins_like_a_number_is_quoted(text):
    assert safe_cell(text) == f"'{text}"
