"""Runs of the drawn generators: every metric on every backbone, with what tells how far a value can be trusted.

Images are encoded once a backbone, whatever number of generators shows them. A metric is then taken of all prompts,
with each of GROUPS groups of prompts left out (a delete-a-group jackknife, the same groups for every generator), and of
smaller sets of prompts, where a metric that is biased for few images shows it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.analysis.sensitivity import (
    BLIND,
    MIXED,
    REWARDS,
    SEES,
    FaultRun,
    Sensitivity,
    by_fault,
    jackknife_covariance,
)
from compute.arrays import Floats, Ints
from compute.catalog import Catalog
from compute.content.items import Column
from compute.engine import run_folders
from compute.engine.bench import Bench
from compute.engine.generators.backbones import JOIN
from compute.engine.generators.backbones import subset as subset_of
from compute.engine.generators.intervals import MANIFOLDS
from compute.engine.plan import counted
from compute.engine.run import code
from compute.engine.run_folders import StoredRun
from compute.features import encoding
from compute.metrics.distribution.diversity import vendi
from compute.metrics.distribution.frechet import Conditioning, ImageMoments, frechet
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.kernel import cmmd, kid
from compute.metrics.distribution.manifold import manifold
from compute.metrics.distribution.means import CLIPSCORE_PREFIX, clipscore
from compute.tables import padded
from compute.tasks.mini import generators as drawn
from compute.tasks.mini.generators import Generator
from compute.types import LikenessError, NotHere, Run, Score, Task, UnknownKey

SUITE, TASK = "mini-generators", "mini/generators"
VERSION = 1  # part of every fingerprint: raise it with how values, groups or sizes are taken
GROUPS = 16
SIZES = (32, 64, 128)  # prompts; beside all of them
DIGITS = 6  # of a single image's score
SEED = 20250415  # of which prompts form groups and sets
IMAGE_BACKBONES = ("tiny", "tiny-random", "colour-histogram", "efficientnet-lite0")
TEXT_BACKBONES = ("tiny", "wordllama")
HEADLINE = {"image": "tiny", "text": "tiny"}  # the backbones of a run's `default` figures


def _neighbours(real: Floats, generated: Floats) -> dict[str, float]:
    shares = {names: manifold(real=real, generated=generated, k=k) for names, k in MANIFOLDS.items()}
    return {name: getattr(of, name).value for names, of in shares.items() for name in names}


# Metrics of images alone, beside the Fréchet distance: of features (n, d) of the reference and of the generator.
ON_IMAGES: tuple[Callable[[Floats, Floats], Mapping[str, float]], ...] = (
    lambda real, generated: {"cmmd": cmmd(real=real, generated=generated).value},
    lambda real, generated: {"kid": kid(real=real, generated=generated).value},
    _neighbours,
    lambda real, generated: {"vendi": vendi(features=generated).value},
)


@dataclass(frozen=True, kw_only=True)
class MetricValue:
    """One metric of one generator on one backbone."""

    metric: str
    subset: str  # image backbone, or image|text
    value: float
    replicates: Floats  # (GROUPS,) with one group of prompts left out
    by_size: Mapping[int, float]  # prompts -> mean over as many sets of that size as fit

    @property
    def stderr(self) -> float:
        """By the jackknife over groups of prompts."""
        return float(np.sqrt(jackknife_covariance(self.replicates[:, None])[0, 0]))


@dataclass(frozen=True, kw_only=True)
class StudyOutcome:
    """The runs of a study, and what is not in them: backbones and metrics, and why."""

    runs: tuple[StoredRun, ...]
    made: int
    missing: tuple[str, ...]


@dataclass(kw_only=True)
class StudyFeatures:
    """Features (n, d) by backbone: of the prompts, the reference and the generators."""

    texts: dict[str, Floats] = field(default_factory=dict)
    depicted: dict[str, Floats] = field(default_factory=dict)  # of the prompts with CLIPScore's prefix
    reference: dict[str, Floats] = field(default_factory=dict)
    generated: dict[tuple[str, str], Floats] = field(default_factory=dict)  # (backbone, generator)

    @property
    def generators(self) -> tuple[str, ...]:
        """Every generator once."""
        return tuple(dict.fromkeys(generator for _, generator in self.generated))


def groups(count: int) -> list[Ints]:
    """GROUPS sets of rows of as equal size as can be: together all, at random."""
    return [np.sort(part) for part in np.array_split(np.random.default_rng(SEED).permutation(count), GROUPS)]


def sets(count: int, size: int) -> list[Ints]:
    """As many sets of `size` rows as fit, none of them in common."""
    order = np.random.default_rng([SEED, size]).permutation(count)
    return [np.sort(order[start : start + size]) for start in range(0, count - size + 1, size)]


def row_sets(count: int) -> list[Ints]:
    """All rows, then all without one of the groups, then the smaller sets in the order of SIZES."""
    every = np.arange(count)
    smaller = [rows for size in SIZES if size < count for rows in sets(count, size)]
    return [every, *(np.setdiff1d(every, group) for group in groups(count)), *smaller]


def measure(features: StudyFeatures) -> dict[str, list[MetricValue]]:
    """Every metric of every generator.

    What rests on the reference and the prompts alone is made once for all generators. Threads share the row sets.
    """
    count = len(next(iter(features.reference.values())))
    parts = row_sets(count)
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        tables = list(pool.map(lambda rows: values(features, rows=rows), parts))
    measured: dict[str, list[MetricValue]] = {}
    for (generator, metric, subset), value in tables[0].items():
        column = [table[generator, metric, subset] for table in tables]
        by_size: dict[int, list[float]] = {}
        for rows, each in zip(parts[1 + GROUPS :], column[1 + GROUPS :], strict=True):
            by_size.setdefault(len(rows), []).append(each)
        measured.setdefault(generator, []).append(
            MetricValue(
                metric=metric,
                subset=subset,
                value=value,
                replicates=np.array(column[1 : 1 + GROUPS]),
                by_size={size: float(np.mean(each)) for size, each in by_size.items()},
            )
        )
    return measured


def values(features: StudyFeatures, *, rows: Ints) -> dict[tuple[str, str, str], float]:
    """(generator, metric, subset) -> the value over these prompts."""
    out: dict[tuple[str, str, str], float] = {}
    conditions = {key: Conditioning.of(text[rows]) for key, text in features.texts.items()}
    for backbone, reference in features.reference.items():
        real = reference[rows]
        real_gaussian, real_moments = Gaussian.of(real), ImageMoments.of(real)
        real_split = {key: condition.split(real_moments) for key, condition in conditions.items()}
        for generator in features.generators:
            generated = features.generated[backbone, generator][rows]
            distance = frechet(real=real_gaussian, generated=generated)
            out[generator, "fd", backbone] = distance.value
            # cFreD takes covariances over N.
            realism = distance.means + distance.covariances * (len(rows) - 1) / len(rows)
            moments = ImageMoments.of(generated)
            for key, condition in conditions.items():
                out[generator, "cfred", subset_of(backbone, key)] = condition.compare(
                    real_split[key], condition.split(moments), realism=realism
                ).value
            if backbone in features.depicted:
                out[generator, "clipscore", subset_of(backbone, backbone)] = clipscore(
                    image=generated, text=features.depicted[backbone][rows]
                ).value
            for function in ON_IMAGES:
                out |= {(generator, key, backbone): value for key, value in function(real, generated).items()}
    return out


def execute(
    catalog: Catalog,
    *,
    bench: Bench,
    results: Path,
    models: Sequence[str] = (),
    again: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> StudyOutcome:
    """Makes the missing runs of the generators, or of those named by their models' keys, under `results`.

    A backbone that is not here is left out, and named with the reason. Raises UnknownKey for a model of another kind,
    NotHere where the headline's backbone is not here.
    """
    task, known = catalog.task(TASK), {row.model_key: row for row in drawn.GENERATORS}
    for key in models:
        if key not in known:
            raise UnknownKey("model", key, known)
    generators = [known[key] for key in models] if models else list(drawn.GENERATORS)
    subjects, missing = {}, []
    for key in dict.fromkeys((*IMAGE_BACKBONES, *TEXT_BACKBONES)):
        try:
            bench.fetch(catalog.model(key))
            subjects[key] = bench.subject(catalog.model(key))
            subjects[key].identity  # noqa: B018 raises where the weights are not here
        except LikenessError as error:
            subjects.pop(key, None)
            missing.append(f"{key}: {error}")
    for role, key in HEADLINE.items():
        if key not in subjects:
            raise NotHere(f"The first figures rest on the backbone of {role}s {key}, which is not here. {missing[0]}")
    settings = {row.key: _settings(task, row, subjects) for row in generators}
    marks = {
        row.key: run_folders.fingerprint({**settings[row.key], "keys": [row.model_key, TASK]}) for row in generators
    }
    stored = {}
    for row in generators:
        found = run_folders.find(results, model=row.model_key, task=TASK, fingerprint=marks[row.key])
        if found is not None and not again:
            stored[row.key] = found
    left = [row for row in generators if row.key not in stored]
    if left:
        started, began = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        features = encode(subjects, generators=left, missing=missing)
        seconds = {"encode": (time.perf_counter() - began) / len(left)}
        report(f"{counted(len(left), 'generator')} encoded in {time.perf_counter() - began:.0f} s")
        began = time.perf_counter()
        measured = measure(features)
        seconds["procedure"] = (time.perf_counter() - began) / len(left)
        report(f"{sum(map(len, measured.values()))} figures in {time.perf_counter() - began:.0f} s")
        for row in left:
            stored[row.key] = _write(
                row,
                task,
                measured[row.key],
                items=_items(row, features),
                settings=settings[row.key],
                mark=marks[row.key],
                bench=bench,
                results=results,
                started=started,
                seconds=seconds,
            )
    return StudyOutcome(runs=tuple(stored[row.key] for row in generators), made=len(left), missing=tuple(missing))


def encode(subjects: Mapping[str, Any], *, generators: Sequence[Generator], missing: list[str]) -> StudyFeatures:
    """The features of all images and prompts; a backbone that fails is named in `missing`."""
    features = StudyFeatures()
    reference, texts, depicted = (
        drawn.reference_column(),
        drawn.text_column(),
        drawn.text_column(prefix=CLIPSCORE_PREFIX),
    )
    columns: dict[str, Column] = {row.key: drawn.image_column(row) for row in generators}
    for key, subject in subjects.items():
        try:
            if key in TEXT_BACKBONES:
                features.texts[key] = np.asarray(subject.embed(texts), dtype=float)
                if key in IMAGE_BACKBONES:
                    features.depicted[key] = np.asarray(subject.embed(depicted), dtype=float)
            if key in IMAGE_BACKBONES:
                subject.prepare([reference, *columns.values()])
                features.reference[key] = np.asarray(subject.embed(reference), dtype=float)
                for name, column in columns.items():
                    features.generated[key, name] = np.asarray(subject.embed(column), dtype=float)
        except LikenessError as error:
            missing.append(f"{key}: {error}")
        finally:
            encoding.release()
    return features


def _settings(task: Task, row: Generator, subjects: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": {"generator": row.key, "fault": row.fault, "strength": row.strength, "version": drawn.VERSION},
        "procedure": {
            "key": task.procedure,
            "version": VERSION,
            "options": {"groups": GROUPS, "sizes": list(SIZES), "seed": SEED},
            "packages": versions.minor(versions.installed(("numpy", "scipy"))),
        },
        "data": {"dataset": task.dataset, "subsets": list(task.subsets), "generator": drawn.VERSION},
        "metrics": list(task.metrics),
        "backbones": {key: subject.identity for key, subject in subjects.items()},
    }


def _write(
    row: Generator,
    task: Task,
    measured: Sequence[MetricValue],
    *,
    items: pd.DataFrame,
    settings: dict[str, Any],
    mark: str,
    bench: Bench,
    results: Path,
    started: str,
    seconds: Mapping[str, float],
) -> StoredRun:
    run = Run(
        id=f"computed/{row.model_key}/{TASK}/{mark}",
        model=row.model_key,
        task=TASK,
        procedure=task.procedure,
        origin="computed",
        fingerprint=mark,
        code=code(),
        seed=SEED,
        dtype=bench.hardware.dtype,
        device=bench.hardware.device,
        seconds=round(sum(seconds.values()), 3),
        started=started,
        settings={
            **settings,
            "coverage": 1.0,
            "items": drawn.PROMPTS,
            "versions": versions.exact(settings),
            "found": _found(measured),
            "timings": {stage: round(value, 3) for stage, value in seconds.items()},
        },
    )
    order = {key: at for at, key in enumerate(task.metrics)}
    scores = [
        Score(
            run=run.id,
            subset=subset,
            metric=each.metric,
            value=each.value,
            n=drawn.PROMPTS,
            stderr=each.stderr,
            coverage=1.0,
        )
        for each in sorted(measured, key=lambda each: order[each.metric])
        for subset in (*(("default",) if is_headline(each.subset) else ()), each.subset)
    ]
    return run_folders.write(results, run=run, scores=scores, items=run_folders.table({"default": items}))


def is_headline(subset: str) -> bool:
    """Whether a backbone, or a pair of them, is that of the `default` figures."""
    image, _, text = subset.partition(JOIN)
    return image == HEADLINE["image"] and text in ("", HEADLINE["text"])


def _found(measured: Sequence[MetricValue]) -> dict[str, dict[str, Any]]:
    """By subset and metric: the jackknife's replicates, and the mean by number of prompts."""
    found: dict[str, dict[str, Any]] = {}
    for each in measured:
        found.setdefault(each.subset, {})[each.metric] = {
            "replicates": [_short(value) for value in each.replicates.tolist()],
            "by_size": {str(size): _short(value) for size, value in each.by_size.items()},
        }
    return found


def _short(value: float) -> float:
    """To nine digits: differences of generators are small beside their values."""
    return float(f"{value:.9g}")


def _items(row: Generator, features: StudyFeatures) -> pd.DataFrame:
    """One row a prompt: its text, and the CLIPScore of the generator's image on the headline's backbone."""
    image, text = features.generated[HEADLINE["image"], row.key], features.depicted[HEADLINE["text"]]
    return pd.DataFrame(
        {
            "item": list(drawn.item_names()),
            "expected": [prompt.text for prompt in drawn.all_prompts()],
            "value": np.round(clipscore(image=image, text=text).scores, DIGITS),
        }
    )


def sensitivities(runs: Iterable[StoredRun], *, catalog: Catalog) -> dict[tuple[str, str, str], Sensitivity]:
    """By metric, subset and fault."""
    return by_fault(
        [
            FaultRun(
                fault=stored.run.settings["model"]["fault"],
                strength=stored.run.settings["model"]["strength"],
                values={(score.metric, score.subset): score.value for score in stored.scores},
                found=stored.run.settings["found"],
            )
            for stored in runs
        ],
        higher={metric.key: metric.higher_is_better for metric in catalog.metrics},
    )


# A verdict in a cell of the table; SEES is followed by the strength from which on.
WORDS = {SEES: "from", REWARDS: "rewards", BLIND: "-", MIXED: "mixed"}


def lines(outcome: StudyOutcome, *, catalog: Catalog) -> list[str]:
    """Which metric sees which fault, as a Markdown table, and what is missing."""
    found = sensitivities(outcome.runs, catalog=catalog)
    rows = [("metric", "backbone", *(fault.title for fault in drawn.FAULTS.values()))]
    for metric, subset in dict.fromkeys((metric, subset) for metric, subset, _ in found):
        cells = [found.get((metric, subset, fault)) for fault in drawn.FAULTS]
        rows.append((catalog.metric(metric).title, subset, *(_cell(each) for each in cells)))
    text = ["", *(f"| {' | '.join(cells)} |" for cells in padded(rows))] if found else []
    if found:
        text += [
            "",
            "from 2: worse than the clean generator beyond a 95% interval from strength 2 of 4 on; rewards: better;",
            "-: no difference at any strength; mixed: anything else. In brackets Spearman's correlation with strength.",
        ]
    return [*text, *(f"Missing: {line}" for line in outcome.missing)]


def _cell(each: Sensitivity | None) -> str:
    if each is None:
        return ""
    word = f"{WORDS[each.verdict]} {each.seen_from:g}" if each.verdict == SEES else WORDS[each.verdict]
    return word if each.spearman is None else f"{word} ({each.spearman:+.1f})"
