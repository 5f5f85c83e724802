"""References: closed forms, and the linearised error of a ratio of sums."""

import numpy as np
import pytest

from compute.metrics import judge_diagnostics as diagnostics
from compute.types import Undefined
from tests.compute.metrics import judges

NAN = float("nan")


def test_position_bias_by_hand():
    figure = diagnostics.position_bias([5, 9, NAN, 2], [3, 9, 4, NAN])
    assert figure.value == 1.0 and figure.n == 2
    assert diagnostics.position_bias([10, 1], [1, 10]).value == 0  # leans in every pair, and not on average
    with pytest.raises(Undefined, match="two valid scores"):
        diagnostics.position_bias([NAN, 3], [4, NAN])


@pytest.mark.parametrize("lean", [0.0, 0.8])
def test_the_interval_of_a_bias_has_the_bias_inside(lean):
    pairs = judges.noisy(np.random.default_rng(0), sources=300, lean=lean, means=(6.0, 5.0, 4.0))["invariant"]
    figure = diagnostics.position_bias(pairs["forward"], pairs["reverse"], pairs["source"])
    assert figure.low < figure.value < figure.high and (figure.low > 0) == (lean > 0)
    gaps = (pairs["forward"] - pairs["reverse"]).groupby(pairs["source"]).agg(["sum", "count"])
    residual = gaps["sum"] - figure.value * gaps["count"]  # the linearised error of a ratio of sums
    assert figure.stderr == pytest.approx(np.sqrt((residual**2).sum()) / gaps["count"].sum(), rel=0.06)


def test_problem_rates():
    rates = diagnostics.problem_rates(
        ["", "refused", "", ""], ["missing", "refused", "", ""], ["a", "a", "b", "b"], problems=("truncated",)
    )
    assert {name: rate.value for name, rate in rates.items()} == {
        "invalid": 3 / 8,
        "truncated": 0.0,
        "missing": 1 / 8,
        "refused": 2 / 8,
    }
    never = rates["truncated"]
    assert never.n == 8 and never.low == 0.0 and never.high > 0.5  # two sources say little
    with pytest.raises(Undefined, match="no answers"):
        diagnostics.problem_rates([], [])
