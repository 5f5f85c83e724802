"""Pairs of drawn scenes for judges, made like PairBench's: five transformations of scenes of any kind, and the same two
shapes in another spatial relation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

from compute.tasks import image_lists
from compute.tasks.data import RatedPairs
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import related
from compute.tasks.drawing.compose import Scene, relation
from compute.tasks.drawing.lexicon import OPPOSITE
from compute.tasks.mini.album import files, lots, scene
from compute.tasks.pairbench import making, pairs
from compute.tasks.pairbench.making import SourceItem
from compute.tasks.pairbench.pixels import ImageMaker
from compute.tasks.pairbench.splits import SPLITS
from compute.tasks.pairbench.whatsup import Shows

SCENES = 30
GROUPS, EACH = 10, 3  # of the spatial splits: groups with the same two shapes, and relations shown per group


def rated(split: str) -> dict[str, RatedPairs]:
    """Returns the pairs of a split under both conditions. Source images are in memory; the others are made when
    read.
    """
    kind = "spatial" if SPLITS[split].spatial else "scenes"
    images, items = _items(kind)
    drawn = list(making.draw(items, splits=[SPLITS[split]]))
    return pairs.rated(drawn, maker=ImageMaker(making.unchanged(images)), title="mini-pairs")


@cache
def _items(kind: str) -> tuple[image_lists.Images, list[SourceItem]]:
    """Returns scenes of any kind, or scenes of two shapes with what each shows."""
    shown: list[tuple[str, Scene, Shows | None]] = (
        [(f"{number:04d}", scene(lots("pairs", number)), None) for number in range(SCENES)]
        if kind == "scenes"
        else _related()
    )
    images = image_lists.in_memory(
        dict(zip((name for name, _, _ in shown), files([drawn for _, drawn, _ in shown]), strict=True)),
        title=f"mini-pairs, {kind}",
    )
    return images, making.scanned(images, shows={name: shows for name, _, shows in shown if shows})


def _related() -> list[tuple[str, Scene, Shows | None]]:
    """Returns EACH scenes per group: a background and two shapes in a new relation each time."""
    out = []
    for group in range(GROUPS):
        rng = lots("related pairs", group)
        by_relation = _group(rng)
        first, second = next(iter(by_relation.values())).things
        captions = {how: related(first.name, how, second.name).text for how in OPPOSITE}
        for how in rng.sample(sorted(by_relation), EACH):
            others = tuple((other, text) for other, text in captions.items() if other != how)
            shows = Shows(objects=(first.name, second.name), relation=how, captions=((how, captions[how]), *others))
            out.append((f"{group:02d} {how.replace(' ', '-')}", by_relation[how], shows))
    return out


def _group(rng: Random) -> dict[str, Scene]:
    """Returns scenes with the same background and shapes, one per relation; none is a training scene."""
    while True:
        start = scene(rng, compose.pair)
        kinds = [(thing.shape, thing.colour) for thing in start.things]
        if kinds[0][0] == kinds[1][0] or kinds[0][1] == kinds[1][1]:
            continue
        out = {}
        for _ in range(400):  # there are few positions: a background with too few held-out scenes is abandoned
            moved = replace(start, things=compose.placed(rng, kinds, size="large"))
            how = relation(*moved.things)
            if how and how not in out and moved.held_out():
                out[how] = moved
            if len(out) == len(OPPOSITE):
                return out
