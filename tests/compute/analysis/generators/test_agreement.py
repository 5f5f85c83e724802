"""Agreement of metrics with people: references of scipy, perfect and worst, few generators, the paper's tables."""

import math

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from compute.analysis.generators.agreement import (
    NOT_SIGNIFICANT,
    REVERSED,
    SIGNIFICANT,
    TOO_FEW,
    Agreement,
    Estimate,
    agree,
    verdicts,
)
from compute.types import Undefined


def test_every_figure_has_an_independent_reference():
    rng = np.random.default_rng(0)
    human, scores = rng.normal(size=9), rng.normal(size=9)
    result = agree(scores=scores, human=human, higher=False)
    reference = pearsonr(scores, human)
    interval = reference.confidence_interval(0.95)
    assert result.pearson.value == pytest.approx(reference.statistic)
    assert (result.pearson.low, result.pearson.high) == pytest.approx(tuple(interval))
    rho = spearmanr(scores, human).statistic
    ends = np.tanh(np.arctanh(rho) + 1.959964 * np.sqrt((1 + rho**2 / 2) / 6) * np.array([0, -1, 1]))  # Bonett, Wright
    assert (result.spearman.value, result.spearman.low, result.spearman.high) == pytest.approx(ends)
    assert result.rho_squared.value == pytest.approx(reference.statistic**2)
    assert result.right_way == (reference.statistic < 0)
    pairs = [(i, j) for i in range(9) for j in range(i)]
    concordant = np.mean([(scores[i] - scores[j]) * (human[i] - human[j]) < 0 for i, j in pairs])
    assert result.accuracy.value == pytest.approx(concordant)
    for estimate in (result.accuracy, result.rho_squared):
        assert estimate.low <= estimate.value <= estimate.high and not estimate.reason


def test_few_generators_have_no_interval_but_a_reason():
    three = agree(scores=[1, 2, 4], human=[1, 3, 2], higher=True)
    assert "4 generators" in three.pearson.reason and math.isnan(three.pearson.low)
    perfect = agree(scores=[1, 2, 3, 4, 5, 6], human=[1, 2, 3, 4, 5, 7], higher=True)
    assert perfect.spearman.value == pytest.approx(1) and "shows no spread" in perfect.spearman.reason
    with pytest.raises(Undefined, match="no correlation"):
        agree(scores=[1, 1, 1], human=[1, 2, 3], higher=True)
    with pytest.raises(Undefined, match="three generators"):
        agree(scores=[1, 2], human=[1, 2], higher=True)


def test_perfect_agreement_and_the_wrong_way():
    order = [1, 2, 3, 4, 5, 6]
    distance = agree(scores=order, human=[60, 50, 40, 30, 20, 10], higher=False)
    assert distance.pearson.value == pytest.approx(-1) and distance.right_way
    assert distance.accuracy.value == 1 and math.isnan(distance.accuracy.low)  # no spread seen
    assert distance.p == pytest.approx(2 / math.factorial(6)) and distance.weakest == pytest.approx(-1)
    wrong = agree(scores=order, human=order, ranks=order, human_ranks=order[::-1], higher=False)
    assert not wrong.right_way and wrong.rho_squared.value == pytest.approx(1)
    assert wrong.accuracy.value == 0


def test_weakest_names_what_hangs_on_one_generator():
    found = agree(
        scores=[0, 1, 0, 1, 0, 9],
        human=[0, 0, 1, 1, 0.5, 9],
        ranks=[4, 2, 4, 2, 4, 1],
        human_ranks=[5, 5, 2, 2, 4, 1],
        higher=True,
    )
    assert found.pearson.value > 0.95
    assert found.weakest < 0.2


def made(*, p, right=True, generators=10):
    values = dict.fromkeys(("pearson", "rho_squared", "spearman", "accuracy"), Estimate(value=0.5))
    return Agreement(**values, right_way=right, p=p, weakest=0.4, generators=generators)


def test_verdicts_are_holms_over_the_metrics_of_the_set():
    found = [made(p=0.001), made(p=0.02, right=False), made(p=0.03)]
    assert verdicts(found) == (SIGNIFICANT, REVERSED, SIGNIFICANT)
    assert verdicts([*found, made(p=0.9)]) == (SIGNIFICANT, NOT_SIGNIFICANT, NOT_SIGNIFICANT, NOT_SIGNIFICANT)
    assert verdicts([made(p=0.04)]) == (SIGNIFICANT,)
    few = [made(p=0.0, generators=5), made(p=0.9, generators=4)]
    assert verdicts(few) == (TOO_FEW, TOO_FEW) and verdicts([made(p=0.0, generators=6)]) == (SIGNIFICANT,)
