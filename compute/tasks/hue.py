"""The hue of 8-bit colours turned, as torchvision's `adjust_hue` turns it: the same levels for every colour.

torchvision takes three times as long: it computes all hues that a pixel could have and divides floats for remainders
of 1. Here the largest channel decides first, so that each pixel has one hue; every other step is the same operation in
float32, in the same order, because levels are cut off and not rounded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ONE, SIXTH, SIX = np.float32(1), np.float32(1 / 6), np.float32(6)
UNIT = np.float32(1 / 255)  # one level
LEVELS = np.float32(256 - 1e-3)  # by which torchvision multiplies before it cuts off
TINY = np.float32(1e-30)  # in place of no spread: greys have no hue, and nothing is divided by 0
# By sixth of the circle, the first again after the last: bits by which `v, p, q, t` packed in 32 are shifted.
CHANNELS = np.array([[0, 16, 8, 8, 24, 0, 0], [24, 0, 0, 16, 8, 8, 24], [8, 8, 24, 0, 0, 16, 8]], dtype=np.int32)


def turned(colours: NDArray[np.uint8], turn: float) -> NDArray[np.uint8]:
    """(3, n) red, green and blue with their hue turned by -0.5 to 0.5 of the circle; saturation and value stay."""
    red, green, blue = colours
    top = np.maximum(np.maximum(red, green), blue)
    is_red, is_green = top == red, top == green
    # The two other channels, in the order in which they follow the largest on the circle.
    after = np.where(is_red, green, np.where(is_green, blue, red))
    before = np.where(is_red, blue, np.where(is_green, red, green))
    sixths = np.where(is_red, np.uint8(0), np.where(is_green, np.uint8(2), np.uint8(4))).astype(np.float32)
    low = np.minimum(before, after)
    value, low, after, before = (channel.astype(np.float32) * UNIT for channel in (top, low, after, before))
    spread = value - low
    saturation = spread / np.maximum(value, UNIT)
    np.maximum(spread, TINY, out=spread)
    hue = ((value - before) / spread + sixths) - (value - after) / spread
    hue = hue * SIXTH + ONE
    hue -= hue >= ONE
    hue += np.float32(turn)
    hue -= np.floor(hue)
    hue *= SIX
    sixth = np.floor(hue)
    hue -= sixth
    # The usual names of the conversion from hue, saturation and value.
    rising, unsaturated = saturation * hue, ONE - saturation
    p, q, t = unsaturated * value, (ONE - rising) * value, (rising + unsaturated) * value
    packed = top.astype(np.int32)
    for shift, channel in ((8, p), (16, q), (24, t)):
        packed |= (channel * LEVELS).astype(np.int32) << shift
    at = sixth.astype(np.intp)
    return np.stack([(packed >> shifts.take(at)).astype(np.uint8) for shifts in CHANNELS])
