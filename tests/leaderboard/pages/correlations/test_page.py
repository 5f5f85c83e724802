"""The answer at the head of the page, and the ready-made view that is marked."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

import numpy as np

from compute.analysis.correlation import extreme_pairs
from leaderboard.pages.correlations.matrix import matrix_of
from leaderboard.pages.correlations.page import finding
from leaderboard.pages.correlations.query import CorrelationQuery


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


def test_the_answer_names_the_surest_pairs_and_opens_them(site: SimpleNamespace) -> None:
    matrix = matrix_of(site.suite_cache, CorrelationQuery())
    markup = finding(matrix, choice="suites=mieb")
    extremes = extreme_pairs(correlation=matrix.correlation, method="spearman")
    labels = [axis.title for axis in matrix.table.axes]
    r = matrix.correlation.r
    for (first, second), start in ((extremes.most, "Most similar are"), (extremes.least, "Least similar are")):
        assert f"{start} {labels[first]} and {labels[second]}" in words(markup)
        assert f"{abs(r[first, second]):.2f}" in words(markup)
    assert extremes.pairs == len(labels) * (len(labels) - 1) // 2  # every cell has enough models there
    assert markup.count("correlations?suites=mieb&amp;pair=") == 2


def test_no_pair_is_extreme_by_its_correlation_alone() -> None:
    """A correlation of 0.99 over ten models is less sure than one of 0.95 over a hundred."""
    from compute.analysis.correlation import Correlation, interval

    r = np.array([[1.0, 0.99, 0.95], [0.99, 1.0, -0.2], [0.95, -0.2, 1.0]])
    n = np.array([[100, 5, 100], [5, 100, 100], [100, 100, 100]])
    low, high = interval(r=r, n=n, method="spearman")
    extremes = extreme_pairs(correlation=Correlation(r=r, n=n, low=low, high=high), method="spearman", models=5)
    assert (extremes.most, extremes.least, extremes.pairs) == ((0, 2), (1, 2), 3)
    assert extreme_pairs(correlation=Correlation(r=r, n=n, low=low, high=high), method="spearman", models=200) is None
