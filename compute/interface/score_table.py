"""A table of scores in arrays: models, tasks, categories, and what can be said of them by name.

score_reading.py makes one of a frame or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compute.arrays import Bools, Floats, Ints
from compute.types import BadInput, shortened, suggestion

WHOLE = "the table"  # the one category where none is named
LARGEST = 1e100  # beyond it squares of scores overflow
UNLIKE = 10.0  # times the largest score of one task that of another is, from which on it is said


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """Scores of models on tasks, in the table's own units and order."""

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    categories: tuple[str, ...]  # (WHOLE,) where the table names none
    codes: Ints  # [tasks], category of each
    higher: Bools  # [tasks], whether higher is better
    values: Floats  # [models, tasks], NaN where there is no score
    stderr: Floats  # [models, tasks], NaN where it is not known
    notes: tuple[str, ...] = ()  # what was left out, which is first, or may be no task, in sentences

    @property
    def turned(self) -> Floats:
        """The scores [models, tasks] with those of which lower is better turned around."""
        return np.where(self.higher, self.values, -self.values)


def position(name: str, known: Sequence[str], *, noun: str) -> int:
    """The index of a model or task. Raises BadInput with the nearest name."""
    if name not in known:
        raise BadInput(f"The table has no {noun} {shortened(name)!r}.{suggestion(name, known)} {_listed(noun, known)}")
    return list(known).index(name)


def category_and_task_weights(table: ScoreTable, weights: Mapping[str, float] | None) -> tuple[Floats, Floats]:
    """Weights by name of a category or a task, others 1: [categories] and [tasks]. Raises BadInput."""
    by_category, by_task = np.ones(len(table.categories)), np.ones(len(table.tasks))
    for name, weight in (weights or {}).items():
        try:
            value = float(weight)
        except (TypeError, ValueError) as error:
            raise BadInput(f"The weight of {name!r} is {weight!r}; write a number, 0 to leave it out") from error
        if not 0 <= value <= LARGEST:
            raise BadInput(f"The weight of {name!r} is {value:g}; it must be finite and >= 0. Use 0 to leave it out")
        if name in table.categories:
            by_category[table.categories.index(name)] = value
        else:
            by_task[position(name, table.tasks, noun="task")] = value
    if not (by_task * by_category[table.codes]).any():
        raise BadInput("Every task has weight 0. Give at least one a weight above 0")
    return by_category, by_task


def unlike_scales(table: ScoreTable, counted: Bools) -> list[str]:
    """A sentence where the largest scores of two tasks that count lie so far apart that they hardly share a unit."""
    size = np.abs(np.where(np.isnan(table.values), 0.0, table.values)).max(axis=0, initial=0.0) * counted
    scored = np.flatnonzero(size > 0)
    if not len(scored):
        return []
    least, most = scored[size[scored].argmin()], scored[size[scored].argmax()]
    if size[most] < UNLIKE * size[least]:
        return []
    return [
        f"Tasks differ in scale: scores reach {size[most]:g} on {table.tasks[most]} and {size[least]:g} on "
        f"{table.tasks[least]}. Unless they share a unit, a mean follows the larger: rank by Borda points."
    ]


def _listed(noun: str, known: Sequence[str]) -> str:
    return f"It has {len(known):,} {noun}s: {shown(known)}"


def shown(names: Iterable[str], most: int = 12) -> str:
    """The first names, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return f"{', '.join(shortened(name, 40) for name in listed[:most])}{more}"
