"""`compute.rank`: the statistics of the board for any table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis.ranks import ranking
from compute.analysis.ranks.ranking import CATEGORY_MEAN, TASK_MEAN
from compute.analysis.ranks.standings import borda_standings, counting, standings
from compute.arrays import Bools, Floats
from compute.interface.ranked import BORDA, RankedTable
from compute.interface.score_reading import ScoreReading
from compute.interface.score_table import ScoreTable, category_and_task_weights
from compute.types import BadInput

RULES = (CATEGORY_MEAN, TASK_MEAN, BORDA)


def rank(
    scores: pd.DataFrame | str | Path,
    *,
    model: str = "",
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
    weights: Mapping[str, float] | None = None,
    lower_is_better: Sequence[str] = (),
    aggregate: str = CATEGORY_MEAN,
    coverage: float = 1.0,
    bounds: tuple[float, float] | None = None,
    shares: bool = False,
) -> RankedTable:
    """Ranks the models of any table of scores, with the intervals and tie classes of the board.

    scores: a frame or a file (CSV, TSV, Excel, JSON Lines, Parquet), a row a model and a column a task, or long with
    the columns model, task, value [, stderr, n, category, higher_is_better] (`score_reading`). model, only, ignore,
    categories, lower_is_better, shares: how to read it (`ScoreReading` there). weights: by category or task,
    others 1. aggregate: `category-mean`, the mean of category means; `task-mean`; or `borda`, points for every model
    beaten on a task, for tasks of unlike direction or unit. coverage: the least share of the counting tasks that a
    model needs for a rank. bounds: the least and largest possible mean, which intervals keep to.

    Source of the statistics: `compute.analysis.ranks`. Raises BadInput in one sentence.
    """
    if aggregate not in RULES:
        raise BadInput(f"No rule {aggregate!r}. Use one of {', '.join(RULES)}")
    if not 0 < coverage <= 1:
        raise BadInput(f"coverage is a share of the tasks above 0 and at most 1, got {coverage:g}")
    limits = (-np.inf, np.inf) if bounds is None else (float(bounds[0]), float(bounds[1]))
    if not limits[0] < limits[1]:
        raise BadInput(f"bounds are the least and the largest possible mean, got {limits[0]:g} and {limits[1]:g}")
    reading = ScoreReading(
        model=model,
        only=only,
        ignore=ignore,
        categories=categories,
        weights=weights,
        lower_is_better=lower_is_better,
        shares=shares,
    )
    table = reading.table(scores)
    if len(table.models) < 2:
        many = "1 model" if table.models else "no models"
        raise BadInput(f"The table has {many}; a ranking needs two or more. Add rows")
    return rank_table(table, weights=weights, aggregate=aggregate, coverage=coverage, bounds=limits)


def rank_table(
    table: ScoreTable,
    *,
    weights: Mapping[str, float] | None = None,
    aggregate: str = CATEGORY_MEAN,
    coverage: float = 1.0,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> RankedTable:
    """The same for a table that is read already."""
    by_category, by_task = category_and_task_weights(table, weights)
    counted = counting(categories=table.codes, weights=by_category, task_weights=by_task)
    if aggregate == BORDA:
        if not set((weights or {}).values()) <= {0, 1}:
            raise BadInput("Borda points take no weights but 0, which leaves tasks out. Or rank by a mean")
        result = borda_standings(scores=table.values[:, counted], higher=table.higher[counted], least=coverage)
    else:
        result = standings(
            scores=table.values,
            stderr=table.stderr,
            categories=table.codes,
            weights=by_category,
            task_weights=by_task,
            aggregate=aggregate,
            least=coverage,
            higher=table.higher,
            bounds=bounds,
            names=table.categories,
        )
    found = result.ranking
    return RankedTable(
        table=table,
        aggregate=aggregate,
        about=_about(table, counted, aggregate),
        higher_is_better=aggregate == BORDA or bool(table.higher[counted].all()),
        rank=found.rank,
        rank_low=found.rank_low,
        rank_high=found.rank_high,
        mean=found.mean,
        mean_low=found.mean_low,
        mean_high=found.mean_high,
        classes=result.ties,
        few=found.few,
        fixed=tuple(table.categories[code] for code in found.fixed),
        better=found.better,
        category_means=_category_means(table, by_task),
        scored=(~np.isnan(table.values[:, counted])).sum(axis=1),
        counted=counted,
        bounds=bounds,
        unknown=found.unknown,
        why=result.why,
    )


def _about(table: ScoreTable, counted: Bools, aggregate: str) -> str:
    tasks = int(counted.sum())
    many = f"{tasks:,} {'task' if tasks == 1 else 'tasks'}"
    categories = len(np.unique(table.codes[counted]))
    if aggregate == BORDA:
        return f"Borda points over {many}: one for every model beaten on a task"
    if aggregate == CATEGORY_MEAN and categories > 1:
        return f"the mean of {categories} category means, {many} in all"
    return f"the mean of {many}" if tasks > 1 else f"the task {table.tasks[int(counted.argmax())]}"


def _category_means(table: ScoreTable, task_weights: Floats) -> Floats:
    """Means [models, categories] of the tasks each model has; NaN where directions differ within a category."""
    means = np.full((len(table.models), len(table.categories)), np.nan)
    for code in range(len(table.categories)):
        inside = np.flatnonzero((table.codes == code) & (task_weights > 0))
        if len(inside) and len(np.unique(table.higher[inside])) == 1:
            means[:, code] = ranking.aggregate(
                scores=table.values[:, inside],
                categories=np.zeros(len(inside), int),
                task_weights=task_weights[inside],
                higher=table.higher[inside],
            ).mean
    return means
