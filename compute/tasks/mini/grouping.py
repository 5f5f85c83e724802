"""Kinds of images: few-shot probes, clusters, zero-shot classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from compute.content.items import texts
from compute.tasks.data import Clusters, Data, Labelled, Probe, ZeroShot
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import article
from compute.tasks.drawing.lexicon import COLOURS, PHOTOGRAPHS, SHAPES, TONES
from compute.tasks.drawing.scenes import Scene
from compute.tasks.drawing.variants import Shown, distorted
from compute.tasks.mini.album import PART, column, lots, names
from compute.tasks.mini.choices import alone

PER_CLASS = 24  # training images of a probe
TESTED = 150


def shapes() -> dict[str, Data]:
    """One thing of any colour on any background: which shape? Eight classes."""

    def items(split: str, count: int) -> Labelled:
        scenes = [
            alone(
                lots(f"shapes {split}", number),
                SHAPES[number % len(SHAPES)],
                lots(f"shapes {split} colour", number).choice(tuple(COLOURS)),
                photographs=0.3,
            )
            for number in range(count)
        ]
        return _labelled(scenes, np.arange(count) % len(SHAPES), SHAPES, of=f"mini/shapes, {split}")

    return {"default": Probe(train=items("train", PER_CLASS * len(SHAPES)), test=items("test", TESTED))}


def shapes_present() -> dict[str, Data]:
    """Three or four different things: which shapes are among them?"""

    def items(split: str, count: int) -> Labelled:
        scenes = [
            compose.scene(lots(f"shapes-present {split}", number), part=PART, kind=compose.several)
            for number in range(count)
        ]
        present = np.array([[shape in {thing.shape for thing in scene.things} for shape in SHAPES] for scene in scenes])
        return _labelled(scenes, present, SHAPES, of=f"mini/shapes-present, {split}")

    return {"default": Probe(train=items("train", 200), test=items("test", TESTED), samples_per_label=8)}


def photographs() -> dict[str, Data]:
    """Cuts of the twelve photographs, lighter or darker: to be grouped by photograph."""
    files = tuple(PHOTOGRAPHS)
    return _clusters(
        "photographs",
        tuple(PHOTOGRAPHS.values()),
        lambda rng, place: _toned(
            compose.scene(
                rng,
                part=PART,
                kind=lambda lot, part: Scene(background=compose.photograph(lot, part=part, name=files[place])),
            ),
            rng,
        ),
    )


def kinds() -> dict[str, Data]:
    """Eight kinds of thing, each of its own shape and colour, anywhere on plain backgrounds: to be grouped by kind."""
    known = tuple(zip(SHAPES, COLOURS, strict=False))
    return _clusters(
        "kinds",
        tuple(f"{colour} {shape}" for shape, colour in known),
        lambda rng, place: Shown(scene=alone(rng, *known[place])),
    )


def _clusters(task: str, classes: Sequence[str], draw: Callable[[Random, int], Shown]) -> dict[str, Data]:
    labels = np.arange(180) % len(classes)
    shown = [draw(lots(task, number), place) for number, place in enumerate(labels.tolist())]
    return {"default": Clusters(test=_labelled(shown, labels, tuple(classes), of=f"mini/{task}"))}


def _toned(scene: Scene, rng: Random) -> Shown:
    return distorted(scene, rng.choice(tuple(TONES)), rng.randint(0, 2), rng)


def things() -> dict[str, Data]:
    """One thing on any background: which of eighty, ten colours by eight shapes?"""
    classes = tuple((shape, colour) for colour in COLOURS for shape in SHAPES)
    labels = np.arange(2 * len(classes)) % len(classes)
    scenes = [
        alone(lots("things", number), *classes[place], photographs=0.3) for number, place in enumerate(labels.tolist())
    ]
    prompts = [f"a picture of {article(f'{colour} {shape}')}" for shape, colour in classes]
    test = _labelled(scenes, labels, tuple(f"{colour} {shape}" for shape, colour in classes), of="mini/things")
    return {"default": ZeroShot(test=test, prompts=texts(prompts, of="mini/things, prompts"))}


def _labelled(shown: Sequence[Shown | Scene], labels: NDArray, classes: tuple[str, ...], *, of: str) -> Labelled:
    return Labelled(names=names(len(shown)), items=column(shown, of=of), labels=labels, classes=classes)
