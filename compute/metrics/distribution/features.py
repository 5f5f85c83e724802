"""Features as the metrics of this room read them: rows checked once, then taken in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats
from compute.metrics.distribution.moments import feature_array, finite_rows
from compute.types import BadInput, Undefined

LARGEST = 1e40  # sums over cubes of products of larger numbers leave the range of doubles
_BLOCK = 1 << 22  # numbers in memory at a time: 32 MB


def feature_rows(values: Any, *, argument: str) -> Floats:
    """Features (n, d) as float64.

    Raises BadInput for any other shape or type, and for numbers that are not finite or beyond `LARGEST`: it names
    `argument` and the first such row.
    """
    rows = finite_rows(feature_array(values, argument=argument), argument=argument)
    for part in blocks(len(rows), width=rows.shape[1]):
        largest = np.abs(rows[part]).max(axis=1)
        if (largest > LARGEST).any():
            row = part.start + int(np.argmax(largest > LARGEST))
            raise BadInput(f"{argument}: row {row} holds numbers beyond {LARGEST:g}. Scale the features down")
    return rows


def two_sets(*, real: Any, generated: Any) -> tuple[Floats, Floats]:
    """Both sets' features as float64. Raises BadInput as `feature_rows`, and where their widths differ."""
    first, second = feature_rows(real, argument="real"), feature_rows(generated, argument="generated")
    if first.shape[1] != second.shape[1]:
        raise BadInput(
            f"real has {first.shape[1]} features an image and generated {second.shape[1]}: both must come from the "
            "same backbone"
        )
    return first, second


def blocks(n: int, *, width: int) -> Iterator[slice]:
    """The rows 0..n in parts of at most 32 MB, where a row has `width` numbers."""
    step = max(1, _BLOCK // max(width, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def check_kept(kept: Bools, *, n: int, argument: str, at_least: int) -> None:
    """Raises BadInput where `kept` is not (subsets, n), Undefined where a subset keeps fewer rows than `at_least`."""
    if kept.ndim != 2 or kept.shape[1] != n:
        raise BadInput(f"{argument}: expected marks of shape (subsets, {n}), got {kept.shape}")
    fewest = int(kept.sum(axis=1).min(initial=n))
    if fewest < at_least:
        raise Undefined(f"{argument}: a subset keeps {fewest} images, and this metric needs {at_least}")


def unlike_counts(n_real: int, n_generated: int) -> tuple[str, ...]:
    """The warning of a metric whose value depends on both counts; none where they are equal."""
    if n_real == n_generated:
        return ()
    return (
        f"{n_real} real and {n_generated} generated images: the value depends on both counts. Compare it only with "
        "values at the same counts",
    )
