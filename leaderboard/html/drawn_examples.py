"""One drawn item for each type of task: what goes in, what is asked, and what counts as right.

`drawn_examples.toml` lists them. The drawings are files in the folder `drawn`; no item of a data set is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from compute.io.files import words_beside
from leaderboard.html.labels import is_synthetic
from leaderboard.html.templates import macros

DRAWINGS = Path(__file__).parent / "drawn"


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A part of an item: what it is called, and a drawing, by its file's name, or a text."""

    role: str
    drawing: str = ""
    text: str = ""
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnExample:
    """A drawn item of a type of tasks: those of one procedure in some categories, or in all others where none is named.

    `title` names the type. `modality` is the tasks' only one, where that tells the types of a category apart. `asks`
    and `right` are a sentence each; `drawn` is what is right where a program draws the items, empty for the same.
    """

    key: str
    title: str
    procedure: str
    categories: tuple[str, ...] = ()
    modality: str = ""
    asks: str
    right: str
    drawn: str = ""
    tiles: tuple[Tile, ...]


def example_of(*, procedure: str, category: str, modalities: Collection[str]) -> DrawnExample | None:
    """The example of a task's type; None for a procedure without one."""
    own = [each for each in EXAMPLES if each.procedure == procedure]
    fitting = [each for each in own if not each.modality or {each.modality} == set(modalities)]
    named = [each for each in fitting if category in each.categories]
    return next(iter([*named, *(each for each in fitting if not each.categories)]), None)


def markup(*, procedure: str, category: str, modalities: Collection[str], benchmark: str) -> Markup:
    """The example of a task's type with its drawings; empty for none."""
    example = example_of(procedure=procedure, category=category, modalities=modalities)
    if example is None:
        return Markup("")
    right = example.drawn if example.drawn and is_synthetic(benchmark) else example.right
    return macros("html/drawn_examples.html").whole(example, right, pictures(example))


def short_markup(example: DrawnExample) -> Markup:
    """An example's drawings and its question, small; that they are drawn must be said where it stands."""
    return macros("html/drawn_examples.html").short(example, pictures(example))


def pictures(example: DrawnExample) -> list[bytes]:
    """The drawing of each tile as WebP, empty for a text."""
    return [picture(tile.drawing) if tile.drawing else b"" for tile in example.tiles]


@cache
def picture(name: str) -> bytes:
    """A drawing as WebP, of 64 pixels a side."""
    return (DRAWINGS / f"{name}.webp").read_bytes()


def _example(*, tiles: list[dict[str, Any]], categories: Collection[str] = (), **facts: str) -> DrawnExample:
    return DrawnExample(categories=tuple(categories), tiles=tuple(Tile(**tile) for tile in tiles), **facts)


EXAMPLES = tuple(_example(**facts) for facts in words_beside(__file__)["examples"])
