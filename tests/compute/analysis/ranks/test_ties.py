import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, ttest_rel
from statsmodels.stats.multitest import multipletests

from compute.analysis.ranks.ties import paired_differences
from compute.analysis.ranks.uncertainty import letter, rank_with_uncertainty
from compute.analysis.significance import holm

NAN = np.nan


def profiles(levels, *, tasks=24, noise=0.03, seed=0):
    """Rows whose means are exactly `levels`, with independent deviations between tasks."""
    deviation = noise * np.random.default_rng(seed).normal(size=(len(levels), tasks))
    return np.asarray(levels)[:, None] + deviation - deviation.mean(axis=1, keepdims=True)


def test_holm_against_statsmodels():
    rng = np.random.default_rng(0)
    p = rng.random(rng.integers(1, 30)) ** rng.integers(1, 6)
    p[rng.random(len(p)) < 0.2] = p[0]
    assert_array_equal(holm(p, alpha=0.05), multipletests(p, alpha=0.05, method="holm")[0])


def test_holm_by_hand():
    assert_array_equal(holm([0.01, 0.04, 0.03, 0.005]), [True, False, False, True])
    assert_array_equal(holm([0.04, NAN]), [False, False])
    assert_array_equal(holm([]), [])


def test_letters_go_on_after_z():
    assert [letter(i) for i in (0, 25, 26, 51, 52, 701, 702)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    ]


def test_a_class_holds_no_pair_of_which_one_is_significantly_better():
    """The rule again over all pairs, on levels so near each other that a class's first is not its only judge."""
    for seed in range(8):
        scores = profiles(np.linspace(0.6, 0.5, 18), noise=0.06, seed=seed)
        result = rank_with_uncertainty(scores=scores, categories=np.repeat([0, 1, 2], 8))
        order = np.argsort(result.rank)
        letters = np.array(result.classes)[order]
        better = result.better[np.ix_(order, order)]
        starts = [0, *(at for at in range(1, 18) if letters[at] != letters[at - 1])]
        assert letters.tolist() == [letter(sum(at >= start for start in starts) - 1) for at in range(18)]
        for start, stop in zip(starts, [*starts[1:], 18], strict=True):
            assert not better[start:stop, start:stop].any()
            assert stop == 18 or better[start:stop, stop].any()


def test_equal_rows_tie_and_a_constant_lead_does_not():
    row = np.random.default_rng(4).random(12)
    scores = np.stack([row + 0.05, row, row])
    assert rank_with_uncertainty(scores=scores, categories=np.zeros(12, int)).classes == ("A", "B", "B")


def test_unranked_and_unmeasurable_models_have_no_class():
    gap = profiles([0.9, 0.5, 0.1])
    gap[1] = NAN
    assert rank_with_uncertainty(scores=gap, categories=np.zeros(24, int)).classes == ("A", "", "B")
    assert rank_with_uncertainty(scores=[[0.9], [0.1]], categories=[0]).classes == ("", "")
    partly = rank_with_uncertainty(scores=[[0.9], [0.1], [0.05]], categories=[0], stderr=[[0.01], [NAN], [NAN]])
    assert partly.classes == ("A", "", "")  # of the last two nothing is known


def test_paired_differences_of_tasks_have_their_closed_form():
    found = paired_differences(
        a=[0.9, 0.5, NAN, 0.4],
        b=[0.8, 0.6, 0.1, 0.4],
        stderr_a=[0.03, NAN, 0.1, 0.0],
        stderr_b=[0.04, 0.01, 0.1, 0.0],
        categories=[0, 0, 1, 1],
    )
    assert_allclose(found.difference, [0.1, -0.1, NAN, 0.0])
    half = norm.ppf(0.975) * 0.05
    assert_allclose(found.low, [0.1 - half, NAN, NAN, 0])
    assert_allclose(found.high, [0.1 + half, NAN, NAN, 0])
    assert_allclose(found.mean, 0.0, atol=1e-12)


def test_paired_mean_against_scipys_paired_t_test():
    rng = np.random.default_rng(6)
    a = rng.random(60)
    b = a - 0.02 + 0.05 * rng.normal(size=60)
    found = paired_differences(a=a, b=b, categories=np.zeros(60, int))
    theirs = ttest_rel(a, b)
    assert_allclose(found.mean, (a - b).mean())
    assert_allclose([found.mean_low, found.mean_high], theirs.confidence_interval())
    assert_allclose(found.p, theirs.pvalue)
    assert (found.few, found.fixed, found.unknown) == (False, (), "")
    swapped = paired_differences(a=b, b=a, categories=np.zeros(60, int))
    assert_allclose([swapped.mean, swapped.p], [-found.mean, found.p])


def test_pairs_and_ranking_make_the_same_test():
    scores, codes = profiles([0.6, 0.55, 0.5], noise=0.06, seed=7), np.repeat([0, 1, 2], 8)
    result = rank_with_uncertainty(scores=scores, categories=codes)
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert_allclose(paired_differences(a=scores[a], b=scores[b], categories=codes).p, 2 * result.p[a, b])


def test_paired_mean_leaves_out_categories_that_share_nothing():
    found = paired_differences(a=[0.9, 0.7, NAN], b=[0.8, 0.5, 0.3], categories=[0, 0, 1], weights=[1, 1])
    assert_allclose(found.mean, 0.15)
    nothing = paired_differences(a=[0.9, NAN], b=[NAN, 0.5], categories=[0, 1])
    assert np.isnan(nothing.mean) and nothing.reason == "no shared task"


def test_paired_mean_of_unlike_tasks_is_undefined_and_says_why():
    found = paired_differences(a=[0.9, 7.0], b=[0.8, 9.0], categories=[0, 1], higher=[True, False])
    assert_allclose(found.difference, [0.1, -2.0])
    assert np.isnan(found.mean) and np.isnan(found.p) and "direction" in found.reason


def test_paired_mean_of_unknown_noise_has_no_p_and_says_why():
    rule = {"a": [0.9, 0.7], "b": [0.8, 0.5], "categories": [0, 1], "names": ("A", "B")}
    found = paired_differences(**rule)
    assert_allclose(found.mean, 0.15)
    assert np.isnan([found.p, found.mean_low, found.mean_high]).all()
    assert "one task" in found.unknown
    assert found.fixed == (0, 1) and not found.few
    known = paired_differences(stderr_a=[0.03, 0.03], stderr_b=[0.04, 0.04], **rule)
    half = norm.ppf(0.975) * np.hypot(0.05, 0.05) / 2
    assert_allclose([known.mean_low, known.mean_high], [0.15 - half, 0.15 + half])
    assert_allclose(known.p, 2 * norm.sf(0.15 / (half / norm.ppf(0.975))))
