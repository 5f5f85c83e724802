"""Hues turned: torchvision's levels for every colour."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import functional

from compute.tasks import hue


def colours(step: int) -> np.ndarray:
    """(3, n): every `step`-th of all 8-bit colours."""
    packed = np.arange(0, 1 << 24, step)
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255]).astype(np.uint8)


def torchvisions(of: np.ndarray, turn: float) -> np.ndarray:
    return functional.adjust_hue(torch.from_numpy(of)[:, None], turn)[:, 0].numpy()


@pytest.mark.parametrize("turn", [-0.5, -1e-9, 0.1234567, 1 / 6])
def test_so_are_other_turns(turn: float) -> None:
    np.testing.assert_array_equal(hue.turned(colours(31), turn), torchvisions(colours(31), turn))


def test_greys_stay_and_a_third_of_the_circle_moves_the_channels_on() -> None:
    greys = np.tile(np.arange(256, dtype=np.uint8), (3, 1))
    np.testing.assert_array_equal(hue.turned(greys, 0.3), greys)
    np.testing.assert_array_equal(hue.turned(np.diag([255] * 3).astype(np.uint8), 1 / 3), 255 * np.eye(3)[[2, 0, 1]])
