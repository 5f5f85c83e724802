"""What one set gives to calibrate with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compute.arrays import Ints
from compute.content.items import Column


class PairSample(NamedTuple):
    """Pairs that belong together and pairs that do not, two columns a side; of single images one column, unrelated."""

    matching: tuple[Column, ...]
    unrelated: tuple[Column, ...]
    scenes: Ints  # (n,) the scene of each matching pair, or of each single image


class Material(NamedTuple):
    """The samples of a set by pairing, and by modality one whole item of each scene, for its domain."""

    samples: Mapping[str, PairSample]
    wholes: Mapping[str, Column]
