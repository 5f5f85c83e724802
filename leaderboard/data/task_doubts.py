"""Doubts about tasks, from known faults of their data and from their scores, and which scores depend on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Z95
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import rank
from compute.arrays import Floats, ranks
from compute.types import BadInput, counted
from leaderboard.data.board_table import SUSPECT, BoardTable, SuiteColumn
from leaderboard.data.database import Database, shared


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """One task's scores as a measuring instrument. NaN if the inputs do not determine a value."""

    models: int
    best: float
    median: float
    spread: float  # standard deviation over the models
    noise: float  # median standard error of a score
    ratio: float  # spread / noise
    judged: int  # models other than the best with a standard error, where the best has one too
    within: int  # of these, models whose gap to the best its noise explains
    used: float  # (best - chance) / (ceiling - chance): share of the room that is used up
    below_chance: int  # models that score no better than by guessing
    at_chance: bool  # whether not even the best is better than guessing by more than its noise
    at_ceiling: bool  # whether the best is within its noise of the highest score


def saturation(
    *,
    scores: ArrayLike,
    stderr: ArrayLike | None = None,
    chance: float | None = None,
    ceiling: float | None = None,
    higher: bool = True,
) -> Saturation:
    """Analyses the scores [models] of one task, NaN if missing, with their standard errors (NaN unknown).

    A model is within the noise of the best when their gap is at most the two-sided 95% quantile times the root of the
    sum of both squared errors: the two are taken as independent, which is cautious for models answering the same items,
    and no correction is made for looking at many. The floor of `used` is chance, or 0 where chance is unknown. Raises
    BadInput when no model has a score.
    """
    x = np.asarray(scores, float)
    error = np.full(x.shape, np.nan) if stderr is None else np.asarray(stderr, float)
    measured = ~np.isnan(x)
    if not measured.any():
        raise BadInput("No model has a score on this task, so nothing can be read from it")
    x, error = x[measured], error[measured]
    top = int(np.argmax(x if higher else -x))
    gap = np.abs(x[top] - x)
    half = Z95 * np.hypot(error, error[top])
    known = ~np.isnan(half)
    known[top] = False
    spread = float(np.std(x, ddof=1)) if len(x) > 1 else math.nan
    noise = float(np.nanmedian(error)) if not np.isnan(error).all() else math.nan
    floor = 0.0 if chance is None else chance
    used = math.nan if ceiling is None or ceiling == floor else float((x[top] - floor) / (ceiling - floor))
    above = np.full(x.shape, np.inf) if chance is None else (x - chance) * (1 if higher else -1)
    return Saturation(
        models=len(x),
        best=float(x[top]),
        median=float(np.median(x)),
        spread=spread,
        noise=noise,
        ratio=spread / noise if noise > 0 else math.nan,
        judged=int(known.sum()),
        within=int((gap[known] <= half[known]).sum()),
        used=used,
        below_chance=int((above <= 0).sum()),
        at_chance=bool(above[top] <= Z95 * np.nan_to_num(error[top])),
        at_ceiling=ceiling is not None and bool(abs(ceiling - x[top]) <= Z95 * np.nan_to_num(error[top])),
    )


FEWEST = 12  # models and other tasks, before no correlation says something
MEAN = "the mean"
MOST, FIRST = 3, 10  # moves that are named; places of which it is said whether any changes


class TaskDoubt(NamedTuple):
    """Doubts about a task in a few words, and whether its scores should not decide a rank."""

    words: str
    severe: bool


@partial(shared, most=96)
def task_doubts(db: Database, table: BoardTable) -> dict[str, TaskDoubt]:
    """Returns the doubtful tasks of a suite that count, by key."""
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
            own.append("no significant correlation with any other task")
        severe = bool(own) and not read.at_ceiling
        if fault is not None and not fault.severe:
            own.append(f"{counted(fault.faults, 'known fault')} of its data")
        if own:
            out[column.task] = TaskDoubt("; ".join(own), severe)
    return out


def reading(table: BoardTable, index: int) -> Saturation | None:
    """Analyses the scores of a column, without doubtful ones, as a measuring instrument; None without any."""
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
    """Returns which columns correlate with no other column, at 95% over all others (Spearman, Fisher's z) [columns]."""
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


def effect(table: BoardTable, *, usual: Ranking, likely: Ranking, sound: Ranking) -> str:
    """Returns how the ranks of the default origin change from the `usual` to the `likely` ranks, which replace doubtful
    scores by those that the other scores predict; `sound`: ranks without doubtful scores.
    """
    own = table.rows_of(table.origin)
    marked = table.marks[own] & SUSPECT > 0
    if not marked.any():
        return "No score that is shown here is doubtful."
    before, after = _places(table, usual, own), _places(table.likely, likely, own)
    moves = []
    for name in before:
        for row, was, now in zip(own, before[name].tolist(), after[name].tolist(), strict=True):
            if min(was, now) > 0 and was != now and (table.marks[row] & SUSPECT > 0).any():
                moves.append((abs(was - now), f"{table.rows[row].title} {was} → {now} in {name}"))
    first, then = ([place if 0 < place <= FIRST else 0 for place in each[MEAN].tolist()] for each in (before, after))
    words = [text for _, text in sorted(moves, key=lambda move: -move[0])[:MOST]]
    words.append(f"{'no rank' if first == then else 'some rank'} among the mean's first {FIRST} changes")
    known = int((~np.isnan(table.expected[own])).sum())
    lost = int(((before[MEAN] > 0) & (sound.rank[own] <= 0)).sum())
    gone = f"{counted(int(marked.sum()), 'score')} left out, so that {counted(lost, 'model')} lost the rank"
    predicted = f" With what other scores predict for {known} of them:" if known else ";"
    return f"{gone}{'.' * (known > 0)}{predicted} {'; '.join(words)}."


def reason(column: SuiteColumn, doubt: Mapping[str, Any]) -> str:
    """Explains why a score of a column is doubtful, in one sentence; `doubt` is a row of the table of doubts."""
    ends = [column.text(doubt[name]) for name in ("expected", "low", "high") if doubt["expected"] is not None]
    expected = "; {} ({} to {}) expected from its other scores".format(*ends) if ends else ""
    return f"{column.text(doubt['value'])}, {doubt['reason']}{expected}{doubt['decided'] and '. ' + doubt['decided']}"


def _places(table: BoardTable, ranked: Ranking, rows: list[int]) -> dict[str, np.ndarray]:
    """Returns the positions of some rows among themselves, in the mean and in each category."""
    means = {MEAN: (ranked.mean, ranked.higher_is_better)}
    for at, column in enumerate(table.category_columns):
        means[column.title] = table.whole_means(ranked)[:, at], column.higher
    return {name: rank(values[rows], higher=higher) for name, (values, higher) in means.items()}
