"""Generators that are drawing procedures: one without a fault, and the same one with noise of growing strength.

A prompt names things; its reference image is one scene drawn to it. A generator draws another scene to the same prompt,
and adds noise. The order of strengths is known, so it can stand in for people's ratings. All synthetic; images are
drawn when they are read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random

from compute.tasks.drawing import compose, distortions
from compute.tasks.drawing.captions import counted
from compute.tasks.drawing.render import Pixels, draw
from compute.tasks.drawing.scenes import Background, Scene
from compute.tasks.mini.album import lots

LEAST, MOST = 2, 5  # things that a prompt names
PROMPTS = 256  # twice the text dimension of the bundled encoder, which cFreD needs
STRENGTHS = {"clean": 0, "noise-1": 1, "noise-2": 2, "noise-4": 4}  # of the noise, by generator


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


@cache
def all_prompts() -> tuple[Prompt, ...]:
    """PROMPTS different prompts."""
    made: dict[str, Prompt] = {}
    rng = lots("generators prompts", 0)
    while len(made) < PROMPTS:
        one = prompt(rng)
        made.setdefault(one.text, one)
    return tuple(made.values())


@lru_cache(maxsize=4 * PROMPTS)
def scene(row: int, purpose: str) -> Scene:
    """The scene of a prompt for a purpose, `reference` or `clean`: the same prompt, other random numbers."""
    return drawn(all_prompts()[row], lots(f"generators {purpose}", row))


def reference_image(row: int) -> Pixels:
    """(64, 64, 3): the reference of a prompt."""
    return draw(scene(row, "reference"))


def clean_image(row: int) -> Pixels:
    """(64, 64, 3): the image of a prompt by the generator without a fault."""
    return draw(scene(row, "clean"))


def image(generator: str, row: int) -> Pixels:
    """(64, 64, 3): the image of a prompt by a generator of STRENGTHS."""
    clean, strength = clean_image(row), STRENGTHS[generator]
    return distortions.distort(clean, kind="noise", strength=strength, seed=row) if strength else clean
