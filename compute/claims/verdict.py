"""Claims as data: the texts of assets/published/claims.csv, what code recomputes for them, and the verdicts.

Columns of claims.csv: `key` names what code recomputes; `paper`, `where`, `claim`, `printed`, `formula`, `note` and
`why` (why it matters) are shown as they stand; `verdict` is set only where the paper prints nothing to compute with,
and such a row needs no code. A row with {placeholders} is a family of claims, one a table cell, and code fills them. A
row `key/text` adds its note to the claim of the family `key` that reads `text`, or to all of its claims whose verdict
is `text`; it has no severity.

`severity` says what depends on a claim, whatever its verdict:
    headline   a finding that the abstract, the conclusion or a section leads with: who is best, what transfers, what
               correlates. Each says in `why` what a reader would decide by it.
    table      a result: a score, rank or correlation of a table, or a sentence about single models or tasks.
    detail     how much data there is, captions, repeated numbers, the order of rows: no ranking depends on it.

Two verdicts are not a conflict although the print and the recomputed text are unlike:
    tables differ     the claim holds two sources against each other that need not agree, such as tables that average
                      different categories (`Check.across`)
    not significant   a correlation of so few models that its interval neither confirms nor excludes what is claimed: a
                      sign that the data cannot tell from zero neither confirms nor contradicts (`by_intervals`)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from numbers import Integral

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.catalog.published import number
from compute.io.tables import read_csv
from compute.paths import PUBLISHED
from compute.rounding import decimal, rounded
from compute.types import BadInput, Claim

CANNOT, NOT_SIGNIFICANT, TABLES_DIFFER = "cannot be recomputed", "not significant", "tables differ"
TEXTS = ("claim", "where", "printed", "formula", "note", "why")
NOT_IN_KEYS = re.compile(r"[^a-z0-9.]+")
HYPHEN = re.compile(r"(?<![\w.)-])-(?=\d)")  # of a negative number


@dataclass(frozen=True)
class Check:
    """What code gives for one claim: a text and whether the claim holds, or a value to compare with the printed one."""

    text: str = ""  # empty shows the value, with two digits more than printed
    holds: bool | str | None = (
        None  # a verdict in words stays as it is; None compares the value, or the text, with the print
    )
    value: float | None = None  # in printed units; a count is shown as it is; None or NaN cannot be recomputed
    slack: float = 0.0  # largest error that the rounding of the inputs can cause, in printed units
    across: bool = False  # the claim compares two sources that need not agree: unlike ones are TABLES_DIFFER
    words: Mapping[str, object] = field(default_factory=dict)  # fill the placeholders of the row


Checks = dict[str, Check | list[Check]]  # by the keys of claims.csv


def claims_of(paper: str, sections: Iterable[Callable[[], Checks]]) -> list[Claim]:
    """Every claim of a paper, in the order of claims.csv, from the checks of its sections.

    Raises BadInput naming the rows that no code recomputes, and the checks without a row.
    """
    rows = {key: row for key, row in texts().items() if row["paper"] == paper}
    notes = {key for key in rows if "/" in key}
    stated: Checks = {key: Check(holds=row["verdict"]) for key, row in rows.items() if row["verdict"]}
    checks = {key: check for section in sections for key, check in section().items()}
    if wrong := checks.keys() ^ (rows.keys() - notes - stated.keys()):
        raise BadInput(
            f"claims.csv and compute/claims differ in {sorted(wrong)}: a key needs a row and a check, no more"
        )
    checks |= stated
    claims = []
    for key in (key for key in rows if key in checks):
        family = isinstance(checks[key], list)
        for check in checks[key] if family else [checks[key]]:
            words = {
                name: decimal(word) if isinstance(word, float) and math.isfinite(word) else word
                for name, word in check.words.items()
            }
            text = {name: rows[key][name].format_map(words) for name in TEXTS}
            recomputed, verdict = _compared(text["printed"], check)
            if check.across and verdict == "conflict":
                verdict = TABLES_DIFFER
            added = [name for name in (f"{key}/{text['claim']}", f"{key}/{verdict}") if name in notes]
            text["note"] = " ".join(filter(None, [text["note"], *(rows[name]["note"] for name in added)]))
            recomputed, text["note"] = (HYPHEN.sub("−", words) for words in (recomputed, text["note"]))
            own = f"{key}/{NOT_IN_KEYS.sub('-', text['claim'].lower()).strip('-')}" if family else key
            severity = rows[key]["severity"]
            claims.append(
                Claim(key=own, paper=paper, recomputed=recomputed, verdict=verdict, severity=severity, **text)
            )
    return claims


@cache
def texts() -> dict[str, dict[str, str]]:
    """The rows of claims.csv by key."""
    frame = read_csv(PUBLISHED / "claims.csv", columns=("key", "paper", "verdict", "severity", *TEXTS))
    return frame.set_index("key").to_dict("index")


def _compared(printed: str, check: Check) -> tuple[str, str]:
    """The recomputed text and the verdict."""
    text, value, holds = check.text, check.value, check.holds
    if isinstance(holds, str):
        return text or shown(value, like=printed or "0.0"), holds
    if holds is None and text and value is None:
        holds = text == printed
    if holds is not None:
        return text, "reproduces" if holds else "conflict"
    verdict = judge(printed, value, slack=check.slack) if printed else CANNOT
    return text or (str(value) if isinstance(value, Integral) else shown(value, like=printed or "0.0")), verdict


def by_intervals(*, within: ArrayLike, excluded: ArrayLike) -> bool | str:
    """Whether a claim on correlations holds: where every interval lies `within` what is claimed, not where one of them
    is wholly outside (`excluded`), and otherwise NOT_SIGNIFICANT. Both are bool (n,)."""
    return False if np.any(excluded) else True if np.all(within) else NOT_SIGNIFICANT


def listing(values: Mapping[str, float] | pd.Series, *, digits: int = 1) -> str:
    """Values by name, in words."""
    return ", ".join(f"{name} {rounded(value, digits)}" for name, value in values.items())


def decimals(printed: str) -> int:
    """Digits after the point of a printed number, `72.6%` -> 1."""
    return len(printed.strip(" %KM").partition(".")[2])


def judge(printed: str, recomputed: float | None, *, slack: float = 0.0) -> str:
    """The verdict on one number.

    `recomputed` is in printed units; `slack` is the largest error that the rounding of the inputs can cause, in
    printed units. A value that rounds to the printed digits, half up or half to even, reproduces; one within half a
    printed unit plus slack is rounding; anything further is a conflict; None cannot be recomputed. Raises BadInput
    where `printed` is not a number with or without %, K or M.
    """
    if recomputed is None or not math.isfinite(recomputed):
        return CANNOT
    half = 0.5 * 10 ** -decimals(printed)
    gap = abs(recomputed - number(printed.rstrip("KM")))
    if gap <= half + 1e-9:
        return "reproduces"
    return "rounding" if gap <= half + slack + 1e-9 else "conflict"


def shown(value: float | None, *, like: str) -> str:
    """A recomputed value with two more digits than the printed one, or an empty text."""
    if value is None or not math.isfinite(value):
        return ""
    return rounded(value, decimals(like) + 2)
