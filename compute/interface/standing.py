"""A model's means on a suite and its rank among the rows of an origin, by the suite's rule, as on the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from compute.analysis.ranked_model import RankedModel
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.table import ALL, HUMAN, ScoreTable
from compute.interface.comparability import Comparability

MEANS = ("name", "scope", "mean", "mean_low", "mean_high", "tasks", "of_tasks", "reason")


def mean_of(mine: ScoreTable) -> RankedModel:
    """The mean of the one model of a table, by its rule."""
    if reason := _no_mean(mine):
        return RankedModel.unknown(mine, reason=reason, others=None)
    row = RankedModel.first(Ranking.of(mine))
    return replace(row, reason="") if row.mean_low is not None else row


def means_of(mine: ScoreTable) -> pd.DataFrame:
    """The suite's mean, then those of its categories where it has several: a row each, with MEANS."""
    several = mine.categories if len(mine.categories) > 1 else ()
    means = [mean_of(mine), *(replace(mean_of(mine.within(name)), of_suite=name) for name in several)]
    frame = pd.DataFrame([vars(row) for row in means]).rename(columns={"of_suite": "name"})
    frame["scope"] = ["suite", *["category"] * len(several)]
    return frame[list(MEANS)].astype(dict.fromkeys(MEANS[2:5], float))


def rank_of(
    mine: ScoreTable, others: ScoreTable | None, *, comparable: Comparability, instead: Sequence[str] = ()
) -> RankedModel:
    """The rank of the one model of a table among the rows of `others` without its own; None without such rows.

    `instead`: the origins that do have rows of other models, which the reason then names.
    """
    if reason := _no_mean(mine):
        return RankedModel.unknown(mine, reason=reason, others={})
    rows = [] if others is None else [at for at, key in enumerate(others.models) if key != mine.models[0]]
    if others is None or not rows:
        which = "" if comparable.origin == ALL else f"{comparable.origin} "
        remedy = (
            f", but {listed(instead)} ones: {' or '.join(f'rank({name!r})' for name in instead)}" if instead else ""
        )
        reason = f"{mine.name} has no {which}scores of other models{remedy}"
        return replace(RankedModel.first(Ranking.of(mine)), rank=None, of=0, others={}, tie_class="", reason=reason)
    return RankedModel.first(Ranking.of(mine.beside(others.rows(rows))), notes=[str(comparable)])


def _no_mean(table: ScoreTable) -> str:
    """Why the tasks of a suite make no mean; empty where they do."""
    if table.aggregate == HUMAN or not table.tasks:
        return f"{table.name} is ranked by people, not by a mean over tasks"
    return table.unlike_tasks
