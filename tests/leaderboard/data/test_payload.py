"""What the browser gets: compact, whole, free of NaN, and the same figures as the table."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from leaderboard.data import payload


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
    own, other = (
        payload.ranking(table, each, with_categories=True)
        for each in (suite_cache.ranked("unisim-core"), suite_cache.ranked("unisim-core", *choice))
    )
    assert other["families"] == own["families"] and other["family_marks"] == own["family_marks"]
    assert other["mean"] != own["mean"] or choice[2] is not None


def test_a_suite_without_scores_is_an_empty_table(suite_cache):
    table = suite_cache.table("unisim-core")
    none = replace(table, scores=table.scores.rows([]), marks=table.marks[:0])
    data = payload.board(suite_cache.db, none, none.ranked())
    assert data["rows"] == data["cells"] == data["ranking"]["rank"] == []
    assert len(data["columns"]) == len(table.category_columns) + len(table.columns)
