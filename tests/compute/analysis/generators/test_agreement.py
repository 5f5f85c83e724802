"""Generators before people: agreement, backbones, strengths, differences.

References: scipy, scikit-learn's logistic regression, closed forms, the paper's tables.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr, ttest_rel
from sklearn.linear_model import LogisticRegression

from compute.analysis.generators.agreement import (
    agree,
)
from compute.analysis.generators.backbone_effects import DRAWS, complete, effects, people_agreement
from compute.analysis.generators.bradley_terry import ELO, fit
from compute.analysis.generators.generator_differences import generator_differences
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


# ---- which side's backbones carry an agreement: shares, gaps with intervals, and what cannot be said


CELLS = pd.DataFrame([[0.9, 0.9], [0.5, 0.5], [0.1, 0.1]], ["a", "b", "c"], ["x", "y"])


def test_cells_that_are_all_alike_have_no_shares():
    found = effects(CELLS * 0 + 0.7, draws=np.full((50, 3, 2), 0.7))
    assert found.image.share is found.text.share is found.rest is None
    assert not found.mean.known and not found.image.apart


def test_gaps_are_proven_by_draws_and_hold_for_all_pairs_at_once():
    rng = np.random.default_rng(0)
    sure = effects(CELLS, draws=CELLS.to_numpy() + 0.02 * rng.normal(size=(DRAWS, 3, 2)))
    assert sure.image.apart and not sure.text.apart
    low, high = sure.image.gap.low, sure.image.gap.high
    single = 1.96 * 0.02  # of a difference of two means over two cells, each of error 0.02 / sqrt(2)
    assert low < 0.8 - 1.1 * single and high > 0.8 + 1.1 * single
    # Of 20 backbones that are all alike, the largest difference is proven in at most about 5% of samples.
    proven = 0
    for _ in range(100):
        alike = 0.02 * rng.normal(size=(20, 2))
        drawn = alike + 0.02 * rng.normal(size=(400, 20, 2))
        proven += effects(pd.DataFrame(alike), draws=drawn).image.apart
    assert proven <= 10


def test_agreement_with_people_has_its_sign_turned_and_draws_from_six_generators_on():
    rng = np.random.default_rng(0)
    human = rng.random(9)
    distances = np.column_stack([-human, human, rng.random(9)])
    values, draws = people_agreement(distances=distances, human=human)
    assert values == pytest.approx([1, -1, -spearmanr(distances[:, 2], human).statistic])
    assert draws is not None and draws.shape == (DRAWS, 3)
    assert people_agreement(distances=distances[:5], human=human[:5])[1] is None
    with pytest.raises(Undefined):
        people_agreement(distances=np.ones((9, 1)), human=human)


def test_backbones_that_miss_cells_are_left_out_the_worst_first():
    cells = np.ones((4, 3))
    cells[1] = np.nan
    cells[0, 2] = np.nan
    rows, columns = complete(cells)
    assert not np.isnan(cells[np.ix_(rows, columns)]).any()
    assert rows.sum() * columns.sum() >= 6
    assert all(part.all() for part in complete(np.ones((2, 2))))


# ---- Bradley-Terry strengths


def test_two_items_have_a_closed_form():
    values, low, high = fit([[0, 30], [10, 0]]).T
    assert values == pytest.approx([200 * math.log10(3), -200 * math.log10(3)])
    # The log-odds of the two has variance 1/30 + 1/10; each strength is half of it.
    assert high - low == pytest.approx(2 * 1.959964 * ELO * math.sqrt(1 / 30 + 1 / 10) / 2)


def test_it_is_the_logistic_regression_on_who_met_whom():
    wins = np.random.default_rng(3).integers(1, 30, (6, 6)) * (1 - np.eye(6))
    rows, won, weight = [], [], []
    for i in range(6):
        for j in range(6):
            if wins[i, j]:
                row = np.zeros(6)
                row[i], row[j] = 1, -1
                rows += [row, -row]
                won += [1, 0]
                weight += [wins[i, j], wins[i, j]]
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.array(rows)[:, 1:], won, sample_weight=np.array(weight) / 2)
    reference = np.append(0.0, model.coef_[0])
    assert fit(wins)[:, 0] / ELO == pytest.approx(reference - reference.mean(), abs=1e-4)


def test_what_has_no_finite_answer_is_refused_with_who():
    with pytest.raises(Undefined, match="a and the others"):
        fit([[0, 3, 2], [0, 0, 2], [0, 1, 0]], names=["a", "b", "c"])
    with pytest.raises(Undefined, match="item 0, item 1 and"):
        fit([[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


# ---- significant differences: closed forms, pairing, ties, and how often it claims what is not so


def means_without(scores):
    """(k, n) the mean of each row without each of its columns."""
    n = scores.shape[1]
    return (scores.sum(axis=1, keepdims=True) - scores) / (n - 1)


def test_of_means_with_a_block_a_prompt_it_is_the_paired_t_test():
    scores = np.random.default_rng(0).normal(size=(3, 40)) + [[0.0], [0.2], [0.9]]
    found = generator_differences(values=scores.mean(axis=1), left_out=means_without(scores), higher=True)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert found.p[one, other] == pytest.approx(ttest_rel(scores[one], scores[other]).pvalue)
    assert found.better[2, 0] and not found.better[0, 2]
    assert found.pairs == 3 and found.significant == found.better.sum()


def test_prompts_shared_by_generators_separate_what_their_intervals_do_not():
    rng = np.random.default_rng(2)
    prompt = rng.normal(size=60)
    scores = np.stack([prompt, prompt + 0.1 + 0.05 * rng.normal(size=60)])
    each = {"values": scores.mean(axis=1), "left_out": means_without(scores), "higher": False}
    found = generator_differences(**each)
    assert found.low[1] < found.high[0]  # the intervals overlap
    assert found.better.tolist() == [[False, True], [False, False]]
    assert (found.rank_low.tolist(), found.rank_high.tolist()) == ([1, 2], [1, 2])
    apart = generator_differences(**each, paired=False)
    assert apart.significant == 0
    assert (apart.rank_low.tolist(), apart.rank_high.tolist()) == ([1, 1], [2, 2])


def test_equal_and_unknown_generators_are_never_significantly_different():
    left_out = np.array([[1.0, 1.1, 0.9], [1.0, 1.1, 0.9], [np.nan] * 3, [5.0, 5.0, 5.0], [6.0, 6.0, 6.0]])
    found = generator_differences(values=[1.0, 1.0, 1.0, 5.0, 6.0], left_out=left_out, higher=True)
    assert found.p[0, 1] == 1.0
    assert np.isnan(found.p[2]).all() and np.isnan(found.low[2])
    assert np.isnan(found.p[3, 4])  # no prompt changes either value: there is no spread to judge by
    assert found.pairs == 5
    nothing = generator_differences(values=[np.nan, np.nan], left_out=np.full((2, 3), np.nan), higher=True)
    assert nothing.pairs == 0 and nothing.rank_low.tolist() == [0, 0]
