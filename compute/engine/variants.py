"""Which run of a model on a task is the main one where there are several: newer ones, and variants of the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from compute.engine import run_folders
from compute.engine.run_folders import StoredRun
from compute.types import Task

# Options of a procedure whose values are compared. UniSim-Bench reports encoders' quality tasks by the variant that is
# better on average over a task's data sets (section 3.2; the categories are its tasks, and of the mini suite like it).
VARIANTS = {"quality": ("prompt", "clip-iqa")}
QUALITY_CATEGORIES = ("IQA", "PAA")
QUALITY_BENCHMARKS = ("unisim", "mini")  # elsewhere these names of categories say nothing: a user's are freely chosen


def main_runs(stored: Sequence[StoredRun], *, category: Mapping[str, str]) -> set[str]:
    """The ids of the main runs, one per model and task. `category` gives each task's, with its benchmark.

    Of one variant the newest complete run. Of several variants the default. Of two compared ones the better on average
    over all tasks of the category, once both were run on the same tasks; until then the one with more tasks.
    """
    newest: dict[tuple[str, str, str], StoredRun] = {}
    for one in sorted(stored, key=lambda one: (one.run.status == "complete", one.date, one.run.fingerprint)):
        newest[one.run.model, one.run.task, one.variant] = one
    better = _better(newest, category=category)
    main: dict[tuple[str, str], tuple[tuple[bool, ...], str]] = {}
    for (model, task, variant), one in newest.items():
        rank = (variant == "", variant == better.get((model, category[task])), is_compared(variant))
        if (model, task) not in main or rank > main[model, task][0]:
            main[model, task] = (rank, one.run.id)
    return {run for _, run in main.values()}


def by_task(stored: Sequence[StoredRun], *, tasks: Sequence[Task]) -> dict[str, StoredRun]:
    """One model's main run of each of these tasks that has one, by the task's key and in their order."""
    main = main_runs(stored, category={task.key: f"{task.benchmark}/{task.category}" for task in tasks})
    runs = {run.run.task: run for run in stored if run.run.id in main}
    return {task.key: runs[task.key] for task in tasks if task.key in runs}


def is_compared(variant: str) -> bool:
    """Whether a variant is one of VARIANTS and nothing else."""
    option, _, value = variant.partition("=")
    return value in VARIANTS.get(option, ())


def _better(
    newest: Mapping[tuple[str, str, str], StoredRun], *, category: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """The better of the compared variants for each model and category; of equal ones the first in VARIANTS."""
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (model, task, variant), one in newest.items():
        if is_compared(variant):
            values[model, category[task]][variant][task] = run_folders.headline(one).value
    order = [f"{option}={value}" for option, options in VARIANTS.items() for value in options]
    better = {}
    for key, by_variant in values.items():
        same = len({frozenset(tasks) for tasks in by_variant.values()}) == 1
        rank = {
            variant: round(float(np.mean(list(tasks.values()))), 12) if same else len(tasks)
            for variant, tasks in by_variant.items()
        }
        better[key] = max(sorted(by_variant, key=order.index), key=rank.__getitem__)
    return better
