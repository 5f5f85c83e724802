"""Types of arrays, for annotations. Shapes stand in docstrings and comments: (n, d), [models, tasks]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
