"""Which prompts separate two generators: directions, shares of the difference, and what chance alone gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import ttest_rel

from compute.analysis.generators.prompt_differences import prompt_differences
from compute.types import Undefined


def test_prompts_go_both_ways_and_add_up_to_the_mean() -> None:
    found = prompt_differences(first=[3.0, 0.0, 1.0, 5.0], second=[1.0, 1.0, 1.0, 1.0], higher=True)
    assert found.difference.tolist() == [2.0, -1.0, 0.0, 4.0]
    assert found.first(9).tolist() == [3, 0] and found.second(9).tolist() == [1]
    assert found.first(1).tolist() == [3]
    assert found.share(found.first(1)) == pytest.approx(4 / 6)
    assert found.share(found.second(9)) == 1.0 and found.share(np.zeros(0, int)) == 0.0
    assert found.total(first=True) - found.total(first=False) == pytest.approx(found.mean) == 1.25
    other = prompt_differences(first=[3.0, 0.0, 1.0, 5.0], second=[1.0, 1.0, 1.0, 1.0], higher=False)
    assert other.difference.tolist() == (-found.difference).tolist()


def test_the_interval_of_the_mean_is_the_paired_t_tests() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 50))
    found = prompt_differences(first=first, second=second, higher=True)
    expected = ttest_rel(first, second).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_most_extreme_of_normal_draws_lies_where_chance_puts_it() -> None:
    n = 256
    rng = np.random.default_rng(1)
    extremes = [
        prompt_differences(first=rng.normal(size=n), second=np.zeros(n), higher=True).extreme for _ in range(400)
    ]
    found = prompt_differences(first=rng.normal(size=n), second=np.zeros(n), higher=True)
    assert found.by_chance == pytest.approx(np.mean(extremes), rel=0.05)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(Undefined, match="2 prompts"):
        prompt_differences(first=[1.0, 2.0], second=[1.0, 2.0], higher=True)


def test_images_of_one_prompt_are_not_independent() -> None:
    """Twenty images of each of twelve prompts: the interval is that of twelve means, not of 240 values."""
    rng = np.random.default_rng(4)
    prompts = np.repeat([f"prompt {at}" for at in range(12)], 20)
    first = np.repeat(rng.normal(0.3, 1, 12), 20) + rng.normal(0, 0.1, 240)
    found = prompt_differences(first=first, second=np.zeros(240), higher=True, prompts=prompts.tolist())
    means = first.reshape(12, 20).mean(axis=1)
    expected = stats.t.interval(0.95, 11, loc=means.mean(), scale=stats.sem(means))
    assert (found.low, found.high) == pytest.approx(expected) and found.low < 0 < found.high
    alone = prompt_differences(first=first, second=np.zeros(240), higher=True)
    assert alone.high - alone.low < (found.high - found.low) / 2
    with pytest.raises(Undefined, match="1 prompts are too few"):
        prompt_differences(first=[1, 2, 3], second=[0, 0, 0], higher=True, prompts=["a"] * 3)
