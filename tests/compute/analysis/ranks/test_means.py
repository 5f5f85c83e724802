"""Means and their variances against closed forms, a linear model, scipy's t tests, and the reasons for none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from compute.analysis.ranks import variance
from compute.analysis.ranks.means import adjusted_mean, anchor, binomial_stderr, rank
from compute.types import BadInput
from tests.compute.analysis.tables import ranked, table

NAN = np.nan


def test_binomial_stderr_closed_form_and_ends():
    assert_allclose(binomial_stderr(value=[0.5, 0.2, 0.0, 1.0], n=[100, 25, 10, 10]), [0.05, 0.08, 0, 0])
    assert np.isnan(binomial_stderr(value=[NAN, 0.5], n=[10, 0])).all()
    with pytest.raises(BadInput, match="100"):
        binomial_stderr(value=85.1, n=100)


def test_unlike_directions_and_scales_are_refused_unless_weighted_out():
    scores = [[0.2, 7.0], [0.3, 9.0]]
    with pytest.raises(BadInput, match="direction"):
        ranked(scores, [0, 1], higher=[True, False])
    with pytest.raises(BadInput, match="different units"):
        ranked(scores, [0, 1], scales=["share", "elo"])
    only = ranked(scores, [0, 1], higher=[True, False], weights=[0, 1])
    assert_allclose(only.mean, [7, 9])
    assert not only.higher_is_better
    mixed = ranked(np.hstack([scores, [[1.0], [1.0]]]), [0, 0, 1], higher=[True, False, True], weights=[0, 1])
    assert np.isnan(mixed.category_means[:, 0]).all()


def test_rank_shares_the_smaller_rank_and_skips_nan():
    assert_array_equal(rank([3, 2, 2, 1, NAN]), [1, 2, 2, 4, -1])
    assert_array_equal(rank([3, 2, 2, 1, NAN], higher=False), [4, 2, 2, 1, -1])
    assert_array_equal(rank([0.1 + 0.2, 0.3, 0.29]), [1, 1, 3])
    assert_array_equal(rank([NAN]), [-1])


@pytest.mark.parametrize(
    "scores, categories, means, counted, expected, stands_in",
    [
        ([0.2, 0.4, NAN, 0.9], [0, 0, 0, 1], [0.5, NAN], [True] * 4, [0.4, 0.6, 0.5, 0.9], [True, False]),
        ([NAN, NAN], [0, 0], [0.3], [True, True], [0.3, 0.3], [True]),
        ([0.1, 0.2], [0, 0], [0.9], [True, True], [0.1, 0.2], [False]),
        ([0.1, NAN], [0, 0], [0.9], [True, False], [0.1, NAN], [False]),
    ],
    ids=["the spread of the rest is kept", "no score", "a whole category", "a part that counts is there"],
)
def test_a_printed_mean_stands_for_missing_scores(scores, categories, means, counted, expected, stands_in):
    out, found = anchor(scores=[scores], categories=categories, means=[means], counted=counted)
    assert_allclose(out, [expected])
    assert found.tolist() == [stands_in]


@pytest.mark.parametrize("aggregate", ["category-mean", "task-mean"])
def test_a_mean_as_if_every_task_had_a_score_is_that_of_a_linear_model(aggregate):
    """Least squares with a column for every row and task of a block, and weights."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(7, 8)) + 20 * rng.random(8)
    scores[0, 1] = scores[0, 6] = scores[3, 6] = NAN
    codes, weights = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([1, 2, 1, 1, 1, 3, 1, 1.0])
    parts = table(scores, codes, aggregate=aggregate, task_weights=weights).blocks
    expected = np.zeros(7)
    for part in parts:
        x, w = scores[:, part.columns], part.task_weights
        row, task = np.nonzero(~np.isnan(x))
        design = np.hstack([row[:, None] == np.arange(7), task[:, None] == np.arange(x.shape[1])]).astype(float)
        root = np.sqrt(w[task])
        found = np.linalg.lstsq(design * root[:, None], x[row, task] * root, rcond=None)[0]
        expected += part.share * (found[:7] + (found[7:] * w).sum() / w.sum())
    assert_allclose(adjusted_mean(scores, parts), expected)
    assert_allclose(
        adjusted_mean(scores, parts)[1], ranked(scores, codes, task_weights=weights, aggregate=aggregate).mean[1]
    )


# ---- variances


def parts_of(scores, codes, *, stderr=None, printed=None, clusters=None, **rule):
    scores, codes = np.asarray(scores, float), np.asarray(codes)
    shape = (len(scores), codes.max() + 1)
    return variance.by_category(
        scores=scores,
        stderr=np.full(scores.shape, NAN) if stderr is None else np.asarray(stderr, float),
        categories=codes,
        parts=table(scores, codes, **rule).blocks,
        printed=np.zeros(shape, bool) if printed is None else np.asarray(printed),
        clusters=clusters,
    )


def satterthwaite(each, count):
    """Degrees of freedom of a sum of variances, each at its upper limit of 80 percent."""
    upper = [v * (n - 1) / chi2.ppf(0.2, n - 1) for v, n in zip(each, count, strict=True)]
    return sum(upper) ** 2 / sum(v**2 / (n - 1) for v, n in zip(upper, count, strict=True))


@pytest.mark.parametrize("aggregate", ["category-mean", "task-mean"])
def test_weights_and_gaps_against_a_plain_loop(aggregate):
    rng = np.random.default_rng(3)
    codes = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
    scores = rng.random((6, 9))
    scores[1, 0] = scores[4, 5] = NAN
    weights, task_weights = np.array([1.0, 2.0, 0.5]), np.array([1, 2, 1, 1, 1, 3, 0, 1, 1.0])
    rule = {"aggregate": aggregate, "weights": weights, "task_weights": task_weights}
    own, dof = variance.of_means(parts_of(scores, codes, **rule))
    for row in range(6):
        each, count = [], []
        scored = ~np.isnan(scores[row]) & (task_weights > 0)
        for category in range(3):
            inside = scored & (codes == category)
            if aggregate == "category-mean":
                share = task_weights[inside] / task_weights[inside].sum() * weights[category] / weights.sum()
            else:
                share = (task_weights * weights[codes])[inside] / (task_weights * weights[codes])[scored].sum()
            each.append((share**2).sum() * scores[row, inside].var(ddof=1))
            count.append(inside.sum())
        assert_allclose(own[row], sum(each))
        assert_allclose(dof[row], satterthwaite(each, count))


def test_what_is_not_known_is_said_with_its_reason():
    scores = [[0.1, 0.2, 0.5, 0.7], [0.1, NAN, 0.5, 0.7], [0.3, 0.2, 0.5, 0.7], [0.3, 0.2, 0.5, 0.7]]
    stderr = [[NAN] * 3 + [0.1]] * 3 + [[NAN] * 3 + [0.0]]
    printed = np.zeros((4, 3), bool)
    printed[2, 0] = True
    parts = parts_of(scores, [0, 0, 1, 2], stderr=stderr, printed=printed, weights=[1, 0, 1])
    assert variance.unknown_because(parts, names=("A", "B", "C")) == (
        "",
        "only one of the tasks of A has a score",
        "printed means are used for A, where some scores are missing",
        "one task stands for C, and the error of its score is not known",
    )
    own, dof = variance.of_means(parts)
    assert_array_equal(np.isnan(own), [False, True, True, True])
    assert_array_equal(np.isnan(dof), [False, True, True, True])
    assert_array_equal(variance.fewest_tasks(parts), [2, 1, 2, 2])


def test_clusters_of_several_sizes_are_the_jackknife_over_them():
    scores, clusters = np.random.default_rng(9).random((1, 6)), np.array([0, 0, 1, 1, 2, 3])
    own, dof = variance.of_means(parts_of(scores, [0] * 6, clusters=clusters))
    without = np.array([scores[0, clusters != cluster].mean() for cluster in range(4)])
    assert_allclose(own[0], 3 / 4 * ((scores.mean() - without) ** 2).sum())
    assert_allclose(dof[0], 10**2 / 34 - 1)
