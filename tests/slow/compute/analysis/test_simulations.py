"""What tables and intervals promise, by simulation: coverage of ranks, and claims about equal generators."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from compute.analysis.generators.generator_differences import generator_differences
from compute.analysis.ranks import coverage
from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.intervals import leave_out, share_out
from tests.compute.analysis.ranks.test_coverage import MEASURED, SETTINGS, name, standard_error
from tests.slow import significance

FRESH = 150  # trials of a fresh simulation


@pytest.mark.parametrize("row", MEASURED, ids=name)
def test_the_stored_table_holds_to_a_fresh_simulation(row):
    fresh = coverage.simulate(tasks=row.tasks, errors=row.errors, uneven=row.uneven, trials=FRESH, seed=7)
    assert fresh.label == row.label
    for measure in coverage.MEASURED:
        halves = 1 if measure.startswith(("rank", "boards")) else 2  # means and differences: of both spreads
        tolerance = 4 * math.hypot(standard_error(halves * FRESH), standard_error(SETTINGS["rank_trials"] * halves))
        assert abs(getattr(fresh, measure) - getattr(row, measure)) < tolerance, measure


@pytest.mark.parametrize("paired", [True, False], ids=["paired", "unpaired"])
def test_generators_that_are_alike_are_seldom_significantly_different(paired: bool) -> None:
    """Simulated Fréchet distances of five equal generators: any wrong claim in at most one of ten trials."""
    rng, wrong, trials = np.random.default_rng(3), 0, 120
    blocks = share_out(60)
    for _ in range(trials):
        real = rng.normal(size=(60, 3))
        sets = rng.normal(size=(5, 60, 3)) + (0.5 * real if paired else 0.0)

        def distance(rows: np.ndarray, generated: np.ndarray, real: np.ndarray = real) -> float:
            return frechet(real=real[rows] if paired else real, generated=generated[rows]).value

        every = np.arange(60)
        values = [distance(every, generated) for generated in sets]
        left = [leave_out(lambda rows, own=own: distance(rows, own), blocks) for own in sets]
        found = generator_differences(values=values, left_out=left, sizes=blocks.sizes, higher=False, paired=paired)
        wrong += found.significant > 0
    assert wrong / trials <= 0.1


@pytest.mark.parametrize("shape", significance.SHAPES)
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "20% missing"])
def test_a_board_keeps_its_promise_and_most_of_what_the_rule_before_found(shape: str, kind: str) -> None:
    """docs/significance.md has the shares of 400 boards; these are 60, so a share of 5% is at most 14% by chance."""
    trials = 60
    equal = significance.simulate(partial(significance.made, shape=shape, kind=kind, spread=0.0), trials=trials, seed=2)
    assert equal["ours"][0] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
    assert equal["per model (before)"][0] > equal["ours"][0]
    apart = significance.simulate(
        partial(significance.made, shape=shape, kind=kind, spread=significance.APART), trials=trials, seed=2
    )
    assert apart["ours"][1] > 0.5 * apart["per model (before)"][1]
    assert apart["ours"][1] > apart["Holm, all pairs"][1]
