"""The ranking of a table: by the benchmark's own rule, each origin by itself, nothing filled in."""

from __future__ import annotations

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data.ranked import rank
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.suite_table import PARTIAL

SUITES = ("unisim-core", "unisim-ood", "pairbench", "mieb", "mieb-en", "mieb-lite")
MODEL = "google/siglip-so400m-patch14-224"


@pytest.mark.parametrize("suite", SUITES)
def test_ranks_follow_the_mean_and_lie_in_their_intervals(suite_cache: SuiteCache, suite: str) -> None:
    ranked = suite_cache.ranked(suite)
    placed = ranked.rank > 0
    assert placed.sum() > 2
    order = np.argsort(ranked.rank[placed])
    assert (np.diff(ranked.mean[placed][order]) <= 1e-12).all()
    assert (ranked.rank_low[placed] <= ranked.rank[placed]).all() and (
        ranked.rank[placed] <= ranked.rank_high[placed]
    ).all()
    assert ranked.rank[placed].min() == 1 and ranked.rank_high[placed].max() <= placed.sum()
    inside = (ranked.mean_low[placed] <= ranked.mean[placed]) & (ranked.mean[placed] <= ranked.mean_high[placed])
    assert (inside | np.isnan(ranked.mean_low[placed])).all()
    assert [bool(why) for why in ranked.why] == list(~placed), "whoever has no rank is told why, and nobody else"
    assert np.isnan(ranked.mean[~placed]).all()


def test_the_mean_is_the_mean_of_category_means(suite_cache: SuiteCache) -> None:
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    full = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    assert len(full) > 5
    for row in full:
        by_hand = np.mean([table.values[row, table.codes == code].mean() for code in range(len(table.categories))])
        assert ranked.mean[row] == pytest.approx(by_hand)


def test_a_missing_figure_is_never_filled_in(suite_cache: SuiteCache) -> None:
    """A row that lacks a task has no rank under full coverage, and a lower mark does not invent the figure."""
    table = suite_cache.table("unisim-core")
    ranked = rank(table, coverage=1.0)
    lacking = np.isnan(table.values).any(axis=1) & ~(
        (ranked.category_means.shape[1] > 0) & (table.printed > 0).any(axis=1)
    )
    assert (ranked.rank[lacking] < 1).all()
    lenient = rank(table, coverage=0.1)
    assert (lenient.rank > 0).sum() >= (ranked.rank > 0).sum()
    partial = (lenient.marks & PARTIAL) > 0
    for row, category in np.argwhere(partial):
        assert np.isnan(table.values[row, table.codes == category]).any()


def test_origins_are_ranked_apart(suite_cache: SuiteCache, imported_suite_cache: SuiteCache) -> None:
    """An import does not move a published rank."""
    before, after = suite_cache.table("unisim-core"), imported_suite_cache.table("unisim-core")
    old, new = rank(before, coverage=0.5), rank(after, coverage=0.5)
    for row in before.rows:
        assert old.rank[before.row(row.id)] == new.rank[after.row(row.id)]
    assert new.rank[after.row(f"{MODEL}~imported")] == 1


def test_one_category_alone_is_its_own_mean(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("unisim-core")
    ranked = rank(table, weights={name: float(name == "IQA") for name in table.categories})
    placed = ranked.rank > 0
    place = table.categories.index("IQA")
    np.testing.assert_allclose(ranked.mean[placed], ranked.category_means[placed, place])


def test_weights_scale_away(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("unisim-core")
    one, twice = (rank(table, weights=dict.fromkeys(table.categories, weight)) for weight in (1.0, 2.0))
    np.testing.assert_array_equal(one.rank, twice.rank)
    np.testing.assert_allclose(one.mean, twice.mean)


def test_the_same_question_has_the_same_answer(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("unisim-core")
    one, again = rank(table), rank(table)
    for name in ("rank", "rank_low", "rank_high", "mean_low", "mean_high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    assert one.ties == again.ties


def test_what_makes_no_mean_is_refused(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("unisim-core")
    with pytest.raises(BadInput, match="'Nope'"):
        rank(table, weights={"Nope": 1.0})
    with pytest.raises(BadInput, match="None of the chosen tasks"):
        rank(table, tasks=frozenset({"mieb/stl10"}))
    assert rank(suite_cache.table("cfred-hpdv2")) is None
