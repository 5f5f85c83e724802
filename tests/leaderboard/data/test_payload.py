"""What the browser gets: compact, whole, free of NaN, and the same figures as the table."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.data import payload
from leaderboard.data.board_table import SUSPECT


def test_a_nan_is_an_error_here():
    with pytest.raises(ValueError):
        payload.encode({"x": float("nan")})


def test_the_largest_table_is_small_on_the_wire(suite_cache):
    assert len(suite_cache.board("mieb")) < 60_000


@pytest.mark.parametrize("choice", [((("IQA", 3.0),), None, None), ((), None, 0.0)], ids=["weights", "coverage"])
def test_other_weights_leave_the_means_that_came_with_the_table(suite_cache, choice):
    """They are not sent again: half of the bytes of a ranking."""
    table = suite_cache.table("unisim-core")
    data = json.loads(suite_cache.ranking("unisim-core", *choice))
    assert data["families"] is None and data["family_marks"] is None
    chosen = json.loads(suite_cache.ranking("unisim-core", (), frozenset({"unisim/nights", "unisim/bapps"}), None))
    shape = (len(table.rows), len(table.category_columns))
    assert np.shape(chosen["families"]) == np.shape(chosen["family_marks"]) == shape
    own, other = (
        payload.ranking(table, each, with_categories=True)
        for each in (suite_cache.ranked("unisim-core"), suite_cache.ranked("unisim-core", *choice))
    )
    assert other["families"] == own["families"] and other["family_marks"] == own["family_marks"]
    assert other["mean"] != own["mean"] or choice[2] is not None


def test_a_mean_has_the_marks_of_the_figures_behind_it(suite_cache):
    """One doubtful figure makes a mean doubtful; without it in the mean, the mean is sound."""
    table = suite_cache.table("unisim-core")
    ranked = suite_cache.ranked("unisim-core")
    marks = payload.category_marks(table, ranked)
    for code, column in enumerate(table.category_columns):
        behind = [c for c, task in enumerate(table.columns) if task.group == column.key]
        for row in range(len(table.rows)):
            assert bool(marks[row, code] & SUSPECT) == any(table.marks[row, c] & SUSPECT for c in behind)
    data = payload.board(suite_cache.db, table, ranked)
    for (r, c), mark in np.ndenumerate(marks):
        assert data["marks"].get(f"{r},{c}", 0) == mark
    row = table.row("deqa-score~published")  # of five IQA tasks one is in doubt
    sound = frozenset(column.task for c, column in enumerate(table.columns) if not table.marks[row, c] & SUSPECT)
    assert marks[row].any() and len(sound) < len(table.columns)
    chosen = suite_cache.ranked("unisim-core", (), sound)
    assert not (payload.category_marks(table, chosen)[row] & SUSPECT).any()


def test_a_suite_without_scores_is_an_empty_table(suite_cache):
    """Tasks that nobody has run yet still have a page: columns, no rows, no error."""
    table = suite_cache.table("unisim-core")
    none = replace(
        table,
        scores=table.scores.rows([]),
        marks=table.marks[:0],
    )
    data = payload.board(suite_cache.db, none, none.ranked())
    assert data["rows"] == data["cells"] == data["ranking"]["rank"] == []
    assert len(data["columns"]) == len(table.category_columns) + len(table.columns)
