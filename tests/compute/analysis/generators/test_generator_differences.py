"""Significant differences of generators: closed forms, pairing, ties, and how often it claims what is not so."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from compute.analysis.generators.generator_differences import generator_differences


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
