"""What a metric of two sets gives where there is no difference, by permutation.

The images of both sets are pooled and split at random into two sets of the same sizes. Such sets are samples of one
distribution with as many images as the real ones, so the bias of few images is in the values as it is in the metric's
own. A value beyond all of `splits` of them would occur by chance with a probability of 1 / (splits + 1) in each
direction (Good 2005, section 3.2, for tests by permutation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.metrics.distribution.features import two_sets
from compute.types import BadInput

SPLITS = 39  # beyond all of them: 2.5% by chance in each direction


def random_splits(*, real: Any, generated: Any, splits: int = SPLITS, seed: int = 0) -> Iterator[dict[str, Floats]]:
    """Random splits of the pooled features into `real` (n, d) and `generated` (m, d), as metrics take them by name.

    real (n, d), generated (m, d): features. Raises BadInput for features that are none or of unlike dimensions and for
    no splits.
    """
    if splits < 1:
        raise BadInput(f"splits {splits}: take 1 or more")
    first, second = two_sets(real=real, generated=generated)
    pooled, rng = np.concatenate([first, second]), np.random.default_rng(seed)
    for _ in range(splits):
        order = rng.permutation(len(pooled))
        yield {"real": pooled[order[: len(first)]], "generated": pooled[order[len(first) :]]}
