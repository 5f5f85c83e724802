"""Does a metric see a fault: constructed values whose answer is known, and rates of error by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from compute.analysis.generators.sensitivity import BLIND, MIXED, REWARDS, SEES, FaultRun, by_fault, sensitivity
from compute.metrics.distribution import intervals
from compute.types import BadInput

STRENGTHS = [0, 1, 2, 3, 4]
PROMPTS = 256
BLOCKS = intervals.share_out(PROMPTS)


def of_means(samples: np.ndarray, *, higher: bool = False, comparisons: int | None = None):
    """Sensitivity of the mean over prompts: samples (prompts, strengths)."""
    return sensitivity(
        strengths=STRENGTHS,
        values=samples.mean(axis=0),
        left_out=[samples[kept].mean(axis=0) for kept in BLOCKS.remaining],
        sizes=BLOCKS.sizes,
        higher_is_better=higher,
        comparisons=comparisons,
    )


def noise(seed: int, *, shared: float = 0.0) -> np.ndarray:
    """(prompts, strengths) of deviation 1; `shared` is the part that prompts have in common at all strengths."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(PROMPTS, len(STRENGTHS)))
    return np.sqrt(1 - shared) * own + np.sqrt(shared) * rng.normal(size=(PROMPTS, 1))


def test_a_distance_that_grows_sees_the_fault_from_its_first_strength():
    seen = of_means(noise(0) + np.array(STRENGTHS) * 1.0)
    assert (seen.verdict, seen.seen_from, seen.monotone) == (SEES, 1.0, True)
    assert seen.spearman == pytest.approx(1)
    assert seen.spearman_low == pytest.approx(1)
    assert seen.change[0] == seen.change_low[0] == seen.change_high[0] == 0
    assert all(low < value < high for low, value, high in zip(seen.low, seen.values, seen.high, strict=True))


def test_a_score_that_falls_sees_the_fault_and_one_that_rises_rewards_it():
    rising = noise(1) + np.array(STRENGTHS) * 1.0
    assert of_means(-rising, higher=True).verdict == SEES
    assert of_means(-rising, higher=True).spearman == pytest.approx(1)
    rewarded = of_means(rising, higher=True)
    assert (rewarded.verdict, rewarded.seen_from, rewarded.monotone) == (REWARDS, None, False)
    assert rewarded.spearman == pytest.approx(-1)


def test_only_strong_faults_may_be_seen():
    seen = of_means(noise(2) + np.array([0, 0, 0, 1.0, 2.0]))
    assert (seen.verdict, seen.seen_from) == (SEES, 3.0)


def test_a_value_that_never_changes_has_no_rank_correlation():
    """Fréchet distance on the same images in another order: equal but for rounding."""
    rng = np.random.default_rng(3)
    jitter = 1 + rng.normal(size=len(STRENGTHS)) * 1e-13
    left_out = 5 + rng.normal(size=(BLOCKS.count, 1)) * 0.1 + np.zeros((1, len(STRENGTHS)))
    blind = sensitivity(
        strengths=STRENGTHS,
        values=5 * jitter,
        left_out=left_out * jitter,
        sizes=BLOCKS.sizes,
        higher_is_better=False,
    )
    assert (blind.verdict, blind.spearman, blind.spearman_low, blind.seen_from) == (BLIND, None, None, None)
    assert set(blind.change) == {0.0}


def test_up_and_down_again_is_mixed():
    assert of_means(noise(4) + np.array([0, 2.0, 2.0, 0, -2.0])).verdict == MIXED
    assert of_means(noise(5) + np.array([0, 2.0, 2.0, 1.0, 0])).verdict == MIXED


def test_the_same_prompts_make_small_changes_visible():
    """A shift of 0.15 is lost in the noise of two independent means, and plain where prompts vary together."""
    shift = np.array([0, 0.15, 0.15, 0.15, 0.15])
    assert of_means(noise(6, shared=0.98) + shift).seen_from == 1.0
    assert of_means(noise(6) + shift * 0.3).verdict == BLIND


def test_chance_is_seldom_taken_for_a_fault():
    seeds = range(300)
    blind = sum(of_means(noise(seed, shared=0.5)).verdict == BLIND for seed in seeds)
    assert blind / len(seeds) > 0.92


def test_the_interval_of_the_rank_correlation_covers_the_value_and_shrinks():
    weak = of_means(noise(7) + np.array(STRENGTHS) * 0.04)
    strong = of_means(noise(7) + np.array(STRENGTHS) * 0.4)
    assert -1 <= weak.spearman_low <= weak.spearman <= weak.spearman_high <= 1
    assert weak.spearman_high - weak.spearman_low > strong.spearman_high - strong.spearman_low
    assert weak.spearman == pytest.approx(spearmanr(STRENGTHS, weak.values).statistic)


def test_more_comparisons_make_wider_intervals_and_fewer_verdicts():
    one, many = (of_means(noise(9), comparisons=count) for count in (4, 28))
    assert many.change_high[1] - many.change[1] > 1.2 * (one.change_high[1] - one.change[1])
    assert (many.low, many.high) == (one.low, one.high)


def runs_without_a_fault(seed: int, *, faults: int = 7) -> list[FaultRun]:
    """A clean generator and `faults` chains of four that are no different, of one metric: a mean over prompts."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=PROMPTS)
    made = []
    for fault, strength in [("clean", 0), *((f"f{at}", s) for at in range(faults) for s in STRENGTHS[1:])]:
        sample = shared + rng.normal(size=PROMPTS)
        left_out = [sample[kept].mean() for kept in BLOCKS.remaining]
        made.append(
            FaultRun(
                fault=fault,
                strength=strength,
                values={("fd", "tiny"): sample.mean()},
                details={"tiny": {"fd": {"left_out": left_out}}},
                blocks=tuple(BLOCKS.sizes.tolist()),
            )
        )
    return made


def test_all_faults_of_a_metric_share_the_error_rate():
    """Of 200 studies without any fault about 5% may see one; with each fault at 5% by itself some 15 to 30% would."""
    studies = [by_fault(runs_without_a_fault(seed), higher={"fd": False}) for seed in range(200)]
    false = sum(any(each.verdict != BLIND for each in study.values()) for study in studies)
    assert 0 < false <= 0.09 * len(studies)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strengths": [0, 2, 1, 3, 4]}, "do not rise from 0"),
        ({"strengths": [1, 2, 3, 4, 5]}, "do not rise from 0"),
        ({"values": [1, 2, 3]}, "do not fit"),
        ({"values": [1, 2, 3, 4, float("nan")]}, "not a finite number"),
        ({"left_out": np.ones((2, 5)), "sizes": [1, 1]}, "three of each"),
        ({"sizes": [1, 1, 1]}, "do not fit"),
    ],
)
def test_bad_input_is_named(change, message):
    usual = {"strengths": STRENGTHS, "values": [1, 2, 3, 4, 5], "left_out": np.ones((4, 5)), "sizes": [1] * 4}
    with pytest.raises(BadInput, match=message):
        sensitivity(**{**usual, **change}, higher_is_better=False)
