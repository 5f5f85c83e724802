"""Which run of a model on a task is shown where there are several: newer ones, and other ways of asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compute.engine import run_folders as runs
from compute.engine.run_folders import Kept

# Options of a procedure that are asked in several ways, and which. UniSim-Bench reports encoders' quality tasks by the
# way that is better on average over a task's data sets (section 3.2; the categories are its tasks).
WAYS = {"quality": ("prompt", "clip-iqa")}
CATEGORIES = ("IQA", "PAA")


def main_ones(kept: Sequence[Kept], *, category: Mapping[str, str]) -> set[str]:
    """The ids of the runs that are shown, one a model and task. `category` gives each task's, with its benchmark.

    Of one variant the newest whole run. Of several the usual one. Of two ways the one that is better on average over
    all tasks of the category, once both have been asked of the same tasks; until then the one that more tasks have.
    """
    newest: dict[tuple[str, str, str], Kept] = {}
    for one in sorted(kept, key=lambda one: (one.run.status == "complete", one.run.started, one.run.fingerprint)):
        newest[one.run.model, one.run.task, one.variant] = one
    better = _better(newest, category=category)
    shown: dict[tuple[str, str], tuple[tuple[bool, ...], str]] = {}
    for (model, task, variant), one in newest.items():
        rank = (variant == "", variant == better.get((model, category[task])), is_way(variant))
        if (model, task) not in shown or rank > shown[model, task][0]:
            shown[model, task] = (rank, one.run.id)
    return {run for _, run in shown.values()}


def is_way(variant: str) -> bool:
    """Whether a variant is one of WAYS and nothing else."""
    option, _, value = variant.partition("=")
    return value in WAYS.get(option, ())


def _better(newest: Mapping[tuple[str, str, str], Kept], *, category: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The way that is shown for each model and category that was asked in one or more; of equal ones the first."""
    asked: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for (model, task, variant), one in newest.items():
        if is_way(variant):
            ways = asked.setdefault((model, category[task]), {})
            ways.setdefault(variant, {})[task] = runs.headline(one).value
    order = [f"{option}={value}" for option, values in WAYS.items() for value in values]
    better = {}
    for key, found in asked.items():
        same = len({frozenset(values) for values in found.values()}) == 1
        rank = {
            variant: round(float(np.mean(list(values.values()))), 12) if same else len(values)
            for variant, values in found.items()
        }
        better[key] = max(sorted(found, key=order.index), key=rank.__getitem__)
    return better
