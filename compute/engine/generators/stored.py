"""A comparison of generators as runs: a suite of one's own data, a model a generator, a run each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.engine import run_folders, thumbnails
from compute.engine.generators.backbones import METRICS
from compute.engine.generators.comparison import GeneratorComparison
from compute.engine.generators.record import DISTANCE, GeneratorFigure
from compute.engine.run import code
from compute.engine.run_folders import StoredRun
from compute.tasks.source import OwnFile
from compute.types import WHOLE, BadInput, Model, Run, Score, Suite, Task

PROCEDURE = "frechet"
SAVED = "reference=saved"  # the variant of a run against saved statistics, which never hides one with the images
MOST_PICTURES = 2000  # of one comparison, the reference's among them: about 3 kB each
SIDE = 128  # pixels of their longer side at most
DETAILS = ("low", "high", "limit", "limit_low", "limit_high", "parts", "warnings", "left_out", "block_sizes")


def store(
    comparison: GeneratorComparison, *, results: Path, human: Mapping[str, tuple[str, float]] | None = None
) -> tuple[str, list[StoredRun]]:
    """Records the suite and writes a run for each generator with a figure; the suite's key and the runs.

    `human` holds people's ratings by generator, as (metric, value). Raises CannotWrite, and BadInput for names that
    make one key.
    """
    human = human or {}
    suite = suite_records.record(_merged(_suite(comparison, human), results=results), results=results)
    runs = [
        run_folders.write(results, run=run, scores=scores, items=_items(comparison, run))
        for run, scores in _runs(comparison, suite, human)
        if scores
    ]
    _add_pictures(comparison, task=suite.tasks[0].key, results=results)
    return suite.suite.key, runs


def key_of(name: str) -> str:
    """The key of a generator."""
    return f"{own_suite.BENCHMARK.key}/{own_suite.slug(name)}"


def suite_of(
    *,
    key: str,
    title: str,
    description: str,
    aggregate: str,
    tasks: tuple[Task, ...],
    shape: str,
    digest: str,
    file: Path,
    generators: Sequence[str],
) -> OwnSuite:
    """A suite of own data over generators. Raises BadInput for names that make one key."""
    keys = [key_of(name) for name in generators]
    both = [name for name, each in zip(generators, keys, strict=True) if keys.count(each) > 1]
    if both:
        raise BadInput(
            f"The names {' and '.join(both[:2])} make one key, {key_of(both[0])}: name them more differently"
        )
    return OwnSuite(
        suite=Suite(
            key=key,
            title=title,
            benchmark=own_suite.BENCHMARK.key,
            aggregate=aggregate,
            description=description,
        ),
        tasks=tasks,
        data=(OwnFile(shape=shape, digest=digest, path=file.absolute()),) * len(tasks),
        models=tuple(
            own_suite.own_generator(own_suite.slug(name), title=name[: own_suite.MAX_NAME]) for name in generators
        ),
    )


def earlier(suite: OwnSuite, *, results: Path) -> OwnSuite | None:
    """The stored suite of the same shape and digest."""
    known, _ = suite_records.recorded(results)
    return next((each for each in known if (each.shape, each.digest) == (suite.shape, suite.digest)), None)


def with_models(suite: OwnSuite, before: OwnSuite) -> tuple[Model, ...]:
    """The generators of both suites."""
    return tuple({row.key: row for row in (*before.models, *suite.models)}.values())


def run_of(
    name: str, *, task: Task, metrics: list[str], data: Mapping[str, Any], backbones: Mapping[str, Any], **details: Any
) -> Run:
    """A generator's computed run on a task: metrics, data and backbones make its fingerprint; `details` are the rest of
    its settings, with `seconds`."""
    settings = {
        "procedure": {"key": task.procedure, "metrics": metrics},
        "data": data,
        "backbones": backbones,
    }
    fingerprint, model = run_folders.fingerprint(settings), key_of(name)
    return Run(
        id=f"computed/{model}/{task.key}/{fingerprint}",
        model=model,
        task=task.key,
        procedure=task.procedure,
        origin="computed",
        fingerprint=fingerprint,
        code=code(),
        seconds=round(details.pop("seconds"), 3),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        settings={
            **settings,
            "variant": "",
            "contents": data["generated"],
            "coverage": 1.0,
            "versions": versions.installed(("numpy", "scipy")),
            "left_out": [],
            **details,
        },
    )


def _suite(comparison: GeneratorComparison, people: Mapping[str, tuple[str, float]]) -> OwnSuite:
    sets, names = comparison.sets, [part.name for part in comparison.sets.generated]
    subsets = tuple(dict.fromkeys(row.backbone for row in comparison.figures))
    metrics = [metric for metric in METRICS if any(row.metric == metric for row in comparison.figures)]
    human = next(iter(people.values()))[0] if people else ""
    name = own_suite.slug(comparison.name)
    key = name if name.startswith("generators-") else f"generators-{name}"
    first: dict[str, str] = {}  # the backbone that stands for each metric
    for row in comparison.figures:
        first.setdefault(row.metric, row.backbone)
    headline = "Features: " + ", ".join(f"{metric} {first[metric]}" for metric in metrics) + "."
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
    return suite_of(
        key=key,
        title=f"Own generators: {comparison.name[:80]}",
        description=about,
        aggregate="human" if human else "task-mean",
        tasks=(task,),
        shape=own_suite.GENERATORS,
        digest=comparison.digest,
        file=comparison.file,
        generators=names,
    )


def _merged(suite: OwnSuite, *, results: Path) -> OwnSuite:
    """With the generators, metrics and backbones of an earlier comparison on the same reference and prompts."""
    before = earlier(suite, results=results)
    if before is None:
        return suite
    [task], [known] = suite.tasks, before.tasks
    metrics = tuple(dict.fromkeys((*task.metrics, *known.metrics)))
    rated = "human" in (suite.suite.aggregate, before.suite.aggregate)
    return replace(
        suite,
        suite=replace(suite.suite, aggregate="human" if rated else "task-mean"),
        tasks=(replace(task, metrics=metrics, subsets=tuple(dict.fromkeys((*task.subsets, *known.subsets)))),),
        models=with_models(suite, before),
    )


def _runs(
    comparison: GeneratorComparison, suite: OwnSuite, human: Mapping[str, tuple[str, float]]
) -> list[tuple[Run, list[Score]]]:
    [task], features = suite.tasks, comparison.features
    made = []
    for part in comparison.sets.generated:
        figures = [row for row in comparison.figures if row.generator == part.name]
        run = run_of(
            part.name,
            task=task,
            metrics=list(comparison.chosen.metrics),
            data={
                "reference": suite.digest,
                "generated": hashlib.blake2b(part.images.keys.tobytes(), digest_size=10).hexdigest(),
                **({} if comparison.sets.reference else {"statistics": sorted(comparison.saved)}),
            },
            backbones=dict(comparison.settings),
            seconds=comparison.seconds,
            variant="" if comparison.sets.reference else SAVED,
            items=len(part),
            found={row.backbone: {} for row in figures} | _details(figures),
            undefined={row.metric: {row.backbone: row.reason} for row in figures if row.value is None},
            per_prompt={
                "kinds": list(comparison.prompt_values),
                "backbones": [
                    features.distance_backbone if kind == DISTANCE else comparison.chosen.scorers[kind]
                    for kind in comparison.prompt_values
                ],
            },
            warnings=list(comparison.sets.warnings),
        )
        made.append((run, _scores(run, figures, human=human.get(part.name))))
    return made


def _items(comparison: GeneratorComparison, run: Run) -> pd.DataFrame:
    """A row a pair (or image): the scores that one image has, and how far it is from the reference's in features.

    Of pairs: item, value (the first kind of value) and detail, which holds the prompt, the other kinds and the keys of
    the pictures, the reference's first.
    """
    sets = comparison.sets
    [part] = [part for part in sets.generated if key_of(part.name) == run.model]
    if sets.prompts is None or not comparison.prompt_values:
        scores = {metric: of[part.name] for metric, of in comparison.features.scores.items() if part.name in of}
        return run_folders.table({WHOLE: pd.DataFrame({"item": part.ids, **scores})})
    values = {kind: of[part.name] for kind, of in comparison.prompt_values.items()}
    first, *others = values
    pictures = () if sets.reference is None else (sets.reference.images.keys, part.images.keys)

    def detail(row: int) -> dict[str, Any]:
        shown: dict[str, Any] = {"prompt": sets.texts[row]}
        if others:
            shown |= {"metrics": others, "scores": [float(values[kind][row]) for kind in others]}
        return shown | ({"images": [keys[row].decode() for keys in pictures]} if pictures else {})

    details = [partial(detail, row) for row in range(len(sets.ids))]
    frame = pd.DataFrame({"item": list(sets.ids), "value": values[first], "detail": details})
    return run_folders.table({WHOLE: frame})


def _add_pictures(comparison: GeneratorComparison, *, task: str, results: Path) -> None:
    """Small pictures of the prompts on which generators differ most, as many as MOST_PICTURES allow for all sets."""
    sets = comparison.sets
    if sets.prompts is None or sets.reference is None or not comparison.prompt_values:
        return
    opened = np.isin(np.array(sets.ids, dtype=object), run_folders.page_items(list(sets.ids)))
    spread = np.zeros(len(sets.ids))
    for of in comparison.prompt_values.values():
        every = np.array(list(of.values()))
        spread = np.maximum(spread, np.ptp(every, axis=0) / (every.std() or 1.0))
    order = np.argsort(np.where(opened, -spread, np.inf), kind="stable")[: MOST_PICTURES // len(sets.sets)]
    columns = [part.images.take(np.sort(order[opened[order]])) for part in sets.sets]
    keys = {key.decode() for column in columns for key in column.keys.tolist()}
    thumbnails.add_images(results, task=task, columns=columns, keys=keys, side=SIDE)


def _details(figures: Sequence[GeneratorFigure]) -> dict[str, dict[str, Any]]:
    """What stands beside each value, by backbone and metric."""
    details: dict[str, dict[str, Any]] = {}
    for row in figures:
        if row.value is not None:
            of_row = asdict(row)
            details.setdefault(row.backbone, {})[row.metric] = {name: of_row[name] for name in DETAILS}
    return details


def _scores(run: Run, figures: Sequence[GeneratorFigure], *, human: tuple[str, float] | None) -> list[Score]:
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
