"""Hues of all 8-bit colours turned, as torchvision turns them; a sample of them is in the normal suite."""

from __future__ import annotations

import numpy as np

from compute.tasks import hue
from tests.compute.tasks.test_hue import colours, torchvisions


def test_every_colour_is_turned_as_by_torchvision() -> None:
    every = colours(1)
    for first in range(0, 256, 16):
        part = every[:, first << 16 : (first + 16) << 16]
        np.testing.assert_array_equal(hue.turned(part, 0.1234567), torchvisions(part, 0.1234567))
