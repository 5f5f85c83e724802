"""Which regions of two images a model finds similar: cosines between the patch tokens of one and of the other.

A cosine of two patches has no meaning by itself: what is high differs from model to model and from pair to pair. So it
is shown by its rank among the cosines of the same two images (`contrast`). How a map is made is this program's own; no
paper says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats, unit

MOST = 16  # rows and columns of a map: what can be distinguished on a screen, and 65,536 pairs of patches


def similarities(*, first: ArrayLike, second: ArrayLike) -> Floats:
    """Cosines [rows * columns, rows2 * columns2] of all patches of two grids [rows, columns, d], row by row.

    0 for a token of length 0, which points nowhere.
    """
    one, other = unit(first), unit(second)
    return np.clip(one.reshape(-1, one.shape[2]) @ other.reshape(-1, other.shape[2]).T, -1, 1)


def reduced(*, grid: ArrayLike, most: int = MOST) -> Floats:
    """A grid [rows, columns, d] of at most `most` x `most`: means of the tokens of length 1 that are under a new patch.

    New patches are of one size, so one that is under two of them counts in both by its parts. Tokens come out with
    length 1 where nothing is averaged, and shorter the less similar the averaged ones were.
    """
    tokens = unit(grid)
    down, across = _shares(tokens.shape[0], most), _shares(tokens.shape[1], most)
    return np.einsum("ir,rcd,jc->ijd", down, tokens, across, optimize=True)


def contrast(*, similarities: ArrayLike) -> Floats:
    """Ranks instead of cosines, of the same shape, from 0 (the lowest of all) to 1 (the highest).

    Of all pairs of patches of two images, 0.9 reads: more similar than nine pairs in ten of these two images. Equals
    share their mean rank; all equal, or a single one: 0.5. Ranks show an order even where there is hardly a difference,
    as between two empty images: show the cosine next to them.
    """
    values = np.asarray(similarities, dtype=np.float64)
    if values.size == 1:
        return np.full(values.shape, 0.5)
    order = np.sort(values, axis=None)
    below, upto = np.searchsorted(order, values, side="left"), np.searchsorted(order, values, side="right")
    return (below + upto - 1) / (2 * (values.size - 1))


def _shares(count: int, most: int) -> Floats:
    """[new, count]: the share that each of `count` equal parts of a side has in each of min(count, most) new ones."""
    new = min(count, most)
    edges = np.arange(new + 1) * count / new
    parts = np.arange(count)
    overlap = np.minimum(edges[1:, None], parts + 1) - np.maximum(edges[:-1, None], parts)
    return np.maximum(overlap, 0) * new / count
