"""`compute.frechet`: the comparison of generators from Python, on images or on features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import drafts, models, paths
from compute.arrays import LazyRows
from compute.catalog import shipped
from compute.engine.bench import assemble
from compute.engine.generators import backbones as choices
from compute.engine.generators import comparison, people, references, table
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.figures import figures as computed
from compute.engine.generators.people import People
from compute.engine.generators.record import GeneratorFigure
from compute.metrics.distribution.extrapolation import uneven_generators
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.metrics.distribution.references import SavedReference
from compute.tasks.generators import human as ratings
from compute.tasks.generators import pairing, sources
from compute.tasks.generators import prompts as lists
from compute.tasks.generators.pairing import REFERENCE
from compute.tasks.generators.prompts import Prompts
from compute.tasks.generators.sets import ImageSet
from compute.tasks.source import Source
from compute.types import BadInput

OWN = "features"

Images = str | Path | np.ndarray | Iterable[Any]


@dataclass(frozen=True, kw_only=True)
class GeneratorTable:
    """Every figure, what to know about them all, and people's ratings beside them where they were given."""

    figures: tuple[GeneratorFigure, ...]
    warnings: tuple[str, ...] = ()
    people: People | None = None

    def frame(self) -> pd.DataFrame:
        """A row a figure: generator, metric, backbone, value, n, low, high and the rest of the record."""
        return pd.DataFrame([asdict(row) for row in self.figures])

    def value(self, metric: str, generator: str) -> float:
        """The metric's first figure of a generator. Raises BadInput for one that is not there, with the reason."""
        row = next((row for row in self.figures if (row.metric, row.generator) == (metric, generator)), None)
        if row is None:
            known = ", ".join(dict.fromkeys(f"{row.metric} of {row.generator}" for row in self.figures))
            raise BadInput(f"No {metric} of {generator}. There are: {known}")
        if row.value is None:
            raise BadInput(f"No {metric} of {generator}: {row.reason}")
        return row.value

    def __str__(self) -> str:
        lines = table.text(self.figures, warnings=self.warnings)
        return "\n".join([*lines, *(people.lines(self.people) if self.people else [])])


def frechet(
    *,
    reference: Images | SavedReference | Moments | CrossMoments,
    generated: Mapping[str, Images],
    prompts: str | Path | Sequence[str] | Mapping[str, str] | None = None,
    condition: np.ndarray | None = None,
    human: str | Path | None = None,
    backbones: str = choices.PAPER,
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
    arrays = [_are_features(images) for images in (reference, *generated.values())]
    if all(arrays):
        return _of_features(reference, generated, condition, human, metrics=metrics, intervals=intervals)
    if any(arrays) or condition is not None:
        raise BadInput("Features, arrays (n, d), and images cannot be mixed; `condition` goes with features")
    if offline:
        from huggingface_hub import constants

        constants.HF_HUB_OFFLINE = True
    catalog = shipped()
    chosen = choices.choose(backbones, metrics=metrics, catalog=catalog)
    source = Source(root=data, offline=offline)
    store = features or paths.RESULTS / "features"
    with drafts.temporary_folder() as spool:

        def opened(name: str, images: Images, at: int) -> ImageSet:
            if isinstance(images, str | Path):
                return sources.opened(name, images, source=source, skip_bad=skip_bad)
            return sources.from_images(name, images, spool=spool / str(at), skip_bad=skip_bad)

        saved = references.opened(reference, chosen=chosen) if references.is_saved(reference) else None
        sets = pairing.pair(
            reference=None if saved else opened(REFERENCE, reference, 0),
            generated=[opened(name, images, at) for at, (name, images) in enumerate(generated.items(), start=1)],
            prompts=_prompts(prompts),
        )
        result = comparison.compare(
            sets,
            chosen=chosen,
            catalog=catalog,
            bench=assemble(
                features=store,
                hardware=models.hardware(device=device),
                source=source,
                batch_size=batch_size,
                skip_bad=skip_bad,
            ),
            name="python",
            file=Path("python"),
            saved=saved,
            offline=offline,
            intervals=intervals,
        )
    return _beside(result.figures, result.sets.warnings, result.features, human)


def _of_features(
    reference: Any,
    generated: Mapping[str, Any],
    condition: Any,
    human: str | Path | None,
    *,
    metrics: str,
    intervals: bool,
) -> GeneratorTable:
    chosen = choices.with_metrics(Backbones(image=(OWN,), cfred=(OWN,), text=(OWN,), cmmd=OWN), metrics)
    moments: dict[str, Moments | CrossMoments] = {}
    sides = dict(generated)
    if isinstance(reference, CrossMoments):
        moments = {OWN: reference.images, choices.subset(OWN, OWN): reference}
    elif isinstance(reference, Moments):
        moments = {OWN: reference}
    else:
        sides = {REFERENCE: reference, **generated}
    if condition is not None:
        for name, rows in sides.items():
            if len(rows) != len(condition):
                raise BadInput(f"{name} has {len(rows):,} rows and condition {len(condition):,}: one a prompt")
    features = SetFeatures(
        reference=REFERENCE,
        generated=tuple(generated),
        prompts=tuple(map(str, range(len(condition)))) if condition is not None else (),
        images={OWN: sides},
        texts={OWN: condition} if condition is not None else {},
        moments=moments,
    )
    warnings = uneven_generators({name: len(rows) for name, rows in generated.items()})
    return _beside(tuple(computed(features, chosen=chosen, intervals=intervals)), warnings, features, human)


def _are_features(images: Any) -> bool:
    return isinstance(images, LazyRows | Moments | CrossMoments) or (
        isinstance(images, np.ndarray) and images.ndim == 2
    )


def _beside(
    figures: tuple[GeneratorFigure, ...], warnings: tuple[str, ...], features: SetFeatures, human: str | Path | None
) -> GeneratorTable:
    rated = None if human is None else people.beside(ratings.read(Path(human)), figures=figures, features=features)
    return GeneratorTable(figures=figures, warnings=warnings, people=rated)


def _prompts(prompts: str | Path | Sequence[str] | Mapping[str, str] | None) -> Prompts | None:
    match prompts:
        case None:
            return None
        case str() | Path():
            return lists.read(Path(prompts))
        case Mapping():
            return lists.of_mapping(prompts)
    return lists.of_sequence(list(prompts))
