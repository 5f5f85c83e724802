"""What tables and intervals promise, by simulation: coverage of ranks, and claims about equal generators."""

import math

import numpy as np
import pytest

from compute.analysis.generators.generator_differences import generator_differences
from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.intervals import leave_out, share_out
from tests.slow import significance


@pytest.mark.parametrize("paired", [True, False], ids=["paired", "unpaired"])
def test_generators_that_are_alike_are_seldom_significantly_different(paired):
    """Simulated Fréchet distances of five equal generators: any wrong claim in at most one of ten trials."""
    rng, wrong, trials = np.random.default_rng(3), 0, 120
    blocks = share_out(60)
    for _ in range(trials):
        real = rng.normal(size=(60, 3))
        sets = rng.normal(size=(5, 60, 3)) + (0.5 * real if paired else 0.0)

        def distance(rows, generated, real=real):
            return frechet(real=real[rows] if paired else real, generated=generated[rows]).value

        every = np.arange(60)
        values = [distance(every, generated) for generated in sets]
        left = [leave_out(lambda rows, own=own: distance(rows, own), blocks) for own in sets]
        found = generator_differences(values=values, left_out=left, sizes=blocks.sizes, higher=False, paired=paired)
        wrong += found.significant > 0
    assert wrong / trials <= 0.1


@pytest.mark.parametrize("make", significance.EQUAL.values(), ids=list(significance.EQUAL))
def test_equal_models_are_told_apart_on_one_board_in_twenty(make):
    """docs/significance.md has the shares of 2,000 boards; of these 200, a share of 5% is at most 10% by chance."""
    shares = significance.simulate(make, trials=200, seed=2)
    assert shares.wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert shares.holds >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 200) and shares.small <= 0.015
