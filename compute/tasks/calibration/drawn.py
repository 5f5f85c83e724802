"""Drawn scenes to calibrate with: each gives one pair of a kind, so that all pairs are independent.

Unlike the suite mini's, no scene has a photograph for its background: this domain is drawings alone.
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

IDENTITY = {"version": 1}  # raise it when any item changes
SOURCE = "drawn scenes"
ROUNDS = 20  # of repairing a derangement that paired related items
COUNT = 500  # scenes
SIDES = (192, 256, 384)  # pixels an image is shown at; drawn at 64
# What is done to single images, by what is asked of them, and whether they have more of it then; a strength is 0,
# nothing, to 5.
CHANGES = {
    "quality": dict.fromkeys(DAMAGES, -1),
    "brightness": {"darken": -1, "lighten": 1},
    "colorfulness": {"grey": -1, "vivid": 1},
    "contrast": {"fade": -1, "vivid": 1},
    "sharpness": {"blur": -1},
}


def material() -> dict[str, CalibrationPairs]:
    """One pair or single image of each scene."""
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
    """Returns the same scene moved and a little lighter or darker, or moved with one change."""
    if rng.random() < 0.5:
        return Shown(first, shift(rng), kind=rng.choice(("lighten", "darken")), strength=1)
    while True:
        edited = compose.edited(first, rng)
        if not edited.background.photograph:
            return Shown(edited, shift(rng))


def _true_of(captions: Sequence[Caption], shown: Sequence[frozenset[str]]) -> np.ndarray:
    """[scene, caption]: whether the caption holds for the scene."""
    return np.array([[said.facts <= known for said in captions] for known in shown])


def _pairs(first: Column, second: Column, together: np.ndarray, *, lots: np.random.Generator) -> CalibrationPairs:
    """Row i of both as matching pairs, the different ones; unrelated ones by a derangement of what is not together."""
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
    """(k,): for each row another column drawn at random, each column once, so that no two belong together (k, k).

    A row for which none is left has -1.
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
