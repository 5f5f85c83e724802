"""Implements `compute.frechet` and the command: compares generators, from images or features."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from compute.arrays import LazyRows
from compute.engine.generators import grid as grids
from compute.engine.generators import people, references
from compute.engine.generators.features import NEED_PROMPTS, PAPER, Backbones, SetFeatures, choose, encode, subset
from compute.engine.generators.references import SavedReference
from compute.engine.generators.set_metrics import figures
from compute.engine.generators.store import contents_of, key_of
from compute.engine.generators.store import store as stored
from compute.engine.generators.table import GeneratorTable
from compute.engine.workspace import (
    BatchSize,
    Bench,
    DataFolder,
    Device,
    Dtype,
    Offline,
    RunSettings,
    as_before,
    workbench,
)
from compute.io.files import temporary_folder
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.options import names
from compute.tasks import image_sets
from compute.tasks.image_lists import ADDRESSES
from compute.tasks.image_sets import REFERENCE, ImageSet, PromptedSets, uneven_generators
from compute.tasks.source import Source
from compute.types import BadInput, counted
from compute.versions import naming_packages

OWN = "features"  # the backbone name of given features

Images = str | Path | np.ndarray | Iterable[Any]
Report = Callable[[str], None]


@naming_packages()
def frechet(
    *,
    reference: Annotated[
        Images | SavedReference | Moments,
        f"The real images: {ADDRESSES}. Or saved statistics, FILE.npz, which serve FID and other distances.",
    ],
    generated: Mapping[str, Images],
    prompts: Annotated[
        Path | str | Sequence[str] | Mapping[str, str] | None,
        "The prompts: a table (CSV, TSV, JSON Lines, Parquet) with columns image and prompt, or a text with a prompt a "
        "line in the order of the images. Not needed where the images come with their prompts.",
    ] = None,
    condition: np.ndarray | None = None,
    human: Annotated[
        Path | str | None,
        "Human ratings: a table of generators with rate, elo or rank; or of votes: winner and loser, first, second and "
        "choice, or prompt, generator and votes.",
    ] = None,
    backbones: Annotated[
        Sequence[str] | str,
        "paper: those of the papers; tiny: the bundled model, without a network; or keys of encoders, comma-separated.",
    ] = PAPER,
    metrics: Annotated[Sequence[str] | str, "Only these metrics, comma-separated, e.g. fid,cfred."] = "",
    intervals: Annotated[bool, "95% intervals and distances at infinite N; they take about 30 times as long."] = True,
    grid: Annotated[
        bool,
        "cFreD alone, under every pair of an image and a text backbone of --backbones; paper: all 46 x 43 of the cFreD "
        "paper. Sets may be features then: a folder of .npy files by backbone, and --prompts those of the prompts.",
    ] = False,
    store: Annotated[bool, "Store the scores as runs, which the board shows."] = False,
    name: Annotated[str, "Name of the suite; default: that of the prompts or the reference."] = "",
    save_reference: Annotated[
        Path | None,
        "Save the reference's statistics, with what made them: FILE-<backbone>.npz. Then --reference FILE.npz stands "
        "for its images.",
    ] = None,
    results: Path | None = None,
    features: Path | None = None,
    data: DataFolder = None,
    device: Device = "",
    dtype: Dtype = "",
    batch_size: BatchSize = None,
    offline: Offline = False,
    skip_bad: Annotated[bool, "Skip images that cannot be read, with their pairs."] = False,
    report: Report = lambda line: None,
    shown: Callable[[GeneratorTable], None] = lambda table: None,
) -> GeneratorTable:
    """Compares generators' images with a reference: Fréchet distances, cFreD and other metrics, in one table.

    Features are stored, so an interrupted comparison resumes and another metric needs no second pass over the images.
    `reference` and each of `generated` are one of three kinds: an address as for the command (folder, WebDataset,
    Parquet, hub); images (Pillow, uint8 arrays, bytes or paths; an iterable is read once); or features, an array
    (n, d). `reference` may instead be saved statistics (the file or the loaded record) or, with features, their
    moments. With features, `condition` (n, p) are those of the prompts, row by row.

    `prompts`: a file, prompts in the order of the images, or a mapping by image. `features`: the folder of encodings,
    by default in `results`, or else in the project's results. `grid` requires `store`. `report` is called with a line
    for what is read, encoded and stored, and `shown` with the table before it is stored, so that a full disk does not
    lose it. Raises BadInput, BadItem, and NotHere with what to fetch.
    """
    if not generated:
        raise BadInput("No generator is named: give generated={name: images}")
    if REFERENCE in generated:
        raise BadInput(f"A generator is named {REFERENCE!r}, as the reference is: name it otherwise")
    if store and (same := image_sets.repeated(map(key_of, generated))):
        both = " and ".join([each for each in generated if key_of(each) == same[0]][:2])
        raise BadInput(f"The names {both} make one key, {same[0]}: choose more distinct names")
    rated = None if human is None else people.read(Path(human), generated=list(generated))
    arrays = [
        isinstance(images, LazyRows | Moments) or (isinstance(images, np.ndarray) and images.ndim == 2)
        for images in (reference, *generated.values())
    ]
    if all(arrays):
        chosen = Backbones(image=(OWN,), cfred=(OWN,), text=(OWN,), cmmd=OWN).limited(metrics)
        table = GeneratorTable(
            figures=figures(_given(reference, generated, condition), chosen=chosen, with_intervals=intervals),
            warnings=uneven_generators({name: len(rows) for name, rows in generated.items()}),
        )
        return table if rated is None else table.beside(rated, scores={})
    if any(arrays) or condition is not None:
        raise BadInput("Features, arrays (n, d), and images cannot be mixed; `condition` goes with features")
    if grid and (names(metrics) not in ((), ("cfred",)) or save_reference or not store):
        raise BadInput("--grid computes and stores cFreD: it goes without --metrics, --save-reference, --no-store")
    if is_saved(reference) and save_reference:
        raise BadInput(f"{reference} is saved already: --save-reference goes with the images themselves")
    settings = RunSettings(
        results=results or features,
        data=data,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        skip_bad=skip_bad,
        offline=offline,
    )
    file = next((Path(each) for each in (prompts, reference) if isinstance(each, str | Path)), Path(name))
    place: dict[str, Any] = {"name": name or file.stem, "file": file, "results": settings.results}
    with as_before(), temporary_folder() as spool:
        bench = workbench(settings, data=data, features=features)
        sides = {REFERENCE: reference, **generated}
        if grid:
            encoded = None
            if all(isinstance(each, str | Path) for each in sides.values()):
                texts = Path(prompts) if isinstance(prompts, str | Path) else None
                encoded = grids.from_files({key: Path(each) for key, each in sides.items()}, texts, keys=backbones)
            if encoded is None:
                sets = _paired(sides, prompts, bench=bench, spool=spool, report=report)
                if sets.prompts is None:
                    raise BadInput("cFreD needs prompts: name a table of image and prompt with --prompts")
                chosen = choose(backbones, metrics=grids.METRIC, paper=grids.paper_backbones())
                given, left = encode(sets, chosen=chosen, bench=bench, saved={}, report=report)
                encoded = given, chosen, left.warnings
            given, chosen, warnings = encoded
            table = grids.execute(given, chosen, **place, warnings=warnings, people=rated, report=report)
            shown(table)
            return table
        chosen = choose(backbones, metrics=metrics)
        saved = references.opened(reference, chosen=chosen) if is_saved(reference) else {}
        sets = _paired(sides, prompts, bench=bench, spool=spool, report=report)
        started = time.perf_counter()
        needed = chosen.beside(saved) if saved else chosen
        if sets.prompts is None:
            left = tuple(metric for metric in needed.preference if metric not in NEED_PROMPTS)
            needed = replace(needed, cfred=(), text=(), clip="", preference=left)
        if not needed.keys:
            why = "the images have no prompts. Give --prompts"
            if saved and sets.prompts is not None:
                why = "a saved reference holds moments alone. Give the reference's images"
            raise BadInput(f"{', '.join(chosen.metrics)}: {why}, or other metrics")
        given, left = encode(sets, chosen=needed, bench=bench, saved=saved, report=report)
        found = figures(given, chosen=chosen, with_intervals=intervals)
        table = GeneratorTable(figures=found, warnings=left.warnings)
        if rated:
            table = table.beside(rated, scores=given.scores if given.prompts else {})
        shown(table)
        if not (save_reference or store):
            return table
        contents = next(iter(saved.values())).contents if saved else contents_of(left.reference.images)
        if save_reference:
            how = {"chosen": chosen, "source": str(reference), "contents": contents}
            for path in references.save(Path(save_reference), given, **how):
                report(f"Saved {path}")
        if store:
            human, seconds = rated.stored if rated else {}, time.perf_counter() - started
            key, count = stored(
                left, given, found, chosen=chosen, contents=contents, **place, human=human, seconds=seconds
            )
            report(f"Stored {counted(count, 'run')} of the suite {key}")
    return table


def _paired(
    sides: Mapping[str, Images | SavedReference], prompts: Any, *, bench: Bench, spool: Path, report: Report
) -> PromptedSets:
    """Pairs the sets; a saved reference has no images. Images without a file go to `spool`."""
    how = {"source": Source(root=bench.settings.data, offline=bench.settings.offline), "spool": spool}
    sets: dict[str, ImageSet] = {}
    for name, images in sides.items():
        if name != REFERENCE or not is_saved(images):
            if isinstance(images, str | Path):
                report(f"Reading {name}: {images}")
            sets[name] = image_sets.opened(name, images, **how, skip_bad=bench.settings.skip_bad)
    reference = sets.pop(REFERENCE, None)
    return image_sets.pair(reference=reference, generated=[*sets.values()], prompts=image_sets.prompts_of(prompts))


def is_saved(reference: Any) -> bool:
    """Returns whether statistics replace the reference's images."""
    by_name = isinstance(reference, str | Path) and Path(reference).suffix == references.SUFFIX
    return by_name or isinstance(reference, SavedReference)


def _given(reference: Any, generated: Mapping[str, Any], condition: Any) -> SetFeatures:
    """Returns the caller's features, or moments as the reference."""
    real = {OWN: reference}
    if isinstance(reference, CrossMoments):
        real = {OWN: reference.images, subset(OWN, OWN): reference}
    sides = generated if isinstance(reference, Moments) else {REFERENCE: reference, **generated}
    for name, rows in sides.items():
        if condition is not None and len(rows) != len(condition):
            raise BadInput(f"{name} has {len(rows):,} rows and condition {len(condition):,}: one a prompt")
    return SetFeatures(
        generated=tuple(generated),
        prompts=() if condition is None else tuple(map(str, range(len(condition)))),
        images={REFERENCE: real} | {name: {OWN: rows} for name, rows in generated.items()},
        texts={} if condition is None else {OWN: condition},
    )
