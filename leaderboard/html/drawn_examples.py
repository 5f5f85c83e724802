"""One drawn item for each type of task: what goes in, what is asked, and what counts as right.

`drawn_examples.toml` lists them. The drawings are made here, by the code that draws the mini suite; no item of a data
set is shown.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup
from PIL import Image

from compute.io.files import words_beside
from compute.tasks.drawing import distortions, render
from compute.tasks.drawing.scenes import Background, Scene, Thing
from leaderboard.html.labels import is_synthetic
from leaderboard.html.templates import macros


@dataclass(frozen=True)
class Tile:
    """A part of an item: what it is called, and a drawing or a text. `distortion` is a kind and its strength."""

    role: str
    shows: Scene | str
    distortion: tuple[str, int] = ("", 0)
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
    return [b"" if isinstance(tile.shows, str) else picture(tile) for tile in example.tiles]


@cache
def picture(tile: Tile) -> bytes:
    """A tile's drawing as WebP, without loss, of `render.SIDE` pixels a side."""
    kind, strength = tile.distortion
    pixels = distortions.distort(render.draw(tile.shows), kind=kind, strength=strength)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, method=6)
    return out.getvalue()


def scene(
    *,
    things: Iterable[tuple[str, float, float]] = (),
    words: Iterable[str] = (),
    size: str = "large",
    ground: str = "white",
) -> Scene:
    """A scene of `things`, such as `red circle`, with their centres as shares of the image, or a page with words on it,
    two a line."""
    parts = [(*name.split(), x, y) for name, x, y in things]
    return Scene(
        background=Background(first=ground, second=ground),
        things=tuple(Thing(shape=shape, colour=colour, size=size, x=x, y=y) for colour, shape, x, y in parts),
        words=tuple(words),
    )


def _example(*, tiles: list[dict[str, Any]], categories: Iterable[str] = (), **facts: str) -> DrawnExample:
    shown = (
        Tile(
            **tile
            | {"shows": SCENES.get(tile["shows"], tile["shows"]), "distortion": tuple(tile.get("distortion", ("", 0)))}
        )
        for tile in tiles
    )
    return DrawnExample(categories=tuple(categories), tiles=tuple(shown), **facts)


_FILE = words_beside(__file__)
SCENES = {name: scene(**facts) for name, facts in _FILE["scenes"].items()}
EXAMPLES = tuple(_example(**facts) for facts in _FILE["examples"])
