"""One scene as different images: moved, distorted, or with words in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from compute.tasks.drawing import compose, distortions
from compute.tasks.drawing.render import Pixels, draw
from compute.tasks.drawing.scenes import Scene


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A scene as one image shows it: moved a little, then distorted."""

    scene: Scene
    shift: tuple[float, float] = (0.0, 0.0)
    kind: str = ""
    strength: int = 0
    seed: int = 0

    def pixels(self) -> Pixels:
        """(64, 64, 3)"""
        return distortions.distort(
            draw(self.scene, shift=self.shift), kind=self.kind, strength=self.strength, seed=self.seed
        )


def shift(rng: Random) -> tuple[float, float]:
    """A move by up to 6% of the image, each way."""
    return rng.uniform(-0.06, 0.06), rng.uniform(-0.06, 0.06)


def distorted(scene: Scene, kind: str, strength: int, rng: Random) -> Shown:
    """The scene under one distortion, with a seed of its own."""
    return Shown(scene=scene, kind=kind, strength=strength, seed=rng.getrandbits(32))


def sentence(rng: Random, *, part: str) -> Scene:
    """A text of four words."""
    return compose.scene(rng, part=part, kind=partial(compose.written, count=4))


def sharing(scene: Scene, shared: int, rng: Random, *, part: str) -> Scene:
    """Another text of four words, of which `shared` are the first one's; order, position and colours are its own."""
    ours = [word for word in scene.words if word]
    while True:
        other = sentence(rng, part=part)
        chosen = rng.sample(ours, shared) + [word for word in other.words if word and word not in ours]
        if len(chosen) >= 4:
            blank = ("",) * other.words.index(next(word for word in other.words if word))
            variant = Scene(background=other.background, ink=other.ink, words=blank + tuple(rng.sample(chosen[:4], 4)))
            if variant.held_out() == (part == "test"):
                return variant
