"""Captions that differ in one relation, questions about an image, and sentences with shared words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.tasks.data import Matches, Retrieval, Sentences
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import located, related
from compute.tasks.drawing.compose import Scene, place, relation, sentence, sharing
from compute.tasks.mini.album import column, draws, graded, mixed, names, scene

SWAPS, ASKED, PAIRS = 120, 150, 200
CORNERS = ("top left", "top right", "bottom left", "bottom right")
POINTS = 1.25  # similarity per shared word, so that four words give 5


def swaps() -> Matches:
    """Returns two images and two captions with the same words: the things, or their colours, have swapped positions."""
    rows = []
    for number, rng in draws("swaps", SWAPS):
        levels = ("shape", "colour") if number % 2 else ("colour",)
        while True:
            shown = scene(rng, compose.pair)
            first, second = shown.things
            how = relation(first, second)
            if not how or first.shape == second.shape or first.colour == second.colour:
                continue
            other = replace(shown, things=compose.traded(*shown.things, *levels))
            if other.held_out():
                break
        told = (related(one.name, how, two.name).text for one, two in (shown.things, other.things))
        rows.append((shown, other, *told))
    sides = list(zip(*rows, strict=True))
    return Matches(
        names=names(SWAPS),
        images=tuple(column(part, of=f"mini/swaps, image {at}") for at, part in enumerate(sides[:2])),
        captions=tuple(items.texts(part, of=f"mini/swaps, caption {at}") for at, part in enumerate(sides[2:])),
    )


def places() -> Retrieval:
    """Returns images with a question about a thing's position, and four corners to choose from, the correct one
    first.
    """
    scenes, questions, answers = [], [], []
    for _, rng in draws("places", ASKED):
        while True:
            shown = scene(rng)
            cornered = next((thing for thing in shown.things if place(thing) in CORNERS), None)
            if cornered and sum(thing.name == cornered.name for thing in shown.things) == 1:
                break
        scenes.append(shown)
        questions.append(f"where is the {cornered.name}")
        corners = sorted(CORNERS, key=lambda corner: corner != place(cornered))  # the right one first
        answers.append([located(cornered.name, corner) for corner in corners])
    known = list(dict.fromkeys(answer for row in answers for answer in row))
    at = np.array([[known.index(answer) for answer in row] for row in answers])
    row = np.arange(ASKED)
    return Retrieval(
        queries=mixed(images=scenes, texts=questions, of="mini/places, question"),
        documents=mixed(texts=known, of="mini/places, answer", prefix="answer-"),
        relevant=graded((row, at[:, 0])),
        candidates=(np.repeat(row, at.shape[1]), at.ravel()),
    )


def sentences() -> Sentences:
    """Returns two images of four words in different positions and colours; their similarity is the share of common
    words.

    Similarity ranges from 0 to 5. It is a definition, not a human judgement.
    """
    return _sharing(column, of="mini/sentences")


def texts() -> Sentences:
    """Returns the words of `sentences`, as texts."""

    def side(scenes: Sequence[Scene], *, of: str) -> Column:
        return items.texts([" ".join(filter(None, each.words)) for each in scenes], of=of)

    return _sharing(side, of="mini/texts")


def _sharing(side: Callable[..., Column], *, of: str) -> Sentences:
    rows = []
    for number, rng in draws("sentences", PAIRS):
        first, shared = sentence(rng, part="test"), number % 5
        rows.append((first, sharing(first, shared, rng, part="test"), shared * POINTS))
    first, second, score = zip(*rows, strict=True)
    return Sentences(
        names=names(PAIRS),
        first=side(first, of=f"{of}, first"),
        second=side(second, of=f"{of}, second"),
        human=np.array(score),
    )
