"""A comparison of generators as runs: a suite of one's own data, a model a generator, a run each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.engine import run_folders, thumbnails
from compute.engine.generators.backbones import METRICS, Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.prompt_values import DISTANCE, SIDE, described, pictured, prompt_items
from compute.engine.generators.record import GeneratorFigure
from compute.engine.generators.references import contents_of
from compute.engine.run import code
from compute.engine.run_folders import StoredRun
from compute.metrics.distribution.references import SavedReference
from compute.tasks.generators.pairing import PromptedSets
from compute.tasks.source import OwnFile
from compute.types import WHOLE, BadInput, Run, Score, Suite, Task

PROCEDURE = "frechet"
SAVED = "reference=saved"  # the variant of a run against saved statistics, which never hides one with the images
MAX_SUBSETS = own_suite.MAX_SUBSETS - 1  # one is the whole


@dataclass(frozen=True, kw_only=True)
class GeneratorComparison:
    """What a comparison was made of and gave, ready to be stored. `human` holds people's ratings by generator."""

    name: str  # of the suite
    sets: PromptedSets
    chosen: Backbones
    features: SetFeatures
    figures: Sequence[GeneratorFigure]
    settings: Mapping[str, Any]  # of the backbones, by key
    file: Path  # the prompts, or the reference
    saved: Mapping[str, SavedReference] = field(default_factory=dict)  # stand for the reference's images
    human: Mapping[str, tuple[str, float]] | None = None  # generator -> (metric, value)
    seconds: float = 0.0

    @cached_property
    def prompt_values(self) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Values of single images by kind and generator, (n,) each, of the kinds that all generators have; empty where
        nothing is paired."""
        if self.sets.prompts is None:
            return {}
        names = [part.name for part in self.sets.generated]
        distances = {}
        if self.features.images and self.sets.reference is not None:
            distances[DISTANCE] = {name: self.features.paired_distances(name) for name in names}
        return distances | {kind: of for kind, of in self.features.scores.items() if set(names) <= set(of)}

    @property
    def n(self) -> int:
        """The prompts, or the reference's images where nothing is paired."""
        if self.sets.prompts is not None:
            return len(self.sets.ids)
        return len(self.sets.reference) if self.sets.reference else next(iter(self.saved.values())).n

    @property
    def reference(self) -> str:
        """A digest of the reference's images."""
        if self.sets.reference is None:
            return next(iter(self.saved.values())).contents
        return contents_of(self.sets.reference.images.keys)

    @property
    def digest(self) -> str:
        """Of what makes comparisons comparable: the reference's images, the prompts in their order, and the features
        that each metric is ranked on, so that a column of the board never holds two kinds."""
        digest = hashlib.blake2b(self.reference.encode(), digest_size=16)
        if self.sets.prompts is not None:
            digest.update(self.sets.prompts.keys.tobytes())
        first = self.chosen
        ranked = (first.image[:1], first.cfred[:1], first.text[:1], first.clip, first.cmmd, first.classes)
        digest.update(json.dumps(ranked).encode())
        return digest.hexdigest()


def store(comparison: GeneratorComparison, *, results: Path) -> tuple[OwnSuite, list[StoredRun]]:
    """Records the suite and writes a run for each generator with a figure. Raises CannotWrite, and BadInput for names
    that make one key or more backbones than a suite shows."""
    suite = suite_records.record(_merged(_suite(comparison), results=results), results=results)
    runs = [
        run_folders.write(results, run=run, scores=scores, items=_items(comparison, run))
        for run, scores in _runs(comparison, suite)
        if scores
    ]
    _add_pictures(comparison, task=suite.tasks[0].key, results=results)
    return suite, runs


def key_of(name: str) -> str:
    """The key of a generator."""
    return f"{own_suite.BENCHMARK.key}/{own_suite.slug(name)}"


def _suite(comparison: GeneratorComparison) -> OwnSuite:
    sets, names = comparison.sets, [part.name for part in comparison.sets.generated]
    keys = [key_of(name) for name in names]
    if len(set(keys)) < len(keys):
        both = [name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1]
        raise BadInput(
            f"The names {' and '.join(both[:2])} make one key, {key_of(both[0])}: name them more differently"
        )
    subsets = tuple(dict.fromkeys(row.backbone for row in comparison.figures))
    if len(subsets) > MAX_SUBSETS:
        raise BadInput(f"{len(subsets)} backbones and pairs of them are more than the {MAX_SUBSETS} that are stored")
    metrics = [metric for metric in METRICS if any(row.metric == metric for row in comparison.figures)]
    human = next(iter(comparison.human.values()))[0] if comparison.human else ""
    name = own_suite.slug(comparison.name)
    key = name if name.startswith("generators-") else f"generators-{name}"
    headline = _headline(comparison.figures, metrics)
    about = (
        f"Your own data: {len(names)} generators on {comparison.n:,} "
        f"{'prompts' if sets.prompts is not None else 'reference images'}. {headline} No published figure compares "
        "with these."
    )
    task = Task(
        key=f"{own_suite.BENCHMARK.key}/{key}/images",
        title="Generated images",
        benchmark=own_suite.BENCHMARK.key,
        category="Generators",
        dataset=comparison.file.name,
        revision=comparison.digest,
        subsets=(WHOLE, *subsets),
        procedure=PROCEDURE,
        metrics=tuple(filter(None, (human, *metrics))),
        n_items=comparison.n,
        modalities=("image", "text") if sets.prompts is not None else ("image",),
        notes=headline,
        suites=(key,),
    )
    return OwnSuite(
        suite=Suite(
            key=key,
            title=f"Own generators: {comparison.name[:80]}",
            benchmark=own_suite.BENCHMARK.key,
            aggregate="human" if human else "task-mean",
            description=about,
        ),
        tasks=(task,),
        data=(OwnFile(shape=own_suite.GENERATORS, digest=comparison.digest, path=comparison.file.absolute()),),
        models=tuple(own_suite.own_generator(own_suite.slug(name), title=name) for name in names),
    )


def _headline(figures: Sequence[GeneratorFigure], metrics: Sequence[str]) -> str:
    """Which backbone stands for each metric: the first."""
    first: dict[str, str] = {}
    for row in figures:
        first.setdefault(row.metric, row.backbone)
    return "Features: " + ", ".join(f"{metric} {first[metric]}" for metric in metrics) + "."


def _merged(suite: OwnSuite, *, results: Path) -> OwnSuite:
    """With the generators, metrics and backbones of an earlier comparison on the same reference and prompts."""
    known, _ = suite_records.recorded(results)
    before = next((each for each in known if (each.shape, each.digest) == (suite.shape, suite.digest)), None)
    if before is None:
        return suite
    [task], [earlier] = suite.tasks, before.tasks
    metrics = tuple(dict.fromkeys((*task.metrics, *earlier.metrics)))
    rated = "human" in (suite.suite.aggregate, before.suite.aggregate)
    return replace(
        suite,
        suite=replace(suite.suite, aggregate="human" if rated else "task-mean"),
        tasks=(replace(task, metrics=metrics, subsets=tuple(dict.fromkeys((*task.subsets, *earlier.subsets)))),),
        models=tuple({row.key: row for row in (*before.models, *suite.models)}.values()),
    )


def _runs(comparison: GeneratorComparison, suite: OwnSuite) -> list[tuple[Run, list[Score]]]:
    [task] = suite.tasks
    started = datetime.now(UTC).isoformat(timespec="seconds")
    made = []
    for part in comparison.sets.generated:
        figures = [row for row in comparison.figures if row.generator == part.name]
        contents = hashlib.blake2b(part.images.keys.tobytes(), digest_size=10).hexdigest()
        settings = {
            "procedure": {"key": PROCEDURE, "metrics": list(comparison.chosen.metrics)},
            "data": {
                "reference": suite.digest,
                "generated": contents,
                **({} if comparison.sets.reference else {"statistics": sorted(comparison.saved)}),
            },
            "backbones": dict(comparison.settings),
        }
        fingerprint = run_folders.fingerprint(settings)
        model = key_of(part.name)
        run = Run(
            id=f"computed/{model}/{task.key}/{fingerprint}",
            model=model,
            task=task.key,
            procedure=PROCEDURE,
            origin="computed",
            fingerprint=fingerprint,
            code=code(),
            seconds=round(comparison.seconds, 3),
            started=started,
            settings={
                **settings,
                "variant": "" if comparison.sets.reference else SAVED,
                "contents": contents,
                "items": len(part),
                "coverage": 1.0,
                "versions": versions.installed(("numpy", "scipy")),
                "found": {row.backbone: {} for row in figures} | _details(figures),
                "undefined": {row.metric: {row.backbone: row.reason} for row in figures if row.value is None},
                "left_out": [],
                "per_prompt": _prompt_kinds(comparison),
                "warnings": list(comparison.sets.warnings),
            },
        )
        made.append((run, scores(run, figures, human=(comparison.human or {}).get(part.name))))
    return made


def _items(comparison: GeneratorComparison, run: Run) -> pd.DataFrame:
    """A row a pair (or image): the scores that one image has, and how far it is from the reference's in features."""
    sets = comparison.sets
    [part] = [part for part in sets.generated if key_of(part.name) == run.model]
    if sets.prompts is None or not comparison.prompt_values:
        scores = {metric: of[part.name] for metric, of in comparison.features.scores.items() if part.name in of}
        return run_folders.table({WHOLE: pd.DataFrame({"item": part.ids, **scores})})
    frame = prompt_items(
        ids=sets.ids,
        texts=sets.texts,
        values={kind: of[part.name] for kind, of in comparison.prompt_values.items()},
        images=() if sets.reference is None else (sets.reference.images.keys, part.images.keys),
    )
    return run_folders.table({WHOLE: frame})


def _add_pictures(comparison: GeneratorComparison, *, task: str, results: Path) -> None:
    """Small pictures of the prompts on which generators differ most."""
    sets = comparison.sets
    if sets.prompts is None or sets.reference is None or not comparison.prompt_values:
        return
    values = {kind: list(of.values()) for kind, of in comparison.prompt_values.items()}
    rows = np.flatnonzero(pictured(sets.ids, values))
    columns = [part.images.take(rows) for part in sets.sets]
    keys = {key.decode() for column in columns for key in column.keys.tolist()}
    thumbnails.add_images(results, task=task, columns=columns, keys=keys, side=SIDE)


def _prompt_kinds(comparison: GeneratorComparison) -> dict[str, Any]:
    """What the items' values are, and the backbone of each."""
    features = comparison.features
    return described(
        {
            kind: features.distance_backbone if kind == DISTANCE else features.scored_by[kind]
            for kind in comparison.prompt_values
        }
    )


def _details(figures: Sequence[GeneratorFigure]) -> dict[str, dict[str, Any]]:
    """What stands beside each value: its interval, the value at infinite N, its parts and its warnings."""
    details: dict[str, dict[str, Any]] = {}
    for row in figures:
        if row.value is not None:
            details.setdefault(row.backbone, {})[row.metric] = {
                "low": row.low,
                "high": row.high,
                "limit": row.limit,
                "limit_low": row.limit_low,
                "limit_high": row.limit_high,
                "parts": dict(row.parts),
                "warnings": list(row.warnings),
                "left_out": list(row.left_out),
                "block_sizes": list(row.block_sizes),
            }
    return details


def scores(run: Run, figures: Sequence[GeneratorFigure], *, human: tuple[str, float] | None) -> list[Score]:
    """A score a metric and backbone, and each metric's first as the whole task's."""
    made, whole = [], set()
    for row in figures:
        if row.value is None:
            continue
        own_score = Score(
            run=run.id,
            subset=row.backbone,
            metric=row.metric,
            value=row.value,
            n=row.n,
            stderr=row.stderr,
            coverage=1.0,
        )
        made.append(own_score)
        if row.metric not in whole:
            whole.add(row.metric)
            made.append(replace(own_score, subset=WHOLE))
    if human is not None:
        metric, value = human
        made.append(Score(run=run.id, subset=WHOLE, metric=metric, value=value, coverage=1.0))
    return made
