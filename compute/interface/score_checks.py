"""Checks of a table of scores before it is ranked: one unit per task, directions, tasks that share data, categories."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from compute.analysis.table import ScoreTable, shown
from compute.io.column_names import DOWN, LOWER, UP, has_role, higher_is_better
from compute.types import BadInput, argument, shortened, suggestion

MIXED = 10.0  # ratio of the smallest score above 1 of a column to its largest up to 1, from which units may be mixed
APART = 20.0  # ratio of the two largest median scores of tasks, from which they have no common mean
CUTOFF = re.compile(r"(?:@|_at_)\d+")  # recall@1, ndcg_at_10


def directed(table: ScoreTable, *, lower: Sequence[str], told: bool) -> ScoreTable:
    """Returns the table with the direction of every task.

    The direction comes from the table (`told`), an option, or the task's name, which is noted; tasks with unknown
    directions are noted too. Raises BadInput if two sources conflict.
    """
    check_names(lower, table.tasks, what=argument("lower_is_better"))
    named = set() if told else {task for task in table.tasks if has_role(task, DOWN) or has_role(task, LOWER)}
    for task in () if told else table.tasks:
        if has_role(task, UP) and task in {*named, *lower}:
            other = argument("lower_is_better") if task in lower else "its name says lower too"
            raise BadInput(f"Is higher or lower better on {shortened(task)!r}? ↑ says higher, {other}. Rename it")
    said = [task for task in table.tasks if task in named and task not in lower]
    unknown = [task for task in table.tasks if not told and task not in lower and higher_is_better(task) is None]
    notes = list(table.notes)
    if said:
        notes.append(f"Lower is better, by their names: {shown(said)}. Where higher is, rename the column.")
    if unknown:
        about = f"Higher is assumed to be better on {shown(unknown, 3)}"
        notes.append(f"{about}: name those where lower is ({argument('lower_is_better')}).")
    return replace(table, higher=table.higher & ~np.isin(table.tasks, [*said, *lower]), notes=tuple(notes))


def clustered(table: ScoreTable, groups: Mapping[str, Sequence[str]]) -> ScoreTable:
    """Returns the table with tasks that share their data marked: those of a group, and those whose names differ only in
    a cutoff, which is noted.
    """
    group = members(groups, table.tasks, noun="group")
    keys = [f"group {group[task]}" if task in group else CUTOFF.sub("@", task) for task in table.tasks]
    if len(set(keys)) == len(keys):
        return table
    codes = pd.factorize(np.array(keys))[0]
    alike = [task for task, key in zip(table.tasks, keys, strict=True) if task not in group and keys.count(key) > 1]
    note = (
        f"Tasks whose names differ in a cutoff alone share their data, and intervals count them as one: {shown(alike)}."
    )
    return replace(table, clusters=codes, notes=(*table.notes, *[note] * bool(alike)))


def check_units(table: ScoreTable, *, named: Collection[str]) -> None:
    """Raises BadInput for a task whose scores seem to mix shares and percent, such as 0.936 and 91."""
    for column, task in enumerate(table.tasks):
        values = table.values[:, column]
        values = values[~np.isnan(values) & (values != 0)]
        small, large = values[values <= 1], values[values > 1]
        if task in named or not len(small) or not len(large) or small.min() < 0 or large.max() > 100:
            continue
        if (
            large.min() >= MIXED * small.max()
            and small.min() / 2 <= large.min() / 100
            and large.max() / 100 <= 2 * small.max()
        ):
            raise BadInput(
                f"The column {shortened(task)!r} has scores such as {small[0]:g} and {large[0]:g}: are they shares and "
                f"percent? Write one unit. If they have one unit, say so by naming it: {argument('weights', {task: 1})}"
            )


def check_scales(table: ScoreTable, *, told: Collection[str]) -> None:
    """Raises BadInput if a mean would follow a single task whose scores are far above all others, unless an option says
    (`told`) that they share a unit.
    """
    task = far_apart(table)
    if task and task not in told:
        raise BadInput(
            f"Scores on {shortened(task)!r} are over {APART:g} times those on every other task: a mean would follow it "
            f"alone. If it is a fact of the models, omit it ({argument('ignore')}). If all "
            f"share a unit, say so by naming it: {argument('weights', {task: 1})}"
        )


def far_apart(table: ScoreTable) -> str:
    """Returns the task whose median score exceeds APART times that of every other one; empty if there is none, or if
    all may be shares, or percent.
    """
    sizes = pd.DataFrame(np.abs(table.values[:, table.counted])).replace(0.0, np.nan)
    medians, most = sizes.median(), sizes.max()
    first = medians.argmax() if medians.notna().sum() > 1 else 0
    others = medians.drop(first), most.drop(first)
    if not medians[first] > APART * others[0].max() or most[first] <= 1 or others[1].max() > 1 and most[first] <= 100:
        return ""
    return table.tasks[np.flatnonzero(table.counted)[first]]


def members(named: Mapping[str, Sequence[str]], known: Collection[str], *, noun: str) -> dict[str, str]:
    """Returns the category or group of each named task. Raises BadInput for a task in two."""
    of_task = {}
    for name, tasks in named.items():
        if isinstance(tasks, str) or not tasks:
            raise BadInput(f"The {noun} {name!r} needs a list of tasks, got {tasks!r}")
        check_names(tasks, known, what=f"{noun} {name}")
        for task in tasks:
            first = of_task.setdefault(task, str(name))
            if first != str(name):
                raise BadInput(f"The task {task!r} is in the {noun} {first!r} and in {name!r}. Choose one")
    return of_task


def categorised(table: ScoreTable, of_task: Mapping[str, str], *, order: Iterable[str]) -> ScoreTable:
    """Returns the table with the category of every task, in this order. Raises BadInput for a task without one."""
    categories = tuple(map(str, order))
    for task in table.tasks:
        if task not in of_task:
            raise BadInput(f"The task {task!r} is in no category. Add it to one, or omit it ({argument('ignore')})")
    codes = np.array([categories.index(of_task[task]) for task in table.tasks], np.int64)
    return replace(table, categories=categories, codes=codes, weights=None, printed=None)


def check_names(names: Sequence[str], known: Sequence[str], *, what: str) -> None:
    """Raises BadInput for an unknown name, with the nearest one."""
    if isinstance(names, str):
        raise BadInput(f"{what} needs a list of names, got the text {shortened(names)!r}: write [{names!r}]")
    for name in names:
        if name not in known:
            raise BadInput(
                f"No column or task {shortened(str(name))!r} ({what}).{suggestion(str(name), known)} The table has: "
                f"{shown(known)}"
            )
