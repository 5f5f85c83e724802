"""Generators that are drawing procedures: one without a fault, and the same one with noise of growing strength.

A prompt names things; its reference image is one scene drawn to it. A generator draws another scene to the same prompt,
and adds noise. The order of strengths is known, so it can stand in for people's ratings. All synthetic; images are
drawn when they are read.
"""

from __future__ import annotations

from functools import cache, lru_cache

from compute.tasks.drawing import distortions, prompts
from compute.tasks.drawing.prompts import Prompt
from compute.tasks.drawing.render import Pixels, draw
from compute.tasks.drawing.scenes import Scene
from compute.tasks.mini.album import lots

VERSION = 1  # recorded in runs: raise it when any image changes
PROMPTS = 256  # twice the text dimension of the bundled encoder, which cFreD needs
STRENGTHS = {"clean": 0, "noise-1": 1, "noise-2": 2, "noise-4": 4}  # of the noise, by generator


@cache
def all_prompts() -> tuple[Prompt, ...]:
    """PROMPTS different prompts."""
    made: dict[str, Prompt] = {}
    rng = lots("generators prompts", 0)
    while len(made) < PROMPTS:
        prompt = prompts.prompt(rng)
        made.setdefault(prompt.text, prompt)
    return tuple(made.values())


@lru_cache(maxsize=4 * PROMPTS)
def scene(row: int, purpose: str) -> Scene:
    """The scene of a prompt for a purpose, `reference` or `clean`: the same prompt, other random numbers."""
    return prompts.drawn(all_prompts()[row], lots(f"generators {purpose}", row))


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
