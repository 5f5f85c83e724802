"""Intervals around single scores, against scipy's normal distribution."""

import numpy as np
import pytest
from scipy.stats import binomtest

from compute.analysis.intervals import Z95, interval, sampling_errors, wilson
from compute.metrics import METRICS
from compute.types import Score

METRIC = {metric.key: metric for metric in METRICS}


def test_wilsons_interval_of_any_share():
    """Reference: scipy's binomial test."""
    for right, n in ((0, 1), (1, 1), (3, 20), (10, 20), (399, 400)):
        wanted = binomtest(right, n).proportion_ci(0.95, method="wilson")
        assert wilson(right / n, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert wilson(np.nan, 0) == (0, 1)


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"low": 0.1, "high": 0.4, "stderr": 0.3}, (0.1, 0.4)),
        ({"stderr": 0.01, "n": 100}, (0.5 - 1.959964 * 0.01, 0.5 + 1.959964 * 0.01)),
        ({}, None),
        ({"stderr": 0.0}, None),
        ({"value": 1.0, "stderr": 0.0, "n": 96}, (1 - 3.841459 / 99.841459, 1.0)),
    ],
    ids=["its own", "from the error", "no error", "no spread and no count", "all right"],
)
def test_the_interval_of_a_share(given, expected):
    score = Score(**{"run": "", "subset": "default", "metric": "accuracy", "value": 0.5, **given})
    ends = interval(score, METRIC["accuracy"])
    assert ends == (None if expected is None else pytest.approx(expected, abs=1e-6))


def test_an_error_of_nothing_is_that_of_wilsons_interval_where_none_or_all_are_right():
    """Reference: scipy's binomial test. An error that is known stays, and of what is no share nothing is known."""
    nan = np.nan
    errors = sampling_errors(
        values=[1.0, 0.0, 1.0, 0.8, 0.5, nan], stderr=[0, 0, 0, 0.02, 0, nan], share_of=[40, 120, nan, 40, 40, 40]
    )
    wilson = [binomtest(right, n).proportion_ci(0.95, method="wilson") for right, n in ((40, 40), (0, 120))]
    assert errors[:2] == pytest.approx([(1 - wilson[0].low) / Z95, wilson[1].high / Z95], abs=1e-12)
    assert errors[2:] == pytest.approx([nan, 0.02, nan, nan], nan_ok=True)
