"""Computes cFreD of every generator under every pair of an image and a text backbone, one task per image backbone.

Features are read one image backbone at a time. Its runs are stored as soon as its last text backbone is done, so an
interrupted grid resumes. A generator with a stored run on the same features is not computed again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import catalog
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.engine import run_folders
from compute.engine.generators.features import PAPER, Backbones, SetFeatures, subset
from compute.engine.generators.people import People
from compute.engine.generators.store import key_of, run_settings, suite_of, write_run
from compute.engine.generators.table import FIGURE, GeneratorTable, framed, of_record, stored_figures
from compute.metrics.distribution.cfred import PARTS, Conditioning, cfred_grid
from compute.metrics.distribution.moments import feature_array, feature_rows
from compute.options import names
from compute.progress import duration
from compute.tasks.image_sets import REFERENCE
from compute.types import WHOLE, BadInput, shortened

PROCEDURE, METRIC = "cfred-grid", "cfred"
TABLES = ("Backbone of Table B.1", "Backbone of Table B.2")  # marks of the paper's backbones in the catalogue
ENDING = ".npy"
SLASH = "__"  # replaces a slash of a backbone's key in file names


def paper_backbones() -> Backbones:
    """Returns the image and text backbones of Tables B.1 and B.2 of the cFreD paper that are in the catalogue."""
    image, text = (tuple(row.model for row in catalog.known().aliases if row.note.startswith(note)) for note in TABLES)
    return Backbones(image=(), cfred=image, text=text)


def holds_features(path: Path) -> bool:
    """Returns whether a path is a folder with .npy files."""
    return path.is_dir() and next(path.rglob(f"*{ENDING}"), None) is not None


def read_features(folder: Path) -> dict[str, np.ndarray]:
    """Returns features (n, d) of one set by backbone; row i belongs to prompt i.

    Arrays stay on disk and are never unpickled. Raises BadInput with the file's name for an unreadable array or one
    without features.
    """
    found = {}
    for file in sorted(folder.rglob(f"*{ENDING}")):
        key = file.relative_to(folder).as_posix().removesuffix(ENDING).replace(SLASH, "/")
        if key in found:
            raise BadInput(f"{folder.name}: two files hold features of {key}. Remove one")
        name = f"{folder.name}, {key}"
        try:
            found[key] = feature_array(np.load(file, mmap_mode="r", allow_pickle=False), argument=name)
        except (OSError, EOFError, ValueError, MemoryError) as error:
            raise BadInput(f"{name} cannot be read as an array: {shortened(str(error))}") from error
    return found


def from_files(
    paths: Mapping[str, Path], condition: Path | None, *, keys: Sequence[str] | str
) -> tuple[SetFeatures, Backbones, tuple[str, ...]] | None:
    """Returns encoded features by set, their backbones, and warnings; None if the sets are not features.

    `keys` limits the backbones; `paper`: all that every set has. Raises BadInput for unreadable files, features mixed
    with images, sets without a common backbone, and chosen backbones that a set lacks.
    """
    ready = set(map(holds_features, paths.values()))
    if ready == {False}:
        return None
    if len(ready) > 1:
        raise BadInput("Features and images cannot be mixed: name features of the reference and of every generator")
    if condition is None or not holds_features(condition):
        raise BadInput("--prompts: name the features of the prompts, a folder of .npy files by text backbone")
    texts, sets = read_features(condition), {name: read_features(path) for name, path in paths.items()}
    chosen = [key for key in names(keys) if key != PAPER]
    lacking = {key: [name for name, of in sets.items() if key not in of] for each in sets.values() for key in each}
    images = tuple(key for key, missing in lacking.items() if not missing and (not chosen or key in chosen))
    conditions = tuple(key for key in texts if not chosen or key in chosen)
    for key in chosen:
        if key not in (*images, *conditions):
            where = ", ".join(lacking.get(key, [condition.name, *sets]))
            raise BadInput(f"There are no features of {shortened(key)!r} in {where}: add them, or omit it")
    for found, what in ((images, "image backbone that all sets have"), (conditions, f"text backbone in {condition}")):
        if not found:
            raise BadInput(f"There is no {what}" + (f" among {', '.join(chosen)}" if chosen else ""))
    features = SetFeatures(generated=tuple(name for name in paths if name != REFERENCE), images=sets, texts=texts)
    skipped = {} if chosen else {key: missing for key, missing in lacking.items() if missing}
    warnings = tuple(f"{key}: no features of {', '.join(each)}. Skipped" for key, each in skipped.items())
    return features, Backbones(image=(), cfred=images, text=conditions), warnings


def execute(
    features: SetFeatures,
    chosen: Backbones,
    *,
    name: str,
    file: Path,
    results: Path,
    warnings: Sequence[str] = (),
    people: People | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> GeneratorTable:
    """Computes what is not stored, and stores a run per generator and image backbone.

    `name` is the suite's name, `file` its source; `people` rated the generators. Raises BadInput for features that do
    not match, CannotWrite.
    """
    images, texts, generators = chosen.cfred, chosen.text, features.generated
    sets = {key: features.images[key] for key in (REFERENCE, *generators)}
    n = len(sets[REFERENCE][images[0]])
    digests = {}
    for image in images:
        shape = (n, sets[REFERENCE][image].shape[1])
        digests[image] = {key: _digest(of[image], f"{key} {image}", shape=shape) for key, of in sets.items()}
    prompts = {text: _digest(features.texts[text], f"condition {text}", shape=(n,)) for text in texts}
    compared = [{image: of[REFERENCE] for image, of in digests.items()}, prompts]
    made = suite_of(
        own_suite.GRID,
        name,
        title="Own backbone grid",
        description=(
            f"Your own data: cFreD of {len(generators)} generators on {n:,} prompts under every pair of image and "
            f"text backbones. The ranking is by {images[0]} and {texts[0]}, the first pair; distances "
            "under different backbones have no common scale. No published score compares with these."
        ),
        tasks=_tasks(chosen, n=n, rated=people.metric if people else ""),
        digest=hashlib.blake2b(json.dumps(compared).encode(), digest_size=16).hexdigest(),
        file=file,
        generators=generators,
        results=results,
    )
    suite = suite_records.record(made, results=results)
    report(
        f"{len(images)} image and {len(texts)} text backbones, {len(generators)} generators, {n:,} prompts: "
        f"{len(images) * len(generators)} runs of the suite {suite.suite.key}"
    )
    conditions = cache(
        lambda: {text: Conditioning.of(features.texts[text], argument=f"condition {text}") for text in texts}
    )
    every: list[dict[str, Any]] = []
    for at, (image, task) in enumerate(zip(images, suite.tasks, strict=True), start=1):
        started, settings, figures, stored = time.perf_counter(), {}, {}, {}
        for generator in generators:
            settings[generator] = run_settings(
                task,
                metrics=[METRIC],
                data={"reference": digests[image][REFERENCE], "generated": digests[image][generator], "texts": prompts},
                backbones={key: features.settings[key] for key in (image, *texts) if key in features.settings},
            )
            known = run_folders.fingerprint(settings[generator])
            if run := run_folders.find(results, model=key_of(generator), task=task.key, fingerprint=known):
                stored[generator] = run
                figures[generator] = stored_figures(generator, run.scores, run.run.settings)
        new = [generator for generator in generators if generator not in stored]
        figures |= {generator: [] for generator in new}
        sides = {"real": sets[REFERENCE][image], "generated": {each: sets[each][image] for each in new}}
        for (generator, text), record in cfred_grid(**sides, condition=conditions()) if new else ():
            about = {"generator": generator, "metric": METRIC, "backbone": subset(image, text), "n": n}
            figures[generator].append(FIGURE | about | of_record(record, PARTS))
        seconds = time.perf_counter() - started
        ratings = people.stored if people and at == 1 else {}
        for generator in generators:
            rating, run = ratings.get(generator), stored.get(generator)
            if run is None or (rating and rating not in [(score.metric, score.value) for score in run.scores]):
                write_run(
                    generator,
                    figures[generator],
                    task=task,
                    results=results,
                    settings=settings[generator],
                    rating=rating,
                    evidence=pd.DataFrame({"item": []}),  # a score covers all prompts
                    seconds=run.run.seconds if run else seconds / len(new),
                    items=n,
                    warnings=list(warnings),
                )
            every += figures[generator]
        report(f"{image} ({at} of {len(images)}): {len(new)} new in {duration(seconds)}")
    table = GeneratorTable(figures=framed(every), warnings=tuple(warnings))
    return table.beside(people, scores={}) if people else table


def _tasks(chosen: Backbones, *, n: int, rated: str) -> dict[str, dict[str, Any]]:
    """Returns a task per image backbone, by the end of its key: the backbone's slug, with a digest if that is too long.

    The first task also has people's ratings.
    """
    tasks: dict[str, dict[str, Any]] = {}
    for image in chosen.cfred:
        slug = own_suite.slug(image)
        if len(image) >= 60:
            slug = f"{slug[:50]}-{hashlib.blake2b(image.encode(), digest_size=4).hexdigest()}"
        tasks[slug] = {
            "title": f"cFreD under {image}",
            "category": image,
            "subsets": (WHOLE, *(subset(image, text) for text in chosen.text)),
            "procedure": PROCEDURE,
            "metrics": (METRIC, rated) if rated and not tasks else (METRIC,),
            "n_items": n,
            "modalities": ("image", "text"),
            "notes": f"cFreD by text backbone; the first is {chosen.text[0]}.",
        }
    return tasks


def _digest(values: Any, argument: str, *, shape: tuple[int, ...]) -> str:
    """Returns a digest of an array's type, shape and values.

    Raises BadInput if its shape does not begin with `shape`, or if a row is not finite.
    """
    array = feature_array(values, argument=argument)
    if array.shape[: len(shape)] != shape:
        raise BadInput(
            f"{argument} has the shape {array.shape} where the reference's is {shape}: row i of each must belong to "
            "prompt i. Remove the prompts missing from either, and encode all with one backbone"
        )
    feature_rows(array, argument=argument)
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()
