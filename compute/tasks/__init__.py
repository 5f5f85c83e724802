"""Items of tasks: the task's benchmark and procedure select a loader; `data.py` defines the shapes of items."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from compute.tasks import calibration, mieb, mini, own, pairbench, unisim
from compute.tasks.data import Data, columns, every_column, size, without
from compute.tasks.source import Need, Source
from compute.types import NotHere, Task

__all__ = (
    "columns",
    "computable",
    "every_column",
    "identity",
    "load",
    "needs",
    "options_of",
    "size",
    "without",
)

# Each has PROCEDURES, the procedures it has items for; load(task, source=, options=), the items per subset; needs(task,
# source=); identity(task, source=), part of the fingerprint; and, if there are options, options_of(task).
LOADERS: dict[str, ModuleType] = {
    "unisim": unisim,
    "mieb": mieb,
    "vidore": mieb,
    "mini": mini,
    "pairbench": pairbench,
    "calibration": calibration,
    **dict.fromkeys(pairbench.OWN, own),
}


def load(task: Task, *, source: Source, options: Mapping[str, Any] | None = None) -> dict[str, Data]:
    """Returns a task's items by subset. Raises NotHere for files that are not on this machine.

    `options` may name any of `options_of(task)`; the others have their defaults.
    """
    chosen = {name: (options or {}).get(name, values[0]) for name, values in options_of(task).items()}
    return _loader(task).load(task, source=source, options=chosen)


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """Returns the options for making a task's items: name -> allowed values; the first is the default."""
    loader = _loader(task)
    return loader.options_of(task) if hasattr(loader, "options_of") else {}


def needs(task: Task, *, source: Source) -> Need:
    """Returns the cost of a task's items, without fetching or reading them."""
    return _loader(task).needs(task, source=source)


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns what determines a task's items besides its catalogue row: versions of loaders and generators, seeds, and
    the files themselves if no pinned revision identifies them.
    """
    return _loader(task).identity(task, source=source)


def computable(task: Task) -> bool:
    """Returns whether a loader makes items of the task's benchmark for its procedure."""
    try:
        _loader(task)
    except NotHere:
        return False
    return True


def is_import_only(task: Task) -> bool:
    """Returns whether a task's data set is private or holds OCR text of its pages, which no loader reads."""
    return task.benchmark == "vidore" and (task.dataset.startswith("mteb-private/") or "OCR" in task.dataset)


def _loader(task: Task) -> ModuleType:
    if task.key in pairbench.PRINTED or is_import_only(task):
        raise NotHere(f"Task {task.key!r} has published or imported scores only. {task.notes}".strip())
    if task.benchmark not in LOADERS:
        raise NotHere(
            f"Task {task.key!r} has published scores only: no loader makes items of {task.benchmark!r}. To compute "
            f"it, add a row to LOADERS in compute/tasks/__init__.py, which has: {', '.join(LOADERS)}"
        )
    loader = LOADERS[task.benchmark]
    if task.procedure not in loader.PROCEDURES:
        raise NotHere(
            f"Task {task.key!r} has no loader for its procedure {task.procedure!r}: add a row to PROCEDURES in "
            f"compute/tasks/{task.benchmark}, which has: {', '.join(loader.PROCEDURES)}"
        )
    return pairbench if loader is own and task.procedure in pairbench.PROCEDURES else loader
