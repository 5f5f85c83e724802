"""Captions that differ in one relation, colour or number: compositionality and questions about an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from compute.content.items import texts
from compute.tasks.data import Data, Matches, Mixed, Retrieval
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import article, plural, related
from compute.tasks.drawing.lexicon import NUMBERS, OPPOSITE
from compute.tasks.drawing.scenes import Scene, Thing, place, relation
from compute.tasks.mini.album import PART, column, lots, names
from compute.tasks.mini.choices import told, untrue

ITEMS = 150
CORNERS = ("top left", "top right", "bottom left", "bottom right")


def _related_pair(rng: Random) -> tuple[Scene, str]:
    """Two things that differ in shape and colour, and how the first stands to the second."""
    while True:
        scene = compose.scene(rng, part=PART, kind=compose.pair)
        first, second = scene.things
        how = relation(first, second)
        if how and first.shape != second.shape and first.colour != second.colour:
            return scene, how


def relations() -> dict[str, Data]:
    """An image of two things, its caption, and three with the relation turned round, another, or colours changed."""
    scenes, captions = [], []
    for number in range(ITEMS):
        rng = lots("relations", number)
        scene, how = _related_pair(rng)
        first, second = scene.things
        across = rng.choice([other for other in OPPOSITE if other not in (how, OPPOSITE[how])])
        mixed = [replace(first, colour=second.colour).name, replace(second, colour=first.colour).name]
        lines = [
            related(first.name, how, second.name),
            related(first.name, OPPOSITE[how], second.name),
            related(first.name, across, second.name),
            related(mixed[0], how, mixed[1]),
        ]
        scenes.append(scene)
        captions.append([line.text for line in lines])
    return _matches("relations", [scenes], list(zip(*captions, strict=True)))


def which_image() -> dict[str, Data]:
    """A caption, its image, and three of the scene changed so that the caption is false."""
    images, captions = [], []
    for number in range(120):
        rng = lots("which-image", number)
        scene, stated = told(rng)
        captions.append(stated.text)
        images.append([scene, *(untrue(scene, stated, rng, changed=True) for _ in range(3))])
    return _matches("which-image", list(zip(*images, strict=True)), [captions])


def swaps() -> dict[str, Data]:
    """Two images and two captions of the same words: the things, or their colours, have changed places."""
    rows = []
    for number in range(120):
        rng = lots("swaps", number)
        while True:
            scene, how = _related_pair(rng)
            first, second = scene.things
            if number % 2:
                other = replace(
                    scene,
                    things=(
                        replace(first, shape=second.shape, colour=second.colour),
                        replace(second, shape=first.shape, colour=first.colour),
                    ),
                )
            else:
                other = replace(
                    scene, things=(replace(first, colour=second.colour), replace(second, colour=first.colour))
                )
            if other.held_out():
                break
        lines = [related(one.things[0].name, how, one.things[1].name).text for one in (scene, other)]
        rows.append((scene, other, *lines))
    one, two, said, turned = (list(part) for part in zip(*rows, strict=True))
    return _matches("swaps", [one, two], [said, turned])


def _matches(task: str, images: Sequence[Sequence[Scene]], captions: Sequence[Sequence[str]]) -> dict[str, Data]:
    return {
        "default": Matches(
            names=names(len(captions[0])),
            images=tuple(column(part, of=f"mini/{task}, image {at}") for at, part in enumerate(images)),
            captions=tuple(texts(part, of=f"mini/{task}, caption {at}") for at, part in enumerate(captions)),
        )
    }


def counting() -> dict[str, Data]:
    """How many of a kind there are: the right number among four."""
    rows = []
    for number in range(ITEMS):
        rng = lots("counting", number)
        while True:
            scene = compose.scene(rng, part=PART, kind=compose.counted)
            kind = scene.things[0]
            n = sum(thing.name == kind.name for thing in scene.things)
            if n == number % 6 + 1:
                break
        others = rng.sample([other for other in range(1, 7) if other != n], 3)
        several = f"{kind.colour} {plural(kind.shape)}"
        rows.append(
            (
                scene,
                f"how many {several} are there",
                [f"{NUMBERS[count]} {kind.name if count == 1 else several}" for count in (n, *others)],
            )
        )
    return _questions("counting", rows)


def places() -> dict[str, Data]:
    """Where a thing is: the right corner among four."""
    rows = []
    for number in range(ITEMS):
        rng = lots("places", number)
        while True:
            scene = compose.scene(rng, part=PART)
            asked: Thing | None = next((thing for thing in scene.things if place(thing) in CORNERS), None)
            if asked is not None and sum(thing.name == asked.name for thing in scene.things) == 1:
                break
        where = place(asked)
        ordered = [where, *(corner for corner in CORNERS if corner != where)]
        rows.append(
            (scene, f"where is the {asked.name}", [f"{article(asked.name)} at the {corner}" for corner in ordered])
        )
    return _questions("places", rows)


def _questions(task: str, rows: Sequence[tuple[Scene, str, Sequence[str]]]) -> dict[str, Data]:
    """Queries of an image with a question; the first of each row's candidates is right."""
    scenes, asked, answers = zip(*rows, strict=True)
    known = list(dict.fromkeys(answer for row in answers for answer in row))
    at = np.array([[known.index(answer) for answer in row] for row in answers])
    row = np.arange(len(rows))
    return {
        "default": Retrieval(
            queries=Mixed(
                names=names(len(rows)),
                image=column(scenes, of=f"mini/{task}"),
                image_at=row,
                text=texts(asked, of=f"mini/{task}, question"),
                text_at=row,
            ),
            documents=Mixed(
                names=names(len(known), "answer-"),
                text=texts(known, of=f"mini/{task}, answer"),
                text_at=np.arange(len(known)),
            ),
            relevant=(row, at[:, 0], np.ones(len(rows))),
            candidates=(np.repeat(row, at.shape[1]), at.ravel()),
        )
    }
