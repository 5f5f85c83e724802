"""Retrieval: images by text, and instances in easy, hard and unrecognisable views."""

from __future__ import annotations

from random import Random

import numpy as np

from compute.arrays import Ints
from compute.tasks.data import Retrieval
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import caption
from compute.tasks.drawing.compose import Scene, facts
from compute.tasks.drawing.lexicon import DISTORTIONS, TONES
from compute.tasks.drawing.render import Shown, distorted, shift
from compute.tasks.mini.album import draws, graded, lots, mixed, scene

QUERIES, DOCUMENTS = 120, 240
MOST_RELEVANT = 5  # a text that is true of more images in the collection is not a query
INSTANCES, EACH, STRANGERS = 24, 3, 72


def images_by_text() -> Retrieval:
    """Returns captions as queries, each true of only a few images; every image that a caption describes is relevant."""
    scenes = [scene(rng) for _, rng in draws("images-by-text", DOCUMENTS)]
    known, captions, number = [facts(each) for each in scenes], {}, 0
    while len(captions) < QUERIES:
        stated = caption(scenes[number % DOCUMENTS], lots("images-by-text caption", number))
        number += 1
        true = [stated.facts <= each for each in known]
        if sum(true) <= MOST_RELEVANT:
            captions.setdefault(stated.text, true)
    return Retrieval(
        queries=mixed(texts=list(captions), of="mini/images-by-text, query"),
        documents=mixed(images=scenes, of="mini/images-by-text"),
        relevant=graded(np.nonzero(np.array(list(captions.values())))),
    )


def instances() -> dict[str, Retrieval]:
    """Returns photographs with things on them as queries, and easy, hard and unrecognisable (junk) views of them among
    others as documents.

    `medium`: easy and hard views are relevant, junk is ignored. `hard`: hard views are relevant, easy views and junk
    are ignored (the protocols of revisited Oxford and Paris, Radenovic et al. 2018, section 3.2).
    """
    scenes = []
    views = []
    kinds = []
    for _, rng in draws("instances", INSTANCES):
        scenes.append(scene(rng, compose.several))
        for kind, seen, count in (("easy", _easily, EACH), ("hard", _hardly, EACH), ("junk", _beyond, 1)):
            views += [seen(scenes[-1], rng) for _ in range(count)]
            kinds += [kind] * count
    strangers = [scene(rng, compose.several) for _, rng in draws("instances others", STRANGERS)]
    queries = mixed(images=scenes, of="mini/instances, query")
    documents = mixed(images=[*views, *strangers], of="mini/instances")

    def pairs(*chosen: str) -> tuple[Ints, Ints]:
        view = np.flatnonzero(np.isin(kinds, chosen))
        return view // (2 * EACH + 1), view

    def protocol(good: tuple[str, ...], ignored: tuple[str, ...]) -> Retrieval:
        return Retrieval(queries=queries, documents=documents, relevant=graded(pairs(*good)), ignored=pairs(*ignored))

    return {"medium": protocol(("easy", "hard"), ("junk",)), "hard": protocol(("hard",), ("junk", "easy"))}


def _easily(shown: Scene, rng: Random) -> Shown:
    return Shown(shown, shift(rng), kind=rng.choice(tuple(TONES)), strength=rng.randint(1, 2))


def _hardly(shown: Scene, rng: Random) -> Shown:
    """Returns a view with one change, a shift, and a distortion of medium strength."""
    return Shown(
        compose.edited(shown, rng),
        shift(rng),
        kind=rng.choice(DISTORTIONS),
        strength=rng.randint(2, 4),
        seed=rng.getrandbits(32),
    )


def _beyond(shown: Scene, rng: Random) -> Shown:
    return distorted(shown, rng.choice(("blur", "noise", "blocks")), 5, rng)
