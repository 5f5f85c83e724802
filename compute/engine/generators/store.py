"""Stores a comparison of generators: a suite of user data with a run per generator."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.content.items import Column
from compute.engine import run_folders, thumbnails
from compute.engine.generators.features import DISTANCE, USUAL, Backbones, SetFeatures
from compute.engine.generators.table import finite
from compute.engine.run import computed
from compute.tasks.image_sets import REFERENCE, ImageSet, PromptedSets
from compute.tasks.source import OwnFile
from compute.types import WHOLE, Score, Suite, Task

PROCEDURE = "frechet"
SAVED = "reference=saved"  # the variant of a run against saved statistics, which never hides a run with the images
MOST_PICTURES = 2000  # per comparison, including the reference's: about 3 kB each
SIDE = 128  # longest side in pixels, at most
DETAILS = ("low", "high", "limit", "limit_low", "limit_high", "parts", "warnings", "left_out", "block_sizes")

Values = Mapping[str, Mapping[str, np.ndarray]]  # per image, by kind and generator, (n,) each
Rating = tuple[str, float]  # people's rating: a metric and its value


def contents_of(images: Column, *, size: int = 16) -> str:
    """Returns a digest of a set's images."""
    return hashlib.blake2b(images.keys.tobytes(), digest_size=size).hexdigest()


def store(
    sets: PromptedSets,
    features: SetFeatures,
    figures: pd.DataFrame,
    *,
    chosen: Backbones,
    contents: str,
    name: str,
    file: Path,
    results: Path,
    human: Mapping[str, Rating],
    seconds: float,
) -> tuple[str, int]:
    """Records the suite and writes a run for each generator with a score; returns the suite's key and the number of
    runs.

    `sets` exclude what could not be decoded, and `contents` is the digest of the reference's images. `name` is the
    suite's name, `file` its source; `human` has people's ratings by generator. The suite's digest covers what makes
    comparisons comparable: the reference's images, the prompts in order, and the features that each metric is ranked
    on, so that a column of the board never mixes two kinds. Raises CannotWrite.
    """
    paired = sets.prompts is not None
    digest = hashlib.blake2b(contents.encode(), digest_size=16)
    if paired:
        digest.update(sets.prompts.keys.tobytes())
    ranked = (chosen.image[:1], chosen.cfred[:1], chosen.text[:1], chosen.clip, chosen.cmmd, chosen.classes)
    digest.update(json.dumps(ranked).encode())
    n = len(sets.sets[0]) if paired or sets.reference else next(iter(features.images[REFERENCE].values())).n
    first = figures.drop_duplicates("metric").set_index("metric")["backbone"]  # the headline backbone of each metric
    metrics = [metric for metric in USUAL if metric in first]
    rated = next(iter(human.values()))[0] if human else ""
    headline = "Features: " + ", ".join(f"{metric} {first[metric]}" for metric in metrics) + "."
    facts = {
        "title": "Generated images",
        "category": "Generators",
        "subsets": (WHOLE, *figures["backbone"].unique()),
        "procedure": PROCEDURE,
        "metrics": tuple(filter(None, (rated, *metrics))),
        "n_items": n,
        "modalities": ("image", "text") if paired else ("image",),
        "notes": headline,
    }
    made = suite_of(
        own_suite.GENERATORS,
        name,
        title="Own generators",
        description=(
            f"Your own data: {len(sets.generated)} generators on {n:,} {'prompts' if paired else 'reference images'}. "
            f"{headline} No published score compares with these."
        ),
        tasks={"images": facts},
        digest=digest.hexdigest(),
        file=file,
        generators=features.generated,
        results=results,
        aggregate=suite_records.HUMAN if rated else "task-mean",
    )
    suite = suite_records.record(made, results=results)
    [task] = suite.tasks
    # Per image, by kind and generator, if all generators have the kind; empty if nothing is paired.
    values: dict[str, Mapping[str, np.ndarray]] = {}
    if paired:
        if sets.reference is not None and features.images[sets.reference.name]:
            values[DISTANCE] = {name: features.paired_distances(name) for name in features.generated}
        values |= {kind: of for kind, of in features.scores.items() if set(features.generated) <= set(of)}
    count = 0
    for part in sets.generated:
        count += write_run(
            part.name,
            figures[figures["generator"] == part.name].to_dict("records"),
            task=task,
            results=results,
            rating=human.get(part.name),
            settings=run_settings(
                task,
                metrics=list(chosen.metrics),
                data={
                    "reference": suite.digest,
                    "generated": contents_of(part.images, size=10),
                    **({} if sets.reference else {"statistics": sorted(features.images[REFERENCE])}),
                },
                backbones=features.settings,
            ),
            evidence=_items(sets, features, part, values),
            seconds=seconds,
            variant="" if sets.reference else SAVED,
            items=len(part),
            warnings=list(sets.warnings),
        )
    _add_pictures(sets, values, task=task.key, results=results)
    return suite.suite.key, count


def run_settings(
    task: Task, *, metrics: list[str], data: Mapping[str, Any], backbones: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the settings that determine a generator's scores, from which the fingerprint is computed."""
    return {"procedure": {"key": task.procedure, "metrics": metrics}, "data": data, "backbones": backbones}


def write_run(
    name: str,
    figures: Sequence[Mapping[str, Any]],
    *,
    task: Task,
    results: Path,
    rating: Rating | None,
    settings: Mapping[str, Any],
    evidence: pd.DataFrame,
    seconds: float,
    **details: Any,
) -> bool:
    """Writes a generator's run on a task, if there is a score.

    The scores are each metric's on each backbone, its first for the whole task too, and people's rating. `settings`
    determine the fingerprint; `details` are stored with them.
    """
    found: dict[str, dict[str, Any]] = {}
    undefined: dict[str, dict[str, str]] = {}
    scores: list[dict[str, Any]] = []
    for row in finite(list(figures)):
        metric, backbone = row["metric"], row["backbone"]
        if row["value"] is None:
            undefined.setdefault(metric, {})[backbone] = row["reason"]
            continue
        found.setdefault(backbone, {})[metric] = {name: row[name] for name in DETAILS}
        first = all(score["metric"] != metric for score in scores)
        about = {name: row[name] for name in ("metric", "value", "n", "stderr")}
        scores += [{"subset": each, **about} for each in (backbone, WHOLE)[: 1 + first]]
    if rating is not None:
        scores.append({"subset": WHOLE, "metric": rating[0], "value": rating[1]})
    run = computed(
        model=key_of(name),
        task=task,
        fingerprint=run_folders.fingerprint(settings),
        seconds=round(seconds, 3),
        settings={
            **settings,
            "contents": settings["data"]["generated"],
            "coverage": 1.0,
            "versions": versions.installed(("numpy", "scipy")),
            "found": found,
            "undefined": undefined,
            **details,
        },
    )
    if scores:
        made = [Score(run=run.id, coverage=1.0, **score) for score in scores]
        run_folders.write(results, run=run, scores=made, items=run_folders.table({WHOLE: evidence}))
    return bool(scores)


# ---- suites


def key_of(name: str) -> str:
    """Returns the key of a generator."""
    return f"{own_suite.BENCHMARK.key}/{own_suite.slug(name)}"


def suite_of(
    shape: str,
    name: str,
    *,
    title: str,
    description: str,
    tasks: Mapping[str, Mapping[str, Any]],
    digest: str,
    file: Path,
    generators: Sequence[str],
    results: Path,
    aggregate: str = "task-mean",
) -> OwnSuite:
    """Returns a suite of generators, including the subsets, metrics and generators of an earlier comparison of the same
    data.

    `tasks` are by the end of their keys.
    """
    key, benchmark = own_suite.key_of(name, mark=shape), own_suite.BENCHMARK.key
    models = [own_suite.own_generator(own_suite.slug(each), title=each[: own_suite.MAX_NAME]) for each in generators]
    recorded, _ = suite_records.recorded(results)
    before = next((each for each in recorded if (each.shape, each.digest) == (shape, digest)), None)
    earlier: dict[str, Task] = {}
    if before is not None:
        earlier = {task.key.rpartition("/")[2]: task for task in before.tasks}
        models = [*before.models, *models]
        aggregate = suite_records.HUMAN if before.suite.aggregate == suite_records.HUMAN else aggregate
    made = []
    for part, facts in tasks.items():
        both = {}
        for field in ("subsets", "metrics"):
            both[field] = tuple(dict.fromkeys((*facts[field], *getattr(earlier.get(part), field, ()))))
        shared = {"benchmark": benchmark, "dataset": file.name, "revision": digest, "suites": (key,)}
        made.append(Task(key=f"{benchmark}/{key}/{part}", **shared, **{**facts, **both}))
    return OwnSuite(
        suite=Suite(
            key=key, title=f"{title}: {name[:80]}", benchmark=benchmark, aggregate=aggregate, description=description
        ),
        tasks=tuple(made),
        data=(OwnFile(shape=shape, digest=digest, path=file.absolute()),) * len(made),
        models=tuple({row.key: row for row in models}.values()),
    )


def _items(sets: PromptedSets, features: SetFeatures, part: ImageSet, values: Values) -> pd.DataFrame:
    """Returns a row per pair (or image): the scores of the image, and its feature distance from the reference.

    For pairs: item, value (the first kind of value) and detail, which has the prompt, the other kinds and the keys of
    the pictures, the reference's first.
    """
    name = part.name
    if not values:
        scores = {metric: of[name] for metric, of in features.scores.items() if name in of}
        return pd.DataFrame({"item": part.ids, **scores})
    first, *others = values
    pictures = () if sets.reference is None else (sets.reference.images.keys, part.images.keys)

    def detail(row: int) -> dict[str, Any]:
        shown: dict[str, Any] = {"prompt": sets.texts[row]}
        if others:
            shown |= {"metrics": others, "scores": [float(values[kind][name][row]) for kind in others]}
        return shown | ({"images": [keys[row].decode() for keys in pictures]} if pictures else {})

    details = [partial(detail, row) for row in range(len(sets.ids))]
    return pd.DataFrame({"item": list(sets.ids), "value": values[first][name], "detail": details})


def _add_pictures(sets: PromptedSets, values: Values, *, task: str, results: Path) -> None:
    """Adds small pictures of the prompts on which generators differ most, as many as MOST_PICTURES
    allow for all sets.
    """
    if sets.reference is None or not values:
        return
    opened = np.isin(np.array(sets.ids, dtype=object), run_folders.page_items(list(sets.ids)))
    spread = np.zeros(len(sets.ids))
    for of in values.values():
        every = np.array(list(of.values()))
        spread = np.maximum(spread, np.ptp(every, axis=0) / (every.std() or 1.0))
    order = np.argsort(np.where(opened, -spread, np.inf), kind="stable")[: MOST_PICTURES // len(sets.sets)]
    columns = [part.images for part in sets.sets]
    keys = {key.decode() for column in columns for key in column.keys[order[opened[order]]].tolist()}
    thumbnails.add_images(results, task=task, columns=columns, keys=keys, side=SIDE)
