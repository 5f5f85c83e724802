"""Selects the main run of a model on a task among older and newer runs, and variants of the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from compute.engine import run_folders
from compute.engine.run_folders import StoredRun
from compute.types import Task

# Options of a procedure whose values are compared. UniSim-Bench reports encoders' quality tasks by the variant that is
# better on average over a task's data sets (section 3.2; its tasks are these categories). The mini suite follows it.
VARIANTS = {"quality": ("prompt", "clip-iqa")}
COMPARED = tuple(f"{option}={value}" for option, values in VARIANTS.items() for value in values)
QUALITY_CATEGORIES = ("IQA", "PAA")
QUALITY_BENCHMARKS = ("unisim", "mini")  # elsewhere users choose category names freely


def main_runs(stored: Iterable[StoredRun], *, tasks: Iterable[Task]) -> dict[tuple[str, str], StoredRun]:
    """Returns the main run of each model and task. `tasks` are those of all runs.

    Within a variant it is the newest complete run. Among variants it is the default. Of two compared variants it is the
    better one on average over all tasks of the category, once both were run on the same tasks; until then the one with
    more tasks.
    """
    category = {task.key: f"{task.benchmark}/{task.category}" for task in tasks}
    newest: dict[tuple[str, str, str], StoredRun] = {}
    for one in sorted(stored, key=lambda one: (one.run.status == "complete", one.date, one.run.fingerprint)):
        newest[one.run.model, one.run.task, one.variant] = one
    better = _better(newest, category=category)
    main: dict[tuple[str, str], StoredRun] = {}

    def rank(one: StoredRun) -> tuple[bool, ...]:
        variant = one.variant
        return variant == "", variant == better.get((one.run.model, category[one.run.task])), variant in COMPARED

    for (model, task, _), one in newest.items():
        if (model, task) not in main or rank(one) > rank(main[model, task]):
            main[model, task] = one
    return main


def by_task(stored: Iterable[StoredRun], *, tasks: Sequence[Task]) -> dict[str, StoredRun]:
    """Returns one model's main run of each of these tasks, if any, by the task's key and in their order."""
    runs = {task: run for (_, task), run in main_runs(stored, tasks=tasks).items()}
    return {task.key: runs[task.key] for task in tasks if task.key in runs}


def _better(newest: Mapping[tuple[str, str, str], StoredRun], *, category: Mapping[str, str]) -> dict[Any, str]:
    """Returns the better of the compared variants for each model and category; of equal ones the first in COMPARED."""
    values: dict[Any, Any] = defaultdict(lambda: {variant: {} for variant in COMPARED})
    for (model, task, variant), one in newest.items():
        if variant in COMPARED:
            values[model, category[task]][variant][task] = run_folders.headline(one).value
    better = {}
    for key, of in values.items():
        same = len({*map(frozenset, of.values())}) == 1
        better[key] = max(of, key=lambda variant: round(fmean(of[variant].values()), 12) if same else len(of[variant]))
    return better
