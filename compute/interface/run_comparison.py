"""An evaluation beside another model's scores on the same suite: over its tasks, and task by task over its items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.item_difference import ItemDifference
from compute.analysis.ranks.ties import paired_differences
from compute.analysis.significance import holm
from compute.analysis.suite import SuiteScores
from compute.engine import run_folders, variants
from compute.engine.run_folders import StoredRun
from compute.interface.comparability import MEASURED_ELSEWHERE, comparability, mixed, unlike
from compute.interface.compare import ALPHA, ModelComparison
from compute.interface.item_differences import item_difference
from compute.interface.standing import Rule, row_of
from compute.types import BadInput, Score, Task, UnknownKey

COLUMNS = ("task", "category", "a", "b", "difference", "low", "high", "p", "over", "n", "better", "reason")
NO_ERROR = "the standard error of a score is not known"


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """One model's headline scores by task, and the runs behind those that were computed here."""

    key: str
    origin: str
    scores: Mapping[str, Score]
    runs: Mapping[str, StoredRun] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what to know of where the scores come from, in sentences


def computed_scores(key: str, *, tasks: Sequence[Task], roots: Sequence[Path]) -> ModelScores | None:
    """The model's main runs of these tasks under the roots; None where there are none."""
    stored = {
        run.run.id: run
        for root in dict.fromkeys(roots)
        for task in tasks
        for run in run_folders.stored(root, model=key, task=task.key)
    }
    runs = variants.by_task(tuple(stored.values()), tasks=tasks)
    if not runs:
        return None
    scores = {task: run_folders.headline(run) for task, run in runs.items()}
    return ModelScores(key=key, origin="computed", scores=scores, runs=runs)


def stored_scores(key: str, rows: SuiteScores, *, rule: Rule, origin: str) -> ModelScores | None:
    """The model's scores in the database, or None where it has none."""
    if key not in rows.models:
        return None
    row = rows.models.index(key)
    scores = {}
    for task in rule.tasks:
        column = rows.tasks.index(task.key)
        value, error = rows.values[row, column], rows.stderr[row, column]
        if not np.isnan(value):
            stderr = None if np.isnan(error) else float(error)
            scores[task.key] = Score(
                run="", subset="default", metric=task.metrics[0], value=float(value), stderr=stderr
            )
    return ModelScores(key=key, origin=origin, scores=scores)


def compare_scores(a: ModelScores, b: ModelScores, *, rule: Rule, task: str = "") -> ModelComparison:
    """a minus b: over the suite's tasks by its rule, or over the items of one task.

    `parts` has a row a shared task: over its items where both were computed on the same ones and its score is a mean
    over items, else from the two standard errors, taken as independent. `better` there holds over all its rows, by
    Holm's method. Raises BadInput where nothing is shared, UnknownKey for a task that is not shared.
    """
    names = (a.key, b.key if b.origin == a.origin and b.key != a.key else f"{b.key} ({b.origin})")
    shared = [row for row in rule.tasks if row.key in a.scores and row.key in b.scores]
    if not shared:
        raise BadInput(f"{names[0]} and {names[1]} share no task of {rule.suite.key}")
    if task and task not in {row.key for row in shared}:
        raise UnknownKey("task", task, [row.key for row in shared])
    ups = {row.key: bool(up) for row, up in zip(rule.tasks, rule.higher, strict=True)}
    rows = [_part(row.key, row.category, a, b) for row in shared if task in ("", row.key)]
    proved = holm([row["p"] for row in rows], alpha=ALPHA)
    for row, is_proved in zip(rows, proved, strict=True):
        row["better"] = names[int((row["difference"] > 0) != ups[row["task"]])] if is_proved else ""
    parts = pd.DataFrame(rows, columns=list(COLUMNS))
    notes = _notes(a, b, tasks=[row for row in shared if task in ("", row.key)])
    if len(rows) == 1 and rows[0]["over"] == "items":
        fields = ("n", "difference", "low", "high", "p", "better", "reason")
        return ModelComparison(
            a=names[0],
            b=names[1],
            over="items",
            few=False,
            higher_is_better=ups[rows[0]["task"]],
            notes=notes,
            parts=parts,
            **{name: rows[0][name] for name in fields},
        )
    (values_a, error_a), (values_b, error_b) = (
        row_of({key: side.scores[key] for key in parts["task"]}, rule) for side in (a, b)
    )
    result = paired_differences(
        a=values_a[0],
        b=values_b[0],
        stderr_a=error_a[0],
        stderr_b=error_b[0],
        categories=rule.codes,
        weights=rule.weights,
        aggregate=rule.suite.aggregate,
        higher=rule.higher,
        scales=np.array(rule.scales),
        names=rule.categories,
    )
    higher = all(ups[key] for key in parts["task"])
    return ModelComparison(
        a=names[0],
        b=names[1],
        over="tasks",
        n=len(parts),
        difference=result.mean,
        low=result.mean_low,
        high=result.mean_high,
        p=result.p,
        better=names[int((result.mean > 0) != higher)] if result.p <= ALPHA else "",
        higher_is_better=higher,
        reason=result.reason or result.unknown,
        few=result.few,
        notes=notes,
        parts=parts,
    )


def _notes(a: ModelScores, b: ModelScores, *, tasks: Sequence[Task]) -> tuple[str, ...]:
    """What to know before the scores of the two on these tasks are compared, in sentences."""
    notes = [*a.notes, *b.notes]
    if b.origin in MEASURED_ELSEWHERE:
        about = comparability(model=a.key, origin=b.origin, tasks=tasks, runs=a.runs, others=None)
        return (*notes, *about.sentences)
    of_both = [{task.key: side.runs[task.key] for task in tasks if task.key in side.runs} for side in (a, b)]
    departures = [unlike(runs) for runs in of_both]
    for side, runs, own, other in zip((a, b), of_both, departures, departures[::-1], strict=True):
        notes += [f"{side.key}: {sentence}" for sentence in own if sentence not in other]
        notes += mixed(runs, which=f"The runs of {side.key}")
    return tuple(notes)


def _part(task: str, category: str, a: ModelScores, b: ModelScores) -> dict[str, Any]:
    """One task's row of the parts, without `better`."""
    first, second = a.scores[task], b.scores[task]
    row: dict[str, Any] = {"task": task, "category": category, "a": first.value, "b": second.value}
    items = _items(task, a, b)
    if items is not None and not math.isnan(items.difference):
        fields = ("difference", "low", "high", "p", "n", "reason")
        return row | {"over": "items"} | {name: getattr(items, name) for name in fields}
    why = f"{items.reason}; " if items is not None else ""
    gap = first.value - second.value
    row |= {"over": "scores", "difference": gap, "n": None}
    if not (first.stderr and second.stderr):
        return row | {"low": math.nan, "high": math.nan, "p": math.nan, "reason": f"{why}{NO_ERROR}"}
    normal, error = NormalDist(), math.hypot(first.stderr, second.stderr)
    half = normal.inv_cdf(0.975) * error
    p = 2 * normal.cdf(-abs(gap) / error)
    return row | {"low": gap - half, "high": gap + half, "p": p, "reason": why.removesuffix("; ")}


def _items(task: str, a: ModelScores, b: ModelScores) -> ItemDifference | None:
    """The difference over items; None where one of the two has no items."""
    if task not in a.runs or task not in b.runs:
        return None
    return item_difference(a.runs[task], b.runs[task])
