"""Types of arrays, running sums, vectors of length 1, ranks. Docstrings give shapes: (n, d), [models, tasks]."""

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
    """Rows (n, d) that stay where they are stored: `rows[at]`, of a slice or row numbers (m,), reads these alone.

    `read` gives the rows of row numbers (m,) as an array. `np.asarray` reads all.
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
    """Several vectors per item (late interaction) that stay where they are stored: `read` gives those of some items
    (m,) as a list of (vectors, d)."""

    read: Callable[[Ints], list[Floats32]]
    lengths: Ints  # (n,) how many vectors each item has

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, at: Ints) -> Many:
        return Many(read=lambda items: self.read(at[items]), lengths=self.lengths[at])


def cumulative(sizes: Sequence[int] | np.ndarray) -> Ints:
    """(n + 1,): 0 and the running sums of `sizes` (n,). Part i of arrays strung together is [sums[i] : sums[i + 1]]."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def mean_if_known(values: Sequence[float | None]) -> float | None:
    """The mean; None if one of the values is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def unit(vectors: NDArray[np.floating]) -> Floats:
    """Rows at length 1; a row of zeros stays one. No square leaves the range of a float, whatever the scale."""
    rows = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1)


def ranks(values: Floats, *, ties: Literal["average", "min"] = "average") -> Floats:
    """Ranks along the first axis, of the smallest 1; equal values share the mean of their ranks, or the smallest.

    Without NaN. As scipy.stats.rankdata, whose package takes half a second and 60 MB to import.
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
