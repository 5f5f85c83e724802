"""Parses numbers as people and programs write them in tables: 0.851, 85.1%, 1,204, 0,851, 88.1 ± 0.4, 70.1 (0.3).

Whether a comma is a decimal point is decided for a whole table, from the cells that are unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from compute.arrays import Bools, Floats
from compute.types import BadInput

NO_NUMBER = frozenset(("", "-", "–", "—", "na", "n/a", "nan", "none", "null", "<na>"))
PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
# Thousands in groups, before decimals with a point and with a comma.
GROUPED = {
    False: re.compile(r"[+-]?[1-9]\d{0,2}(?:(?P<gap>[,'’\s])\d{3})(?:(?P=gap)\d{3})*(?:\.\d*)?"),
    True: re.compile(r"[+-]?[1-9]\d{0,2}(?:(?P<gap>[.'’\s])\d{3})(?:(?P=gap)\d{3})*(?:,\d*)?"),
}
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[,.]\d{3}")  # 1,204 and 1.204: thousands or decimals
# Markup of the best score; not between digits.
BOLD = re.compile(
    r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)|</?(?:b|u|strong)>|\\(?:textbf|underline)\{|(?<=\d)\}", re.IGNORECASE
)
# A value and its error: 88.1 ± 0.4, 70.1 (0.3), 70.1 (±3); 70.1 (3) may be a rank.
ERROR = re.compile(r"(.+?)(?<!\s)\s*(?:(?:±|\+/-)([^()]+)|\(\s*(?:(?:±|\+/-)([^()]++)|(\d*[.,]\d+\s*+%?)\s*)\))")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A column of numbers. `wrong`: row -> the error in a cell and its fix, as the end of a sentence."""

    values: Floats  # (n,) NaN if there is none
    errors: Floats  # (n,) what follows ±, NaN if nothing does
    percent: Bools  # (n,) whether the cell has a percent sign; the value is as written
    wrong: dict[int, str] = field(default_factory=dict)


def has_decimal_comma(columns: Iterable[pd.Series], *, separator: bool | None = None) -> bool | None:
    """Returns whether these cells have decimal commas; None if no cell is decisive and one is ambiguous.

    `separator` is what the file's separator suggests (`TableFile.comma`), which decides if no cell does.
    """
    texts = [column.dropna().astype("str").drop_duplicates() for column in columns if not _is_numeric(column)]
    if not any(cells.str.contains(",", regex=False).any() for cells in texts):
        return False
    point = comma = either = False
    for part in (part for cells in texts for cell in cells for part in _parts(cell) if "," in part or "." in part):
        with_point, with_comma = (_number(part, comma=each) is not None for each in (False, True))
        point |= with_point and not with_comma
        comma |= with_comma and not with_point
        either |= with_point and with_comma and "," in part
    if point != comma:
        return comma
    return separator if either and not point else False


def read_numbers(column: pd.Series, *, comma: bool | None = False) -> Numbers:
    """Returns a column as numbers; `comma` is the result of `has_decimal_comma` for its table."""
    if _is_numeric(column):
        values = column.to_numpy(float, na_value=np.nan)
        return Numbers(values=values, errors=np.full_like(values, np.nan), percent=np.zeros(len(values), bool))
    texts = column.astype("str").str.strip().fillna("")
    codes, distinct = pd.factorize(texts)
    plain = np.full(len(distinct), np.nan) if comma else pd.to_numeric(distinct.astype(object), errors="coerce")
    read = [
        (value, np.nan, "") if value == value else _cell(text, comma)
        for text, value in zip(distinct, plain.tolist(), strict=True)
    ]
    values, errors = (np.array([cell[at] for cell in read], float)[codes] for at in (0, 1))
    percent = np.array(["%" in text for text in distinct], bool)[codes]
    problems = np.array([cell[2] for cell in read], object)[codes]
    wrong = {int(row): problems[row] for row in np.flatnonzero(problems != "")}
    return Numbers(values=values, errors=errors, percent=percent, wrong=wrong)


def number(text: str, *, name: str) -> float:
    """Parses one finite number without a percent sign. Raises BadInput that begins with the `name`."""
    value, error, wrong = _cell(text.strip(), has_decimal_comma([pd.Series([text])]))
    if wrong or "%" in text or not np.isnan(error) or not np.isfinite(value):
        raise BadInput(f"{name} is {text[:40]!r}; write a plain number such as 0.851")
    return value


def _is_numeric(column: pd.Series) -> bool:
    kind = column.dtype
    return (
        pd.api.types.is_numeric_dtype(kind)
        and not pd.api.types.is_bool_dtype(kind)
        and not pd.api.types.is_complex_dtype(kind)
    )


def _parts(text: str) -> list[str]:
    """Returns the numbers of a cell: the value, and its error if it has one."""
    text = BOLD.sub("", text).strip()
    found = ERROR.fullmatch(text)
    parts = [part for part in found.groups() if part] if found else [text]
    return [part.replace("−", "-").rstrip("% ").strip() for part in parts]


def _cell(text: str, comma: bool | None) -> tuple[float, float, str]:
    """Returns the value and error of a cell, and what is wrong with it."""
    if text.lower() in NO_NUMBER:
        return np.nan, np.nan, ""
    parts = _parts(text)
    if comma is None and any(EITHER.fullmatch(part) and "," in part for part in parts):
        return np.nan, np.nan, "has a comma that may stand for decimals or thousands. Write 1.204 or 1204"
    numbers = [_number(part, comma=bool(comma)) for part in parts]
    if None in numbers:
        if _number(parts[0], comma=not comma) is not None:
            here, there = ("point", "comma") if comma else ("comma", "point")
            return np.nan, np.nan, f"has a {here} where other cells have a {there}. Write decimals with a point"
        return np.nan, np.nan, "is not a number. Write a plain number such as 0.851"
    return numbers[0], (numbers[1] if len(numbers) > 1 else np.nan), ""


def _number(text: str, *, comma: bool) -> float | None:
    if GROUPED[comma].fullmatch(text):
        text = re.sub(r"['’\s.]" if comma else r"['’\s,]", "", text)
    elif comma and "." in text:
        return None
    if comma:
        text = text.replace(",", ".")
    if PLAIN.fullmatch(text):
        return float(text)
    return float(text) if text.lower().lstrip("+-") in ("inf", "infinity") else None
