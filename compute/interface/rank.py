"""`compute.rank`: the statistics of the board for any table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from compute.analysis.ranking import Ranking
from compute.analysis.ranks.friedman import TESTS
from compute.analysis.ranks.means import BORDA, CATEGORY_MEAN, TASK_MEAN
from compute.analysis.table import shown
from compute.interface.score_checks import check_scales, far_apart
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.types import BadInput, argument

RULES = (CATEGORY_MEAN, TASK_MEAN, BORDA)


def rank(
    scores: TableOfScores,
    *,
    model: str = "",
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    weights: Mapping[str, float] | None = None,
    lower_is_better: Sequence[str] = (),
    aggregate: str = CATEGORY_MEAN,
    test: str = "",
    coverage: float = 1.0,
    bounds: tuple[float, float] | None = None,
    shares: bool = False,
    transpose: bool = False,
) -> Ranking:
    """Ranks the models of any table of scores, with the intervals and tie classes of the board.

    scores: a frame of pandas or polars, a dictionary, or a file (CSV, TSV, Excel, JSON, JSON Lines, Parquet, Markdown)
    or folder of files, a row a model and a column a task, or long with the columns model, task, value [, stderr, n,
    category, higher_is_better] (`score_reading`); what other programs write is known (`score_layouts`), such as mteb's
    `BenchmarkResults` and its frames, of which the mean over subsets and splits counts. model, only, ignore,
    categories, lower_is_better, shares, transpose: how to read it (`ScoreReading`). weights: by category or task,
    others 1. groups: names of groups and their tasks, which share their data: each group counts as one task in the
    intervals, not in the mean. aggregate: `category-mean`, the mean of category means; `task-mean`; or `borda`, points
    for every model beaten on a task, for tasks of different directions or unit, with intervals from a plain bootstrap
    over tasks. test: what decides which pairs differ significantly: our own test of means, or `friedman-nemenyi` or
    `wilcoxon-holm` (`compute.analysis.ranks.friedman`), which count every task alike. coverage: the least share of the
    counting tasks that a model needs for a rank. bounds: the least and largest possible mean, which intervals keep to.

    Source of the statistics: `compute.analysis.ranking`. Raises BadInput in one sentence.
    """
    if aggregate not in RULES:
        raise BadInput(f"No rule {aggregate!r}. Use one of {', '.join(RULES)}")
    if test not in ("", *TESTS):
        raise BadInput(f"No test {test!r}. Use one of {', '.join(TESTS)}, or none for the board's own")
    if not 0 < coverage <= 1:
        raise BadInput(f"{argument('coverage')} is a share of the tasks above 0 and at most 1, got {coverage:g}")
    limits = (-np.inf, np.inf) if bounds is None else (float(bounds[0]), float(bounds[1]))
    if not limits[0] < limits[1]:
        raise BadInput(
            f"{argument('bounds')} are the least and the largest possible mean, got {limits[0]:g} and {limits[1]:g}"
        )
    reading = ScoreReading(
        model=model,
        only=only,
        ignore=ignore,
        categories=categories,
        groups=groups,
        weights=weights,
        lower_is_better=lower_is_better,
        shares=shares,
        transpose=transpose,
    )
    table = reading.table(scores)
    if len(table.models) < 2:
        many = "1 model" if table.models else "no models"
        raise BadInput(f"The table has {many}; a ranking needs two or more. Add rows")
    if aggregate == BORDA and not set((weights or {}).values()) <= {0, 1}:
        raise BadInput("Borda points take no weights but 0, which excludes tasks. Or rank by a mean")
    least, most = (np.full(len(table.tasks), limit) for limit in limits)
    chosen = replace(table, aggregate=aggregate, least=coverage, lower=least, upper=most).weighted(weights)
    ways = [
        [chosen.tasks[at] for at in np.flatnonzero(chosen.counted & (chosen.higher == way))] for way in (False, True)
    ]
    if aggregate != BORDA and all(ways):
        raise BadInput(
            f"Lower is better on {shown(ways[0])}, higher on {shown(ways[1])}: they have no mean. Rank by Borda "
            f"points, {argument('aggregate', BORDA)}, or choose tasks of one kind ({argument('only')})"
        )
    if aggregate != BORDA:
        check_scales(chosen, told=weights or ())
    elif task := far_apart(chosen):
        note = f"Scores on {shown([task])} are far above those on all other tasks: is it a fact of the models?"
        chosen = replace(chosen, notes=(*chosen.notes, note))
    return Ranking.of(chosen, test=test)
