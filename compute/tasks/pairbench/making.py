"""Pairs drawn from images: which image with which, how it is changed, which prompt asks about it (section 3.1).

The paper publishes no code, no strengths and not how partners are drawn; all of that is ours. The identical pair shows
the image at 95% of each side, the transformed pair under the split's transformation at a random strength, and the
irrelevant pair shows another image under the same transformation. All draws of a pair come from a seed of its own,
which its split, item and type decide: another image in the folder changes no other pair's seed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from compute.content import decoding, near_copies
from compute.content.items import content_key
from compute.tasks.pairbench.manifest import Pair
from compute.tasks.pairbench.pixels import RESIZE, SHARE, Change, ImageMaker, MadeImage, digest, thumbnail
from compute.tasks.pairbench.sources import SourceImages, checked_read
from compute.tasks.pairbench.splits import Split
from compute.types import BadInput, BadItem

VERSION = 1  # raise it when other pairs are drawn from the same seed
STRENGTHS = (0.3, 1.0)  # of the transformations; the paper gives none
APPLICATIONS = 5  # k of section 4.2.2
TEMPLATES = 5  # prompt templates of each kind of pair (Appendix C.1)
CHECKED = 2  # transformed pairs of a split whose pixels are recorded


@dataclass(frozen=True, kw_only=True)
class SourceItem:
    """One source image, with what it shows where that is known."""

    name: str
    key: bytes
    hashes: np.ndarray = field(repr=False, compare=False)
    objects: tuple[str, ...] = ()
    relation: str = ""
    captions: tuple[tuple[str, str], ...] = ()  # relation -> caption; the item's own relation among them


def scanned(
    images: SourceImages,
    *,
    skip_bad: bool = False,
    skipped: Callable[[BadItem], None] = lambda error: None,
    done: Callable[[int], None] = lambda more: None,
) -> list[SourceItem]:
    """Reads and decodes every image once. Raises BadItem for the first that cannot be, or `skipped` takes each."""
    items = []
    for name in images.names:
        try:
            items.append(_item(images, name))
        except BadItem as error:
            if not skip_bad:
                raise
            skipped(error)
        done(1)
    if not items:
        raise BadInput(f"{images.title}: no image can be read")
    return items


def _item(images: SourceImages, name: str) -> SourceItem:
    try:
        data = images.read(name)
        return SourceItem(name=name, key=content_key(data), hashes=near_copies.hashes(decoding.decode(data)))
    except (BadInput, OSError) as error:
        raise BadItem(name, str(error)) from error


def draw(
    items: Sequence[SourceItem],
    *,
    splits: Sequence[Split],
    seed: int = 0,
    applications: int = APPLICATIONS,
    second_counterpart: bool = True,
) -> Iterator[Pair]:
    """The pairs of every split. Raises BadInput where an item has no partner to be paired with.

    In splits of spatial position an item has four pairs with `second_counterpart`, else three. Table 8 counts eight
    comparisons for an item there and the text names three pair types, six comparisons in both orders: the fourth is
    unknown. We show a second image (caption) of the same objects in a third relation, scored as the first. That fits
    the table's count of new images: 3 an item where a transformation is added, as many as it has counterparts other
    than the identical one, like the 2 an item of the other data sets.
    """
    if len(items) < 2:
        raise BadInput(f"{items[0].name} is the only image: pairs need another for the irrelevant one. Add images")
    hashes = np.stack([item.hashes for item in items])
    groups: dict[tuple[str, ...], list[SourceItem]] = {}
    for item in items:
        groups.setdefault(item.objects, []).append(item)
    for split in splits:
        for item in items:
            first = _random(seed, split.key, item.name, "first")
            shared = Pair(split=split.key, item=item.name, type="", first=item.name, first_key=item.key.decode())
            if split.change:
                strengths, seeds = _applications(first[1], applications)
                shared = replace(shared, first_strengths=strengths, first_seeds=seeds)
            counterparts = _counterparts(item, split, groups, seed) if split.spatial else [item]
            for number, counterpart in enumerate(counterparts[: 2 if second_counterpart else 1]):
                kind = "transformed" if number == 0 else "transformed-2"
                if number == 0:
                    yield _pair(shared, "identical", item, split, items, hashes, seed, applications)
                yield _pair(shared, kind, counterpart, split, items, hashes, seed, applications)
            yield _pair(shared, "irrelevant", item, split, items, hashes, seed, applications)


def _pair(
    shared: Pair,
    kind: str,
    counterpart: SourceItem,
    split: Split,
    items: Sequence[SourceItem],
    hashes: np.ndarray,
    seed: int,
    applications: int,
) -> Pair:
    own, draws = _random(seed, split.key, shared.item, kind)
    pair = replace(shared, type=kind, seed=own, template=int(draws.integers(TEMPLATES)))
    if kind == "irrelevant":
        counterpart = _irrelevant(counterpart, items, hashes, draws)
    if split.second == "text":
        return replace(pair, text=_caption(counterpart, kind, draws))
    pair = replace(pair, second=counterpart.name, second_key=counterpart.key.decode())
    if kind == "identical":
        pair = replace(pair, change=RESIZE, strength=SHARE)
    elif split.change:
        pair = replace(pair, change=split.change, strength=_strength(draws))
    if split.change:
        strengths, seeds = _applications(draws, applications)
        pair = replace(pair, second_strengths=strengths, second_seeds=seeds)
    return pair


def _random(seed: int, *names: str) -> tuple[int, np.random.Generator]:
    """A pair's own seed, and the random numbers that follow from it."""
    data = json.dumps([VERSION, seed, *names]).encode()
    own = int.from_bytes(hashlib.blake2b(data, digest_size=4).digest(), "big")
    return own, np.random.default_rng(own)


def _strength(draws: np.random.Generator) -> float:
    return round(float(draws.uniform(*STRENGTHS)), 4)


def _applications(draws: np.random.Generator, count: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    strengths = tuple(_strength(draws) for _ in range(count))
    return strengths, tuple(draws.integers(2**32, size=count).tolist())


def _irrelevant(
    item: SourceItem, items: Sequence[SourceItem], hashes: np.ndarray, draws: np.random.Generator
) -> SourceItem:
    """Another item at random: of other objects, another file, and no near copy. Raises BadInput where none is."""

    def fits(at: int) -> bool:
        other = items[at]
        if other.key == item.key or (item.objects and set(other.objects) == set(item.objects)):
            return False
        return not near_copies.near(item.hashes, hashes[at])[0]

    # A few tries first: nearly always one fits, and to shuffle many images for every pair takes long.
    tries = itertools.chain.from_iterable(
        candidates()
        for candidates in (lambda: draws.integers(len(items), size=20), lambda: draws.permutation(len(items)))
    )
    for at in tries:
        if fits(int(at)):
            return items[int(at)]
    raise BadItem(
        item.name, f"all other images ({len(items) - 1}) are near copies of it, so none is an irrelevant partner"
    )


def _counterparts(
    item: SourceItem, split: Split, groups: dict[tuple[str, ...], list[SourceItem]], seed: int
) -> list[SourceItem]:
    """Two items of the same objects in two other relations, of a text the item itself twice. Raises BadItem."""
    draws = _random(seed, split.key, item.name, "counterparts")[1]
    if split.second == "text":
        relations = [relation for relation, _ in item.captions if relation != item.relation]
        chosen = [relations[at] for at in draws.permutation(len(relations))]
        others = [replace(item, relation=relation) for relation in chosen]
    else:
        group = groups[item.objects]
        others = [group[at] for at in draws.permutation(len(group)) if group[at].relation != item.relation]
        others = list({other.relation: other for other in reversed(others)}.values())[::-1]
    if not others:
        what = "caption" if split.second == "text" else "image of its objects"
        raise BadItem(item.name, f"the table has no {what} in another spatial relation")
    return others


def _caption(item: SourceItem, kind: str, draws: np.random.Generator) -> str:
    """The caption of an item; of an irrelevant one in another relation, as its images are transformed too."""
    captions = dict(item.captions)
    if kind == "irrelevant":
        others = [relation for relation in captions if relation != item.relation] or [item.relation]
        return captions[others[int(draws.integers(len(others)))]]
    return captions[item.relation]


def sides_of(pair: Pair) -> tuple[MadeImage, MadeImage | None]:
    """How each side of a pair is made; None for a text."""
    first = MadeImage(name=pair.first, source=pair.first_key.encode())
    if not pair.second:
        return first, None
    second = MadeImage(name=pair.second, source=pair.second_key.encode())
    if pair.change:
        # A resize is not random: its key does not depend on the pair's seed, so that all splits share its image.
        own = 0 if pair.change == RESIZE else pair.seed
        second = second.then(Change(kind=pair.change, strength=pair.strength, seed=own))
    return first, second


def with_checks(pairs: Sequence[Pair], images: SourceImages) -> list[Pair]:
    """The pairs, some of every split with a digest of their second image's pixels as they come out here."""
    maker = ImageMaker(source=lambda name, key: checked_read(images, name, key))
    left: dict[str, int] = {}
    out = []
    for pair in pairs:
        if pair.type == "transformed" and pair.change and left.setdefault(pair.split, CHECKED):
            left[pair.split] -= 1
            image = maker.image(sides_of(pair)[1])
            pair = replace(pair, pixels=digest(image), thumbnail=thumbnail(image))
        out.append(pair)
    return out
