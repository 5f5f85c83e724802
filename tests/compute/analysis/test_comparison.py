"""Two models side by side, against scipy's paired t test and closed forms."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm, ttest_rel

from compute.analysis.comparison import Comparison, compared
from compute.analysis.ranking import Ranking
from tests.compute.analysis.tables import table

NAN = np.nan


def pair(a, b, *, categories=None, stderr=None, **more):
    return compared(table([a, b], categories, stderr=stderr, **more), 0, 1)


def test_the_mean_difference_is_near_scipys_paired_t_test():
    rng = np.random.default_rng(6)
    a = rng.random(60)
    b = a - 0.01 + 0.05 * rng.normal(size=60)
    found, theirs = pair(a, b), ttest_rel(a, b)
    assert_allclose(found.difference, (a - b).mean())
    assert_allclose([found.low, found.high], theirs.confidence_interval(), atol=0.001)
    assert_allclose(found.p, theirs.pvalue, rtol=0.2)
    assert (found.about, found.reason) == ("tasks", "")
    swapped = pair(b, a)
    assert_allclose([swapped.difference, swapped.low, swapped.p], [-found.difference, -found.high, found.p])
    assert pair(a + 1, b).p == 1e-4  # of 9,999 flips, none


def test_a_comparison_and_a_ranking_of_two_make_the_same_test():
    decided = set()
    for seed in range(20):
        scores = np.array([[0.6], [0.55]]) + 0.09 * np.random.default_rng(seed).normal(size=(2, 24))
        of = table(scores, np.repeat([0, 1, 2], 8))
        better = bool(Ranking.of(of).better.any())
        assert bool(compared(of, 0, 1).better) == better
        decided.add(better)
    assert decided == {False, True}


ERRORS, HALF = [[0.03, 0.03], [0.04, 0.04]], norm.ppf(0.975) * 0.05


@pytest.mark.parametrize(
    "a, b, more, difference, half, reading, word",
    [
        ([0.9, 0.7, NAN], [0.8, 0.5, 0.3], {"categories": [0, 0, 1]}, 0.15, NAN, "unknown", "too few tasks"),
        ([0.9, NAN], [NAN, 0.5], {"categories": [0, 1]}, NAN, NAN, "none", "no shared task"),
        ([0.9, 7.0], [0.8, 9.0], {"categories": [0, 1], "higher": [True, False]}, NAN, NAN, "none", "direction"),
        ([0.9, 0.7], [0.8, 0.5], {"categories": [0, 1]}, 0.15, NAN, "unknown", "too few tasks"),
        ([0.9, 0.7], [0.8, 0.5], {"categories": [0, 1], "stderr": ERRORS}, 0.15, HALF / np.sqrt(2), "better", ""),
        # the errors of one data set are taken as wholly dependent
        ([0.9, 0.7], [0.8, 0.5], {"stderr": ERRORS, "clusters": np.zeros(2, int)}, 0.15, HALF, "better", ""),
        ([0.9, 0.7], [0.8, 0.5], {"stderr": ERRORS, "higher": [False] * 2}, 0.15, HALF / np.sqrt(2), "worse", ""),
    ],
)
def test_few_tasks_have_an_interval_of_their_items_where_errors_are_known(a, b, more, difference, half, reading, word):
    found = pair(a, b, **more)
    assert_allclose([found.difference, found.low, found.high], [difference, difference - half, difference + half])
    assert_allclose(found.p, 2 * norm.sf(difference / half * norm.ppf(0.975)))
    assert word in found.reason and bool(word) == bool(found.reason)
    assert (found.about, found.reading) == ("tasks" if np.isnan(half) else "items", reading)
    assert found.better == {"better": "0", "worse": "1"}.get(reading, "")


def test_the_bias_that_both_are_known_to_have_and_categories_of_one_alone_do_not_count():
    found = pair([0.9, 0.7, NAN], [0.8, 0.5, 0.3], categories=[0, 0, 1], bias=np.array([[0.1] * 3, [0.0] * 3]))
    assert found.only == ("category 0",) and found.difference == pytest.approx(0.05)


FOUND = Comparison(
    a="B",
    b="A",
    over="tasks",
    n=12,
    of=12,
    difference=3.205,
    low=1.2,
    high=5.215,
    p=0.0021,
    higher_is_better=True,
    reason="",
    decided="better",
    parts=pd.DataFrame(),
)
UNKNOWN = dict.fromkeys(("low", "high", "p"), NAN) | {"decided": None}


@pytest.mark.parametrize(
    "change, sentence",
    [
        (
            {"reason": "one task stands for it", "difference": -8.1, "higher_is_better": False} | UNKNOWN,
            "B is 8.1 lower than A in it, where lower is better; significance unknown: one task stands for it.",
        ),
        (
            {"decided": None, "difference": 0.0, "low": NAN, "p": 1.0, "n": 4, "only": ("X", "Y")},
            "B and A are equal in the mean over X and Y, all that both have (p = 1.000, 4 shared tasks of 12).",
        ),
        (
            {"decided": None, "higher_is_better": False},
            "B is significantly worse than A in it, where lower is better: 3.205 higher (95% interval +1.2 to +5.215, "
            "p = 0.002, 12 shared tasks).",
        ),
    ],
    ids=["unknown", "equal", "worse"],
)
def test_one_sentence_says_what_is_known_what_is_not_and_why(change, sentence):
    """The others are frozen, on pages."""
    assert replace(FOUND, **change).sentence("it") == sentence
