"""What is doubtful about tasks: known faults of their data, and what their scores show by themselves."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from compute.analysis.saturation import Saturation, saturation
from compute.arrays import Floats, ranks
from compute.types import counted
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database

FEWEST = 12  # models and other tasks, before no correlation says something


class TaskDoubt(NamedTuple):
    """What is doubtful about a task, in a few words, and whether its scores should not decide a rank."""

    words: str
    severe: bool


def task_doubts(db: Database, table: BoardTable) -> dict[str, TaskDoubt]:
    """The doubtful tasks of a suite that count, by key."""
    faults = {row.task: row for row in db.query("fault_counts").itertuples()}
    alone, out = _unrelated(table), {}
    for index, column in enumerate(table.columns):
        read = reading(table, index) if column.ranked else None
        if read is None:
            continue
        fault, own = faults.get(column.task), []
        if fault is not None and fault.severe:
            own.append(f"known fault: {fault.fault}")
        if read.at_chance:
            own.append("no model is better than guessing by more than its noise")
        elif read.at_ceiling:
            own.append("the best is within its noise of the highest score")
        if alone[index]:
            own.append("no correlation with any other task beyond chance")
        severe = bool(own) and not read.at_ceiling
        if fault is not None and not fault.severe:
            own.append(f"{counted(fault.faults, 'known fault')} of its data")
        if own:
            out[column.task] = TaskDoubt("; ".join(own), severe)
    return out


def reading(table: BoardTable, index: int) -> Saturation | None:
    """The scores of a column, without doubtful ones, read as a measuring instrument; None without any."""
    column, (_, rows) = table.columns[index], table.scored_rows(index)
    rows = rows or np.flatnonzero(~np.isnan(table.scores.values[:, index])).tolist()  # all in doubt
    if not rows:
        return None
    return saturation(
        scores=table.scores.values[rows, index],
        stderr=table.scores.stderr[rows, index],
        chance=column.chance,
        ceiling=column.upper if np.isfinite(column.upper) else None,
        higher=column.higher,
    )


def _unrelated(table: BoardTable) -> np.ndarray:
    """Which columns correlate with no other, at 95% over all others (Spearman, Fisher's z) [columns]."""
    values: Floats = table.sound.scores.values[table.rows_of(table.origin)]
    used = np.flatnonzero([column.ranked for column in table.columns])
    out = np.zeros(len(table.columns), bool)
    whole = values[~np.isnan(values[:, used]).any(axis=1)][:, used]
    if min(whole.shape[0], whole.shape[1] - 1) < FEWEST:
        return out
    r = np.corrcoef(ranks(whole), rowvar=False) - np.eye(len(used))
    bound = np.tanh(NormalDist().inv_cdf(1 - 0.025 / (len(used) - 1)) / np.sqrt(len(whole) - 3))
    out[used] = np.nanmax(np.abs(r), axis=1) < bound
    return out
