"""Where a model with some of a suite's tasks would stand among others, and which tasks to run next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis import estimates
from compute.analysis.estimates import Estimated
from compute.analysis.table import ScoreTable
from compute.engine.plan import obstacle
from compute.io.tables import aligned
from compute.procedures import ONE_VECTOR, PROCEDURES
from compute.progress import duration
from compute.types import BadInput, Model, Task

BUDGET = re.compile(r"(\d+(?:\.\d+)?) ?(m|h)")


class EstimatedPlace(NamedTuple):
    """Where a model would stand with all tasks of a suite, in stored units."""

    model: str
    of_suite: str
    tasks: int  # counting ones with a score
    of_tasks: int  # that count
    plain: float | None  # the mean of the scores that it has
    estimate: Estimated | None
    of: int  # complete models, with this one
    reason: str = ""  # why there is no estimate
    notes: tuple[str, ...] = ()  # what to know of how the rows compare, in sentences

    def __str__(self) -> str:
        plain = "" if self.plain is None else f"; the plain mean of its {self.tasks} tasks is {self.plain:.4f}"
        one = self.estimate
        if one is None:
            return f"Place on {self.of_suite} unknown: {self.reason}{plain}"
        span = f"{one.rank_low}" if one.rank_low == one.rank_high else f"{one.rank_low} to {one.rank_high}"
        text = (
            f"Estimated from {self.tasks} of {self.of_tasks} tasks of {self.of_suite}: mean {one.mean:.4f} "
            f"({one.low:.4f} to {one.high:.4f}), place {span} of {self.of}{plain}."
        )
        return " ".join((text, *self.notes))


def beside(
    mine: ScoreTable, others: ScoreTable, *, model: Model, tasks: Sequence[Task], frames: Mapping[str, pd.DataFrame]
) -> tuple[ScoreTable, dict[str, Any]]:
    """The model's row of `mine`, on `tasks`, above the complete rows of others, with the hours of others' runs; and
    what else `estimates` takes. `frames`: models and runs of the database."""
    whole = ~np.isnan(others.values[:, others.counted]).any(axis=1)
    rows = [at for at, key in enumerate(others.models) if whole[at] and key != model.key]
    hours = pd.Series(others.hours, others.tasks).reindex(mine.tasks)
    hours = hours.fillna(frames["runs"].groupby("task")["seconds"].median() / 3600)
    own = estimates.possible(
        [model.abilities],
        [task.modalities for task in tasks],
        late=[bool(model.late_interaction)],
        one_vector=[task.procedure in ONE_VECTOR for task in tasks],
    )
    return replace(mine.beside(others.rows(rows)), hours=hours.to_numpy(float)), {
        "models": frames["models"].set_index("key"),
        "possible": np.vstack([own, np.ones((len(rows), len(tasks)), bool)]),
    }


def place_of(table: ScoreTable, known: Mapping[str, Any], *, notes: Sequence[str]) -> EstimatedPlace:
    """Where the first model of a table would stand; arguments as `beside` returns them."""
    scores = table.values[0, table.counted]
    seen = ~np.isnan(scores)
    found, reasons, _ = estimates.estimates(table, **known)
    reason = "it has every task, so its rank is known" if seen.all() else "no task has a score"
    return EstimatedPlace(
        model=table.models[0],
        of_suite=table.name,
        tasks=int(seen.sum()),
        of_tasks=len(seen),
        plain=float(scores[seen].mean()) if seen.any() else None,
        estimate=found.get(0),
        of=len(table.models),
        reason="" if 0 in found else reasons.get(0, reason),
        notes=tuple(notes),
    )


def next_tasks(
    table: ScoreTable, known: Mapping[str, Any], *, model: Model, tasks: Sequence[Task], budget: str
) -> pd.DataFrame:
    """The tasks to run next, as `Evaluation.next_tasks`; `table` and `known` as `beside` returns them.

    Raises BadInput for a budget that is none, and CannotDo where nothing tells an order.
    """
    procedures = {each.key: each for each in PROCEDURES}
    can = np.array([not obstacle(model, task, procedures) for task in tasks])
    order = estimates.first_next(
        table, known["models"], possible=known["possible"][0], among=can, budget=hours_of(budget)
    )
    at, each = np.flatnonzero(table.counted)[order.tasks], order.hours[order.tasks]
    columns = {
        "task": [tasks[one].key for one in at],
        "items": pd.array([tasks[one].n_items for one in at], dtype="Int64"),
        "hours": each,
        "total": np.cumsum(each),
        "half": order.halves(range(1, len(at) + 1)),
        "timed": ~np.isnan(table.hours[at]),
    }
    return pd.DataFrame(columns)


def lines(frame: pd.DataFrame, *, model: str, suite: str, budget: str) -> Iterator[str]:
    """What `Evaluation.next_tasks` returns as text."""
    yield f"{suite} for {model} within {budget}: {len(frame)} tasks, by how much an hour of each narrows the mean"
    if frame.empty:
        return
    rows = [("", "task", "items", "takes", "in all", "mean within")]
    for step, row in enumerate(frame.itertuples(), start=1):
        half = "unknown" if np.isnan(row.half) else f"± {row.half:.4f}"
        items = "unknown" if pd.isna(row.items) else f"{row.items:,}"
        took = duration(3600 * row.hours) if row.timed else f"about {duration(3600 * row.hours)}"
        rows.append((str(step), row.task, items, took, duration(3600 * row.total), half))
    yield from aligned(rows)
    yield f"Times are the median of others' runs, on hardware that is not known: those of {model} may differ"
    if not frame["timed"].all():
        yield "about: nobody's run says how long the task takes, so this is the median of the other tasks"


def hours_of(budget: str) -> float:
    """The hours of a text such as 30m or 2.5h. Raises BadInput."""
    if not (found := BUDGET.fullmatch(budget.strip().lower())) or not float(found[1]):
        raise BadInput(f"A budget is minutes or hours, such as 30m, 1h or 2.5h; got {budget!r}")
    return float(found[1]) / (60 if found[2] == "m" else 1)
