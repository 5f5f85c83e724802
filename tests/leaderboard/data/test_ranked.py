"""The ranking of a table: by the benchmark's own rule, each origin by itself, nothing filled in."""

from __future__ import annotations

import numpy as np
import pytest

from compute.types import BadInput


@pytest.fixture(scope="session")
def suite_cache(papers_cache):
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def test_a_category_of_one_task_counts_as_fixed(suite_cache):
    table = suite_cache.table("unisim-core")
    one = table.ranked(tasks=frozenset({"unisim/nights"}))
    assert one.fixed == ("Img-2AFC",) and not one.few.any() and not any(one.unknown)
    column = next(index for index, column in enumerate(table.columns) if column.task == "unisim/nights")
    high = table.scores.values[:, column] + 1.959964 * table.scores.stderr[:, column]
    np.testing.assert_allclose(one.mean_high, np.minimum(high, 1), rtol=1e-6)


def test_what_makes_no_mean_is_refused(suite_cache):
    table = suite_cache.table("unisim-core")
    with pytest.raises(BadInput, match="'Nope'"):
        table.ranked(weights={"Nope": 1.0})
    with pytest.raises(BadInput, match="None of the chosen tasks"):
        table.ranked(tasks=frozenset({"mieb/stl10"}))
    assert suite_cache.table("cfred-hpdv2").ranked() is None
