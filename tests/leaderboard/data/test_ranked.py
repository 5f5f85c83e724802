"""The ranking of a table: by the benchmark's own rule, each origin by itself, nothing filled in."""

from __future__ import annotations

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data.board_table import PRINTED


@pytest.fixture(scope="session")
def suite_cache(papers_cache):
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def test_printed_means_have_no_interval_and_no_class(suite_cache):
    """The board with only Multilingual Retrieval once drew nearly every model as a class of its own."""
    table = suite_cache.table("mieb")
    only = {name: float(name == "Multilingual Retrieval") for name in table.scores.categories}
    ranked = table.ranked(weights=only)
    placed = ranked.rank > 0
    printed = (table.mean_marks(ranked)[:, table.scores.categories.index("Multilingual Retrieval")] & PRINTED) > 0
    assert placed.sum() > 30 and printed[placed].all()
    assert (ranked.rank_low == -1).all() and np.isnan(ranked.mean_low).all() and not any(ranked.classes)
    reason = "printed means are used for Multilingual Retrieval, where some scores are missing"
    assert {ranked.unknown[row] for row in np.flatnonzero(placed)} == {reason}
    whole = suite_cache.ranked("mieb")
    assert (whole.rank_low == -1).all(), "one such category among ten leaves the whole mean without an interval"
    others = ("Compositionality", "Document Understanding", "Vision-centric QA", "Visual STS (en)")
    known = table.ranked(weights={name: float(name in others) for name in table.scores.categories})
    assert (known.rank_low[known.rank > 0] > 0).all()


def test_a_category_of_one_task_counts_as_fixed(suite_cache):
    """UniSim's tasks have known errors, MIEB's clustering has none: one task of each, chosen alone."""
    table = suite_cache.table("unisim-core")
    one = table.ranked(tasks=frozenset({"unisim/nights"}))
    assert one.fixed == ("Img-2AFC",) and not one.few.any() and not any(one.unknown)
    column = next(index for index, column in enumerate(table.columns) if column.task == "unisim/nights")
    high = table.scores.values[:, column] + 1.959964 * table.scores.stderr[:, column]
    np.testing.assert_allclose(one.mean_high, np.minimum(high, 1), rtol=1e-6)
    table = suite_cache.table("mieb")
    task = next(column.task for column in table.columns if column.group == "Clustering")
    none = table.ranked(tasks=frozenset({task}))
    (reason,) = {reason for reason in none.unknown if reason}
    assert "too few tasks" in reason and "one task stands for Clustering, and the error" in reason


def test_intervals_stay_within_the_bounds_of_their_metric(suite_cache):
    """Two tasks alone make intervals of a hundred points."""
    ranked = suite_cache.table("unisim-ood").ranked(weights={"PAA": 0.0, "IR": 0.0})
    placed = ranked.rank > 0
    assert ranked.few[placed].all() and np.nanmax(ranked.mean_high) == 1.0 and np.nanmin(ranked.mean_low) == 0.0


@pytest.mark.parametrize("least", [None, 0.3])
@pytest.mark.parametrize("suite", ["unisim-ood", "pairbench", "mieb"])
def test_the_minimum_of_coverage_holds_for_every_ranked_row(suite_cache, suite, least):
    """By hand: a task is covered by its figure, or by its category's printed mean; nobody below is ranked."""
    table = suite_cache.table(suite)
    ranked = table.ranked(coverage=least)
    minimum = float(table.suite["minimum_coverage"]) if least is None else least
    tasks = [index for index, column in enumerate(table.columns) if column.ranked]
    figure = ~np.isnan(table.scores.values[:, tasks])
    printed = ~np.isnan(table.scores.printed[:, table.scores.codes[tasks]])
    np.testing.assert_allclose(ranked.coverage, figure.mean(axis=1))
    np.testing.assert_allclose(ranked.covered, (figure | printed).mean(axis=1))
    below = ranked.covered < minimum - 1e-9
    assert (ranked.rank[below] <= 0).all()
    share = "all" if minimum == 1 else f"{minimum:.0%} of"
    means = " or a printed mean" if ranked.covered.tolist() != ranked.coverage.tolist() else ""
    for row in np.flatnonzero(below):
        count = round(ranked.covered[row] * len(tasks))
        assert ranked.why[row] == f"Not ranked: needs {share} {len(tasks)} tasks; {count} have a score{means}"
    if suite == "mieb" and least is None:
        low = (ranked.rank > 0) & (ranked.coverage < 0.7)
        assert low.any() and (ranked.covered[low] == 1).all(), "ranked by printed means, and said so"


def test_what_makes_no_mean_is_refused(suite_cache):
    table = suite_cache.table("unisim-core")
    with pytest.raises(BadInput, match="'Nope'"):
        table.ranked(weights={"Nope": 1.0})
    with pytest.raises(BadInput, match="None of the chosen tasks"):
        table.ranked(tasks=frozenset({"mieb/stl10"}))
    assert suite_cache.table("cfred-hpdv2").ranked() is None
