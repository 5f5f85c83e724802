"""Reference: the first step of scipy's L-BFGS-B on functions of one variable, and how often it looked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from compute.procedures.shared.line_search import search

CASES = {  # value and slope, start
    "quadratic": (lambda x: ((x - 3) ** 2, 2 * (x - 3)), 0.0),
    "far away": (lambda x: (1e-4 * (x - 3) ** 2, 2e-4 * (x - 3)), 0.0),
    "steep": (lambda x: (50 * x**4, 200 * x**3), 2.0),
    "waves": (lambda x: (np.sin(3 * x) + 0.05 * x**2, 3 * np.cos(3 * x) + 0.1 * x), 2.0),
    "narrow": (lambda x: (np.log(np.cosh(40 * (x - 1))), 40 * np.tanh(40 * (x - 1))), 0.0),
    "flat then wall": (lambda x: (np.exp(8 * x) - x, 8 * np.exp(8 * x) - 1), -4.0),
    "shallow": (lambda x: (-x / (x**2 + 2), (x**2 - 2) / (x**2 + 2) ** 2), -0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_the_step_of_scipy_after_as_many_looks(name: str) -> None:
    function, start = CASES[name]
    value, slope = function(start)
    running = search(value, -slope * slope, 1 / abs(slope))
    step, looks = next(running), 1
    with pytest.raises(StopIteration) as ended:
        while True:
            f, g = function(start - step * slope)
            step, looks = running.send((f, -slope * g)), looks + 1
    reference = minimize(
        lambda x: _of_one(function, x),
        [start],
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1, "gtol": 0, "ftol": 0, "maxls": 50},
    )
    assert ended.value.value.is_acceptable
    assert start - ended.value.value.step * slope == pytest.approx(reference.x[0], rel=1e-9)
    assert looks == reference.nfev - 1


def _of_one(function: Callable[[float], tuple[float, float]], x: np.ndarray) -> tuple[float, np.ndarray]:
    value, slope = function(float(x[0]))
    return value, np.array([slope])


def test_no_step_uphill_or_into_nothing() -> None:
    with pytest.raises(StopIteration) as ended:
        next(search(1.0, 0.5, 1.0))
    assert not ended.value.value.is_acceptable
    running = search(1.0, -1.0, 1.0)
    next(running)
    with pytest.raises(StopIteration) as ended:
        running.send((np.nan, 0.0))
    assert ended.value.value.step == 0.0
