"""What doubtful scores decide: how ranks change with what is expected in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.analysis.ranks.means import rank
from compute.types import counted
from leaderboard.data.board_table import SUSPECT, BoardTable, SuiteColumn
from leaderboard.data.mean_rule import RankChoice

MEAN = "the mean"
MOST, FIRST = 3, 10  # moves that are named; places of which it is said whether any changes


def effect(table: BoardTable, chosen: RankChoice) -> str:
    """How the ranks of a table's usual origin change with what the other scores predict in place of doubtful ones."""
    own = table.rows_of(table.origin)
    marked = table.marks[own] & SUSPECT > 0
    if not marked.any():
        return "No score that is shown here is doubtful."
    before, after = (_places(each, own, chosen) for each in (table, table.likely))
    moves = []
    for name in before:
        for row, was, now in zip(own, before[name].tolist(), after[name].tolist(), strict=True):
            if min(was, now) > 0 and was != now and (table.marks[row] & SUSPECT > 0).any():
                moves.append((abs(was - now), f"{table.rows[row].title} {was} → {now} in {name}"))
    first, then = ([place if 0 < place <= FIRST else 0 for place in each[MEAN].tolist()] for each in (before, after))
    words = [text for _, text in sorted(moves, key=lambda move: -move[0])[:MOST]]
    words.append(f"{'no rank' if first == then else 'some rank'} among the mean's first {FIRST} changes")
    known = int((~np.isnan(table.expected[own])).sum())
    lost = int(((before[MEAN] > 0) & (_places(table.sound, own, chosen)[MEAN] <= 0)).sum())
    gone = f"{counted(int(marked.sum()), 'score')} left out, so that {counted(lost, 'model')} lost the rank"
    predicted = f" With what other scores predict for {known} of them:" if known else ";"
    return f"{gone}{'.' * (known > 0)}{predicted} {'; '.join(words)}."


def reason(column: SuiteColumn, doubt: Mapping[str, Any]) -> str:
    """Why a score of a column is doubtful, in one sentence; `doubt` is a row of the table of doubts."""
    ends = [column.text(doubt[name]) for name in ("expected", "low", "high") if doubt["expected"] is not None]
    expected = "; {} ({} to {}) expected from its other scores".format(*ends) if ends else ""
    return f"{column.text(doubt['value'])}, {doubt['reason']}{expected}{doubt['decided'] and '. ' + doubt['decided']}"


def _places(table: BoardTable, rows: list[int], chosen: RankChoice) -> dict[str, np.ndarray]:
    """Places of some rows among themselves, in the mean and in each category."""
    ranked = table.ranked(weights=dict(chosen.weights), tasks=chosen.tasks, coverage=chosen.coverage)
    assert ranked is not None
    means = {MEAN: (ranked.mean, ranked.higher_is_better)}
    for at, column in enumerate(table.category_columns):
        means[column.title] = table.whole_means(ranked)[:, at], column.higher
    return {name: rank(values[rows], higher=higher) for name, (values, higher) in means.items()}
