"""What the template of a board in one HTML file shows: headings, cells and rows.

The app's own board asks its server for every choice, and knows benchmarks, origins and pages. This page is a table that
is sorted, so it has a template of its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BoardColumn:
    """A heading, and which way its first click sorts."""

    title: str
    first: str  # ascending | descending
    key: str = ""  # of its style
    axis: tuple[str, str] | None = None  # the ends of the drawn intervals


@dataclass(frozen=True, kw_only=True)
class BoardCell:
    """What a cell shows and what it is sorted by; an empty value comes last."""

    text: str
    value: str = ""
    key: str = ""
    head: bool = False
    strip: tuple[float, float, float] | None = None  # low, mean and high in pixels


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """A model's cells; `leads` where its class begins."""

    cells: tuple[BoardCell, ...]
    leads: bool
