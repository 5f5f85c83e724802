"""Manifests as items of a task: the pairs of a split under both conditions, with variants made when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.tasks.data import CONDITIONS, RatedPairs
from compute.tasks.pairbench import manifest as manifests
from compute.tasks.pairbench.manifest import Pair
from compute.tasks.pairbench.pixels import ImageMaker, MadeImage
from compute.tasks.pairbench.splits import SPLITS, expected
from compute.tasks.source import Source


def load(path: Path, *, split: str, source: Source | None = None) -> dict[str, RatedPairs]:
    """Returns a split of a manifest by condition; both files are read once for all splits and models of a run.

    Raises BadInput for a manifest that cannot be read, NotHere if its images are gone.
    """
    source, path = source or Source(), path.resolve()
    state = (path, path.stat().st_mtime_ns if path.is_file() else 0)
    if state not in source.opened:
        manifest = manifests.read(path)
        source.opened[state] = manifest, ImageMaker(manifests.images_of(manifest))
    manifest, maker = source.opened[state]
    return rated(manifest.of(split), maker=maker, title=path.stem)


def rated(pairs: Sequence[Pair], *, maker: ImageMaker, title: str) -> dict[str, RatedPairs]:
    """Returns the pairs of one split under each condition. All columns are lazy: a row's image is made when it is
    read.
    """
    split = SPLITS[pairs[0].split]
    of = f"{title} {split.key}"
    made = [pair.sides for pair in pairs]
    first = column([side[0] for side in made], pairs, maker=maker, of=f"{of}, first")
    if split.second == "text":
        second = items.texts([pair.text for pair in pairs], of=f"{of}, second")
    else:
        second = column([side[1] for side in made], pairs, maker=maker, of=f"{of}, second")
    variants = {
        side: tuple(
            column(images, pairs, maker=maker, of=f"{of}, {side}, variant {k}")
            for k, images in enumerate(zip(*(pair.variants(at) for pair in pairs), strict=False))
        )
        for at, side in enumerate(("first", "second"))
    }
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
    """Returns a column of images, one per row, which are made when they are read."""
    return Column(
        modality="image",
        keys=np.array([image.key for image in made], dtype="S32"),
        read=lambda row: maker.file(made[row]),
        name=lambda row: f"{of}: {pairs[row].name} ({made[row].name})",
        image=lambda row: maker.image(made[row]),
    )
