"""Features as the metrics of this room read them: rows checked once, then taken in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats, Ints, LazyRows, unit
from compute.types import BadInput, Undefined

BLOCK = 1 << 21  # numbers in memory at a time: 16 MB


def feature_array(values: Any, *, argument: str) -> np.ndarray | LazyRows:
    """`values` as an array (n, d) of real numbers in its own type; rows that are read lazily stay where they are.

    Raises BadInput for any other shape or type.
    """
    array = values if isinstance(values, LazyRows) else np.asanyarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise BadInput(
            f"{argument} must be an array (n, d) of features with at least one row and one column, got the shape "
            f"{array.shape}"
        )
    if array.dtype.kind not in "fiu":
        raise BadInput(f"{argument} must hold real numbers, got the type {array.dtype}")
    return array


def feature_rows(values: Any, *, argument: str, first: int = 0) -> Floats:
    """Features (n, d) as float64.

    Raises BadInput for any other shape or type, and for numbers that are not finite: it names `argument` and the first
    such row, where `first` is the number of row 0.
    """
    rows = np.asarray(feature_array(values, argument=argument), dtype=np.float64)
    for part in blocks(len(rows), width=rows.shape[1]):
        good = np.isfinite(rows[part]).all(axis=1)
        if not good.all():
            at = first + part.start + int(np.argmin(good))
            raise BadInput(
                f"{argument}: row {at} holds NaN or infinity. Encode that item again, or remove it from every set"
            )
    return rows


def directions(values: Any, *, argument: str, first: int = 0) -> Floats:
    """Features (n, d) at length 1. Raises BadInput as `feature_rows`, and for a row of zeros."""
    rows = feature_rows(values, argument=argument, first=first)
    empty = ~rows.any(axis=1)
    if empty.any():
        raise BadInput(f"{argument}: row {first + int(np.argmax(empty))} is all zeros, so it has no direction")
    return unit(rows)


def two_sets(*, real: Any, generated: Any) -> tuple[Floats, Floats]:
    """Both sets' features as float64. Raises BadInput as `feature_rows`, and where their widths differ."""
    first, second = feature_rows(real, argument="real"), feature_rows(generated, argument="generated")
    if first.shape[1] != second.shape[1]:
        raise BadInput(
            f"real has {first.shape[1]} features an image and generated {second.shape[1]}: both must come from the "
            "same backbone"
        )
    return first, second


def check_paired(first: np.ndarray | LazyRows, second: np.ndarray | LazyRows, *, names: tuple[str, str]) -> None:
    """Raises BadInput where two arrays that are paired row by row have unlike numbers of rows."""
    if len(first) != len(second):
        raise BadInput(
            f"{names[0]} has {len(first)} rows and {names[1]} {len(second)}: row i of each must belong to prompt i. "
            "Remove the prompts that either lacks"
        )


def blocks(n: int, *, width: int) -> Iterator[slice]:
    """The rows 0..n in parts of at most `BLOCK` numbers, where a row has `width`."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def row_blocks(n: int, rows: Ints | None, *, width: int) -> Iterator[slice | Ints]:
    """As `blocks`, of all n rows or of these `rows` of them."""
    if rows is None:
        return blocks(n, width=width)
    return (rows[part] for part in blocks(len(rows), width=width))


def check_kept(*kept: Bools, at_least: int) -> None:
    """Raises Undefined where a subset of marked rows, (subsets, n) each, keeps fewer than `at_least`."""
    fewest = min(int(marks.sum(axis=1).min()) for marks in kept)
    if fewest < at_least:
        raise Undefined(f"a subset keeps {fewest} images, and this metric needs {at_least}")


def unlike_counts(n_real: int, n_generated: int) -> tuple[str, ...]:
    """The warning of a metric whose value depends on both counts; none where they are equal."""
    if n_real == n_generated:
        return ()
    return (
        f"{n_real} real and {n_generated} generated images: the value depends on both counts. Compare it only with "
        "values at the same counts",
    )
