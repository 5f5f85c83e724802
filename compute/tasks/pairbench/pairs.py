"""Manifests as items of a task: the pairs of a split under both conditions, their images made when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.tasks.data import CONDITIONS, RatedPairs
from compute.tasks.pairbench import manifest as manifests
from compute.tasks.pairbench import sources, stored
from compute.tasks.pairbench.making import sides_of
from compute.tasks.pairbench.manifest import Manifest, Pair
from compute.tasks.pairbench.pixels import PACKAGES, Change, ImageMaker, MadeImage, digest, same_but_for_rounding
from compute.tasks.pairbench.splits import SPLITS, expected
from compute.tasks.source import Source
from compute.types import BadInput, NotHere
from compute.versions import installed


def load(path: Path, *, split: str, source: Source | None = None) -> dict[str, RatedPairs]:
    """A split of a manifest by condition.

    Raises BadInput for a manifest that cannot be read, sources that changed, or pixels that come out differently on
    this machine; NotHere for sources that are gone.
    """
    manifest, maker = _opened(path.resolve(), source or Source())
    return rated(manifest.of(split), maker=maker, title=path.stem)


def _opened(path: Path, source: Source) -> tuple[Manifest, ImageMaker]:
    """A manifest and its images, read and checked once for all splits and models of a run."""
    state = (path, path.stat().st_mtime_ns if path.is_file() else 0)
    if state not in source.opened:
        manifest = manifests.read(path)
        maker = maker_of(manifest, source=source)
        check_pixels(manifest, maker)
        source.opened[state] = manifest, maker
    return source.opened[state]


def maker_of(manifest: Manifest, *, source: Source | None = None) -> ImageMaker:
    """What makes a manifest's images. Raises NotHere and BadInput, naming sources that are gone or have changed."""
    about, folder = manifest.about["sources"], source.cache if source else None
    if manifest.about.get("stored"):
        path = manifest.path.with_name(manifest.about["stored"])

        def missing(name: str, _: bytes) -> bytes:
            raise NotHere(f"{path.name} does not hold {name}: make the pairs again")

        return ImageMaker(source=missing, stored=stored.opened(path), folder=folder)
    sides = [side for pair in manifest.pairs for side in sides_of(pair) if side]
    named = sorted({(side.name, side.source.decode()) for side in sides})
    names = dict.fromkeys(name for name, _ in named)
    images = sources.opened(about, near=manifest.path.parent, names=names, source=source)
    present = set(images.names)
    for name, key in named:
        if name not in present:
            raise NotHere(
                f"{name} of {images.title} is gone, which {manifest.path.name} was made from. Put it back, or make the "
                "pairs again"
            )
        sources.checked_read(images, name, key.encode())
    return ImageMaker(source=lambda name, key: sources.checked_read(images, name, key), folder=folder)


def check_pixels(manifest: Manifest, maker: ImageMaker) -> str:
    """Makes the images whose pixels are recorded: `same`, or `rounding` where they differ by less than a level.

    Raises BadInput where they are other images, naming the versions that made either.
    """
    verdict = "same"
    for pair in manifest.pairs:
        if not pair.pixels:
            continue
        image = maker.image(sides_of(pair)[1])
        if digest(image) == pair.pixels:
            continue
        if not same_but_for_rounding(image, pair.thumbnail):
            was, now = manifest.about.get("packages", {}), installed(PACKAGES)
            other = [f"{name} {was.get(name)} then, {now[name]} now" for name in PACKAGES if was.get(name) != now[name]]
            raise BadInput(
                f"{manifest.path.name}: split {pair.split}, {pair.name}: this machine makes other pixels than the one "
                f"that wrote the manifest ({'; '.join(other) or 'the same package versions'}). Install those versions, "
                "or make the pairs again"
            )
        verdict = "rounding"
    return verdict


def rated(pairs: Sequence[Pair], *, maker: ImageMaker, title: str) -> dict[str, RatedPairs]:
    """The pairs of one split under each condition. All columns are lazy: a row's image is made when it is read."""
    split = SPLITS[pairs[0].split]
    of = f"{title} {split.key}"
    sides = [sides_of(pair) for pair in pairs]
    first = column([side[0] for side in sides], pairs, maker=maker, of=f"{of}, first")
    if split.second == "text":
        second = items.texts([pair.text for pair in pairs], of=f"{of}, second")
    else:
        second = column([side[1] for side in sides], pairs, maker=maker, of=f"{of}, second")
    variants: dict[str, tuple[Column, ...]] = {"first": (), "second": ()}
    if split.change and split.second == "image":
        for at, side in enumerate(variants):
            strengths = [getattr(pair, f"{side}_strengths") for pair in pairs]
            seeds = [getattr(pair, f"{side}_seeds") for pair in pairs]
            variants[side] = tuple(
                column(
                    [
                        both[at].then(Change(kind=split.change, strength=strengths[row][k], seed=seeds[row][k]))
                        for row, both in enumerate(sides)
                    ],
                    pairs,
                    maker=maker,
                    of=f"{of}, {side}, variant {k}",
                )
                for k in range(min(map(len, seeds)))
            )
    return {
        condition: RatedPairs(
            names=tuple(pair.name for pair in pairs),
            first=first,
            second=second,
            expected=np.array([expected(pair.type, condition) for pair in pairs]),
            types=np.array([pair.type for pair in pairs]),
            sources=np.array([pair.item for pair in pairs]),
            templates=np.array([pair.template for pair in pairs]),
            condition=condition,
            transformations=split.transformations,
            first_variants=variants["first"] if condition == "invariant" else (),
            second_variants=variants["second"] if condition == "invariant" else (),
        )
        for condition in CONDITIONS
    }


def column(made: Sequence[MadeImage], pairs: Sequence[Pair], *, maker: ImageMaker, of: str) -> Column:
    """A column of images, one a row, none of them made yet."""
    return Column(
        modality="image",
        keys=np.array([image.key for image in made], dtype="S32"),
        read=lambda row: maker.file(made[row]),
        name=lambda row: f"{of}: {pairs[row].name} ({made[row].name})",
        image=lambda row: maker.image(made[row]),
    )
