"""What the browser gets: compact, whole, free of NaN, and the same figures as the table."""

from dataclasses import replace

import pytest

from leaderboard.data import payload


def test_a_nan_is_an_error_here():
    with pytest.raises(ValueError):
        payload.encode({"x": float("nan")})


def test_the_largest_table_is_small_on_the_wire(suite_cache):
    assert len(suite_cache.board("mieb")) < 60_000


def test_a_suite_without_scores_is_an_empty_table(suite_cache):
    table = suite_cache.table("unisim-core")
    none = replace(table, scores=table.scores.rows([]), marks=table.marks[:0])
    data = payload.board(suite_cache.db, none, none.ranked())
    assert data["rows"] == data["cells"] == data["ranking"]["rank"] == []
    assert len(data["columns"]) == len(table.category_columns) + len(table.columns)
