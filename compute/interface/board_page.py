"""A board as one HTML file: its style and script stand in it, nothing is loaded, and nothing else may run.

The app's own board asks its server for every choice, and knows benchmarks, origins and pages. This page is a table that
is sorted, so it has a template of its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


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
    notes: Sequence[str],
    models: int,
    columns: Sequence[BoardColumn],
    rows: Sequence[BoardRow],
    reasons: Sequence[tuple[str, str]],
) -> str:
    """The page as text. notes: sentences, the first of them above the table; reasons: models and why they have no rank
    or no interval."""
    from markupsafe import Markup

    style, script = _text("board_page.css"), _text("board_page.js")
    template = _environment().get_template("board_page.html")
    return template.render(
        title=title,
        notes=notes,
        models=f"{models:,}",
        columns=columns,
        rows=rows,
        reasons=reasons,
        style=Markup(style),
        script=Markup(script),
        style_digest=_digest(style),
        script_digest=_digest(script),
    )


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """What a browser compares an inline style or script with."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
