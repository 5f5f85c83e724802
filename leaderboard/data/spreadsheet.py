"""Text that a spreadsheet does not run as a formula."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet runs a cell that starts so


def safe_cell(text: str) -> str:
    """The text, quoted where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
