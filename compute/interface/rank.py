"""`compute.rank`: computes the statistics of the board for any table of scores."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from compute.analysis.audit import audit, summary
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.friedman import TESTS
from compute.analysis.ranks.means import CATEGORY_MEAN, TASK_MEAN
from compute.analysis.table import ScoreTable
from compute.interface.score_checks import check_scales
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.options import taking
from compute.types import BadInput, argument

RULES = (CATEGORY_MEAN, TASK_MEAN)


@taking(ScoreReading)
def rank(
    scores: TableOfScores,
    *,
    aggregate: Annotated[str, "category-mean or task-mean."] = CATEGORY_MEAN,
    test: Annotated[str, "Decide pairs by friedman-nemenyi or wilcoxon-holm instead of the board's own test."] = "",
    coverage: Annotated[float, "The least share of the tasks that a model needs for a rank."] = 1.0,
    bounds: Annotated[tuple[float, float] | None, "The least and largest possible mean, such as 0,100."] = None,
    **reading: Any,
) -> Ranking:
    """Ranks any table of scores: ranks and means with 95% intervals, and tie classes, as on the board.

    `scores` may also be a frame of pandas or polars, a dictionary, or what other programs write (`score_layouts`), such
    as mteb's `BenchmarkResults` and its frames, of which the mean over subsets and splits counts; the arguments from
    `model` on say how to read it (`ScoreReading`). Each of `groups` counts as one task in the intervals, not in the
    mean. The tests of `compute.analysis.ranks.friedman` weight tasks equally. Intervals keep to `bounds`. Source of
    the statistics: `compute.analysis.ranking`. Raises BadInput in one sentence.
    """
    if aggregate not in RULES:
        raise BadInput(f"No rule {aggregate!r}. Use one of {', '.join(RULES)}")
    if test not in ("", *TESTS):
        raise BadInput(f"No test {test!r}. Use one of {', '.join(TESTS)}, or none for the board's own")
    if not 0 < coverage <= 1:
        raise BadInput(f"{argument('coverage')} is a share of the tasks above 0 and at most 1, got {coverage:g}")
    limits = tuple(map(float, bounds or (-np.inf, np.inf)))
    if len(limits) != 2 or not limits[0] < limits[1]:
        raise BadInput(f"{argument('bounds')} are the least and the largest possible mean, got {bounds}")
    table, weights = ScoreReading(**reading).table(scores), reading.get("weights") or {}
    if len(table.models) < 2:
        many = "1 model" if table.models else "no models"
        raise BadInput(f"The table has {many}; a ranking needs two or more. Add rows")
    least, most = (np.full(len(table.tasks), limit) for limit in limits)
    chosen = replace(table, aggregate=aggregate, least=coverage, lower=least, upper=most).weighted(weights)
    check_scales(chosen, told=weights)
    return replace(Ranking.of(chosen, test=test), more=partial(_audited, table, scores))


def _audited(table: ScoreTable, scores: TableOfScores) -> list[str]:
    """Returns how many of a table's scores an audit doubts, and how to list them; empty if there are none."""
    if not (found := summary(audit(table))):
        return []
    command = f"likeness audit {shlex.quote(str(scores))}" if isinstance(scores, str | Path) else "compute.audit"
    return [f"An audit finds {found} in this table: {command}"]
