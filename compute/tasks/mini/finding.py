"""Retrieval: images by text, texts by image, images by image, by both, and instances seen easily, hardly or not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from compute.arrays import Bools, Ints
from compute.content.items import texts
from compute.tasks.data import Data, Mixed, Retrieval
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import Caption, article, caption
from compute.tasks.drawing.lexicon import DAMAGES, TONES
from compute.tasks.drawing.scenes import Background, Scene, facts
from compute.tasks.drawing.variants import Shown, distorted, shift
from compute.tasks.mini.album import PART, column, lots, names, of_images

QUERIES, DOCUMENTS = 120, 240
MOST_RELEVANT = 5  # a text that holds for more images of the collection is not asked
INSTANCES, EACH, STRANGERS = 24, 3, 72
_DAMAGES, _TONES = tuple(DAMAGES), tuple(TONES)


def _told(task: str, count: int, scenes: list[Scene]) -> list[tuple[int, Caption]]:
    """So many captions of different texts, each of one of the scenes and true of few of them."""
    known, found, number = [facts(scene) for scene in scenes], {}, 0
    while len(found) < count:
        at = number % len(scenes)
        stated = caption(scenes[at], lots(f"{task} caption", number))
        number += 1
        if stated.text not in found and sum(stated.facts <= one for one in known) <= MOST_RELEVANT:
            found[stated.text] = at, stated
    return list(found.values())


def _true(captions: list[Caption], scenes: list[Scene]) -> Bools:
    """(captions, scenes): whether the caption holds for the scene."""
    known = [facts(scene) for scene in scenes]
    return np.array([[stated.facts <= one for one in known] for stated in captions])


def _collection(task: str) -> list[Scene]:
    return [compose.scene(lots(task, number), part=PART) for number in range(DOCUMENTS)]


def images_by_text() -> dict[str, Data]:
    """Captions as queries; every image that a caption holds for is relevant."""
    scenes = _collection("images-by-text")
    captions = [stated for _, stated in _told("images-by-text", QUERIES, scenes)]
    return _retrieval(
        _texts(captions, of="mini/images-by-text, query"),
        of_images(scenes, of="mini/images-by-text"),
        _true(captions, scenes),
    )


def texts_by_image() -> dict[str, Data]:
    """Images as queries; every caption of the collection that holds for the image is relevant."""
    scenes = _collection("texts-by-image")
    captions = [stated for _, stated in _told("texts-by-image", DOCUMENTS, scenes)]
    true = _true(captions, scenes).T
    asked = np.flatnonzero(true.any(axis=1))[:QUERIES]
    return _retrieval(
        of_images([scenes[at] for at in asked], of="mini/texts-by-image, query"),
        _texts(captions, of="mini/texts-by-image"),
        true[asked],
    )


def _texts(captions: list[Caption], *, of: str) -> Mixed:
    return Mixed(
        names=names(len(captions)), text=texts([one.text for one in captions], of=of), text_at=np.arange(len(captions))
    )


def _retrieval(queries: Mixed, documents: Mixed, relevant: Bools) -> dict[str, Data]:
    query, document = np.nonzero(relevant)
    return {"default": Retrieval(queries=queries, documents=documents, relevant=(query, document, np.ones(len(query))))}


def images_by_image() -> dict[str, Data]:
    """A distorted, moved image as query; the collection has the scene itself, the scene changed, and others."""
    queries, documents = [], []
    for number in range(QUERIES):
        rng = lots("images-by-image", number)
        scene = compose.scene(rng, part=PART)
        queries.append(
            Shown(
                scene=scene,
                shift=shift(rng),
                kind=rng.choice((*_DAMAGES, *_TONES)),
                strength=rng.randint(2, 3),
                seed=rng.getrandbits(32),
            )
        )
        documents += [scene, compose.edited(scene, rng)]
    return _retrieval(
        of_images(queries, of="mini/images-by-image, query"),
        of_images(documents, of="mini/images-by-image"),
        np.eye(QUERIES, dtype=bool).repeat(2, axis=1) & (np.arange(2 * QUERIES) % 2 == 0),
    )


def images_by_both() -> dict[str, Data]:
    """A background as image and a thing as text: the image that has that thing on that background.

    The collection also has the background with another thing, and the thing on another background.
    """
    grounds, asked, documents = [], [], []
    for number in range(80):
        rng = lots("images-by-both", number)
        bare, found = _crossed(rng)
        grounds.append(bare)
        asked.append(article(found[0].things[0].name))
        documents += found
    row = np.arange(len(asked))
    queries = Mixed(
        names=names(len(asked)),
        image=column(grounds, of="mini/images-by-both, query"),
        image_at=row,
        text=texts(asked, of="mini/images-by-both, query"),
        text_at=row,
    )
    return _retrieval(
        queries,
        of_images(documents, of="mini/images-by-both"),
        np.eye(len(asked), dtype=bool).repeat(3, axis=1) & (np.arange(len(documents)) % 3 == 0),
    )


def _crossed(rng: Random) -> tuple[Scene, list[Scene]]:
    """A bare background; it with a thing, with another thing, and the first thing on another background."""
    bare = compose.scene(rng, part=PART, kind=_bare)
    ground = bare.background
    one, other = (_on(ground, rng) for _ in range(2))
    while other.things[0].name == one.things[0].name:
        other = _on(ground, rng)
    while True:
        elsewhere = replace(_bare(rng, part=PART), things=one.things)
        visible = one.things[0].colour in compose.free_colours(elsewhere.background)
        if visible and elsewhere.held_out() and elsewhere.background.name != ground.name:
            return bare, [one, other, elsewhere]


def _bare(rng: Random, *, part: str) -> Scene:
    return Scene(background=compose.background(rng, part=part, photographs=0.7, textures=0.3))


def _on(ground: Background, rng: Random) -> Scene:
    """One large thing on that background."""
    return compose.scene(
        rng,
        part=PART,
        kind=lambda lot, part: Scene(
            background=ground, things=compose.placed(lot, compose.names(lot, ground, 1), size="large")
        ),
    )


def instances() -> dict[str, Data]:
    """Photographs with things on them, seen again easily, hardly, or beyond recognition (junk); others around them.

    `medium`: easy and hard views count, junk is taken out. `hard`: hard views count, easy and junk are taken out (the
    protocols of revisited Oxford and Paris, Radenovic et al. 2018, section 3.2).
    """
    queries: list[Shown] = []
    views: list[Shown] = []
    kinds: list[tuple[int, str]] = []
    for number in range(INSTANCES):
        rng = lots("instances", number)
        scene = compose.scene(rng, part=PART, kind=compose.several)
        queries.append(Shown(scene=scene))
        for kind, seen, count in (("easy", _easily, EACH), ("hard", _hardly, EACH), ("junk", _beyond, 1)):
            views += [seen(scene, rng) for _ in range(count)]
            kinds += [(number, kind)] * count
    strangers = [
        Shown(scene=compose.scene(lots("instances others", number), part=PART, kind=compose.several))
        for number in range(STRANGERS)
    ]
    asked = of_images(queries, of="mini/instances, query")
    pool = of_images([*views, *strangers], of="mini/instances")

    def pairs(*wanted: str) -> tuple[Ints, Ints]:
        chosen = [(query, at) for at, (query, kind) in enumerate(kinds) if kind in wanted]
        return tuple(np.array(side) for side in zip(*chosen, strict=True))

    def protocol(good: tuple[str, ...], ignored: tuple[str, ...]) -> Retrieval:
        query, view = pairs(*good)
        return Retrieval(
            queries=asked, documents=pool, relevant=(query, view, np.ones(len(query))), ignored=pairs(*ignored)
        )

    return {"medium": protocol(("easy", "hard"), ("junk",)), "hard": protocol(("hard",), ("junk", "easy"))}


def _easily(scene: Scene, rng: Random) -> Shown:
    return Shown(scene=scene, shift=shift(rng), kind=rng.choice(_TONES), strength=rng.randint(1, 2))


def _hardly(scene: Scene, rng: Random) -> Shown:
    """One change, a move, and a distortion of middling strength."""
    return Shown(
        scene=compose.edited(scene, rng),
        shift=shift(rng),
        kind=rng.choice((*_DAMAGES, *_TONES)),
        strength=rng.randint(2, 4),
        seed=rng.getrandbits(32),
    )


def _beyond(scene: Scene, rng: Random) -> Shown:
    return distorted(scene, rng.choice(("blur", "noise", "blocks")), 5, rng)
