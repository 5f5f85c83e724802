"""Reference: scipy's Wilson interval."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from leaderboard.data.scores import interval

SHARE = {"lower": 0.0, "upper": 1.0, "proportion": True}
MEAN = SHARE | {"proportion": False}


def test_the_error_of_a_mean_is_its_interval_within_the_bounds():
    assert interval(value=0.9, stderr=0.1, n=10, limits=MEAN) == (pytest.approx(0.9 - 0.196, abs=1e-4), 1.0)
    assert interval(value=0.9, stderr=None, n=10, limits=MEAN) == (None, None)


@pytest.mark.parametrize("right", [0, 40])
def test_a_share_without_a_miss_or_a_hit_has_wilsons_interval(right):
    expected = binomtest(right, 40).proportion_ci(method="wilson")
    assert interval(value=right / 40, stderr=0.0, n=40, limits=SHARE) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_items_that_are_all_alike_do_not_show_how_certain_they_are(value):
    """A mean of 1 over 40 items that are not independent, and a share of an unknown number."""
    assert interval(value=value, stderr=0.0, n=40, limits=MEAN) == (None, None)
    assert interval(value=value, stderr=0.0, n=None, limits=SHARE) == (None, None)
