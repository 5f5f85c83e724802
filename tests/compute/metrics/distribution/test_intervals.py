"""Intervals by leaving out blocks of prompts: closed forms, simulated coverage, why not a bootstrap, no interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from compute.metrics.distribution import kernel, manifold
from compute.metrics.distribution.frechet import cfred, frechet
from compute.metrics.distribution.intervals import (
    Blocks,
    LeftOut,
    interval,
    jackknife_covariance,
    leave_moments_out,
    leave_out,
    over_prompts,
    share_out,
)
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined
from tests.bench.bench_intervals import METRICS, coverage, draw


def test_blocks_share_out_every_prompt_once() -> None:
    prompts = ["b", "a", "b", "c", "a", "d", "e"]
    blocks = share_out(prompts, blocks=3)
    assert (blocks.count, blocks.prompts) == (3, 5)
    assert blocks.sizes.sum() == 7
    assert blocks.block[0] == blocks.block[2]
    assert blocks.block[1] == blocks.block[4]
    assert (~blocks.remaining).sum(axis=0).tolist() == [1] * 7
    np.testing.assert_array_equal(blocks.block, share_out(prompts, blocks=3).block)
    assert len({tuple(share_out(100, seed=seed).block) for seed in range(5)}) == 5
    assert share_out(1000).sizes.tolist() == [50] * 20
    assert share_out(3).count == 3


def test_a_mean_has_its_own_standard_error() -> None:
    """With a block a prompt, the jackknife of a mean is sd / sqrt(n), and the interval is Student's."""
    scores = np.random.default_rng(0).gamma(2.0, size=40)
    found = over_prompts(lambda rows: float(scores[rows].mean()), 40, blocks=40)
    assert found.stderr == pytest.approx(stats.sem(scores))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 39, scores.mean(), stats.sem(scores)))


def test_blocks_of_unlike_size_measure_the_same_spread() -> None:
    """A mean's variance by 7 blocks of 47 prompts is unbiased: its mean over sharings is that of single prompts."""
    scores = np.random.default_rng(1).gamma(2.0, size=47)
    found = [
        over_prompts(lambda rows: float(scores[rows].mean()), 47, blocks=7, seed=seed).stderr ** 2
        for seed in range(600)
    ]
    assert np.mean(found) == pytest.approx(stats.sem(scores) ** 2, rel=0.1)


def test_the_covariance_of_means_is_the_textbooks() -> None:
    samples = np.random.default_rng(8).normal(size=(60, 3)) @ np.random.default_rng(9).normal(size=(3, 3))
    left_out = (samples.sum(axis=0) - samples) / (len(samples) - 1)  # one prompt at a time
    found = jackknife_covariance(samples.mean(axis=0), left_out, sizes=np.ones(len(samples)))
    assert found == pytest.approx(np.cov(samples.T) / len(samples))


def test_its_diagonal_is_the_square_of_the_interval_s_standard_error() -> None:
    """Of blocks of unlike size, 12 or 13 of 256 prompts, as of any."""
    samples = np.random.default_rng(10).gamma(2.0, size=(256, 2))
    shared = share_out(256)
    left_out = np.array([samples[kept].mean(axis=0) for kept in shared.remaining])
    found = jackknife_covariance(samples.mean(axis=0), left_out, sizes=shared.sizes)
    for at in range(2):
        alone = over_prompts(lambda rows, at=at: float(samples[rows, at].mean()), 256)
        assert alone.stderr == pytest.approx(np.sqrt(found[at, at]))


def test_rows_of_one_prompt_move_together() -> None:
    scores = np.random.default_rng(0).normal(size=40)
    twice = np.repeat(scores, 2)
    once = over_prompts(lambda rows: float(scores[rows].mean()), 40, blocks=40)
    grouped = over_prompts(lambda rows: float(twice[rows].mean()), np.repeat(range(40), 2), blocks=40)
    assert (grouped.stderr, grouped.prompts) == (pytest.approx(once.stderr), 40)


def test_independent_samples_add_their_variances() -> None:
    """The difference of two means, as Welch's."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=40), rng.normal(2, 3, size=60)
    parts = [leave_out(lambda rows: float(first[rows].mean() - second.mean()), share_out(40, blocks=40))]
    parts.append(leave_out(lambda rows: float(first.mean() - second[rows].mean()), share_out(60, blocks=60)))
    found = interval(float(first.mean() - second.mean()), *parts)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.prompts, found.blocks) == (40, 40)


def test_cut_at_the_bounds() -> None:
    scores = np.random.default_rng(0).normal(0.02, 0.1, size=40)
    found = over_prompts(lambda rows: float(scores[rows].mean()), 40, lower=0.0, upper=0.04)
    assert (found.low, found.high) == (0.0, 0.04)


def test_kernels_and_neighbours_have_a_fast_way_to_the_same_interval() -> None:
    sample = draw(np.random.default_rng(0), n=60, d=6)
    blocks = share_out(60)
    sides = {"real": sample.real, "generated": sample.generated}
    kept = {"real_kept": blocks.remaining, "generated_kept": blocks.remaining}
    shares = manifold.manifold_of_subsets(**sides, **kept, k=3)
    fast = {
        "kid": kernel.kid_of_subsets(**sides, **kept),
        "cmmd": kernel.cmmd_of_subsets(**sides, **kept),
        "precision": shares["precision"],
        "recall": shares["recall"],
    }
    for metric, values in fast.items():
        found = interval(METRICS[metric](sample), LeftOut(values=values, blocks=blocks))
        slow = over_prompts(lambda rows, of=metric: METRICS[of](sample.rows(rows)), 60)
        assert (found.low, found.high) == pytest.approx((slow.low, slow.high), rel=1e-8), metric


def test_moments_of_blocks_have_a_fast_way_to_the_same_interval() -> None:
    sample = draw(np.random.default_rng(0), n=80, d=6)
    blocks = share_out(80)
    rows = [np.flatnonzero(blocks.block == index) for index in range(blocks.count)]
    real, generated = ([Moments.of(side[kept]) for kept in rows] for side in (sample.real, sample.generated))
    values = {
        "fd": leave_moments_out(
            lambda *, real, generated: frechet(real=real, generated=generated).value,
            blocks,
            sides={"real": real, "generated": generated},
        ),
        "cfred": leave_moments_out(
            lambda *, real, generated: cfred(real=real, generated=generated).value,
            blocks,
            sides={
                name: [CrossMoments.of(images=side[kept], condition=sample.condition[kept]) for kept in rows]
                for name, side in (("real", sample.real), ("generated", sample.generated))
            },
        ),
    }
    for metric, fast in values.items():
        slow = leave_out(lambda kept, of=metric: METRICS[of](sample.rows(kept)), blocks)
        np.testing.assert_allclose(fast.values, slow.values, rtol=1e-9)
    with pytest.raises(BadInput, match="real: expected the moments of 20 blocks, got 19"):
        leave_moments_out(lambda *, real: 0.0, blocks, sides={"real": real[1:]})


@pytest.mark.parametrize("alike", [False, True], ids=["unlike", "alike"])
@pytest.mark.parametrize("metric", METRICS)
def test_intervals_hold_the_mean_value_at_this_n(metric: str, alike: bool) -> None:
    """At 95% nominal with 40 prompts; 60 samples of a sound interval hold it in 86% or more.

    A sample whose precision or coverage is 1 whichever block is out has no interval: nothing in it shows a spread.
    """
    found = coverage(metric, n=40, d=6, samples=60, targets=200, alike=alike)
    assert found.missing <= (20 if metric in ("precision", "coverage") else 0)
    assert found.share >= 0.86
    assert 0.7 < found.width < 4


def test_a_bootstrap_would_not_hold_it() -> None:
    """Draws with repeats pull the Fréchet distance up: their percentiles miss its mean in most samples."""
    rng = np.random.default_rng(0)
    samples = [draw(rng, n=40, d=20) for _ in range(40)]
    values = [METRICS["fd"](sample) for sample in samples]
    held = []
    for sample in samples:
        drawn = [METRICS["fd"](sample.rows(rng.integers(0, 40, 40))) for _ in range(100)]
        low, high = np.quantile(drawn, [0.025, 0.975])
        held.append(low <= np.mean(values) <= high)
    assert np.mean(held) < 0.5
    ours = [over_prompts(lambda rows, s=sample: METRICS["fd"](s.rows(rows)), 40) for sample in samples]
    assert np.mean([each.low <= np.mean(values) <= each.high for each in ours]) > 0.86


def test_no_interval_below_the_fewest_prompts() -> None:
    found = over_prompts(lambda rows: float(len(rows)), 29)
    assert (found.low, found.high, found.stderr) == (None, None, None)
    assert found.reason == "29 prompts or images are too few for an interval that holds: it needs 30"
    rows = np.repeat(range(10), 9)
    assert over_prompts(lambda rows: float(len(rows)), rows).reason.startswith("10 prompts or images are too few")


def test_no_interval_without_spread_or_without_a_value() -> None:
    assert (
        over_prompts(lambda rows: 1.0, 40).reason
        == "No prompt or image changes the value, so there is no spread to measure"
    )

    def undefined(rows: np.ndarray) -> float:
        raise Undefined("No value without them")

    assert over_prompts(undefined, 40).reason == "No value without them"
    values = LeftOut(values=np.full(20, np.nan), blocks=share_out(40))
    assert interval(1.0, values).reason == "The metric is undefined without some of its prompts or images"


def test_bad_input() -> None:
    for prompts in (0, [], np.ones((2, 2))):
        with pytest.raises(BadInput, match="prompts: expected one a row"):
            share_out(prompts)
    with pytest.raises(BadInput, match="blocks 1"):
        share_out(40, blocks=1)
    with pytest.raises(BadInput, match="at least one sample"):
        interval(1.0)


def test_a_fixed_reference_adds_no_spread() -> None:
    """Only the generator's prompts are left out, so the interval is narrower than with a reference of its own."""
    sample = draw(np.random.default_rng(0), n=60, d=4)
    blocks: Blocks = share_out(60)
    value = METRICS["fd"](sample)
    generated = leave_out(lambda rows: frechet(real=sample.real, generated=sample.generated[rows]).value, blocks)
    real = leave_out(lambda rows: frechet(real=sample.real[rows], generated=sample.generated).value, blocks)
    fixed, both = interval(value, generated), interval(value, generated, real)
    assert 0 < fixed.stderr < both.stderr
    assert both.stderr == pytest.approx(np.hypot(fixed.stderr, interval(value, real).stderr))
