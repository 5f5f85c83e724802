"""English sentences for calibration: each in two wordings by the authors of this program (CC0)."""

from __future__ import annotations

import numpy as np

from compute import paths
from compute.content import items
from compute.io.tables import read_csv
from compute.tasks.data import CalibrationPairs

VERSION = 1  # increase it when any sentence changes
IDENTITY = {"version": VERSION}
SOURCE = "English sentences in two wordings"


def material() -> dict[str, CalibrationPairs]:
    """Pairs each sentence with its other wording, and with the other wording of another sentence."""
    rows = read_csv(paths.SENTENCES, columns=("first", "second"))
    first, second = (items.texts(rows[side].tolist(), of=SOURCE) for side in ("first", "second"))
    every = np.arange(len(rows))
    step = int(np.random.default_rng([0, VERSION]).integers(1, len(rows)))
    other = second.take((every + step) % len(rows))
    return {"text-text": CalibrationPairs.of(matching=(first, second), unrelated=(first, other), scenes=every)}
