"""Formats an estimate as text: what is fetched, encoded and stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute import storage
from compute.engine.estimate import ModelEstimate, TaskEstimate, downloads
from compute.engine.plan import Plan
from compute.engine.workspace import RunSettings
from compute.io.tables import aligned
from compute.models import ADAPTERS, endpoint_variable
from compute.rounding import size
from compute.types import counted


def lines(
    plan: Plan, data: Sequence[TaskEstimate], work: Sequence[ModelEstimate], *, settings: RunSettings
) -> list[str]:
    """Returns the lines of a dry run: data, models, stored runs, totals."""
    text, each = [], np.dtype(settings.store_dtype).itemsize
    if data:
        rows = [("task", "data set", "revision", "to fetch", "images", "texts")] + [
            (
                one.task.key,
                one.need.repo or "made at run time",
                one.need.revision[:7] or "-",
                _fetch(one),
                *(_number(one, kind) for kind in ("image", "text")),
            )
            for one in data
        ]
        text += ["", *aligned(rows)]
        text += [f"{one.task.key}: {one.problem}" for one in data if one.problem]
    for model in work:
        text += [
            "",
            f"{model.model.key}, {counted(model.runs, 'run')}",
            f"  weights  {_weights(model)}",
            f"  items    {_items(model, each)}",
        ]
    stored = [job for job in plan.jobs if job.stored is not None]
    if stored:
        text += ["", "Stored already:", *(f"  {job.model.key}, {job.name}: {job.fingerprint}" for job in stored)]
    fetched = downloads(data)
    unknown, total = sum(count is None for count in fetched.values()), sum(count or 0 for count in fetched.values())
    # Rows with the same weights fetch them once.
    missing = {(one.model.weights or one.model.key, one.model.revision): one.weights for one in work if not one.present}
    vectors = sum(one.items * (one.model.embed_dim or 0) * each for one in work if _embeds(one))
    rows = sum(job.task.n_items or 0 for job in plan.missing)
    amount = f"about {size(total)}" + (f" and {unknown} of unknown size" if unknown else "")
    asked = {kind: sum(one.work[kind] for one in work) for kind in ("comparison", "question")}
    parts = [
        f"{counted(len(fetched), 'data set')} to fetch, {amount if total or not unknown else 'of unknown size'}",
        f"{size(sum(count or 0 for count in missing.values()))} of weights to fetch",
        f"{sum(one.items for one in work):,} items to encode, {size(vectors)} of vectors",
        *(counted(count, kind) for kind, count in asked.items() if count),
        f"{len(plan.missing)} run folders with about {rows:,} items, under {storage.location(settings.results)}",
    ]
    return [*text, "", f"In all: {'; '.join(parts)}"]


def _weights(one: ModelEstimate) -> str:
    row = one.model
    if endpoint_variable(row):
        return f"none here: it is asked through {endpoint_variable(row)}"
    files = f"here {size(one.weights)}" if one.present else f"to fetch, {_about(one.weights)}"
    if row.weights:
        return f"{row.weights}{f' @ {row.revision[:7]}' if row.revision else ''}: {files}"
    if row.adapter in ADAPTERS and (ADAPTERS[row.adapter].weights or tuple(ADAPTERS[row.adapter].published(row))):
        return f"its package's own, in torch's cache: {files}"
    return "no weights"


def _items(one: ModelEstimate, each: int) -> str:
    """Returns what the model processes; `each` is the number of bytes per vector element."""
    row, about = one.model, "" if one.exact else "about "
    if _embeds(one):
        stores = "the size of a vector is known once the model is loaded"
        if row.embed_dim:
            stores = f"{one.items:,} x {row.embed_dim} x {each} bytes = {size(one.items * row.embed_dim * each)}"
        text = f"{about}{one.items:,} distinct items to encode; vectors: {stores}"
    else:
        asked = [counted(one.work["comparison"], "comparison")] if "compare" in row.abilities else []
        asked += [counted(one.work["question"], "question")] if one.work["question"] else []
        text = f"{about}{' and '.join(asked) or 'nothing to ask'}; nothing to encode"
    if one.unknown:
        text += f"; the items of {one.unknown} tasks are not counted: nothing says how many before they are fetched"
    return text


def _embeds(one: ModelEstimate) -> bool:
    return bool({"embed_image", "embed_text"} & set(one.model.abilities))


def _fetch(one: TaskEstimate) -> str:
    if not one.need.repo:
        return "nothing"
    return f"here, {size(one.need.bytes)}" if one.need.present else _about(one.need.bytes)


def _about(count: int | None) -> str:
    return "size unknown" if count is None else f"about {size(count)}"


def _number(one: TaskEstimate, kind: str) -> str:
    count = one.counts[kind]
    if count is None:
        return "unknown" if kind in one.task.modalities else "-"
    return f"{count:,}" if one.loaded or not count else f"about {count:,}"
