"""Scenes as data: what stands where, and every fact that a caption may state about it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

from compute.tasks.drawing.lexicon import PHOTOGRAPHS

APART = 0.12  # share of the image by which two centres must differ for a relation to be stated
EIGHTHS = 8  # how many parts all scenes are divided into; one is reserved for evaluation


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A coloured shape; (x, y) is its centre as shares of the image."""

    shape: str
    colour: str
    size: str
    x: float
    y: float

    @property
    def name(self) -> str:
        """What captions call it."""
        return f"{self.colour} {self.shape}"


@dataclass(frozen=True, kw_only=True)
class Background:
    """A texture of two colours, or a crop of a photograph: `crop` is x, y and side as `render.crop` takes them."""

    texture: str = "plain"
    first: str = "white"
    second: str = "white"
    photograph: str = ""
    part: str = "train"
    crop: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def name(self) -> str:
        """What captions call it."""
        if self.photograph:
            return PHOTOGRAPHS[self.photograph]
        return self.first if self.texture == "plain" else f"{self.texture} {self.first} {self.second}"


@dataclass(frozen=True)
class Scene:
    """A background with things on it, or with words in the cells of a page (row by row, empty for none)."""

    background: Background
    things: tuple[Thing, ...] = ()
    words: tuple[str, ...] = ()
    ink: str = "black"

    def description(self) -> str:
        """What is shown, not exactly where: sorted things with their ninth of the image, or the set of words."""
        if self.words:
            return "words " + " ".join(sorted(word for word in self.words if word))
        things = sorted(f"{thing.size} {thing.name} {int(thing.x * 3)}{int(thing.y * 3)}" for thing in self.things)
        where = " {:.1f} {:.1f} {:.1f}".format(*self.background.crop) if self.background.photograph else ""
        return f"{self.background.name}{where}: {', '.join(things)}"

    def held_out(self) -> bool:
        """Whether scenes of this description are for evaluation only: one of EIGHTHS parts of all is, by a hash."""
        return hashlib.blake2b(self.description().encode(), digest_size=4).digest()[0] % EIGHTHS == 0


def relation(first: Thing, second: Thing) -> str:
    """Where `first` stands from `second`: the direction that differs most, empty when they are too close to tell."""
    across, down = first.x - second.x, first.y - second.y
    if max(abs(across), abs(down)) < APART or abs(abs(across) - abs(down)) < APART / 2:
        return ""
    if abs(across) > abs(down):
        return "left of" if across < 0 else "right of"
    return "above" if down < 0 else "below"


def place(thing: Thing) -> str:
    """Which corner or middle of the image a thing is in; empty near a border between two."""
    rows, columns = _third(thing.y, "top", "bottom"), _third(thing.x, "left", "right")
    return "" if None in (rows, columns) else (f"{rows} {columns}".strip() or "middle")


def _third(value: float, low: str, high: str) -> str | None:
    if value < 0.33:
        return low
    if value > 0.67:
        return high
    return "" if 0.4 < value < 0.6 else None


def facts(scene: Scene) -> frozenset[str]:
    """Every statement about the scene that a caption can be made of. A caption is true if all its facts are in it."""
    statements = {f"ground {scene.background.name}"}
    if scene.background.photograph:
        statements.add("ground photograph")
    else:
        statements |= {f"texture {scene.background.texture}", f"paint {scene.background.first}"}
        if scene.background.texture != "plain":
            statements.add(f"paint {scene.background.second}")
    for level in ("name", "shape", "colour"):
        counts = Counter(getattr(thing, level) for thing in scene.things)
        statements |= {f"{level} {value}" for value in counts} | {f"{n} {level} {value}" for value, n in counts.items()}
    statements.add(f"{len(scene.things)} things")
    for thing in scene.things:
        statements.add(f"size {thing.size} {thing.name}")
        if place(thing):
            statements.add(f"place {place(thing)} {thing.name}")
        statements |= {
            f"relation {thing.name} {relation(thing, other)} {other.name}"
            for other in scene.things
            if other is not thing and relation(thing, other)
        }
    statements |= {f"word {word}" for word in scene.words if word}
    return frozenset(statements)


def differing(first: Scene, second: Scene) -> int:
    """How many facts hold for one of two scenes and not for the other."""
    return len(facts(first) ^ facts(second))
