"""Metrics of generators against people: perfect, worst, exact permutations, small sets, and scipy's own test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import PermutationMethod, pearsonr

from compute.analysis.generators.preference import (
    AGAINST,
    FOLLOWS,
    TOO_FEW,
    UNPROVEN,
    Agreement,
    agree,
    permutation_p,
    verdicts,
)
from compute.types import Undefined


def test_perfect_agreement_of_a_distance():
    found = agree(
        scores=[1, 2, 3, 4, 5, 6],
        human=[60, 50, 40, 30, 20, 10],
        ranks=[1, 2, 3, 4, 5, 6],
        human_ranks=[1, 2, 3, 4, 5, 6],
        higher=False,
    )
    assert found.r == pytest.approx(-1)
    assert found.right_way and found.accuracy == 1
    assert math.isnan(found.accuracy_low) and math.isnan(found.accuracy_high)  # no spread seen is not none
    assert found.p == pytest.approx(2 / math.factorial(6))
    assert found.weakest == pytest.approx(-1)


def test_the_wrong_way_keeps_its_square():
    found = agree(
        scores=[1, 2, 3, 4, 5, 6],
        human=[1, 2, 3, 4, 5, 6],
        ranks=[1, 2, 3, 4, 5, 6],
        human_ranks=[6, 5, 4, 3, 2, 1],
        higher=False,
    )
    assert not found.right_way
    assert found.rho_squared == pytest.approx(1)
    assert found.accuracy == 0


def test_exact_p_is_scipys():
    x, y = np.random.default_rng(5).normal(size=(2, 5))
    reference = pearsonr(x, y, method=PermutationMethod(n_resamples=math.inf)).pvalue
    # scipy doubles the smaller tail, this counts both; they agree to a few orders out of n!
    assert permutation_p(x=x, y=y) == pytest.approx(reference, abs=0.06)


def test_exact_p_by_hand():
    # the orders of 1, 2, 4 against 0, 0, 1 with |r| at least that of (1, 2, 4): the 4 last, in 2 of 6 orders
    assert permutation_p(x=[1, 2, 4], y=[0, 0, 1]) == pytest.approx(2 / 6)


def test_weakest_names_what_hangs_on_one_generator():
    found = agree(
        scores=[0, 1, 0, 1, 0, 9],
        human=[0, 0, 1, 1, 0.5, 9],
        ranks=[4, 2, 4, 2, 4, 1],
        human_ranks=[5, 5, 2, 2, 4, 1],
        higher=True,
    )
    assert found.r > 0.95
    assert found.weakest < 0.2


def test_bad_input():
    given = {"scores": [1, 2, 3], "human": [1, 2, 3], "human_ranks": [3, 2, 1], "higher": True}
    with pytest.raises(Undefined):
        agree(**given | {"ranks": [1, 2, 3], "scores": [1, 1, 1]})


def made(*, p: float, right: bool = True, generators: int = 10) -> Agreement:
    return Agreement(
        r=0.5,
        right_way=right,
        rho_squared=0.25,
        accuracy=0.7,
        accuracy_low=0.5,
        accuracy_high=0.9,
        p=p,
        weakest=0.4,
        generators=generators,
    )


def test_verdicts_are_holms_over_the_metrics_of_the_set():
    found = [made(p=0.001), made(p=0.02, right=False), made(p=0.03)]
    assert verdicts(found) == (FOLLOWS, AGAINST, FOLLOWS)
    assert verdicts([*found, made(p=0.9)]) == (FOLLOWS, UNPROVEN, UNPROVEN, UNPROVEN)
    assert verdicts([made(p=0.04)]) == (FOLLOWS,)


def test_few_generators_never_get_a_verdict():
    assert verdicts([made(p=0.0, generators=5), made(p=0.9, generators=4)]) == (TOO_FEW, TOO_FEW)
    assert verdicts([made(p=0.0, generators=6)]) == (FOLLOWS,)
