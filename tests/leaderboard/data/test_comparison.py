"""Rows compared by a category or a task; comparisons by a mean are frozen in tests/golden."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from compute.types import BadInput
from leaderboard.data.comparison import MOST, ComparedLine, compare
from leaderboard.data.suite_cache import SuiteCache

PAIR = ("google/siglip-so400m-patch14-224~published", "openai/clip-vit-large-patch14-336~published")


def compared(suite_cache: SuiteCache, suite: str, rows: list[str], by: str = "") -> ComparedLine:
    table = suite_cache.table(suite)
    return compare(table, suite_cache.ranked(suite), list(map(table.row, rows)), by=by)


@pytest.mark.parametrize("by", ["IQA", "unisim/nights"])
def test_few_tasks_are_tested_by_the_errors_of_their_scores(suite_cache, by):
    """Reference: a normal test about the items, by scipy."""
    table = suite_cache.table("unisim-core")
    inside = [by in (column.group, column.key) for column in table.columns]
    found = compared(suite_cache, "unisim-core", list(PAIR), by=by)
    (test,) = found.tests
    at = np.ix_([table.row(row) for row in PAIR], inside)
    first, second = 100 * table.scores.values[at]
    gap, error = (second - first).mean(), 100 * np.linalg.norm(table.scores.stderr[at]) / len(first)
    assert (found.kind, found.column.key, test.about) == ("category" if by == "IQA" else "task", by, "items")
    assert test.difference == pytest.approx(gap) and test.p == pytest.approx(2 * stats.norm.sf(abs(gap) / error))
    assert (test.low, test.high) == pytest.approx((gap - 1.959964 * error, gap + 1.959964 * error), abs=1e-4)
    assert len(found.tasks) == len(first)
    assert [value.value for value in found.values] == pytest.approx([first.mean(), second.mean()])


def test_what_a_task_lacks_is_said(suite_cache):
    """Without a known error the difference stands and its noise is unknown; without a score there is no difference."""
    table = suite_cache.table("mieb")
    missing = np.isnan(table.scores.values)
    at = next(i for i, one in enumerate(table.columns) if np.isnan(table.scores.stderr[:, i]).all() and one.ranked)
    scored = [table.rows[row].id for row in np.flatnonzero(~missing[:, at])[:2]]
    (test,) = compared(suite_cache, "mieb", scored, by=table.columns[at].key).tests
    assert test.reading == "unknown" and "error" in test.reason and np.isfinite(test.difference)
    assert np.isnan([test.low, test.high, test.p]).all()
    rows = [table.rows[np.flatnonzero(missing[:, 0] == lacks)[0]].id for lacks in (False, True)]
    found = compared(suite_cache, "mieb", rows, by=table.columns[0].key)
    assert (found.tests[0].reading, found.tests[0].reason) == ("none", f"{found.names[1]} has no score")


def test_a_mean_reads_as_its_board_and_a_task_by_its_own_test(suite_cache):
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    ahead, behind = (int(at) for at in np.argwhere(ranked.better)[0])
    found = compare(table, ranked, [behind, ahead])
    assert found.tests[0].reading == "better"
    assert found.values[1][:3] == pytest.approx(
        [100 * each[ahead] for each in (ranked.mean, ranked.mean_low, ranked.mean_high)]
    )
    task = compared(suite_cache, "unisim-core", ["dreamsim-ensemble~published", PAIR[0]], by="unisim/nights")
    assert task.tests[0].reading == "worse"


def test_a_comparison_takes_two_to_six_rows(suite_cache):
    rows = [row.id for row in suite_cache.table("unisim-core").rows]
    for wrong in ([], rows[:1], [rows[0], rows[0]], rows[: MOST + 1]):
        with pytest.raises(BadInput, match=f"two to {MOST}"):
            compared(suite_cache, "unisim-core", wrong)
