"""Types of arrays, running sums, vectors of length 1. Docstrings give shapes: (n, d), [models, tasks]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def cumulative(sizes: Sequence[int] | np.ndarray) -> Ints:
    """(n + 1,): 0 and the running sums of `sizes` (n,). Part i of arrays strung together is [sums[i] : sums[i + 1]]."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def unit(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows at length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
