"""English sentences to calibrate with: each written twice, in other words, by the authors of this program (CC0)."""

from __future__ import annotations

import numpy as np

from compute import paths
from compute.calibration.samples import Material, PairSample
from compute.content import items
from compute.io.tables import read_csv

VERSION = 1  # raise it when any sentence changes
SETTINGS = {"version": VERSION}  # what decides the items besides the seed
SOURCE = "English sentences in two wordings"


def material(*, scenes: int, seed: int) -> Material:
    """Each sentence with its other wording, or with that of another sentence, however many `scenes` are asked for."""
    rows = read_csv(paths.SENTENCES, columns=("first", "second"))
    first, second = (items.texts(rows[side].tolist(), of=SOURCE) for side in ("first", "second"))
    every = np.arange(len(rows))
    step = int(np.random.default_rng([seed, VERSION]).integers(1, len(rows)))
    pairs = PairSample(
        matching=(first, second), unrelated=(first, second.take((every + step) % len(rows))), scenes=every
    )
    return Material(samples={"text-text": pairs}, wholes={"text": first})
