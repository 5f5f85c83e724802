"""Saturation of a task: closed forms."""

import math

import numpy as np
import pytest

from leaderboard.data.task_doubts import saturation


def test_closed_form():
    found = saturation(scores=[0.9, 0.88, 0.5, np.nan], stderr=[0.01, 0.01, 0.02, np.nan], chance=0.5, ceiling=1.0)
    assert (found.models, found.best, found.median) == (3, 0.9, 0.88)
    assert found.used == pytest.approx(0.8)
    assert found.spread == pytest.approx(np.std([0.9, 0.88, 0.5], ddof=1))
    assert found.noise == pytest.approx(0.01)
    assert found.ratio == pytest.approx(found.spread / 0.01)
    assert (found.judged, found.within, found.below_chance) == (2, 1, 1)


def test_the_gap_is_measured_in_the_noise_of_both():
    edge = 1.959963984540054 * math.hypot(0.03, 0.04)
    inside = saturation(scores=[0.8, 0.8 - edge + 1e-9], stderr=[0.03, 0.04])
    outside = saturation(scores=[0.8, 0.8 - edge - 1e-9], stderr=[0.03, 0.04])
    assert (inside.within, outside.within) == (1, 0)
