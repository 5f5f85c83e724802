"""One number, one text: cells, means, tooltips and files of the board, in Python and in the browser's language."""

from __future__ import annotations

import itertools
import json
import re
from decimal import ROUND_HALF_EVEN, Decimal

import duckdb
import numpy as np
import pytest

from compute.rounding import rounded
from leaderboard.data import payload
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number
from leaderboard.pages.board import export, provenance
from tests.leaderboard.test_scripts import PACKAGE, needs_node, node

SUITES = ("unisim-core", "pairbench", "mieb", "cfred-coco", "mini")


def half_even(printed: str, digits: int) -> str:
    """A printed number at fewer digits, by Python's decimals alone."""
    text = f"{Decimal(printed).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN):f}"
    return text.removeprefix("-") if not Decimal(text) else text


def test_a_cell_shows_the_digits_of_its_paper(suite_cache):
    """Every printed figure of every suite, rounded from the paper's own digits; among them ties such as 37.45."""
    query = "SELECT model, task, metric, value, printed FROM leaderboard_scores WHERE origin = 'published'"
    with duckdb.connect(str(suite_cache.db.path), read_only=True) as connection:
        printed = {line[:4]: line[4].rstrip("%") for line in connection.execute(query).fetchall() if line[4]}
    ties = checked = 0
    for suite in SUITES:
        table = suite_cache.table(suite)
        board = payload.board(suite_cache.db, table, suite_cache.ranked(suite))
        offset = len(table.category_columns)
        for (r, row), (c, column) in itertools.product(enumerate(table.rows), enumerate(table.columns)):
            text = printed.get((row.model, column.task, column.metric, table.scores.values[r, c]))
            if row.origin != "published" or text is None:
                continue
            cell = board["cells"][r][c + offset]
            assert rounded(cell / 10**column.digits, column.digits) == half_even(text, column.digits), text
            ties += text.endswith("5") and len(text.partition(".")[2]) == column.digits + 1
            checked += 1
    assert checked > 4000 and ties > 20, (checked, ties)


@pytest.mark.parametrize("suite", ["unisim-core", "mieb", "mini"])
def test_files_and_tooltips_show_what_the_board_shows(suite_cache, suite):
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    board = payload.board(suite_cache.db, table, ranked)
    rows, columns = [row.id for row in table.rows], [*table.category_columns, *table.columns]
    keys = [column.key for column in columns]
    frame = export.view_frame(table, ranked, rows=rows, columns=keys)
    lines = {
        form: export.view(table, ranked, rows=rows, columns=keys, form=form).content.decode().splitlines()
        for form in ("markdown", "latex")
    }
    markdown = [line.strip("| ").replace("**", "").split(" | ") for line in lines["markdown"] if line.startswith("|")][
        2:
    ]
    latex = [line for line in lines["latex"] if line.endswith(r"\\")][-len(rows) :]
    digits = table.category_columns[0].digits
    for r in range(len(rows)):
        texts = []
        for c, column in enumerate(columns):
            cell = board["cells"][r][c]
            if cell is None:
                assert np.isnan(frame[column.key][r])
                continue
            texts.append(text := rounded(cell / 10**column.digits, column.digits))
            assert rounded(frame[column.key][r], column.digits) == text
            assert any(re.match(re.escape(text) + r"(?![\d.])", entry) for entry in markdown[r]), (text, markdown[r])
            assert text.replace("-", "$-$") in latex[r]
        mean = board["ranking"]["mean"][r]
        if mean is not None:
            text = number(ranked.mean[r], digits=digits, scale=100)
            assert rounded(mean, digits) == rounded(frame["mean"][r], digits) == text
            assert text in markdown[r] and f" {text} " in latex[r]
    r, c = next((r, c) for r in range(len(rows)) for c in range(len(columns)) if board["cells"][r][c] is not None)
    shown = provenance.cell(suite_cache.db, table, ranked, row_id=rows[r], key=columns[c].key)["lines"][0]["text"]
    assert shown == rounded(board["cells"][r][c] / 10 ** columns[c].digits, columns[c].digits) + "%"


@needs_node
def test_the_browser_rounds_as_the_server(suite_cache):
    """Every mean, interval and raw score that a page receives, at 0 to 4 decimals."""
    values = {clean for suite in SUITES for clean in numbers_of(suite_cache, suite)}
    values |= {-value for value in values}
    values |= set(np.random.default_rng(7).normal(0, 100, 5000).round(6).tolist())
    ties = [hundredths / 100 + noise for hundredths in range(-1000, 1000, 5) for noise in (0, 3e-14, -3e-14)]
    cases = [[value, digits, rounded(value, digits)] for value in [*values, *ties] for digits in range(5)]
    ended = node(
        f"""
import {{ rounded }} from {json.dumps((PACKAGE / "js" / "number.js").as_uri())};
const wrong = {json.dumps(cases)}.filter(([value, digits, text]) => rounded(value, digits) !== text);
console.log(JSON.stringify(wrong.slice(0, 5)));
""",
        [],
    )
    assert ended.stdout.strip() == "[]", ended.stdout + ended.stderr
    assert len(cases) > 50_000


def numbers_of(suite_cache: SuiteCache, suite: str) -> list[float]:
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    ranking = payload.ranking(table, ranked)
    parts = [ranking[name] for name in ("mean", "mean_low", "mean_high", "borda", "coverage")]
    scores = (table.scores.values * [column.scale for column in table.columns]).ravel().tolist()
    return [value for part in (*parts, scores) for value in part if value is not None and np.isfinite(value)]
