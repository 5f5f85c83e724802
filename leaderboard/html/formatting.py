"""Formatting of values as plain text: numbers, intervals, missing values, addresses."""

from __future__ import annotations

import base64
import math
from urllib.parse import quote

import pandas as pd

from compute import rounding
from compute.rounding import rounded

NOTHING = "—"


def blank(value: object) -> bool:
    """Returns whether a cell is empty: None, NA, NaN or an empty string."""
    return value is None or value is pd.NA or value == "" or (isinstance(value, float) and math.isnan(value))


def or_dash(value: object, missing: str = NOTHING) -> object:
    """Returns the value, or `missing` for an empty cell."""
    return missing if blank(value) else value


def number(value: float, *, digits: int, scale: float = 1.0, sign: bool = False) -> str:
    """Returns a number in shown units with a real minus sign, or a dash; rounded as everywhere (compute.rounding)."""
    if blank(value):
        return NOTHING
    return rounded(value, digits, scale=scale, sign=sign).replace("-", "−")


def rank_range(low: int | None, high: int | None) -> str:
    """Returns a range of ranks as on the board: `3–7`, one rank alone, or empty if it is not known."""
    return "" if blank(low) else str(low) if low == high else f"{low}–{high}"


def span(low: float, high: float, *, digits: int, scale: float = 1.0) -> str:
    """Returns an interval as `low to high`, or a dash."""
    if blank(low) or blank(high):
        return NOTHING
    return f"{number(low, digits=digits, scale=scale)} to {number(high, digits=digits, scale=scale)}"


def parameters_text(millions: float) -> str:
    """Returns a number of parameters, given in millions, as everywhere (compute.rounding); or a dash."""
    return NOTHING if blank(millions) else rounding.parameters_text(millions)


def memory_text(size: float) -> str:
    """Returns a model's memory, given in units of 2^20 bytes: `577 MB`, `1.6 GB`; or a dash."""
    if blank(size):
        return NOTHING
    return f"{number(size, digits=0)} MB" if size < 1000 else f"{number(size / 1024, digits=1)} GB"


def percent(share: float, *, digits: int = 0) -> str:
    """Returns a fraction as `37%`, or a dash."""
    return NOTHING if blank(share) else f"{number(share, digits=digits, scale=100)}%"


def model_url(key: str) -> str:
    """Returns the address of a model's page, relative to the app's root."""
    return f"model?model={quote(key, safe='/:~')}"


def task_url(key: str) -> str:
    """Returns the address of a task's page, relative to the app's root."""
    return f"task?task={quote(key, safe='/:~')}"


def webp(data: bytes) -> str:
    """Returns a small WebP picture as a data URL for an <img>, so that it needs no file."""
    return f"data:image/webp;base64,{base64.b64encode(data).decode()}"
