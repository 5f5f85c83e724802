"""The signs that stand beside a figure, as text and as markup."""

from __future__ import annotations

from leaderboard.data.suite_table import DISPUTED, SUSPECT, TRAINED

SIGNS = (
    (TRAINED, "†", "trained on this data set"),
    (SUSPECT, "?", "suspect figure"),
    (DISPUTED, "‡", "another table prints another number"),
)


def signs(marks: int) -> str:
    """The signs of a figure's marks, such as `†?`; empty for none."""
    return "".join(sign for bit, sign, _ in SIGNS if marks & bit)


def said(marks: int) -> str:
    """The marks with their words, such as `† trained on this data set`; empty for none."""
    return ", ".join(f"{sign} {words}" for bit, sign, words in SIGNS if marks & bit)


def marked(marks: int) -> str:
    """The signs as markup to stand after a number; each explains itself."""
    return "".join(f" <abbr title='{words}'>{sign}</abbr>" for bit, sign, words in SIGNS if marks & bit)
