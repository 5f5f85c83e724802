"""Drawn scenes for calibration: each contributes one pair of each kind, so that all pairs are independent.

Unlike in the suite mini, no background is a photograph: this domain contains only drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
from PIL import Image

from compute.arrays import Bools, Ints
from compute.content import items
from compute.content.items import Column
from compute.tasks.data import CalibrationPairs
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import Caption, caption
from compute.tasks.drawing.compose import Scene, facts
from compute.tasks.drawing.lexicon import DAMAGES
from compute.tasks.drawing.render import Shown, distorted, shift
from compute.tasks.pairbench.pixels import png

IDENTITY = {"version": 1}  # increase it when any item changes
SOURCE = "drawn scenes"
ROUNDS = 20  # of repairing a derangement with related pairs
COUNT = 500  # scenes
SIDES = (192, 256, 384)  # pixels an image is shown at; drawn at 64
# Changes of single images, by question, and whether they increase or decrease the attribute; strengths are 0 (none) to
# 5.
CHANGES = {
    "quality": dict.fromkeys(DAMAGES, -1),
    "brightness": {"darken": -1, "lighten": 1},
    "colorfulness": {"grey": -1, "vivid": 1},
    "contrast": {"fade": -1, "vivid": 1},
    "sharpness": {"blur": -1},
}


def material() -> dict[str, CalibrationPairs]:
    """Returns one pair or single image per scene."""
    lots = [Random(f"calibration {SOURCE} 0 {number}") for number in range(COUNT)]
    drawn = [scene(rng) for rng in lots]
    order = np.random.default_rng([0, COUNT])
    images = _column([Shown(one) for one in drawn], lots)
    near = _column([_near(one, rng) for one, rng in zip(drawn, lots, strict=True)], lots)
    captions = [[caption(one, rng) for one, rng in zip(drawn, lots, strict=True)] for _ in range(2)]
    first, second = (items.texts([one.text for one in side], of=SOURCE) for side in captions)
    shown = [facts(one) for one in drawn]
    true = _true_of(captions[0], shown)
    same = true | true.T | (first.keys[:, None] == second.keys) | _true_of(captions[1], shown)
    pair = partial(_pairs, lots=order)
    out = {
        "image-image": pair(images, near, np.eye(COUNT, dtype=bool)),
        "image-text": pair(images, first, true),
        "text-text": pair(first, second, same),
    }
    for question, kinds in CHANGES.items():
        changed = [
            distorted(one, rng.choice(tuple(kinds)), rng.randint(0, 5), rng)
            for one, rng in zip(drawn, lots, strict=True)
        ]
        out[question] = CalibrationPairs(
            names=tuple(map(str, range(COUNT))),
            first=_column(changed, lots),
            human=np.array([kinds.get(one.kind, 0) * one.strength for one in changed], dtype=float),
            scenes=np.arange(COUNT),
        )
    return out


def scene(rng: Random) -> Scene:
    """Returns a scene that the bundled model was not trained on, without a photograph."""
    while True:
        drawn = compose.scene(rng, part="test")
        if not drawn.background.photograph:
            return drawn


def _near(first: Scene, rng: Random) -> Shown:
    """Returns the same scene, shifted and slightly lighter or darker, or shifted with one change."""
    if rng.random() < 0.5:
        return Shown(first, shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
    while True:
        edited = compose.edited(first, rng)
        if not edited.background.photograph:
            return Shown(edited, shift(rng))


def _true_of(captions: Sequence[Caption], shown: Sequence[frozenset[str]]) -> np.ndarray:
    """Returns [scene, caption]: whether the caption is true of the scene."""
    return np.array([[said.facts <= known for said in captions] for known in shown])


def _pairs(first: Column, second: Column, together: np.ndarray, *, lots: np.random.Generator) -> CalibrationPairs:
    """Pairs row i of both as matching if the rows differ; unrelated pairs are a derangement of rows that are not in
    `together`.
    """
    rows = np.flatnonzero(first.keys != second.keys)
    partner = deranged(together[np.ix_(rows, rows)] | np.eye(len(rows), dtype=bool), lots)
    paired = np.flatnonzero(partner >= 0)
    return CalibrationPairs.of(
        matching=(first.take(rows), second.take(rows)),
        unrelated=(first.take(rows[paired]), second.take(rows[partner[paired]])),
        scenes=rows,
    )


def _column(shown: Sequence[Shown], lots: Sequence[Random]) -> Column:
    sides = [rng.choice(SIDES) for rng in lots]
    images = [
        Image.fromarray(one.pixels()).resize((side, side), Image.Resampling.BICUBIC)
        for one, side in zip(shown, sides, strict=True)
    ]
    return items.images([png(image) for image in images], of=SOURCE)


def deranged(together: Bools, lots: np.random.Generator) -> Ints:
    """Returns (k,) a random permutation of the columns in which no row and column belong together (k, k).

    A row without a remaining column has -1.
    """
    size = len(together)
    order, rows = lots.permutation(size), np.arange(size)
    for _ in range(ROUNDS):
        wrong = np.flatnonzero(together[rows, order])
        if not len(wrong):
            break
        for row in wrong.tolist():
            fits = np.flatnonzero(~together[row, order] & ~together[rows, order[row]])
            if together[row, order[row]] and len(fits):
                other = int(lots.choice(fits))
                order[[row, other]] = order[[other, row]]
    return np.where(together[rows, order], -1, order)
