"""`compute.frechet`: the comparison of generators from Python, on images or on features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from compute import models, paths
from compute.arrays import LazyRows
from compute.catalog import known
from compute.engine.generators import frechet as comparison
from compute.engine.generators import store
from compute.engine.generators.backbones import PAPER, Backbones, choose, subset
from compute.engine.generators.frechet import SetFeatures
from compute.engine.generators.store import SavedReference
from compute.engine.generators.table import GeneratorTable
from compute.engine.settings import RunSettings
from compute.engine.workspace import assemble
from compute.io.files import temporary_folder
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.tasks.generators import human as ratings
from compute.tasks.generators import pairing, sources
from compute.tasks.generators.pairing import REFERENCE, uneven_generators
from compute.tasks.generators.sources import ImageSet
from compute.tasks.source import Source
from compute.types import BadInput
from compute.versions import naming_packages

OWN = "features"  # the backbone of features that are given

Images = str | Path | np.ndarray | Iterable[Any]


@naming_packages()
def frechet(
    *,
    reference: Images | SavedReference | Moments | CrossMoments,
    generated: Mapping[str, Images],
    prompts: str | Path | Sequence[str] | Mapping[str, str] | None = None,
    condition: np.ndarray | None = None,
    human: str | Path | None = None,
    backbones: str = PAPER,
    metrics: str = "",
    intervals: bool = True,
    features: Path | None = None,
    data: Path | None = None,
    device: str = "",
    batch_size: int | None = None,
    offline: bool = False,
    skip_bad: bool = False,
) -> GeneratorTable:
    """Compares generators' images with a reference by every metric; nothing but features is stored.

    `reference` and each of `generated`: an address as the command takes them (folder, WebDataset, Parquet, hub), images
    (Pillow, uint8 arrays, bytes or paths; an iterable is taken once), or features, an array (n, d). `reference` may be
    saved statistics instead (the file or the loaded record), or with features their moments. With features, `condition`
    (n, p) are those of the prompts, row by row. `prompts`: a file, prompts in the order of the images, or
    by image. `features` is the folder that encodings are stored in, by default the project's results. Raises BadInput,
    BadItem, NotHere with what to fetch.
    """
    if not generated:
        raise BadInput("No generator is named: give generated={name: images}")
    if REFERENCE in generated:
        raise BadInput(f"A generator is named {REFERENCE!r}, as the reference is: name it otherwise")
    rated = None if human is None else ratings.read(Path(human))
    arrays = [
        isinstance(images, LazyRows | Moments | CrossMoments) or (isinstance(images, np.ndarray) and images.ndim == 2)
        for images in (reference, *generated.values())
    ]
    if all(arrays):
        given = _given(reference, generated, condition)
        chosen = Backbones(image=(OWN,), cfred=(OWN,), text=(OWN,), cmmd=OWN).limited(metrics)
        table = GeneratorTable(
            figures=tuple(comparison.figures(given, chosen=chosen, with_intervals=intervals)),
            warnings=uneven_generators({name: len(rows) for name, rows in generated.items()}),
        )
        return table if rated is None else table.beside(rated, scores={})
    if any(arrays) or condition is not None:
        raise BadInput("Features, arrays (n, d), and images cannot be mixed; `condition` goes with features")
    if offline:
        from huggingface_hub import constants

        constants.HF_HUB_OFFLINE = True
    catalog, source = known(), Source(root=data, offline=offline)
    chosen = choose(backbones, metrics=metrics, catalog=catalog)
    with temporary_folder() as spool:

        def opened(name: str, images: Images) -> ImageSet:
            if isinstance(images, str | Path):
                return sources.opened(name, images, source=source, skip_bad=skip_bad)
            return sources.from_images(name, images, spool=spool / str(len(list(spool.iterdir()))), skip_bad=skip_bad)

        statistics = isinstance(reference, SavedReference) or (
            isinstance(reference, str | Path) and Path(reference).suffix == store.SUFFIX
        )
        saved = store.opened(reference, chosen=chosen) if statistics else {}
        sets = pairing.pair(
            reference=None if saved else opened(REFERENCE, reference),
            generated=[opened(name, images) for name, images in generated.items()],
            prompts=pairing.prompts_of(prompts),
        )
        bench = assemble(
            RunSettings(batch_size=batch_size, skip_bad=skip_bad, offline=offline),
            features=features or paths.RESULTS / "features",
            hardware=models.hardware(device=device),
            source=source,
        )
        made = comparison.compare(
            sets,
            chosen=chosen,
            catalog=catalog,
            bench=bench,
            saved=saved,
            with_intervals=intervals,
        )
    return made.table(rated)


def _given(reference: Any, generated: Mapping[str, Any], condition: Any) -> SetFeatures:
    """Features that the caller has, or moments as the reference."""
    moments: dict[str, Moments | CrossMoments] = {}
    sides = dict(generated)
    if isinstance(reference, CrossMoments):
        moments = {OWN: reference.images, subset(OWN, OWN): reference}
    elif isinstance(reference, Moments):
        moments = {OWN: reference}
    else:
        sides = {REFERENCE: reference, **generated}
    for name, rows in sides.items():
        if condition is not None and len(rows) != len(condition):
            raise BadInput(f"{name} has {len(rows):,} rows and condition {len(condition):,}: one a prompt")
    return SetFeatures(
        generated=tuple(generated),
        prompts=() if condition is None else tuple(map(str, range(len(condition)))),
        images={OWN: sides},
        texts={} if condition is None else {OWN: condition},
        moments=moments,
    )
