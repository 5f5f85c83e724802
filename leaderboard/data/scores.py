"""Single scores for the browser: intervals, marks, and the columns shared by tables of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from compute.analysis.intervals import bias_note, interval
from compute.rounding import clean, rounded
from leaderboard.html.formatting import blank, percent
from leaderboard.html.labels import is_synthetic


def shown_interval(score: Mapping[str, Any]) -> list[float | None]:
    """Returns the 95% interval of a row of scores with its metric's facts, in shown units; two times None if
    unknown.
    """
    row = SimpleNamespace(**score)
    return [shown(end, score) for end in interval(row, row) or (None, None)]


def shown(value: float | None, score: Mapping[str, Any]) -> float | None:
    """Returns a stored value in the metric's units, for the browser to round; None for a missing value."""
    return None if blank(value) else clean(value, scale=score["scale"])


def marks(score: Mapping[str, Any]) -> str:
    """Returns the share of the task that a score covers, if not all, and remarks about it."""
    is_published = score["origin"] == "published"
    said = {
        answered(score, score): True,
        bias_note(score["value"], score["bias"], digits=score["digits"], scale=score["scale"]): True,
        "synthetic": is_synthetic(score["benchmark"]),
        "† trained on": score["trained"],
        "? suspect": is_published and score["suspect"],
        "‡ disputed": is_published and score["disputed"],
    }
    return ", ".join(mark for mark, holds in said.items() if mark and holds)


def answered(score: Mapping[str, Any], metric: Mapping[str, Any]) -> str:
    """Returns a note for a score of only some items: `55.0% of the items; at least 46.9 if the rest count as wrong`.

    score: its coverage and lower_bound, blank where not known; metric: scale and digits.
    """
    if blank(score["coverage"]) or score["coverage"] >= 1:
        return ""
    share = f"{percent(score['coverage'], digits=1)} of the items"
    if blank(score["lower_bound"]):
        return share
    least = rounded(score["lower_bound"], metric["digits"], scale=metric["scale"])
    return f"{share}; at least {least} if the rest count as wrong"


class ScoreColumn(NamedTuple):
    """A column of a table of scores: the value it shows `of` a row, by default the row's value of its key."""

    key: str
    title: str
    digits: int | None = None  # of numbers
    hint: str = ""
    of: Callable[[Mapping[str, Any]], Any] | None = None
    link: str = ""  # the address that each row's own `link` follows
    numeric: bool = False

    def facts(self, columns: int) -> dict[str, Any]:
        """Returns the column's description for the browser, in a table with this many columns."""
        facts = {"key": self.key, "title": self.title}
        facts |= {"link": {"base": self.link, "at": columns}} if self.link else {"hint": self.hint}
        facts |= {"numeric": True} if self.numeric or self.digits is not None else {}
        return facts | ({} if self.digits is None else {"digits": self.digits})


def listing(columns: Sequence[ScoreColumn], scores: Iterable[Mapping[str, Any]], *, empty: str) -> dict[str, Any]:
    """Returns a table of scores for the browser; `empty` is shown if it has no scores."""
    rows = [
        [*(column.of(score) if column.of else score[column.key] for column in columns), score["link"]]
        for score in scores
    ]
    return {
        "columns": [column.facts(len(columns)) for column in columns],
        "rows": rows,
        "caption": f"{len(rows)} scores in the units the papers print",
        "empty": empty,
    }


SUBSET = ScoreColumn(
    "subset",
    "Subset",
    hint="Language or split; empty: the whole task",
    of=lambda score: "" if score["subset"] == "default" else score["subset"],
)
VALUES = (
    ScoreColumn("value", "Score", 2, of=lambda score: shown(score["value"], score)),
    ScoreColumn("printed", "Printed", hint="The source's own digits", of=lambda s: s["printed"] or "", numeric=True),
    ScoreColumn("low", "95% from", 1, of=lambda score: shown_interval(score)[0]),
    ScoreColumn("high", "to", 1, of=lambda score: shown_interval(score)[1]),
    ScoreColumn("n", "n", 0, "Items that the score rests on", lambda s: s["n"]),
)
ORIGINS = (
    ScoreColumn("origin", "Origin"),
    ScoreColumn(
        "source",
        "Source",
        of=lambda score: score["source"] + ("" if score["main"] else " (not the one shown on the board)"),
    ),
    ScoreColumn(
        "marks",
        "Marks",
        hint="† trained on this data set, ? doubtful score, ‡ another table prints another number, synthetic: "
        "items drawn by a program; and how much of the task a score rests on, where it is not all",
        of=marks,
    ),
)
