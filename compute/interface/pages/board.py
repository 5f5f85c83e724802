"""A board as one HTML file: its style and script stand in it, nothing is loaded, and nothing else may run.

The app's own board asks its server for every choice, and knows benchmarks, origins and pages. This page is a table that
is sorted, so it has a template of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compute.interface.pages import one_file


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


def page(
    *,
    title: str,
    lead: Sequence[str],
    notes: Sequence[str],
    models: int,
    columns: Sequence[BoardColumn],
    rows: Sequence[BoardRow],
    reasons: Sequence[tuple[str, str]],
) -> str:
    """The page as text. lead: sentences above the table; notes: those below it; reasons: models and why they have no
    rank or no interval."""
    return one_file.render(
        "board.html",
        styles=("board.css",),
        script="board.js",
        title=title,
        lead=lead,
        notes=notes,
        models=f"{models:,}",
        columns=columns,
        rows=rows,
        reasons=reasons,
    )
