"""Retrieval: images by text, texts by image, images by image, by both, and instances seen easily, hardly or not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from compute.arrays import Bools, Ints
from compute.tasks.data import Mixed, Retrieval
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import Caption, article, caption
from compute.tasks.drawing.distortions import Shown, distorted, shift
from compute.tasks.drawing.lexicon import DISTORTIONS, TONES
from compute.tasks.drawing.scenes import Background, Scene, facts
from compute.tasks.mini.album import SUITE, draws, graded, lots, mixed, scene

QUERIES, DOCUMENTS = 120, 240
MOST_RELEVANT = 5  # a text that holds for more images of the collection is not a query
INSTANCES, EACH, STRANGERS = 24, 3, 72


def _collection(task: str, captions: int) -> tuple[list[Scene], list[str], Bools]:
    """Scenes, `captions` different captions, each true of few scenes, and (captions, scenes): whether it is true."""
    scenes = [scene(rng) for _, rng in draws(task, DOCUMENTS)]
    known, captions_true, number = [facts(each) for each in scenes], {}, 0
    while len(captions_true) < captions:
        stated: Caption = caption(scenes[number % DOCUMENTS], lots(f"{task} caption", number))
        number += 1
        true = [stated.facts <= each for each in known]
        if sum(true) <= MOST_RELEVANT:
            captions_true.setdefault(stated.text, true)
    return scenes, list(captions_true), np.array(list(captions_true.values()))


def images_by_text() -> Retrieval:
    """Captions as queries; every image that a caption holds for is relevant."""
    scenes, captions, true = _collection("images-by-text", QUERIES)
    return _retrieval(
        mixed(texts=captions, of="mini/images-by-text, query"), mixed(images=scenes, of="mini/images-by-text"), true
    )


def texts_by_image() -> Retrieval:
    """Images as queries; every caption of the collection that holds for the image is relevant."""
    scenes, captions, true = _collection("texts-by-image", DOCUMENTS)
    queries = np.flatnonzero(true.any(axis=0))[:QUERIES]
    return _retrieval(
        mixed(images=[scenes[at] for at in queries], of="mini/texts-by-image, query"),
        mixed(texts=captions, of="mini/texts-by-image"),
        true.T[queries],
    )


def _retrieval(queries: Mixed, documents: Mixed, relevant: Bools) -> Retrieval:
    return Retrieval(queries=queries, documents=documents, relevant=graded(np.nonzero(relevant)))


def images_by_image() -> Retrieval:
    """A distorted, moved image as query; the collection has the scene itself, the scene changed, and others."""
    queries, documents = [], []
    for _, rng in draws("images-by-image", QUERIES):
        shown = scene(rng)
        queries.append(_seen(shown, rng, most=3))
        documents += [shown, compose.edited(shown, rng)]
    return Retrieval(
        queries=mixed(images=queries, of="mini/images-by-image, query"),
        documents=mixed(images=documents, of="mini/images-by-image"),
        relevant=graded((np.arange(QUERIES), 2 * np.arange(QUERIES))),
    )


def images_by_both() -> Retrieval:
    """A background as image and a thing as text: the image that has that thing on that background.

    The collection also has the background with another thing, and the thing on another background.
    """
    grounds, things, documents = [], [], []
    for _, rng in draws("images-by-both", 80):
        bare, scenes = _crossed(rng)
        grounds.append(bare)
        things.append(article(scenes[0].things[0].name))
        documents += scenes
    row = np.arange(len(things))
    return Retrieval(
        queries=mixed(images=grounds, texts=things, of="mini/images-by-both, query"),
        documents=mixed(images=documents, of="mini/images-by-both"),
        relevant=graded((row, 3 * row)),
    )


def _crossed(rng: Random) -> tuple[Scene, list[Scene]]:
    """A bare background; it with a thing, with another thing, and the first thing on another background."""
    bare = scene(rng, _bare)
    ground = bare.background
    shown, other = (_on(ground, rng) for _ in range(2))
    while other.things[0].name == shown.things[0].name:
        other = _on(ground, rng)
    while True:
        elsewhere = replace(_bare(rng, part="test"), things=shown.things)
        visible = shown.things[0].colour in compose.free_colours(elsewhere.background)
        if visible and elsewhere.held_out() and elsewhere.background.name != ground.name:
            return bare, [shown, other, elsewhere]


def _bare(rng: Random, *, part: str) -> Scene:
    return Scene(background=compose.background(rng, part=part, photographs=0.7, textures=0.3))


def _on(ground: Background, rng: Random) -> Scene:
    """One large thing on that background."""
    return scene(rng, lambda lot, part: compose.furnished(lot, ground, 1, size="large"))


def instances(*, seed: str = SUITE) -> dict[str, Retrieval]:
    """Photographs with things on them, seen again easily, hardly, or beyond recognition (junk); others around them.

    `medium`: easy and hard views count, junk is taken out. `hard`: hard views count, easy and junk are taken out (the
    protocols of revisited Oxford and Paris, Radenovic et al. 2018, section 3.2).
    """
    scenes: list[Scene] = []
    views: list[Shown | Scene] = []
    kinds: list[str] = []
    for _, rng in draws("instances", INSTANCES, seed=seed):
        scenes.append(scene(rng, compose.several))
        for kind, seen, count in (("easy", _easily, EACH), ("hard", _hardly, EACH), ("junk", _beyond, 1)):
            views += [seen(scenes[-1], rng) for _ in range(count)]
            kinds += [kind] * count
    strangers = [scene(rng, compose.several) for _, rng in draws("instances others", STRANGERS, seed=seed)]
    queries = mixed(images=scenes, of="mini/instances, query")
    documents = mixed(images=[*views, *strangers], of="mini/instances")

    def pairs(*chosen: str) -> tuple[Ints, Ints]:
        view = np.flatnonzero(np.isin(kinds, chosen))
        return view // (2 * EACH + 1), view

    def protocol(good: tuple[str, ...], ignored: tuple[str, ...]) -> Retrieval:
        return Retrieval(queries=queries, documents=documents, relevant=graded(pairs(*good)), ignored=pairs(*ignored))

    return {"medium": protocol(("easy", "hard"), ("junk",)), "hard": protocol(("hard",), ("junk", "easy"))}


def _easily(shown: Scene, rng: Random) -> Shown:
    return Shown(scene=shown, shift=shift(rng), kind=rng.choice(tuple(TONES)), strength=rng.randint(1, 2))


def _hardly(shown: Scene, rng: Random) -> Shown:
    """One change, a move, and a distortion of middling strength."""
    return _seen(compose.edited(shown, rng), rng, most=4)


def _seen(shown: Scene, rng: Random, *, most: int) -> Shown:
    """Moved, and distorted by a strength of 2 or more."""
    return Shown(
        scene=shown,
        shift=shift(rng),
        kind=rng.choice(DISTORTIONS),
        strength=rng.randint(2, most),
        seed=rng.getrandbits(32),
    )


def _beyond(shown: Scene, rng: Random) -> Shown:
    return distorted(shown, rng.choice(("blur", "noise", "blocks")), 5, rng)
