"""Reads laboratories' published results: open_clip's tables, DataComp's JSON Lines, the JSON of MMEB's harness.

A layout yields cells: the model's name in the file, a task's title, a subset, a metric, a value and its number of
items. Cells of unknown tasks or metrics are skipped and counted, and `Imported.notes` summarises what was read.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from compute.catalog import Catalog
from compute.catalog.catalog import MODEL_KEY
from compute.catalog.published import score_of
from compute.importing.collection import Imported, SkippedFile, fingerprint, outside
from compute.io.files import validated
from compute.io.tables import MOST_BYTES, read_table
from compute.progress import followed
from compute.types import LONGEST_KEY, BadInput, Laboratory, Model, Run, counted, shortened

HEADLINE = ""  # instead of a metric: the task's first
WAYS = {"image": "captions to images", "text": "images to captions"}  # retrieval directions
SETS = {
    "Flickr": "Flickr30k",
    "MSCOCO": "MSCOCO",
    "crossmodal3600": "XM3600",
    "multilingual_mscoco_captions": "Multilingual COCO",
}
RETRIEVAL = re.compile(r"(Flickr|MSCOCO) (image|text) retr\. R@(\d+)")
BY_LANGUAGE = re.compile(r"(crossmodal3600|multilingual_mscoco_captions) (image|text)_retrieval_recall@(\d+) (\w+)")
RECALL = re.compile(r"(image|text)_retrieval_recall@(\d+)")
COUNTED = {"hit_rate_at_1": "hit@1", "ndcg_at_5": "ndcg_linear@5"}  # MMEB's names of the metrics
ABOUT = ("name", "pretrained", "model", "version", "params (M)", "FLOPs (B)")  # columns that are not scores


class Measurement(NamedTuple):
    """A value as in a file."""

    file: str
    model: str  # as printed
    task: str  # the task's title
    metric: str
    value: Any
    subset: str = "default"
    n: int | None = None
    parameters_m: float | None = None


class JsonLine(BaseModel):
    """A line of DataComp's results."""

    dataset: str
    metrics: dict[str, Any]


class MmebFile(BaseModel):
    """A model's results in the format of MMEB's harness: modality, task, metric."""

    class About(BaseModel):
        """The file's metadata."""

        model_name: str

    metadata: About
    metrics: dict[str, dict[str, dict[str, Any]]]


def _open_clip(path: Path) -> Iterator[Measurement]:
    """Yields a table of open_clip's docs: a row per checkpoint, a column per data set, or per data set, direction and
    language.
    """
    frame = read_table(path).frame
    names = next(
        (pair for pair in (["name", "pretrained"], ["model", "version"]) if set(pair) <= set(frame.columns)), None
    )
    for row in frame.to_dict("records") if names else ():
        size = row.get("params (M)")
        about = {"file": path.name, "model": f"{row[names[0]]} {row[names[1]]}"}
        about["parameters_m"] = float(size) if size and re.fullmatch(r"\d{1,7}(\.\d{1,9})?", size) else None
        for column in frame.columns.difference(ABOUT, sort=False):
            if column.lower().startswith("av") or column.endswith(" avg"):  # means of the others
                continue
            value = row[column]
            if match := RETRIEVAL.fullmatch(column):
                of, way, at = match.groups()
                yield Measurement(task=f"{SETS[of]}, {WAYS[way]}", metric=f"hit_rate_at_{at}", value=value, **about)
            elif match := BY_LANGUAGE.fullmatch(column):
                of, way, at, language = match.groups()
                task = f"{SETS[of]}, {WAYS[way]}"
                yield Measurement(task=task, metric=f"hit_rate_at_{at}", value=value, subset=language, **about)
            else:
                yield Measurement(task=column, metric=HEADLINE, value=value, **about)


def _datacomp(path: Path) -> Iterator[Measurement]:
    """Yields a model's results in DataComp's JSON Lines, a line per data set; the file is named after the model."""
    for line in filter(str.strip, _text(path).split("\n")):
        row = validated(json.loads(line), JsonLine)
        about = {"file": path.name, "model": path.stem}
        yield Measurement(task=row.dataset, metric=HEADLINE, value=row.metrics.get("main_metric"), **about)
        if "acc1" in row.metrics:
            yield Measurement(task=row.dataset, metric="accuracy", value=row.metrics["acc1"], **about)
        for name, value in row.metrics.items():
            if match := RECALL.fullmatch(name):
                way, at = match.groups()
                task = f"{SETS.get(row.dataset, row.dataset)}, {WAYS[way]}"
                yield Measurement(task=task, metric=f"hit_rate_at_{at}", value=value, **about)


def _mmeb(path: Path) -> Iterator[Measurement]:
    """Yields a model's results in the format of MMEB's harness, for each task the metric that the
    catalogue ranks by.
    """
    content = validated(json.loads(_text(path)), MmebFile)
    for tasks in content.metrics.values():
        for task, values in tasks.items():
            n = values.get("num_data")
            for metric, field in COUNTED.items():
                about = {
                    "metric": metric,
                    "value": values.get(field),
                    "n": n if type(n) is int and 0 < n < 1 << 31 else None,
                }
                yield Measurement(file=path.name, model=content.metadata.model_name, task=task, **about)


class Layout(NamedTuple):
    """A harness's output layout: its benchmark, files, and cell reader."""

    harness: str
    benchmark: str
    ending: str
    cells: Callable[[Path], Iterator[Measurement]]
    key: str  # format for a model without an alias


LAYOUTS = {
    "open-clip": Layout("CLIP_benchmark", "datacomp", ".csv", _open_clip, "open_clip/{}"),
    "datacomp": Layout("DataComp", "datacomp", ".jsonl", _datacomp, "{}"),
    "mmeb": Layout("VLM2Vec", "mmeb", ".json", _mmeb, "{}"),
}


def read_laboratory(path: Path, *, layout: str, laboratory: Laboratory, catalog: Catalog) -> Imported:
    """Returns the scores of a folder (or one file) in a layout of LAYOUTS, as runs with the laboratory's origin.

    A model is the one in aliases.csv, else a new one. Raises BadInput if nothing can be read.
    """
    form = LAYOUTS[layout]
    files = [path] if path.is_file() else sorted(path.glob(f"*{form.ending}"))
    if not files:
        raise BadInput(f"{path} is not a {form.ending} file, nor a folder that has one: give the results of {layout}")
    tasks = {task.title: task for task in catalog.tasks if task.benchmark == form.benchmark}
    metrics = {metric.key: metric for metric in catalog.metrics}
    measured = {metric for task in tasks.values() for metric in task.metrics}
    names, listed = catalog.printed_names, {row.key for row in catalog.models}
    models, runs, scores, problems = {}, {}, {}, []
    unknown, empty, changed, others = Counter(), 0, Counter(), []
    wrong: dict[str, SkippedFile] = {}  # by model
    for file in followed(files, "Reading results", "file"):
        try:
            cells = list(form.cells(file))
        except (OSError, ValueError, RecursionError, BadInput) as error:
            problems.append(
                SkippedFile(file.name, f"is not a result of {layout}: {str(error)[:160]}", "Remove it, or correct it")
            )
            continue
        others += [] if cells else [file.name]
        for cell in cells:
            task = tasks.get(cell.task)
            metric = cell.metric or (task.metrics[0] if task else "")
            if task is None or cell.subset not in task.subsets or metric not in measured:
                unknown[" ".join(filter(None, (cell.task, metric, cell.subset if task else "")))] += 1
            if task is None or metric not in task.metrics or cell.subset not in task.subsets:
                continue
            try:
                value = math.nan if isinstance(cell.value, bool) else float(cell.value)
            except (TypeError, ValueError, OverflowError):
                value = math.nan
            if math.isnan(value):
                empty += 1
                continue
            if reason := outside(value, metrics[metric]) or ("" if math.isfinite(value) else "it is infinite"):
                problems.append(SkippedFile(file.name, f"{cell.model}, {cell.task}: {reason}", "Correct the value"))
                continue
            key = names.get((form.benchmark, cell.model)) or form.key.format(
                re.sub(r"[^a-z0-9._/-]+", "-", cell.model.lower())
            )
            if not (
                MODEL_KEY.fullmatch(key) and len(key) <= LONGEST_KEY and ".." not in key and cell.model.isprintable()
            ):
                wrong[cell.model] = SkippedFile(
                    file.name, f"{shortened(cell.model)!r} is not a model's name", "Rename it"
                )
                continue
            if key not in listed:
                models[key] = Model(
                    key=key,
                    title=cell.model,
                    parameters_m=cell.parameters_m,
                    modalities=("image", "text"),
                    abilities=("embed_image", "embed_text"),
                    facts_from=laboratory.title,
                )
            run = f"{laboratory.origin}/{key}/{task.key}"
            settings = {"file": cell.file, "printed_name": cell.model}
            runs.setdefault(
                run,
                Run(
                    id=run,
                    model=key,
                    task=task.key,
                    procedure=task.procedure,
                    origin=laboratory.origin,
                    source=shortened(f"{laboratory.repository} @ {laboratory.revision[:12]}, {cell.file}", 400),
                    settings=settings,
                    fingerprint=fingerprint(laboratory=laboratory.key, model=key, task=task.key),
                    code=f"{laboratory.harness} {laboratory.version}".strip(),
                    started=laboratory.date,
                ),
            )
            score = score_of(run, task, metrics[metric], cell.subset, value)
            score = replace(score, n=cell.n or score.n)
            where = (run, cell.subset, metric)
            changed[scores.get(where, score) == score] += where in scores
            scores[where] = score
    if not scores:
        raise BadInput(
            f"{path} has no score of a task of {form.benchmark}."
            + "".join(f" {problem}" for problem in problems[:3])
            + f" Its tasks are named {', '.join(list(tasks)[:3])}, ..."
        )
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    twice = f"{counted(changed.total(), 'cell')} given twice, {changed[False]:,} with another value: the last stays"
    notes = (
        f"Read {counted(len(scores), 'score')} of {counted(len({run.model for run in runs.values()}), 'model')} and "
        f"{counted(len({run.task for run in runs.values()}), 'task')}, proportions as fractions; "
        f"{counted(len(models), 'model')} not in the catalogue",
        f"Skipped {counted(empty, 'empty cell')} and the tasks outside the catalogue: "
        + (f"{', '.join(list(unknown)[:3])}{more}" if unknown else "none"),
        *((twice,) if changed.total() else ()),
        *((f"No results in {', '.join(others)}",) if others else ()),
    )
    return Imported(
        runs=tuple(runs.values()),
        scores=tuple(scores.values()),
        models=tuple(models.values()),
        laboratories=(laboratory,),
        problems=(*problems, *wrong.values()),
        notes=notes,
    )


def _text(path: Path) -> str:
    """Returns the text of a regular file of limited size."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is not a regular file of at most {MOST_BYTES / 1e6:,.0f} MB")
    return path.read_text(encoding="utf-8-sig")
