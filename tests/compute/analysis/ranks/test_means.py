import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from compute.analysis.ranks.means import adjusted_mean, anchor, binomial_stderr, rank
from compute.types import BadInput
from tests.compute.analysis.tables import ranked, table

NAN = np.nan


def test_binomial_stderr_closed_form_and_ends():
    assert_allclose(binomial_stderr(value=[0.5, 0.2, 0.0, 1.0], n=[100, 25, 10, 10]), [0.05, 0.08, 0, 0])
    assert np.isnan(binomial_stderr(value=[NAN, 0.5], n=[10, 0])).all()
    with pytest.raises(BadInput, match="100"):
        binomial_stderr(value=85.1, n=100)


def test_category_mean_and_task_mean_of_one_table():
    scores = [[0.2, 0.4, 0.9], [0.6, 0.6, 0.6]]
    by_category = ranked(scores, [0, 0, 1])
    assert_allclose(by_category.category_means, [[0.3, 0.9], [0.6, 0.6]])
    assert_allclose(by_category.mean, [0.6, 0.6])
    assert_allclose(ranked(scores, [0, 0, 1], aggregate="task-mean").mean, [0.5, 0.6])
    weighted = ranked(scores, [0, 0, 1], weights=[3, 1])
    assert_allclose(weighted.mean, [(3 * 0.3 + 0.9) / 4, 0.6])
    by_task = ranked(scores, [0, 0, 1], weights=[3, 1], aggregate="task-mean")
    assert_allclose(by_task.mean, [(3 * 0.2 + 3 * 0.4 + 0.9) / 7, 0.6])


def test_a_category_without_a_score_gives_no_mean():
    scores = [[0.1, 0.2, 0.3], [0.1, NAN, 0.3], [0.1, 0.2, NAN], [NAN, NAN, NAN]]
    loose = ranked(scores, [0, 0, 1])
    assert_array_equal(np.isnan(loose.mean), [False, False, True, True])
    ignored = ranked(scores, [0, 0, 1], weights=[1, 0])
    assert_allclose(ignored.mean[:3], [0.15, 0.1, 0.15])
    assert_allclose(ignored.category_means[0], [0.15, 0.3])


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


@pytest.mark.parametrize("wrong", [{"weights": [0, 0]}, {"aggregate": "mean"}])
def test_bad_arguments_are_refused(wrong):
    with pytest.raises(BadInput):
        ranked([[1.0, 2.0]], [0, 1], **wrong)


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
