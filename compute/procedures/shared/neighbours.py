"""Which labels most of an item's nearest training items have."""

from __future__ import annotations

import numpy as np

from compute.arrays import Bools, Floats32, Ints
from compute.types import Undefined

NEIGHBOURS = 5
ROWS = 4096


def votes(train: Floats32, labels: Bools, test: Floats32) -> Ints:
    """(n, labels): neighbours that have a label less those that have not; a label is given where this is above 0.

    `train` (m, d) with `labels` (m, labels), `test` (n, d); the five nearest by Euclidean distance, as in
    scikit-learn's KNeighborsClassifier. Raises Undefined for fewer training items.
    """
    from sklearn.neighbors import NearestNeighbors

    if len(train) < NEIGHBOURS:
        raise Undefined(f"{len(train)} training items are drawn: {NEIGHBOURS} neighbours need as many")
    index = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(train)
    found = [
        labels[index.kneighbors(test[start : start + ROWS], return_distance=False)].sum(axis=1)
        for start in range(0, len(test), ROWS)
    ]
    return 2 * np.concatenate(found) - NEIGHBOURS
