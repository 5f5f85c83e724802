"""An estimate as text: what is fetched, encoded and stored, what sharing saves, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compute.engine.estimate import ModelEstimate, TaskEstimate, downloads
from compute.engine.plan import Plan
from compute.io.tables import padded
from compute.models import ADAPTERS, endpoint_variable
from compute.progress import duration
from compute.rounding import rounded, size
from compute.types import counted


def lines(plan: Plan, data: Sequence[TaskEstimate], work: Sequence[ModelEstimate], *, results: Path | str) -> list[str]:
    """The dry run's page: data, models, what is there, totals."""
    text = []
    if data:
        heads = ("task", "data set", "revision", "to fetch", "images", "texts")
        rows = [
            (
                task.task.key,
                task.need.repo or "made at run time",
                task.need.revision[:7] or "-",
                _fetch(task),
                _number(task, "image"),
                _number(task, "text"),
            )
            for task in data
        ]
        text += ["", *("  ".join(row).rstrip() for row in padded([heads, *rows]))]
        text += [f"{task.task.key}: {task.problem}" for task in data if task.problem]
    for model in work:
        text += ["", *_model_lines(model)]
    stored = [job for job in plan.jobs if job.stored is not None]
    if stored:
        text += ["", "Stored already:", *(f"  {job.model.key}, {job.name}: {job.fingerprint}" for job in stored)]
    fetched = downloads(data)
    unknown, total = sum(size is None for size in fetched.values()), sum(size or 0 for size in fetched.values())
    rough = len({task.need.repo for task in data if task.need.rough and not task.need.present and task.need.bytes})
    # Rows that stand for the same weights fetch them once.
    missing = {
        (model.model.weights or model.model.key, model.model.revision): model for model in work if not model.present
    }
    vectors = sum(model.vectors or 0 for model in work)
    rows = sum((job.task.n_items or 0) for job in plan.missing)
    amount = f"about {size(total)}" + (f" and {unknown} of unknown size" if unknown else "")
    parts = [
        f"{counted(len(fetched), 'data set')} to fetch, {amount if total or not unknown else 'of unknown size'}"
        + (f", {rough} of them roughly, from the sizes of their images" if rough else ""),
        f"{size(sum(model.weights or 0 for model in missing.values()))} of weights to fetch",
        f"{sum(model.items for model in work):,} items to encode, {size(vectors)} of vectors",
    ]
    comparisons, questions = (sum(getattr(model, name) for model in work) for name in ("comparisons", "questions"))
    parts += [counted(comparisons, "comparison")] if comparisons else []
    parts += [counted(questions, "question")] if questions else []
    parts += [f"{len(plan.missing)} run folders with about {rows:,} items, under {results}"]
    timed = [model.seconds for model in work if model.seconds is not None]
    if timed:
        untimed, hours = len(work) - len(timed), sum(timed) / 3600  # hours of one device, as a cluster counts them
        parts += [
            f"about {duration(sum(timed))} in the models ({rounded(hours, 1 if hours >= 1 else 3)} device hours)"
            + (f" and {counted(untimed, 'model')} of unknown time" if untimed else "")
            + ", and more for making items, probes and scores"
        ]
    return [*text, "", f"In all: {'; '.join(parts)}"]


def _model_lines(one: ModelEstimate) -> list[str]:
    row = one.model
    if endpoint_variable(row):
        weights = f"none here: it is asked through {endpoint_variable(row)}"
    elif row.weights:
        revision = f" @ {row.revision[:7]}" if row.revision else ""
        files = f"here {size(one.weights)}" if one.present else f"to fetch, {_about(one.weights)}"
        weights = f"{row.weights}{revision}: {files}"
    elif row.adapter in ADAPTERS and (ADAPTERS[row.adapter].weights or tuple(ADAPTERS[row.adapter].published(row))):
        files = f"here {size(one.weights)}" if one.present else f"to fetch, {_about(one.weights)}"
        weights = f"its package's own, in torch's cache: {files}"
    else:
        weights = "no weights"
    if one.embeds:
        stores = (
            f"{one.items:,} x {row.embed_dim} x {one.bytes_each} bytes = {size(one.vectors)}"
            if one.vectors is not None
            else "the size of a vector is known once the model is loaded"
        )
        items = f"{'' if one.exact else 'about '}{one.items:,} distinct items to encode; vectors: {stores}"
    else:
        asked = [counted(one.comparisons, "distinct comparison")] if "compare" in row.abilities else []
        asked += [counted(one.questions, "question")] if one.questions else []
        items = f"{'' if one.exact else 'about '}{' and '.join(asked) or 'nothing to ask'}; nothing to encode"
    if one.unknown:
        items += f"; the items of {one.unknown} tasks are not counted: nothing says how many before they are fetched"
    return [
        f"{row.key}, {counted(one.runs, 'run')}",
        f"  weights  {weights}",
        f"  items    {items}",
        f"  time     {_time(one)}",
    ]


def _time(one: ModelEstimate) -> str:
    if not one.work:
        return "nothing to do"
    if one.seconds is None:
        return "unknown: --estimate takes a rate in items a second"
    return f"about {duration(one.seconds)} at {rounded(one.rate, 1 if one.rate >= 1 else 3)} items a second, as given"


def _fetch(one: TaskEstimate) -> str:
    if not one.need.repo:
        return "nothing"
    if one.need.present:
        return f"here, {size(one.need.bytes)}"
    return f"roughly {size(one.need.bytes)}" if one.need.bytes and one.need.rough else _about(one.need.bytes)


def _about(count: int | None) -> str:
    return "size unknown" if count is None else f"about {size(count)}"


def _number(one: TaskEstimate, modality: str) -> str:
    count = one.counts.get(modality)
    if count is None:
        return "unknown" if modality in one.task.modalities else "-"
    return f"{count:,}" if one.exact or not count else f"about {count:,}"
