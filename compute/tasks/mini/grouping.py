"""Image classification tasks: few-shot probes, clusters, zero-shot classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from compute.content.items import texts
from compute.tasks.data import Clusters, Labelled, Probe, ZeroShot
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import article
from compute.tasks.drawing.compose import Scene
from compute.tasks.drawing.lexicon import COLOURS, PHOTOGRAPHS, SHAPES, TONES
from compute.tasks.drawing.render import Shown, distorted
from compute.tasks.mini.album import column, draws, lots, names, scene
from compute.tasks.mini.choices import single

PER_CLASS = 24  # training images per class of a probe
TESTED = 150


def shapes() -> Probe:
    """Returns one thing of any colour on any background, classified by shape; eight classes."""

    def items(split: str, count: int) -> Labelled:
        labels = np.arange(count) % len(SHAPES)
        scenes = []
        for number, rng in draws(f"shapes {split}", count):
            colour = lots(f"shapes {split} colour", number).choice(tuple(COLOURS))
            scenes.append(single(rng, SHAPES[labels[number]], colour, photographs=0.3))
        return _labelled(scenes, labels, SHAPES, of=f"mini/shapes, {split}")

    return Probe(train=items("train", PER_CLASS * len(SHAPES)), test=items("test", TESTED))


def shapes_present() -> Probe:
    """Returns scenes of three or four different things, labelled with the shapes among them."""

    def items(split: str, count: int) -> Labelled:
        scenes = [scene(rng, compose.several) for _, rng in draws(f"shapes-present {split}", count)]
        present = np.array([[shape in {thing.shape for thing in view.things} for shape in SHAPES] for view in scenes])
        return _labelled(scenes, present, SHAPES, of=f"mini/shapes-present, {split}")

    return Probe(train=items("train", 200), test=items("test", TESTED), samples_per_label=8)


def photographs() -> Clusters:
    """Returns crops of the twelve photographs, lighter or darker, to be clustered by photograph."""
    files = tuple(PHOTOGRAPHS)
    labels = np.arange(180) % len(files)
    shown = []
    for number, rng in draws("photographs", len(labels)):
        view = scene(rng, partial(compose.view, name=files[labels[number]]))
        shown.append(distorted(view, rng.choice(tuple(TONES)), rng.randint(0, 2), rng))
    return Clusters(test=_labelled(shown, labels, tuple(PHOTOGRAPHS.values()), of="mini/photographs"))


def things() -> ZeroShot:
    """Returns one thing on any background, with eighty classes: ten colours by eight shapes."""
    classes = tuple((shape, colour) for colour in COLOURS for shape in SHAPES)
    labels = np.arange(2 * len(classes)) % len(classes)
    scenes = [single(rng, *classes[labels[number]], photographs=0.3) for number, rng in draws("things", len(labels))]
    titles = tuple(f"{colour} {shape}" for shape, colour in classes)
    prompts = [f"a picture of {article(title)}" for title in titles]
    test = _labelled(scenes, labels, titles, of="mini/things")
    return ZeroShot(test=test, prompts=texts(prompts, of="mini/things, prompts"))


def _labelled(shown: Sequence[Shown | Scene], labels: NDArray, classes: tuple[str, ...], *, of: str) -> Labelled:
    return Labelled(names=names(len(shown)), items=column(shown, of=of), labels=labels, classes=classes)
