"""Rows compared by a mean, a category or a task: against scipy's paired t test, normal tests, and plain arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from compute.types import BadInput, UnknownKey
from leaderboard.data import verdicts
from leaderboard.data.comparison import MOST, ComparedRows, compare
from leaderboard.data.suite_cache import SuiteCache

DREAMSIM = "dreamsim-ensemble~published"
PAIR = ("google/siglip-so400m-patch14-224~published", "openai/clip-vit-large-patch14-336~published")


@pytest.fixture
def best(suite_cache):
    """The rows of unisim-core that have every score, best first."""
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    order = [index for index in np.argsort(-ranked.mean) if not np.isnan(table.scores.values[index]).any()]
    return [table.rows[index].id for index in order]


def compared(suite_cache: SuiteCache, suite: str, rows: list[str], **how: object) -> ComparedRows:
    return compare(suite_cache.table(suite), suite_cache.ranked(suite), rows=rows, **how)


def scores(suite_cache: SuiteCache, suite: str, row: str, category: str = "") -> np.ndarray:
    """A row's own scores in percent, of one category or all."""
    table = suite_cache.table(suite)
    mine = [column.group == category or not category for column in table.columns]
    return 100 * table.scores.values[table.row(row)][mine]


def test_a_category_is_tested_by_its_own_tasks(suite_cache, best):
    """Over IQA's few tasks it is a normal test about their items, and nothing else is in it."""
    second, first = best[-1], best[0]
    found = compared(suite_cache, "unisim-core", [first, second], by="IQA")
    (test,) = found.line.tests
    a, b = (scores(suite_cache, "unisim-core", row, "IQA") for row in (second, first))
    table = suite_cache.table("unisim-core")
    inside = [column.group == "IQA" for column in table.columns]
    errors = 100 * table.scores.stderr[[table.row(second), table.row(first)]][:, inside] / len(a)
    half, gap = 1.959964 * np.sqrt((errors**2).sum()), (a - b).mean()
    assert (found.line.kind, found.line.key, test.tasks) == ("category", "IQA", len(a))
    assert (test.difference, test.low, test.high) == pytest.approx((gap, gap - half, gap + half), rel=1e-5)
    assert test.about == "items" and test.reading == "worse" and test.p < 0.001
    assert [category.title for category in found.categories] == ["IQA"]
    assert [value.value for value in found.line.values] == pytest.approx([b.mean(), a.mean()])
    own = stats.t.interval(0.95, len(a) - 1, loc=a.mean(), scale=stats.sem(a))
    assert (found.line.values[1].low, found.line.values[1].high) == pytest.approx(own)


def test_a_task_is_tested_by_the_errors_of_its_two_scores(suite_cache):
    table = suite_cache.table("unisim-core")
    at = next(index for index, column in enumerate(table.columns) if column.key == "unisim/nights")
    found = compared(suite_cache, "unisim-core", list(PAIR), by="unisim/nights")
    (test,) = found.line.tests
    rows = [table.row(row) for row in PAIR]
    gap = 100 * (table.scores.values[rows[1], at] - table.scores.values[rows[0], at])
    error = 100 * float(np.hypot(*table.scores.stderr[rows, at]))
    assert found.line.kind == "task" and test.difference == pytest.approx(gap)
    assert test.p == pytest.approx(2 * stats.norm.sf(abs(gap) / error))
    assert (test.low, test.high) == (
        pytest.approx(gap - 1.96 * error, abs=1e-3),
        pytest.approx(gap + 1.96 * error, abs=1e-3),
    )
    assert [line.key for category in found.categories for line in category.tasks] == ["unisim/nights"]


def test_what_a_task_lacks_is_said(suite_cache):
    """Without a known error the difference stands and its noise is unknown; without a score there is no difference."""
    table = suite_cache.table("mieb")
    missing = np.isnan(table.scores.values)
    at = next(i for i, one in enumerate(table.columns) if np.isnan(table.scores.stderr[:, i]).all() and one.ranked)
    scored = [table.rows[row].id for row in np.flatnonzero(~missing[:, at])[:2]]
    (test,) = compared(suite_cache, "mieb", scored, by=table.columns[at].key).line.tests
    assert test.reading == "unknown" and "error" in test.why and np.isfinite(test.difference)
    assert np.isnan([test.low, test.high, test.p]).all()
    at = int(np.flatnonzero(missing.any(axis=0))[0])
    rows = [table.rows[np.flatnonzero(missing[:, at] == lacks)[0]].id for lacks in (False, True)]
    found = compared(suite_cache, "mieb", rows, by=table.columns[at].key)
    assert (found.line.tests[0].reading, found.line.tests[0].why) == ("none", f"{found.names[1]} has no score")


@pytest.mark.parametrize("by", ["Zero-shot Classification", "mini/things"])
def test_no_difference_reaches_beyond_the_bounds_of_its_metric(suite_cache, by):
    """All right against nearly all wrong: 100 points apart at most, however wide the interval."""
    table, ranked = suite_cache.table("mini"), suite_cache.ranked("mini")
    at = next(index for index, column in enumerate(table.columns) if column.key == "mini/things")
    values, stderr = table.scores.values.copy(), table.scores.stderr.copy()
    values[:2, at], stderr[:2, at] = (0.994, 0.006), 0.01
    changed = {"values": values, "stderr": stderr}
    table = replace(table, scores=replace(table.scores, **changed))
    ranked = replace(ranked, scores=values, table=replace(ranked.table, **changed))
    found = compare(table, ranked, rows=[row.id for row in table.rows[:2]], by=by)
    (test,) = found.line.tests
    assert (test.difference, test.low) == (pytest.approx(-98.8), -100) and test.high > -98


def test_where_lower_is_better_less_is_better(suite_cache):
    table = suite_cache.table("unisim-core")
    columns = tuple(replace(column, higher=False) for column in table.columns)
    turned = replace(table.scores, higher=np.zeros(len(columns), bool))
    found = [
        compare(one, suite_cache.ranked("unisim-core"), rows=[DREAMSIM, PAIR[0]], by="unisim/nights").line
        for one in (table, replace(table, columns=columns, scores=turned))
    ]
    assert {line.tests[0].reading for line in found} == {"better", "worse"}
    assert found[0].tests[0].difference == found[1].tests[0].difference
    assert "where lower is better" in verdicts.verdict(found[1], ("a", "b"))


def test_a_comparison_takes_two_to_six_rows(suite_cache):
    rows = [row.id for row in suite_cache.table("unisim-core").rows]
    for wrong in ([], rows[:1], [rows[0], rows[0]], rows[: MOST + 1]):
        with pytest.raises(BadInput, match=f"two to {MOST}"):
            compared(suite_cache, "unisim-core", wrong)
    with pytest.raises(UnknownKey, match="nobody"):
        compared(suite_cache, "unisim-core", [rows[0], "nobody~published"])
