"""The signs as strings of markup, for pages without a template."""

from __future__ import annotations

from leaderboard.html.labels import SIGNS, signs
from leaderboard.html.labels import explained_signs as said

__all__ = ["SIGNS", "said", "signs"]


def marked(marks: int) -> str:
    """The signs as markup to stand after a number; each explains itself."""
    return "".join(f" <abbr title='{words}'>{sign}</abbr>" for bit, sign, words in SIGNS if marks & bit)
