"""Runs of combining marks, such as accents: sorting one, as normal forms do, takes the square of its length in time."""

from __future__ import annotations

import re
import unicodedata

MOST = 100  # marks on one letter; Unicode's stream-safe texts have 30, and no language needs as many


def longest_run(text: str) -> int:
    """How many combining marks stand on one letter of the text at most, whichever way they are written."""
    marks = "".join(sign for sign in set(text) if _is_mark(sign)) if not text.isascii() else ""
    return max(map(len, re.findall(f"[{re.escape(marks)}]+", text)), default=0) if marks else 0


def _is_mark(sign: str) -> bool:
    """Whether the sign, taken apart, begins with a mark: a few marks are no marks before that."""
    return unicodedata.combining(unicodedata.normalize("NFKD", sign)[0]) > 0
