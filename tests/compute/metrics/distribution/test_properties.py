"""Properties that every metric of sets must have; swapped prompts, and features without a number, are in
test_generators.py."""

import numpy as np
import pytest

from compute.metrics.distribution.reference_free import preference_score
from compute.types import BadInput
from tests.bench.bench_intervals import DISTANCES, METRICS, SHARES

ALL = {**METRICS, "preference": lambda r, g, c: preference_score(image=g, text=c).value}


@pytest.mark.parametrize("name", ALL)
def test_neither_order_nor_a_rotation_of_the_features_matters(name):
    rng = np.random.default_rng(1)
    sides = [rng.normal(size=(50, 8)) for _ in range(3)]
    rows, columns, turn = rng.permutation(50), rng.permutation(8), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    value = pytest.approx(ALL[name](*sides), rel=1e-8)
    assert ALL[name](*(side[rows][:, columns] for side in sides)) == value
    if name != "inception_score":
        assert ALL[name](*(side @ turn for side in sides)) == value


@pytest.mark.parametrize("name", [*DISTANCES, *SHARES])
def test_symmetry_or_its_absence(name):
    rng = np.random.default_rng(3)
    real, generated, condition = rng.normal(size=(60, 5)), 0.5 * rng.normal(size=(60, 5)), rng.normal(size=(60, 2))
    forth, back = ALL[name](real, generated, condition), ALL[name](generated, real, condition)
    if name in DISTANCES:
        assert forth == pytest.approx(back, rel=1e-8)
        if name != "kid":  # below 0 on itself
            assert ALL[name](real, real, condition) == pytest.approx(0, abs=1e-9)
    else:
        assert forth != back


@pytest.mark.parametrize("name", ALL)
def test_a_row_that_is_not_finite_is_named(name):
    rng = np.random.default_rng(5)
    sides = [rng.normal(size=(20, 4)) for _ in range(3)]
    sides[1][7, 2] = np.nan
    with pytest.raises(BadInput, match=r"(generated|features|logits|image): row 7 "):
        ALL[name](*sides)


@pytest.mark.parametrize("name", ["cfred", "clipscore", "preference"])
def test_unequal_counts_of_what_is_paired_are_an_error_with_both_counts(name):
    rows = np.random.default_rng(6).normal(size=(20, 4))
    with pytest.raises(BadInput, match=r"\b20\b.*\b17\b|\b17\b.*\b20\b"):
        ALL[name](rows[:17], rows[:17], rows)
