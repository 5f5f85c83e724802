"""The cells of a table of scores as arrays [models, tasks]; a fault names every cell that is wrong.

`88.1 ± 0.4`, `70.1 (0.3)` and columns such as `<task>_std` are a score with its standard error. An empty cell, `-`,
`NA` or `nan` is not a score. Rows are counted from 1, below the heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.means import binomial_stderr
from compute.analysis.table import LARGEST
from compute.arrays import Floats, Ints
from compute.io.numbers import Numbers, has_decimal_comma, read_numbers
from compute.types import BadInput, argument, shortened

NAMED = 10  # bad cells that an error names
TOO_LARGE = "is not a finite score. Write a plain number such as 0.851"
NEGATIVE = "is not a standard error (negative). Leave it empty where it is not known"
FEW = 20  # cells that are looked at before the whole column


class TaskCells(NamedTuple):
    """The cells of one task: columns whose index are rows of the file, from 0."""

    task: str
    at: Ints  # which of the table's rows each is
    value: pd.Series
    stderr: pd.Series | None = None
    n: pd.Series | None = None  # answers behind each, where values are shares of right ones


def read_cells(
    cells: Sequence[TaskCells], rows: Sequence[str], *, comma: bool | None
) -> tuple[Floats, Floats, list[str]]:
    """Scores and standard errors [rows, tasks], and the tasks whose errors stand behind ± or in parentheses.

    `rows`: the models' names; `comma` as of `TableFile`. Raises BadInput.
    """
    columns = [column for one in cells for column in (one.value, one.stderr) if column is not None]
    decimal = has_decimal_comma(columns, separator=comma)
    faults = []

    def numbers(column: pd.Series, at: Ints, *, is_error: bool = False) -> Numbers:
        """A column of one unit as numbers; what is wrong goes to the faults."""
        read = read_numbers(column, comma=decimal)
        wrong = dict(read.wrong) | dict.fromkeys(np.flatnonzero(np.abs(read.values) > LARGEST).tolist(), TOO_LARGE)
        if is_error:
            wrong |= dict.fromkeys(np.flatnonzero(read.values < 0).tolist(), NEGATIVE)
        scored = np.flatnonzero(~np.isnan(read.values))
        share = read.percent[scored].mean() if len(scored) else 0.0
        for row in scored[read.percent[scored] == (share <= 0.5)] if 0 < share < 1 else ():
            here, others = ("a", "none") if read.percent[row] else ("no", "one")
            wrong[int(row)] = f"has {here} percent sign, where others have {others}. Write one unit"
        faults.extend(
            f"Row {column.index[row] + 1} ({shortened(rows[at[row]])!r}), column {shortened(str(column.name))!r}: "
            f"{shortened(str(column.iloc[row]))!r} {wrong[row]}"
            for row in sorted(wrong)
        )
        return read

    found = np.full((2, len(rows), len(cells)), np.nan)
    read, behind = [], []
    for one in cells:
        value = numbers(one.value, one.at)
        behind += [one.task] * (not np.isnan(value.errors).all())
        errors = value.errors if one.stderr is None else numbers(one.stderr, one.at, is_error=True).values
        read.append((value.values, errors, None if one.n is None else numbers(one.n, one.at).values))
    if faults:
        more = f" And {len(faults) - NAMED:,} cells more." if len(faults) > NAMED else ""
        raise BadInput(
            f"{'. '.join(faults[:NAMED])}.{more} Leave a cell empty where there is no score, or the column out "
            f"({argument('ignore')})"
        )
    for column, (one, (values, errors, count)) in enumerate(zip(cells, read, strict=True)):
        if count is not None:
            errors = np.where(np.isnan(errors), binomial_stderr(value=values, n=count), errors)
            errors = sampling_errors(values=values, stderr=errors, share_of=count)
        found[:, one.at, column] = values, errors
    return found[0], found[1], behind


def mean_over_seeds(values: Floats, errors: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """The mean of the rows of a group [groups, tasks], and its standard error by their spread, where there are two."""
    frame = pd.DataFrame(values).groupby(groups)
    spread = frame.sem().to_numpy()
    return frame.mean().to_numpy(), np.where(np.isnan(spread), pd.DataFrame(errors).groupby(groups).first(), spread)


def is_text(column: pd.Series) -> bool:
    """Whether a column has cells and none of them is a number."""
    if any(np.isfinite(read_numbers(cells).values).any() for cells in (column.head(FEW), column)):
        return False
    return bool(read_numbers(column).wrong) and not has_decimal_comma([column])
