"""Prompts that name the things of a scene, and scenes drawn to a prompt: what the prompt leaves open is random."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import counted
from compute.tasks.drawing.scenes import Background, Scene

LEAST, MOST = 2, 5  # things that a prompt names


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Kinds of things, a (shape, colour) for each thing. Background, sizes and positions are open."""

    kinds: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Every kind with its number: `two red stars and one blue ring`."""
        counts = Counter(f"{colour} {shape}" for shape, colour in self.kinds)
        return " and ".join(counted(name, number) for name, number in counts.items())


def prompt(rng: Random) -> Prompt:
    """Two to five things of two kinds, or three different things."""
    if rng.random() < 0.3:
        return Prompt(kinds=tuple(compose.names(rng, Background(), 3)))
    first, second = compose.names(rng, Background(), 2)
    count = rng.randint(1, MOST - 1)
    return Prompt(kinds=(first,) * count + (second,) * rng.randint(max(1, LEAST - count), MOST - count))


def drawn(prompt: Prompt, rng: Random) -> Scene:
    """A scene with exactly the prompt's things, on a background that they stand out from; training never draws it."""

    def made(lot: Random, *, part: str) -> Scene:
        while True:
            background = compose.background(lot, part=part)
            free = compose.free_colours(background)
            if all(colour in free for _, colour in prompt.kinds):
                return Scene(background=background, things=compose.placed(lot, list(prompt.kinds)))

    return compose.scene(rng, part="test", kind=made)
