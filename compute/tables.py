"""CSV tables of the repository as text, printed cells as numbers, and tables to print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from compute.io.tables import read_table
from compute.paths import PUBLISHED
from compute.types import BadInput

DASH = "-"  # the paper prints no value; an empty cell could not be read from our text


def read_csv(path: Path, *, columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """A CSV of the repository as text, nothing turned into NaN. Raises BadInput naming the file and what is wrong."""
    frame = read_table(path).frame
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise BadInput(f"{path.name} lacks the column {missing[0]!r}; it has: {', '.join(frame.columns)}")
    return frame.astype(object)


@cache
def _table(key: str, folder: Path) -> pd.DataFrame:
    return read_csv(folder / f"{key}.csv", columns=("model",))


def published_table(key: str, *, folder: Path = PUBLISHED) -> pd.DataFrame:
    """One published table, every cell the printed text; `-` no value printed, empty not recoverable."""
    return _table(key, folder).copy()


def number(text: str) -> float:
    """A printed cell as a number, `80.87%` -> 80.87, NaN for `-` and empty. Raises BadInput for other text."""
    text = text.strip()
    if text in ("", DASH):
        return float("nan")
    if not re.fullmatch(r"[+−-]?\d+(\.\d+)?%?", text):
        raise BadInput(f"{text!r} is not a printed number")
    return float(text.removesuffix("%").replace("−", "-"))


def numbers(frame: pd.DataFrame, *, columns: list[str]) -> pd.DataFrame:
    """The named columns of a printed table as floats, in printed units, same index."""
    return frame[columns].map(number).astype(float)


def padded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells of a table to print, each as wide as the widest of its column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
