"""The value at infinite N: the line, its freedom from bias, the coverage of its interval, warnings."""

from __future__ import annotations

import numpy as np
import pytest

from compute.metrics.distribution.extrapolation import (
    cfred_at_infinity,
    extrapolate,
    frechet_at_infinity,
    uneven_generators,
)
from compute.metrics.distribution.moments import Moments
from compute.types import Undefined


def test_a_line_in_one_over_n_is_extended() -> None:
    record = extrapolate(lambda rows: 3 + 50 / len(rows[0]), counts=(240,))
    assert record.value == pytest.approx(3, rel=1e-9)
    assert record.plain == pytest.approx(3 + 50 / 240)
    assert record.counts == (240, 120, 80, 60)
    assert record.low == pytest.approx(3, rel=1e-6) and record.high == pytest.approx(3, rel=1e-6)


def test_parts_of_a_split_share_no_row() -> None:
    calls: list[np.ndarray] = []

    def distance(rows: list[np.ndarray]) -> float:
        calls.append(rows[0])
        return float(len(rows[0]))

    extrapolate(distance, counts=(30,))
    assert [len(rows) for rows in calls] == [30] + [15] * 8 + [10] * 12 + [7] * 16
    for split in (calls[1:3], calls[3:5], calls[9:12], calls[18:21]):
        assert sorted(np.concatenate(split).tolist()) == list(range(30))
    assert not np.array_equal(calls[1], calls[3])


def test_sets_of_unlike_size_are_split_alike() -> None:
    record = extrapolate(lambda rows: 1 + 10 / len(rows[0]) + 20 / len(rows[1]), counts=(120, 240))
    assert record.value == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (0.3, 1.2)])
def test_coverage_on_gaussians(shift: float, scale: float) -> None:
    """60 draws of a known distance: the interval covers it at least as often as it says, and the value is unbiased."""
    d, n, draws = 8, 200, 60
    spread = np.linspace(0.5, 1.5, d)
    truth = d * shift**2 + ((spread - spread * scale) ** 2).sum()
    records = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        real = rng.standard_normal((n, d)) * spread
        generated = rng.standard_normal((n, d)) * spread * scale + shift
        records.append(frechet_at_infinity(real=real, generated=generated))
    values = np.array([record.value for record in records])
    plain = np.array([record.plain for record in records])
    assert np.mean([record.low <= truth <= record.high for record in records]) >= 0.9
    assert abs(values.mean() - truth) < 0.25 * (plain.mean() - truth)
    assert np.mean([record.high - record.low for record in records]) < 12 * values.std()


def test_coverage_of_cfred() -> None:
    d, p, n, draws = 6, 4, 300, 40
    slope = np.random.default_rng(99).standard_normal((p, d)) / np.sqrt(p)
    truth = d * 0.2**2 + 0.3**2 * (slope**2).sum() + d * 0.3**2
    records = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        texts = rng.standard_normal((n, p))
        real = texts @ slope + rng.standard_normal((n, d))
        generated = 0.7 * texts @ slope + 1.3 * rng.standard_normal((n, d)) + 0.2
        records.append(cfred_at_infinity(real=real, generated=generated, condition=texts))
    assert np.mean([record.low <= truth <= record.high for record in records]) >= 0.9
    bias = np.mean([record.plain for record in records]) - truth
    assert abs(np.mean([record.value for record in records]) - truth) < 0.25 * bias


def test_a_large_reference_is_not_split() -> None:
    rng = np.random.default_rng(0)
    reference = Moments.of(rng.standard_normal((20_000, 5)))
    record = frechet_at_infinity(real=reference, generated=rng.standard_normal((200, 5)) + 1)
    assert record.low < 5 < record.high
    assert record.counts == (200, 100, 66, 50)


def test_few_images_are_warned_about_or_undefined() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((80, 30))
    record = frechet_at_infinity(real=rows, generated=rows + 1)
    assert record.warnings[0].startswith("The smallest parts have 20 images, fewer than twice the 30 dimensions")
    with pytest.raises(Undefined, match="3 images"):
        frechet_at_infinity(real=rows[:3], generated=rows)


def test_generators_of_unlike_n_are_warned_about() -> None:
    assert uneven_generators({"a": 1600, "b": 1600}) == uneven_generators({}) == ()
    [sentence] = uneven_generators({"a": 1600, "b": 400, "c": 900})
    assert sentence.startswith("b has 400 images and a 1,600")


def test_paired_sets_are_split_by_prompt() -> None:
    """Both images of a prompt are in one part: equal sets have no distance in any part, shuffled ones have."""
    rows = np.random.default_rng(0).standard_normal((200, 4))
    paired = frechet_at_infinity(real=rows, generated=rows, paired=True)
    assert max(map(abs, paired.values)) < 1e-9
    assert frechet_at_infinity(real=rows, generated=rows).values[-1] > 0.01
