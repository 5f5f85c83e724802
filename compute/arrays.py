"""Array types, running sums, unit vectors, and ranks. Docstrings give shapes: (n, d), [models, tasks]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyRows:
    """Rows (n, d) that stay where they are stored: `rows[at]` reads only the rows of a slice or of row numbers (m,).

    `read` returns the rows of row numbers (m,) as an array. `np.asarray` reads all rows.
    """

    read: Callable[[Ints], NDArray[Any]]
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: slice | NDArray[Any]) -> NDArray[Any]:
        rows = np.arange(*at.indices(len(self))) if isinstance(at, slice) else np.asarray(at, dtype=np.int64)
        return self.read(rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class Many:
    """Several vectors per item (late interaction) that stay where they are stored. `read` returns the vectors of items
    (m,) as a list of arrays (vectors, d).
    """

    read: Callable[[Ints], list[Floats32]]
    lengths: Ints  # (n,) number of vectors per item

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, at: Ints) -> Many:
        return Many(read=lambda items: self.read(at[items]), lengths=self.lengths[at])


def cumulative(sizes: Sequence[int] | np.ndarray) -> Ints:
    """Returns 0 followed by the running sums of `sizes` (n,), as (n + 1,). Part i of concatenated arrays is [sums[i] :
    sums[i + 1]].
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def mean_if_known(values: Sequence[float | None]) -> float | None:
    """Returns the mean, or None if any value is None."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def unit(vectors: NDArray[np.floating]) -> Floats:
    """Scales rows to unit length; a row of zeros stays zero. No square overflows or underflows, whatever the scale."""
    rows = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1)


def ranks(values: Floats, *, ties: Literal["average", "min"] = "average") -> Floats:
    """Ranks along the first axis; the smallest value has rank 1. Tied values share the mean of their ranks, or the
    smallest.

    The values must not contain NaN. Equals scipy.stats.rankdata, whose import takes half a second and 60 MB.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    count = len(values)
    index = np.arange(count).reshape(-1, *[1] * (values.ndim - 1))
    begins = np.ones(values.shape, bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    ends = np.ones(values.shape, bool)
    ends[:-1] = begins[1:]
    first = np.maximum.accumulate(np.where(begins, index, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, index, count)[::-1], axis=0)[::-1]
    out = np.empty(values.shape)
    np.put_along_axis(out, order, 1.0 + (first if ties == "min" else (first + last) / 2), axis=0)
    return out
