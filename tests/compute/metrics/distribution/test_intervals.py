"""Intervals by leaving out blocks of prompts, and values at infinite N: closed forms, simulated coverage, warnings."""

import numpy as np
import pytest
from scipy import stats

from compute.engine.generators.features import SetFeatures
from compute.engine.generators.set_metrics import FidMetric
from compute.metrics.distribution import pairwise
from compute.metrics.distribution.cfred import cfred
from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.intervals import (
    extrapolate,
    interval,
    leave_moments_out,
    leave_out,
    share_out,
)
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import Undefined
from tests.bench.bench_intervals import METRICS, coverage, draw, taken


def found(statistic, prompts, *, blocks=20, **bounds):
    shared = share_out(prompts, blocks=blocks)
    return interval(statistic(np.arange(len(shared.block))), leave_out(statistic, shared), shared, **bounds)


def test_blocks_share_out_every_prompt_once():
    prompts = ["b", "a", "b", "c", "a", "d", "e"]
    blocks = share_out(prompts, blocks=3)
    assert (blocks.count, blocks.prompts, blocks.sizes.sum()) == (3, 5, 7)
    assert blocks.block[0] == blocks.block[2] and blocks.block[1] == blocks.block[4]
    assert share_out(1000).sizes.tolist() == [50] * 20 and share_out(3).count == 3


def test_a_mean_has_its_own_standard_error():
    """With a block a prompt, the jackknife of a mean is sd / sqrt(n), and the interval is Student's."""
    scores = np.random.default_rng(0).gamma(2.0, size=40)
    alone = found(lambda rows: float(scores[rows].mean()), 40, blocks=40)
    assert alone.stderr == pytest.approx(stats.sem(scores))
    assert (alone.low, alone.high) == pytest.approx(stats.t.interval(0.95, 39, scores.mean(), stats.sem(scores)))
    twice = np.repeat(scores, 2)  # rows of one prompt move together
    grouped = found(lambda rows: float(twice[rows].mean()), np.repeat(range(40), 2), blocks=40)
    assert grouped.stderr == pytest.approx(alone.stderr)
    cut = found(lambda rows: float(scores[rows].mean()), 40, lower=1.9, upper=2.0)
    assert (cut.low, cut.high) == (1.9, 2.0)


def test_blocks_of_different_size_measure_the_same_spread():
    """A mean's variance by 7 blocks of 47 prompts is unbiased: its mean over sharings is that of single prompts."""
    scores = np.random.default_rng(1).gamma(2.0, size=47)
    squares = []
    for seed in range(600):
        blocks = share_out(47, blocks=7, seed=seed)
        left_out = leave_out(lambda rows: float(scores[rows].mean()), blocks)
        squares.append(interval(float(scores.mean()), left_out, blocks).stderr ** 2)
    assert np.mean(squares) == pytest.approx(stats.sem(scores) ** 2, rel=0.1)


def test_kernels_neighbours_and_moments_have_a_fast_way_to_the_same_values():
    real, generated, condition = sample = draw(np.random.default_rng(0), n=60, d=6)
    blocks = share_out(60)
    sides = {"real": real, "generated": generated}
    kept = {"real_kept": blocks.remaining, "generated_kept": blocks.remaining}
    shares = pairwise.manifold_of_subsets(**sides, **kept, k=3)
    pairs = {name: {"images": side, "condition": condition} for name, side in sides.items()}
    moments = {name: {"images": side} for name, side in sides.items()}
    fast = {
        "kid": pairwise.kid_of_subsets(**sides, **kept),
        "cmmd": pairwise.cmmd_of_subsets(**sides, **kept),
        "precision": shares["precision"],
        "recall": shares["recall"],
        "fd": leave_moments_out(lambda **left: frechet(**left).value, blocks, of=Moments.of, **moments),
        "cfred": leave_moments_out(lambda **left: cfred(**left).value, blocks, of=CrossMoments.of, **pairs),
    }
    for metric, values in fast.items():
        slow = leave_out(lambda rows, of=metric: METRICS[of](*taken(sample, rows)), blocks)
        np.testing.assert_allclose(values, slow, rtol=1e-8, err_msg=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_hold_the_mean_value_at_this_n(metric):
    """At 95% nominal with 40 prompts; 60 samples of a sound interval hold it in 86% or more.

    A sample whose precision or coverage is 1 whichever block is out has no interval: nothing in it shows a spread.
    """
    simulated = coverage(metric, n=40, d=6, samples=60, targets=200)
    assert simulated.missing <= (20 if metric in ("precision", "coverage") else 0)
    assert simulated.share >= 0.86 and 0.7 < simulated.width < 4


def test_no_interval_has_a_reason():
    with pytest.raises(Undefined, match="10 prompts"):
        found(lambda rows: float(len(rows)), np.repeat(range(10), 9))
    with pytest.raises(Undefined, match="spread"):
        found(lambda rows: 1.0, 40)
    with pytest.raises(Undefined, match="undefined"):
        interval(1.0, np.full(20, np.nan), share_out(40))


def test_a_line_in_one_over_n_is_extended():
    record = extrapolate(lambda rows: 3 + 50 / len(rows[0]), counts=(240,))
    assert record.value == pytest.approx(3, rel=1e-9)
    assert record.low == pytest.approx(3, rel=1e-6) and record.high == pytest.approx(3, rel=1e-6)
    two = extrapolate(lambda rows: 1 + 10 / len(rows[0]) + 20 / len(rows[1]), counts=(120, 240))
    assert two.value == pytest.approx(1, rel=1e-9)


def at_infinity(*, real, generated, paired=False):
    """The Fréchet distance at infinite N."""
    features = SetFeatures(
        generated=("made",),
        prompts=tuple(map(str, range(len(generated)))) if paired else (),
        images={"reference": {"x": real}, "made": {"x": generated}},
        texts={},
    )
    return FidMetric(features=features, backbone="x", keys=()).at_infinity("made")


def gaussians(rng, shift, scale):
    """The distance at infinite N of one draw, its own, and the known one."""
    spread = np.linspace(0.5, 1.5, 8)
    real, generated = rng.standard_normal((2, 200, 8)) * spread
    sides = {"real": real, "generated": generated * scale + shift}
    return at_infinity(**sides), frechet(**sides).value, 8 * shift**2 + ((spread - spread * scale) ** 2).sum()


@pytest.mark.parametrize("shift, scale", [(0.0, 1.0), (0.3, 1.2)], ids=["same", "shifted"])
def test_coverage_at_infinite_n(shift, scale):
    """50 draws of a known distance: the interval covers it at least as often as it says, and the value is unbiased."""
    drawn = (gaussians(np.random.default_rng(seed), shift, scale) for seed in range(50))
    records, plain, (truth, *_) = zip(*drawn, strict=True)
    values = np.array([record.value for record in records])
    assert np.mean([record.low <= truth <= record.high for record in records]) >= 0.9
    assert abs(values.mean() - truth) < 0.25 * (np.mean(plain) - truth)
    assert np.mean([record.high - record.low for record in records]) < 12 * values.std()


def test_a_large_reference_is_not_split():
    rng = np.random.default_rng(0)
    reference = Moments.of(rng.standard_normal((20_000, 5)))
    record = at_infinity(real=reference, generated=rng.standard_normal((200, 5)) + 1)
    assert record.low < 5 < record.high


def test_no_interval_lies_below_0():
    """A set and itself: halves of them share few images, so that their distances fall to less than nothing."""
    rows = np.random.default_rng(1).standard_normal((200, 40))
    record = at_infinity(real=rows, generated=rows)
    assert record.value < 0 and record.low < record.high == 0
    assert any("share images" in warning for warning in record.warnings)


def test_few_images_are_warned_about_or_undefined():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((80, 30))
    record = at_infinity(real=rows, generated=rows + 1)
    assert record.warnings[0].startswith("The smallest parts have 20 images, fewer than twice the 30 dimensions")
    with pytest.raises(Undefined, match="3 images"):
        at_infinity(real=rows[:3], generated=rows)


def test_paired_sets_are_split_by_prompt():
    """Both images of a prompt are in one part: equal sets have no distance in any part, shuffled ones have."""
    rows = np.random.default_rng(0).standard_normal((200, 4))
    paired = at_infinity(real=rows, generated=rows, paired=True)
    assert max(map(abs, (paired.low, paired.high))) < 1e-9
    assert at_infinity(real=rows, generated=rows).high > 1e-3
