"""Runs of the drawn generators: every metric on every backbone, with what tells how far a value can be trusted.

The figures, their intervals and their values at infinite N are those of `python -m compute frechet`, by the same code.
The study adds the values without each block of prompts, which tell how far a difference of two generators on the same
prompts can be trusted, and values of fewer prompts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.analysis.generators.sensitivity import BLIND, MIXED, REWARDS, SEES, FaultRun, Sensitivity, by_fault
from compute.arrays import Ints
from compute.catalog import Catalog
from compute.engine import run_folders
from compute.engine.bench import Bench
from compute.engine.generators import features as encoded_features
from compute.engine.generators import stored as comparisons
from compute.engine.generators.backbones import KERNELS, LIMITED, METRICS, NEEDS, Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.figures import figures
from compute.engine.generators.intervals import from_left_out
from compute.engine.generators.prompt_values import DISTANCE, described, prompt_items
from compute.engine.generators.record import GeneratorFigure
from compute.engine.plan import counted
from compute.engine.run import code
from compute.engine.run_folders import StoredRun
from compute.features import encoding
from compute.metrics.distribution import extrapolation, intervals
from compute.metrics.distribution.extrapolation import SmallerSets
from compute.metrics.distribution.intervals import Blocks, LeftOut
from compute.tables import padded
from compute.tasks.generators.pairing import PromptedSets
from compute.tasks.generators.sets import ImageSet
from compute.tasks.mini import generators as drawn
from compute.tasks.mini.generators import Generator
from compute.types import WHOLE, LikenessError, NotHere, Run, Task, UnknownKey

SUITE, TASK = "mini-generators", "mini/generators"
VERSION = 2  # part of every fingerprint: raise it with how values, blocks or sizes are taken
PARTS = (*extrapolation.PARTS, 8)  # that the prompts are split into, for values of fewer prompts
CLIPSCORE = "clipscore"
DIGITS = 6  # of a single image's score
IMAGE_BACKBONES = ("tiny", "tiny-random", "colour-histogram", "efficientnet-lite0")
TEXT_BACKBONES = ("tiny", "wordllama")
HEADLINE = "tiny"  # the backbone of images and prompts of a run's `default` figures, and of CLIPScore

FigureKey = tuple[str, str, str]  # generator, metric, backbone
FigureTable = dict[FigureKey, GeneratorFigure]


@dataclass(frozen=True, kw_only=True)
class StudyFigure:
    """One metric of one generator on one backbone, and what else the study knows of it."""

    figure: GeneratorFigure
    left_out: tuple[float, ...]  # without each block of prompts
    smaller: tuple[SmallerSets, ...] = ()  # of fewer prompts, the fewest first


@dataclass(frozen=True, kw_only=True)
class StudyOutcome:
    """The runs of a study, and what is not in them: backbones and metrics, and why."""

    runs: tuple[StoredRun, ...]
    made: int
    missing: tuple[str, ...]


def choices(present: Iterable[str]) -> tuple[Backbones, ...]:
    """What is computed on the backbones that are here. CMMD is taken of one backbone a choice, so it has several."""
    known = set(present)
    image = tuple(key for key in IMAGE_BACKBONES if key in known)
    whole = Backbones(
        image=image,
        cfred=image,
        text=tuple(key for key in TEXT_BACKBONES if key in known),
        clip=HEADLINE,
        cmmd=HEADLINE,
    )
    others = [key for key in image if key != HEADLINE]
    return (whole, *(Backbones(image=(), cfred=(), text=(), cmmd=key, metrics=("cmmd",)) for key in others))


def has_curve(generator: str) -> bool:
    """Whether values of fewer prompts are taken of it: of the clean generator, and of each fault at its strongest."""
    return drawn.generator(generator).strength in (0, drawn.STRENGTHS[-1])


def measure(features: SetFeatures, *, chosen: Sequence[Backbones]) -> dict[str, list[StudyFigure]]:
    """Every figure by generator, with its interval, its values without blocks of prompts and those of fewer prompts."""
    blocks = intervals.share_out(features.prompts)
    whole, without = without_blocks(features, chosen=chosen, blocks=blocks)
    splits = extrapolation.splits((len(features.prompts),), parts=PARTS)
    repeats = {part: len(repeated) for part, repeated in splits.items()}
    curved = features.only(list(filter(has_curve, features.generated)))
    rows = [part[0] for repeated in splits.values() for split in repeated for part in split]
    smaller = _tables(curved, rows, chosen) if curved.generated else []
    measured: dict[str, list[StudyFigure]] = {name: [] for name in features.generated}
    for key, figure in whole.items():
        left = LeftOut(values=column(without, key), blocks=blocks)
        if figure.value is None or not np.isfinite(left.values).all():
            continue
        made = StudyFigure(figure=from_left_out(figure, left), left_out=tuple(left.values.tolist()))
        values = column(smaller, key)
        if figure.generator in curved.generated and np.isfinite(values).all():
            made = _with_smaller(made, values, repeats=repeats)
        measured[figure.generator].append(made)
    return measured


def without_blocks(
    features: SetFeatures, *, chosen: Sequence[Backbones], blocks: Blocks
) -> tuple[FigureTable, list[FigureTable]]:
    """Every figure of all prompts, and without each block of them."""
    rows = [np.arange(len(features.prompts)), *(np.flatnonzero(remaining) for remaining in blocks.remaining)]
    whole, *without = _tables(features, rows, chosen)
    return whole, without


def column(tables: Sequence[FigureTable], key: FigureKey) -> np.ndarray:
    """(tables,) a figure's value in each table, NaN where it has none."""
    values = [table[key].value if key in table else None for table in tables]
    return np.array([np.nan if value is None else value for value in values])


def _tables(features: SetFeatures, rows: Sequence[Ints], chosen: Sequence[Backbones]) -> list[FigureTable]:
    """The figures of each of these sets of prompts, in threads, which those of BLAS would only hinder."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(1), ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda each: _values(features.rows(each), chosen), rows))


def _values(features: SetFeatures, chosen: Sequence[Backbones]) -> FigureTable:
    return {
        (row.generator, row.metric, row.backbone): row
        for choice in chosen
        for row in figures(features, chosen=choice, intervals=False)
    }


def _with_smaller(made: StudyFigure, values: np.ndarray, *, repeats: Mapping[int, int]) -> StudyFigure:
    """`values` of all parts in the order of the splits; `repeats` the splits by number of parts."""
    figure, by_parts, start = made.figure, {}, 0
    for part, times in repeats.items():
        by_parts[part] = values[start : start + part * times].reshape(times, part)
        start += part * times
    if figure.metric in (*LIMITED, *KERNELS):
        fitted = {part: of for part, of in by_parts.items() if part in extrapolation.PARTS}
        limit = extrapolation.fit(figure.value, fitted, count=figure.n)
        figure = replace(figure, limit=limit.value, limit_low=limit.low, limit_high=limit.high)
    return replace(made, figure=figure, smaller=extrapolation.smaller_sets(by_parts, count=figure.n))


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
    subjects: dict[str, Any] = {}
    missing: list[str] = []
    for key in dict.fromkeys((*IMAGE_BACKBONES, *TEXT_BACKBONES)):
        try:
            bench.fetch(catalog.model(key))
            subjects[key] = bench.subject(catalog.model(key))
            subjects[key].identity  # noqa: B018 raises where the weights are not here
        except LikenessError as error:
            subjects.pop(key, None)
            missing.append(f"{key}: {error}")
    if HEADLINE not in subjects:
        raise NotHere(f"The first figures rest on the backbone {HEADLINE}, which is not here. {missing[0]}")
    settings = {row.key: _settings(task, row, subjects) for row in generators}
    marks = {
        row.key: run_folders.fingerprint({**settings[row.key], "keys": [row.model_key, TASK]}) for row in generators
    }
    stored = {}
    for row in generators:
        stored_run = run_folders.find(results, model=row.model_key, task=TASK, fingerprint=marks[row.key])
        if stored_run is not None and not again:
            stored[row.key] = stored_run
    left = [row for row in generators if row.key not in stored]
    if left:
        started, began = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        features = encode(list(subjects), generators=left, catalog=catalog, bench=bench, missing=missing)
        seconds = {"encode": (time.perf_counter() - began) / len(left)}
        report(f"{counted(len(left), 'generator')} encoded in {time.perf_counter() - began:.0f} s")
        began = time.perf_counter()
        measured = measure(features, chosen=choices([*features.images, *features.texts]))
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


def sets(generators: Sequence[Generator]) -> PromptedSets:
    """The reference and the generators as the comparison of sets takes them."""
    ids = drawn.item_names()
    return PromptedSets(
        ids=ids,
        prompts=drawn.text_column(),
        texts=tuple(prompt.text for prompt in drawn.all_prompts()),
        reference=ImageSet(name="reference", ids=ids, images=drawn.reference_column()),
        generated=tuple(ImageSet(name=row.key, ids=ids, images=drawn.image_column(row)) for row in generators),
        warnings=(),
    )


def encode(
    keys: Sequence[str], *, generators: Sequence[Generator], catalog: Catalog, bench: Bench, missing: list[str]
) -> SetFeatures:
    """The features of all images and prompts, a backbone at a time; one that fails is named in `missing`."""
    images, parts = sets(generators), []
    for key in keys:
        [choice, *_] = choices([key])
        if key != HEADLINE:
            choice = replace(choice, clip="", cmmd="")
        try:
            part, _, _ = encoded_features.encode(images, chosen=choice, rows={key: catalog.model(key)}, bench=bench)
            parts.append(part)
        except LikenessError as error:
            missing.append(f"{key}: {error}")
        finally:
            encoding.release()
    if not any(HEADLINE in part.images for part in parts):
        raise NotHere(f"The first figures rest on the backbone {HEADLINE}, which failed. {missing[0]}")
    return replace(
        next(part for part in parts if part.scores),
        images={
            key: {name: np.asarray(rows) for name, rows in of.items()}
            for part in parts
            for key, of in part.images.items()
        },
        texts={key: np.asarray(rows) for part in parts for key, rows in part.texts.items()},
    )


def _settings(task: Task, row: Generator, subjects: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": {"generator": row.key, "fault": row.fault, "strength": row.strength, "version": drawn.VERSION},
        "procedure": {
            "key": task.procedure,
            "version": VERSION,
            "options": {
                "blocks": intervals.share_out(drawn.PROMPTS).sizes.tolist(),
                "parts": list(PARTS),
                "repeats": extrapolation.REPEATS,
            },
            "packages": versions.minor(versions.installed(("numpy", "scipy"))),
        },
        "data": {"dataset": task.dataset, "subsets": list(task.subsets), "generator": drawn.VERSION},
        "metrics": list(task.metrics),
        "backbones": {key: subject.identity for key, subject in subjects.items()},
    }


def _write(
    row: Generator,
    task: Task,
    measured: Sequence[StudyFigure],
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
        dtype=bench.hardware.dtype,
        device=bench.hardware.device,
        seconds=round(sum(seconds.values()), 3),
        started=started,
        settings={
            **settings,
            "coverage": 1.0,
            "items": drawn.PROMPTS,
            "versions": versions.exact(settings),
            "found": _details(measured),
            "per_prompt": described({CLIPSCORE: HEADLINE, DISTANCE: HEADLINE}),
            "timings": {stage: round(value, 3) for stage, value in seconds.items()},
        },
    )
    scores = comparisons.scores(run, [each.figure for each in measured], human=None)
    return run_folders.write(results, run=run, scores=scores, items=run_folders.table({WHOLE: items}))


def _details(measured: Sequence[StudyFigure]) -> dict[str, dict[str, Any]]:
    """By subset and metric: the values without each block, and where there is one the curve over numbers of prompts."""
    details: dict[str, dict[str, Any]] = {}
    for each in measured:
        row = each.figure
        content: dict[str, Any] = {"left_out": [_short(value) for value in each.left_out]}
        if each.smaller:
            content |= {
                "low": _short(row.low),
                "high": _short(row.high),
                "smaller": {
                    str(part.count): [_short(value) for value in (part.value, part.low, part.high)]
                    for part in each.smaller
                },
            }
        if row.limit is not None:
            content["limit"] = [_short(value) for value in (row.limit, row.limit_low, row.limit_high)]
        details.setdefault(row.backbone, {})[row.metric] = content
    return details


def _short(value: float | None) -> float | None:
    """To nine digits: differences of generators are small beside their values."""
    return None if value is None else float(f"{value:.9g}")


def _items(row: Generator, features: SetFeatures) -> pd.DataFrame:
    """One row a prompt: its text, and the CLIPScore and the distance of the generator's image."""
    frame = prompt_items(
        ids=drawn.item_names(),
        texts=features.prompts,
        values={
            CLIPSCORE: np.round(features.scores[CLIPSCORE][row.key], DIGITS),
            DISTANCE: np.round(features.paired_distances(row.key, backbone=HEADLINE), DIGITS),
        },
    )
    return frame.assign(expected=list(features.prompts))


def sensitivities(runs: Iterable[StoredRun], *, catalog: Catalog) -> dict[tuple[str, str, str], Sensitivity]:
    """By metric, subset and fault."""
    return by_fault(
        [
            FaultRun(
                fault=stored.run.settings["model"]["fault"],
                strength=stored.run.settings["model"]["strength"],
                values={(score.metric, score.subset): score.value for score in stored.scores},
                details=stored.run.settings["found"],
                blocks=tuple(stored.run.settings["procedure"]["options"]["blocks"]),
            )
            for stored in runs
        ],
        higher={metric.key: metric.higher_is_better for metric in catalog.metrics},
    )


# A verdict in a cell of the table; SEES is followed by the strength from which on.
WORDS = {SEES: "from", REWARDS: "rewards", BLIND: "-", MIXED: "mixed"}


def lines(outcome: StudyOutcome, *, catalog: Catalog) -> list[str]:
    """Which metric sees which fault, as a Markdown table, and what is missing."""
    by_cell = sensitivities(outcome.runs, catalog=catalog)
    rows = [("metric", "backbone", *(fault.title for fault in drawn.FAULTS.values()))]
    for metric, subset in sorted(
        dict.fromkeys((key[0], key[1]) for key in by_cell), key=lambda key: METRICS.index(key[0])
    ):
        cells = [by_cell.get((metric, subset, fault)) for fault in drawn.FAULTS]
        rows.append((catalog.metric(metric).title, subset, *(_cell(each) for each in cells)))
    text = ["", *(f"| {' | '.join(cells)} |" for cells in padded(rows))] if by_cell else []
    if by_cell:
        text += [
            "",
            "from 2: worse than the clean generator beyond a 95% interval from strength 2 of 4 on; rewards: better;",
            "-: no difference at any strength; mixed: anything else. In brackets Spearman's correlation with strength.",
        ]
        absent: dict[str, list[str]] = {}
        for metric in METRICS:
            if metric in NEEDS and not any(metric == key for key, _, _ in by_cell):
                absent.setdefault(NEEDS[metric], []).append(catalog.metric(metric).title)
        text += [
            f"Not run: {', '.join(titles)}. {catalog.model(key).title} is missing, and the study downloads no weights."
            for key, titles in absent.items()
        ]
    return [*text, *(f"Missing: {line}" for line in outcome.missing)]


def _cell(each: Sensitivity | None) -> str:
    if each is None:
        return ""
    word = f"{WORDS[each.verdict]} {each.seen_from:g}" if each.verdict == SEES else WORDS[each.verdict]
    return word if each.spearman is None else f"{word} ({each.spearman:+.1f})"
