"""Intervals of a comparison whose reference is as small a sample as the generator's images."""

from __future__ import annotations

import numpy as np
import pytest

from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.figures import figures
from compute.engine.generators.record import GeneratorFigure

METRICS = ("fd", "cmmd", "kid", "precision", "recall", "density", "coverage", "vendi")
SAMPLES, ROWS = 80, 40


def made(seed: int, *, fixed: bool, metrics: tuple[str, ...] = METRICS) -> dict[str, GeneratorFigure]:
    rng = np.random.default_rng(seed)
    scales = np.linspace(2.0, 0.2, 12)
    sets = {name: (rng.normal(size=(ROWS, 12)) + shift) * scales for name, shift in (("real", 0), ("made", 0.4))}
    features = SetFeatures(reference="real", generated=("made",), images={"x": sets})
    chosen = Backbones(image=("x",), cfred=(), text=(), cmmd="x", metrics=metrics)
    return {row.metric: row for row in figures(features, chosen=chosen, fixed_reference=fixed)}


def test_values_stay_and_intervals_take_in_the_reference() -> None:
    fixed, sampled = made(0, fixed=True), made(0, fixed=False)
    assert set(fixed) == set(METRICS)
    for name in METRICS:
        assert sampled[name].value == fixed[name].value and sampled[name].limit == fixed[name].limit
    assert sampled["vendi"] == fixed["vendi"], "the reference is no part of it"
    for name in set(METRICS) - {"vendi"}:
        assert sampled[name].stderr > fixed[name].stderr, name


@pytest.mark.parametrize("metric", ["kid", "density"])
def test_they_hold_the_mean_over_new_samples_of_both_sides(metric: str) -> None:
    """Samples of 40 a side; with a fixed reference the interval of density holds it in about 80% of them."""
    rows = {fixed: [made(seed, fixed=fixed, metrics=(metric,))[metric] for seed in range(SAMPLES)] for fixed in (1, 0)}
    mean = np.mean([row.value for row in rows[0]])
    share = {fixed: np.mean([row.low <= mean <= row.high for row in of]) for fixed, of in rows.items()}
    assert share[0] >= 0.9 and share[1] < share[0]
