"""Loads the items of any task, and the few things every shape of items shares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from compute.content.items import Column
from compute.tasks.data import (
    Choices,
    Clusters,
    Data,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
)
from compute.tasks.source import Need, Source
from compute.types import BadInput, NotHere, Task

# Which module makes the items of a benchmark's tasks: each has load, needs, identity and options_of, as below.
LOADERS = {"unisim": "compute.tasks.unisim", "mieb": "compute.tasks.mieb", "mini": "compute.tasks.mini"}


def load(task: Task, *, source: Source, options: Mapping[str, Any] | None = None) -> dict[str, Data]:
    """A task's items, a subset at a time. Raises NotHere for files that are not on this machine.

    `options` may name any of `options_of(task)`; what is left out has its default.
    """
    known = options_of(task)
    chosen = {name: (options or {}).get(name, allowed[0]) for name, allowed in known.items()}
    return _loader(task).load(task, source=source, options=chosen)


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """What can be chosen of how a task's items are made: name -> allowed values, the first is the default."""
    return _loader(task).options_of(task)


def needs(task: Task, *, source: Source) -> Need:
    """What a task's items take to fetch, without fetching or reading them."""
    return _loader(task).needs(task, source=source)


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """What decides a task's items beside its catalogue row: versions of loaders and generators, seeds of draws, and
    the files themselves where no pinned revision tells them."""
    return _loader(task).identity(task, source=source)


def computable(task: Task) -> bool:
    """Whether there is a loader for the task's benchmark."""
    return task.benchmark in LOADERS


def _loader(task: Task):
    if not computable(task):
        raise NotHere(
            f"Task {task.key!r} has published figures only: its benchmark cannot be computed here yet. "
            f"Those that can: {', '.join(LOADERS)}"
        )
    return import_module(LOADERS[task.benchmark])


def columns(data: Data) -> list[Column]:
    """Every column of images or texts in `data`, nested ones too; a probe's training column is left to its draws."""
    found: list[Column] = []
    parts = [data.test] if isinstance(data, Probe) else [getattr(data, field.name) for field in fields(data)]
    for part in parts:
        for one in part if isinstance(part, tuple) else (part,):
            if isinstance(one, Column):
                found.append(one)
            elif is_dataclass(one):
                found += columns(one)
    return found


def size(data: Data) -> int:
    """How many items are scored."""
    match data:
        case Probe() | Clusters() | ZeroShot():
            return len(data.test.names)
        case Retrieval():
            return len(data.queries)
        case _:
            return len(data.names)


def without(data: Data, bad: Collection[bytes]) -> Data:
    """`data` less every item that needs a content of `bad`; a document so lost is also no longer a right answer.

    Raises BadInput when nothing is left, or when a class's prompt is bad: then every item would be.
    """
    lost = np.array(sorted(bad), dtype="S32")
    kept = _without(data, lost)
    if size(kept) == 0:
        raise BadInput("No item is left once the bad ones are taken out: check the data set's files")
    return kept


def _without(data: Data, lost: np.ndarray) -> Data:
    match data:
        case Choices():
            keep = _good((*data.alternatives, data.reference), lost)
            return replace(
                data,
                names=_names(data.names, keep),
                answer=data.answer[keep],
                alternatives=tuple(column.take(keep) for column in data.alternatives),
                reference=data.reference.take(keep) if data.reference else None,
            )
        case OddOneOut():
            keep = _good(data.members, lost)
            return replace(
                data,
                names=_names(data.names, keep),
                odd=data.odd[keep],
                members=tuple(column.take(keep) for column in data.members),
            )
        case Sentences():
            keep = _good((data.first, data.second), lost)
            return replace(
                data,
                names=_names(data.names, keep),
                first=data.first.take(keep),
                second=data.second.take(keep),
                human=data.human[keep],
            )
        case Matches():
            keep = _good((*data.images, *data.captions), lost)
            return replace(
                data,
                names=_names(data.names, keep),
                images=tuple(column.take(keep) for column in data.images),
                captions=tuple(column.take(keep) for column in data.captions),
            )
        case Probe():
            return replace(data, train=_labelled(data.train, lost), test=_labelled(data.test, lost))
        case Clusters():
            return replace(data, test=_labelled(data.test, lost))
        case ZeroShot():
            bad_prompts = np.flatnonzero(np.isin(data.prompts.keys, lost))
            if len(bad_prompts):
                raise BadInput(f"{data.prompts.name(int(bad_prompts[0]))}: a class's prompt cannot be left out")
            return replace(data, test=_labelled(data.test, lost))
        case Retrieval():
            return _retrieval(data, lost)


def _good(parts: tuple[Column | None, ...], lost: np.ndarray) -> np.ndarray:
    bad = np.any([np.isin(column.keys, lost) for column in parts if column is not None], axis=0)
    return np.flatnonzero(~bad)


def _names(names: tuple[str, ...], keep: np.ndarray) -> tuple[str, ...]:
    return tuple(names[position] for position in keep)


def _labelled(part: Labelled, lost: np.ndarray) -> Labelled:
    keep = _good((part.items,), lost)
    return replace(part, names=_names(part.names, keep), items=part.items.take(keep), labels=part.labels[keep])


def _retrieval(data: Retrieval, lost: np.ndarray) -> Retrieval:
    queries, documents = _mixed_keep(data.queries, lost), _mixed_keep(data.documents, lost)
    query_at, document_at = _renumber(queries, len(data.queries)), _renumber(documents, len(data.documents))

    def pairs(first: np.ndarray, second: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
        here = (query_at[first] >= 0) & (document_at[second] >= 0)
        return (query_at[first][here], document_at[second][here], *(other[here] for other in others))

    missing = None
    if data.missing is not None:
        here = query_at[data.missing[0]] >= 0
        missing = (query_at[data.missing[0]][here], data.missing[1][here])
    return replace(
        data,
        queries=_mixed(data.queries, queries),
        documents=_mixed(data.documents, documents),
        missing=missing,
        relevant=pairs(*data.relevant),
        ignored=pairs(*data.ignored) if data.ignored else None,
        candidates=pairs(*data.candidates) if data.candidates else None,
    )


def _mixed_keep(mixed: Mixed, lost: np.ndarray) -> np.ndarray:
    bad = np.zeros(len(mixed), dtype=bool)
    for column, at in ((mixed.image, mixed.image_at), (mixed.text, mixed.text_at)):
        if column is not None and len(column):
            bad |= np.append(np.isin(column.keys, lost), False)[at]  # -1, none, reads the appended False
    return np.flatnonzero(~bad)


def _mixed(mixed: Mixed, keep: np.ndarray) -> Mixed:
    return replace(
        mixed,
        names=_names(mixed.names, keep),
        image_at=mixed.image_at[keep] if mixed.image_at is not None else None,
        text_at=mixed.text_at[keep] if mixed.text_at is not None else None,
    )


def _renumber(keep: np.ndarray, total: int) -> np.ndarray:
    at = np.full(total, -1, dtype=np.int64)
    at[keep] = np.arange(len(keep))
    return at
