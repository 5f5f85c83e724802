"""References: closed forms, scikit-learn's normalized_mutual_info_score, SciPy's entropy, plain loops."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.metrics import normalized_mutual_info_score

from compute.metrics import judge
from compute.metrics import judge_diagnostics as diagnostics
from compute.types import BadInput, Undefined
from tests.compute.metrics import judges

SOURCES = 12
TRUTH = judges.expected("sensitive", SOURCES)
NAN = float("nan")


def scores(forward, reverse):
    """The three metrics of one condition, of a judge of TRUTH."""
    pairs = judges.frame(expected=TRUTH, forward=forward, reverse=reverse)
    orders = {"forward": pairs["forward"], "reverse": pairs["reverse"], "sources": pairs["source"]}
    return {
        "mmscore": judge.mmscore(expected=TRUTH, **orders),
        "relax_sym": judge.relax_sym(**orders),
        "smoothness": judge.smoothness(**orders),
    }


def values(figures):
    return [figure.value for figure in figures.values()]


def test_a_perfect_judge():
    figures = scores(TRUTH, TRUTH)
    assert values(figures) == pytest.approx([1.0, 1.0, np.log(3)])
    assert figures["mmscore"].value == 1.0 and figures["mmscore"].n == 3 * SOURCES
    renamed = np.select([TRUTH == 10, TRUTH == 8], [3, 9], 5)  # labels, not distances
    assert values(scores(renamed, renamed)) == values(figures)


def test_an_order_flipping_judge():
    """It says 10 of the first order and 1 of the second, whatever the pair: two scores equally often."""
    assert values(scores(10, 1)) == [0.0, 0.0, pytest.approx(np.log(2))]
    orders = judges.frame(expected=TRUTH, forward=10, reverse=1)
    assert judge.relax_sym(orders["forward"], orders["reverse"], epsilon=9).value == 1.0


def test_an_all_invalid_judge():
    """Invalid is a label: MMScore is 0, not missing. No order is equal. No score, so no entropy."""
    nothing = np.full(len(TRUTH), NAN)
    assert judge.mmscore(TRUTH, nothing, nothing).value == 0.0
    assert judge.relax_sym(nothing, nothing, epsilon=9).value == 0.0
    with pytest.raises(Undefined, match="No answer is a valid score"):
        judge.smoothness(nothing, nothing)
    whole = {condition: judges.frame(expected=TRUTH, forward=NAN, reverse=NAN) for condition in judge.CONDITIONS}
    with pytest.raises(Undefined, match="0 under the sensitive condition"):
        judge.controllability(whole)


def test_truth_of_one_label_and_answers_of_another_have_no_mmscore():
    with pytest.raises(Undefined, match="mutual information"):
        judge.mmscore([10, 10], [4, 4], [4, 4])


@pytest.mark.parametrize("seed", range(3))
def test_independent_implementations_give_the_same(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    truth = rng.choice([10, 8, 1], n)
    forward, reverse = (
        np.where(rng.random(n) < rng.random(), truth, rng.integers(1, 11, n)).astype(float) for _ in "fr"
    )
    forward[rng.random(n) < 0.1 * (seed % 3)] = NAN
    answers = np.concatenate([forward, reverse])
    labels = np.nan_to_num(answers, nan=-1).astype(int)
    both = np.concatenate([truth, truth])
    value = judge.mmscore(truth, forward, reverse).value
    assert value == pytest.approx(normalized_mutual_info_score(both, labels), abs=1e-12)
    counts = np.bincount(answers[~np.isnan(answers)].astype(int))
    assert judge.smoothness(forward, reverse).value == pytest.approx(entropy(counts), abs=1e-12)
    for epsilon, figure in enumerate(judge.relax_sym_curve(forward, reverse)):
        alike = [abs(a - b) <= epsilon for a, b in zip(forward, reverse, strict=True)]
        assert figure.value == pytest.approx(np.mean(alike), abs=1e-12)


def test_an_epsilon_lies_between_whole_ones_and_is_a_number():
    orders = [4, 7, 2], [5, 9, 2]
    assert judge.relax_sym(*orders, epsilon=1.5).value == judge.relax_sym(*orders, epsilon=1).value == 2 / 3
    for epsilon in (-1, NAN):
        with pytest.raises(BadInput, match="epsilon"):
            judge.relax_sym(*orders, epsilon=epsilon)


@pytest.mark.parametrize("wrong", [0, 11, 7.5, -1, np.inf])
def test_scores_off_the_scale_are_refused(wrong):
    with pytest.raises(BadInput, match="whole scores from 1 to 10"):
        judge.relax_sym([wrong, 3], [3, 3])
    with pytest.raises(BadInput, match="expected"):
        judge.mmscore([wrong, 3], [3, 3], [3, 3])


def test_lists_of_unlike_length_are_refused():
    with pytest.raises(BadInput, match="reverse"):
        judge.relax_sym([1, 2], [3])
    with pytest.raises(BadInput, match="sources"):
        judge.relax_sym([1, 2], [3, 3], sources=["a"])
    with pytest.raises(BadInput, match="'expected_score'"):
        judge.controllability({condition: pd.DataFrame({"forward": [1]}) for condition in judge.CONDITIONS})


# ---- intervals


def test_the_spread_is_that_of_scikit_learn_over_draws_of_sources():
    pairs = judges.noisy(np.random.default_rng(3), sources=80)["sensitive"]
    rng = np.random.default_rng(4)
    answers = pairs[["forward", "reverse"]].fillna(-1).to_numpy().reshape(80, 6)
    truth = np.repeat(TRUTH[:3][None], 80, axis=0).repeat(2, axis=1)
    drawn = [
        normalized_mutual_info_score(truth[rows].ravel(), answers[rows].ravel())
        for rows in rng.integers(0, 80, (300, 80))
    ]
    figure = judge.mmscore(pairs["expected_score"], pairs["forward"], pairs["reverse"], pairs["source"])
    assert figure.stderr == pytest.approx(np.std(drawn), rel=0.15)


def test_symmetric_in_every_pair_is_not_symmetric_for_sure():
    figure = scores(TRUTH, TRUTH)["relax_sym"]
    assert figure.value == 1.0 and figure.high == 1.0 and 0.6 < figure.low < 0.8
    assert scores(10, 1)["relax_sym"].low == 0.0
    assert figure.stderr is None and scores(10, 1)["relax_sym"].stderr is None


def test_what_no_draw_shows_has_no_interval():
    for figure in (scores(TRUTH, TRUTH)["mmscore"], scores(5, 5)["smoothness"]):
        assert figure.low is None and figure.high is None and figure.stderr is None
    single = judge.mmscore([10, 8, 1], [10, 8, 1], [9, 8, 1], sources=["a"] * 3)
    assert single.stderr is None and single.low is None


# ---- both conditions


def test_controllability_by_hand():
    assert judge.evenness(sensitive=[0.25, 0.7, 0.0, NAN], invariant=[1.0, 0.7, 0.4, 0.4]) == pytest.approx(
        [-0.5, 1.0, NAN, NAN], nan_ok=True
    )
    evidence = judges.noisy(np.random.default_rng(6), sources=100)
    a, b = (
        judge.mmscore(*(evidence[condition][column] for column in judge.COLUMNS)).value
        for condition in judge.CONDITIONS
    )
    figure = judge.controllability(evidence)
    assert figure.value == pytest.approx(1 - abs(a - b) / np.sqrt(a * b)) and figure.n == 600
    assert figure.low < figure.value <= figure.high <= 1
    with pytest.raises(Undefined, match="invariant condition"):
        judge.controllability({"sensitive": evidence["sensitive"]})
    with pytest.raises(Undefined, match="invariant condition"):
        judge.controllability(evidence | {"invariant": evidence["invariant"].head(0)})


def test_the_conditions_of_a_task_share_their_sources():
    """Drawn apart, the interval would be too narrow."""
    evidence = judges.noisy(np.random.default_rng(7), sources=60, means=judges.POOR)
    moved = {condition: pairs.assign(source=pairs["source"] + condition) for condition, pairs in evidence.items()}
    together, apart = (judge.mean(judge.SMOOTHNESS, each) for each in (evidence, moved))
    assert together.value == apart.value
    assert together.stderr > 1.1 * apart.stderr


# ---- diagnostics


def test_position_bias_by_hand():
    figure = diagnostics.position_bias([5, 9, NAN, 2], [3, 9, 4, NAN])
    assert figure.value == 1.0 and figure.n == 2
    assert diagnostics.position_bias([10, 1], [1, 10]).value == 0  # leans in every pair, and not on average
    with pytest.raises(Undefined, match="two valid scores"):
        diagnostics.position_bias([NAN, 3], [4, NAN])


@pytest.mark.parametrize("lean", [0.0, 0.8])
def test_the_interval_of_a_bias_has_the_bias_inside(lean):
    pairs = judges.noisy(np.random.default_rng(0), sources=300, lean=lean, means=(6.0, 5.0, 4.0))["invariant"]
    figure = diagnostics.position_bias(pairs["forward"], pairs["reverse"], pairs["source"])
    assert figure.low < figure.value < figure.high and (figure.low > 0) == (lean > 0)
    gaps = (pairs["forward"] - pairs["reverse"]).groupby(pairs["source"]).agg(["sum", "count"])
    residual = gaps["sum"] - figure.value * gaps["count"]  # the linearised error of a ratio of sums
    assert figure.stderr == pytest.approx(np.sqrt((residual**2).sum()) / gaps["count"].sum(), rel=0.06)


def test_problem_rates():
    rates = diagnostics.problem_rates(
        ["", "refused", "", ""], ["missing", "refused", "", ""], ["a", "a", "b", "b"], problems=("truncated",)
    )
    assert {name: rate.value for name, rate in rates.items()} == {
        "invalid": 3 / 8,
        "truncated": 0.0,
        "missing": 1 / 8,
        "refused": 2 / 8,
    }
    never = rates["truncated"]
    assert never.n == 8 and never.low == 0.0 and never.high > 0.5  # two sources say little
    with pytest.raises(Undefined, match="no answers"):
        diagnostics.problem_rates([], [])
