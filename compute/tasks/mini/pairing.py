"""Captions that differ in one relation, colour or number: compositionality and questions about an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from compute.content.items import texts
from compute.tasks.data import Matches, Retrieval
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import counted, located, many, related
from compute.tasks.drawing.lexicon import OPPOSITE
from compute.tasks.drawing.scenes import Scene, Thing, place, relation
from compute.tasks.mini.album import column, draws, graded, mixed, names, scene
from compute.tasks.mini.choices import stated, untrue

ITEMS = 150
CORNERS = ("top left", "top right", "bottom left", "bottom right")


def related_pair(rng: Random) -> tuple[Scene, str]:
    """Two things that differ in shape and colour, and how the first stands to the second."""
    while True:
        shown = scene(rng, compose.pair)
        first, second = shown.things
        how = relation(first, second)
        if how and first.shape != second.shape and first.colour != second.colour:
            return shown, how


def relations() -> Matches:
    """An image of two things, its caption, and three with the relation turned round, another, or colours changed."""
    scenes, captions = [], []
    for _, rng in draws("relations", ITEMS):
        shown, how = related_pair(rng)
        first, second = shown.things
        across = rng.choice([other for other in OPPOSITE if other not in (how, OPPOSITE[how])])
        scenes.append(shown)
        captions.append(
            [
                *(related(first.name, each, second.name).text for each in (how, OPPOSITE[how], across)),
                _caption(compose.traded(first, second, "colour"), how),
            ]
        )
    return _matches("relations", [scenes], list(zip(*captions, strict=True)))


def _caption(things: Sequence[Thing], how: str) -> str:
    first, second = things
    return related(first.name, how, second.name).text


def which_image() -> Matches:
    """A caption, its image, and three of the scene changed so that the caption is false."""
    images, captions = [], []
    for _, rng in draws("which-image", 120):
        shown, true = stated(rng)
        captions.append(true.text)
        images.append([shown, *(untrue(shown, true, rng, changed=True) for _ in range(3))])
    return _matches("which-image", list(zip(*images, strict=True)), [captions])


def swaps() -> Matches:
    """Two images and two captions of the same words: the things, or their colours, have traded positions."""
    rows = []
    for number, rng in draws("swaps", 120):
        levels = ("shape", "colour") if number % 2 else ("colour",)
        while True:
            shown, how = related_pair(rng)
            other = replace(shown, things=compose.traded(*shown.things, *levels))
            if other.held_out():
                break
        rows.append((shown, other, _caption(shown.things, how), _caption(other.things, how)))
    first, second, caption, swapped = zip(*rows, strict=True)
    return _matches("swaps", [first, second], [caption, swapped])


def _matches(task: str, images: Sequence[Sequence[Scene]], captions: Sequence[Sequence[str]]) -> Matches:
    return Matches(
        names=names(len(captions[0])),
        images=tuple(column(part, of=f"mini/{task}, image {at}") for at, part in enumerate(images)),
        captions=tuple(texts(part, of=f"mini/{task}, caption {at}") for at, part in enumerate(captions)),
    )


def counting() -> Retrieval:
    """How many of a kind there are: the right number among four."""
    rows = []
    for number, rng in draws("counting", ITEMS):
        n = 0
        while n != number % 6 + 1:
            shown = scene(rng, compose.counted)
            kind = shown.things[0].name
            n = sum(thing.name == kind for thing in shown.things)
        others = rng.sample([other for other in range(1, 7) if other != n], 3)
        rows.append((shown, f"how many {many(kind)} are there", [counted(kind, count) for count in (n, *others)]))
    return _questions("counting", rows)


def places() -> Retrieval:
    """Where a thing is: the right corner among four."""
    rows = []
    for _, rng in draws("places", ITEMS):
        while True:
            shown = scene(rng)
            cornered = next((thing for thing in shown.things if place(thing) in CORNERS), None)
            if cornered and sum(thing.name == cornered.name for thing in shown.things) == 1:
                break
        corners = sorted(CORNERS, key=lambda corner: corner != place(cornered))  # the right one first
        rows.append((shown, f"where is the {cornered.name}", [located(cornered.name, corner) for corner in corners]))
    return _questions("places", rows)


def _questions(task: str, rows: Sequence[tuple[Scene, str, Sequence[str]]]) -> Retrieval:
    """Queries of an image with a question; the first of each row's candidates is right."""
    scenes, questions, answers = zip(*rows, strict=True)
    known = list(dict.fromkeys(answer for row in answers for answer in row))
    at = np.array([[known.index(answer) for answer in row] for row in answers])
    row = np.arange(len(rows))
    return Retrieval(
        queries=mixed(images=scenes, texts=questions, of=f"mini/{task}, question"),
        documents=mixed(texts=known, of=f"mini/{task}, answer", prefix="answer-"),
        relevant=graded((row, at[:, 0])),
        candidates=(np.repeat(row, at.shape[1]), at.ravel()),
    )
