"""Who makes the items of a task: a loader is looked up by the task's benchmark and procedure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from compute.tasks import mieb, mini, own, pairbench, unisim
from compute.tasks.data import Data
from compute.tasks.source import Need, Source
from compute.types import NotHere, Task


@dataclass(frozen=True, kw_only=True)
class Loader:
    """How the items of a benchmark's tasks are made, for the procedures it has items for."""

    procedures: Collection[str]
    load: Callable[..., dict[str, Data]]  # load(task, source=, options=): items a subset
    options_of: Callable[[Task], Mapping[str, tuple[Any, ...]]]
    needs: Callable[..., Need]  # needs(task, source=)
    identity: Callable[..., dict[str, Any]]  # identity(task, source=): part of the fingerprint


LOADERS: dict[str, Loader] = {
    name: Loader(
        procedures=benchmark.PROCEDURES,
        load=benchmark.load,
        options_of=benchmark.options_of,
        needs=benchmark.needs,
        identity=benchmark.identity,
    )
    for name, benchmark in (
        ("unisim", unisim),
        ("mieb", mieb),
        ("mini", mini),
        ("pairbench", pairbench),
        *((benchmark, own) for benchmark in pairbench.OWN),
    )
}


def load(task: Task, *, source: Source, options: Mapping[str, Any] | None = None) -> dict[str, Data]:
    """A task's items, a subset at a time. Raises NotHere for files that are not on this machine.

    `options` may name any of `options_of(task)`; the others have their defaults.
    """
    allowed = options_of(task)
    chosen = {name: (options or {}).get(name, values[0]) for name, values in allowed.items()}
    return _loader(task).load(task, source=source, options=chosen)


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """The options of how a task's items are made: name -> allowed values, the first is the default."""
    return _loader(task).options_of(task)


def needs(task: Task, *, source: Source) -> Need:
    """What a task's items take to fetch, without fetching or reading them."""
    return _loader(task).needs(task, source=source)


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """What decides a task's items beside its catalogue row: versions of loaders and generators, seeds, and the files
    themselves where no pinned revision identifies them."""
    return _loader(task).identity(task, source=source)


def computable(task: Task) -> bool:
    """Whether a loader makes items of the task's benchmark for its procedure."""
    if task.key in pairbench.PRINTED:
        return False
    return task.benchmark in LOADERS and task.procedure in LOADERS[task.benchmark].procedures


def _loader(task: Task) -> Loader:
    if task.benchmark not in LOADERS:
        raise NotHere(
            f"Task {task.key!r} has published figures only: no loader makes items of {task.benchmark!r}. To compute "
            f"it, add a row to LOADERS in compute/tasks/loaders.py, which has: {', '.join(LOADERS)}"
        )
    if task.key in pairbench.PRINTED:
        raise NotHere(f"Task {task.key!r} is a figure that the paper prints: it has no items of its own")
    if not computable(task):
        raise NotHere(
            f"Task {task.key!r} has no loader for its procedure {task.procedure!r}: add a row to PROCEDURES in "
            f"compute/tasks/{task.benchmark}, which has: {', '.join(LOADERS[task.benchmark].procedures)}"
        )
    return LOADERS[task.benchmark]
