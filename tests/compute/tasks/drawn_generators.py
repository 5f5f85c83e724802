"""Generators that are drawing procedures: one without a fault, and the same one with noise of growing strength.

A prompt names things; its reference image is one scene drawn to it. A generator draws another scene to the same prompt,
and adds noise. The order of strengths is known, so it can stand in for people's ratings. All synthetic; images are
drawn when they are read.
"""

from collections import Counter
from functools import cache, lru_cache
from typing import NamedTuple

from compute.tasks.drawing import compose, render
from compute.tasks.drawing.captions import counted
from compute.tasks.drawing.compose import Background, Scene
from compute.tasks.drawing.render import draw
from compute.tasks.mini.album import lots

PROMPTS = 256  # twice the text dimension of the bundled encoder, which cFreD needs
STRENGTHS = {"clean": 0, "noise-1": 1, "noise-2": 2, "noise-4": 4}  # of the noise, by generator


class Prompt(NamedTuple):
    """Kinds of things, a (shape, colour) for each thing. Background, sizes and positions are open."""

    kinds: tuple[tuple[str, str], ...]

    @property
    def text(self):
        """Every kind with its number: `two red stars and one blue ring`."""
        counts = Counter(f"{colour} {shape}" for shape, colour in self.kinds)
        return " and ".join(counted(name, number) for name, number in counts.items())


def prompt(rng):
    """Two to five things of two kinds, or three different things."""
    if rng.random() < 0.3:
        return Prompt(tuple(compose.names(rng, Background(), 3)))
    first, second = compose.names(rng, Background(), 2)
    count = rng.randint(1, 4)
    return Prompt((first,) * count + (second,) * rng.randint(max(1, 2 - count), 5 - count))


@cache
def all_prompts():
    """PROMPTS different prompts."""
    made = {}
    rng = lots("generators prompts", 0)
    while len(made) < PROMPTS:
        one = prompt(rng)
        made.setdefault(one.text, one)
    return tuple(made.values())


@lru_cache(maxsize=4 * PROMPTS)
def scene(row, purpose):
    """A scene with exactly a prompt's things, on a background that they stand out from; training never draws it. By
    purpose, `reference` or `clean`, of other random numbers."""
    kinds = all_prompts()[row].kinds

    def made(lot, *, part):
        while True:
            background = compose.background(lot, part=part)
            free = compose.free_colours(background)
            if all(colour in free for _, colour in kinds):
                return Scene(background, compose.placed(lot, list(kinds)))

    return compose.scene(lots(f"generators {purpose}", row), part="test", kind=made)


def reference_image(row):
    """(64, 64, 3): the reference of a prompt."""
    return draw(scene(row, "reference"))


def clean_image(row):
    """(64, 64, 3): the image of a prompt by the generator without a fault."""
    return draw(scene(row, "clean"))


def image(generator, row):
    """(64, 64, 3): the image of a prompt by a generator of STRENGTHS."""
    clean, strength = clean_image(row), STRENGTHS[generator]
    return render.distort(clean, kind="noise", strength=strength, seed=row) if strength else clean
