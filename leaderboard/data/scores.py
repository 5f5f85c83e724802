"""Single scores for the browser: intervals, marks, and the columns that the tables of scores share."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from compute.analysis.intervals import bias_note, error_interval
from compute.rounding import clean, rounded
from leaderboard.html.formatting import blank, percent
from leaderboard.html.labels import is_synthetic

Cells = dict[str, Any]  # one column of a table for the browser


def interval(
    *,
    value: float,
    stderr: float | None,
    n: float | None,
    limits: Mapping[str, Any] | pd.Series,
    own: tuple[float | None, float | None] = (None, None),
) -> tuple[float, float] | tuple[None, None]:
    """A score's 95% interval in stored units within the metric's bounds, None twice where the error is not known, or
    is none.

    own: the ends of an interval that the metric itself gives, blank where it gives none: it stands before the error's.
    limits: the metric's lower, upper (NaN: none) and proportion, whether a score is a share of its `n` items. Of such a
    share an error of 0 has Wilson's interval; of any other it shows that all items are equal, not how certain they are.
    """
    if not blank(own[0]) and not blank(own[1]):
        return float(own[0]), float(own[1])  # type: ignore[arg-type]
    share_of = int(n) if limits["proportion"] and not blank(n) else None
    if blank(stderr) or not 0 <= stderr < math.inf:
        return None, None
    lower, upper = (None if blank(limits[side]) else float(limits[side]) for side in ("lower", "upper"))
    ends = error_interval(value=float(value), stderr=float(stderr), lower=lower, upper=upper, share_of=share_of)
    return ends or (None, None)


def shown_interval(score: Mapping[str, Any]) -> list[float | None]:
    """The interval of a row of scores, with its metric's facts, in shown units."""
    own = (score["low"], score["high"])
    ends = interval(value=score["value"], stderr=score["stderr"], n=score["n"], limits=score, own=own)
    return [shown(end, score) for end in ends]


def shown(value: float | None, score: Mapping[str, Any]) -> float | None:
    """A stored value in the units of the score's metric, for the browser to round; None for nothing."""
    return None if blank(value) else clean(value, scale=score["scale"])


def subset(score: Mapping[str, Any]) -> str:
    """The part of the task that a score is of; empty for the whole task."""
    return "" if score["subset"] == "default" else score["subset"]


def value_cells(score: Mapping[str, Any]) -> list[Any]:
    """What VALUE_COLUMNS show: value, printed digits, interval and number of items."""
    n = None if blank(score["n"]) else int(score["n"])
    return [shown(score["value"], score), score["printed"] or "", *shown_interval(score), n]


def origin_cells(score: Mapping[str, Any], *, by: str, trained: Collection[str], suspect: set, disputed: set) -> list:
    """What ORIGIN_COLUMNS show. `by` is the column, model or task, that the three sets are about.

    suspect: (key, metric) with an empty metric for all of them; trained and disputed: keys.
    """
    key, marks = score[by], [coverage] if (coverage := answered(score, score)) else []
    if note := bias_note(score["value"], score["bias"], digits=int(score["digits"]), scale=score["scale"]):
        marks.append(note)
    if is_synthetic(score["benchmark"]):
        marks.append("synthetic")
    if key in trained:
        marks.append("† trained on")
    if score["origin"] == "published":
        if {(key, ""), (key, score["metric"])} & suspect:
            marks.append("? suspect")
        if key in disputed:
            marks.append("‡ disputed")
    source = score["source"] + ("" if score["main"] else " (not the one shown on the board)")
    return [score["origin"], source, ", ".join(marks)]


def answered(score: Mapping[str, Any], metric: Mapping[str, Any]) -> str:
    """`55.0% of the items; at least 46.9 if the rest count as wrong`: for a score of some of its items only.

    score: its coverage and lower_bound, blank where not known; metric: scale and digits.
    """
    if blank(score["coverage"]) or score["coverage"] >= 1:
        return ""
    share = f"{percent(score['coverage'], digits=1)} of the items"
    if blank(score["lower_bound"]):
        return share
    least = rounded(score["lower_bound"], int(metric["digits"]), scale=metric["scale"])
    return f"{share}; at least {least} if the rest count as wrong"


def disputed(scores: pd.DataFrame, by: str) -> set[str]:
    """Where another table of the paper prints another number; other ways of running a model dispute nothing."""
    return set(scores.loc[~scores["main"] & (scores["origin"] == "published"), by])


def suspect(remarks: pd.DataFrame, by: str) -> set[tuple[str, str]]:
    """The scores with a remark, as (key, metric)."""
    return set(zip(remarks[by], remarks["metric"], strict=True))


def words(key: str, title: str, *, hint: str = "") -> Cells:
    """A column of text."""
    return {"key": key, "title": title, "hint": hint}


def numbers(key: str, title: str, digits: int, *, hint: str = "") -> Cells:
    """A column of numbers."""
    return {"key": key, "title": title, "hint": hint, "numeric": True, "digits": digits}


def listing(columns: list[Cells], rows: list[list[Any]]) -> dict[str, Any]:
    """A table of scores for the browser."""
    return {"columns": columns, "rows": rows, "caption": f"{len(rows)} scores in the units the papers print"}


SUBSET = words("subset", "Subset", hint="Language or split; empty: the whole task")
VALUE_COLUMNS = (
    numbers("value", "Score", 2),
    {**words("printed", "Printed", hint="The source's own digits"), "numeric": True},
    numbers("low", "95% from", 1),
    numbers("high", "to", 1),
    numbers("n", "n", 0, hint="Items that the score rests on"),
)
ORIGIN_COLUMNS = (
    words("origin", "Origin"),
    words("source", "Source"),
    words(
        "marks",
        "Marks",
        hint="† trained on this data set, ? doubtful score, ‡ another table prints another number, synthetic: "
        "items drawn by a program; and how much of the task a score rests on, where it is not all",
    ),
)
