"""`compute.correlate`: how similar tasks order models, for any table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis import correlation as correlations
from compute.arrays import Floats, Ints
from compute.interface.score_reading import ScoreReading, TableOfScores
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class TaskCorrelations:
    """Correlations of every two tasks over the models that have both. Arrays are [tasks, tasks], NaN undefined."""

    method: str
    tasks: tuple[str, ...]
    r: Floats
    low: Floats  # of the 95% interval; NaN: too few models, or |r| = 1, where the formula has no width
    high: Floats
    n: Ints  # models with both scores
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """A row a pair of tasks, the most similar first: first, second, r, low, high, n."""
        first, second = np.triu_indices(len(self.tasks), 1)
        names = np.array(self.tasks, object)
        frame = pd.DataFrame(
            {
                "first": names[first],
                "second": names[second],
                "r": self.r[first, second],
                "low": self.low[first, second],
                "high": self.high[first, second],
                "n": self.n[first, second],
            }
        )
        return frame.sort_values("r", ascending=False, kind="stable", ignore_index=True)

    def matrix(self) -> pd.DataFrame:
        """The correlations as a square frame, tasks by tasks."""
        return pd.DataFrame(self.r, index=list(self.tasks), columns=list(self.tasks))


def correlate(
    scores: TableOfScores,
    *,
    method: str = "kendall",
    minimum: int = 4,
    model: str = "",
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    lower_is_better: Sequence[str] = (),
    transpose: bool = False,
) -> TaskCorrelations:
    """Correlations between the tasks of any table of scores, each over the models that have both scores.

    scores, model, only, ignore, lower_is_better and transpose as in `compute.rank`; tasks of which lower is better are
    turned, so that a positive correlation means that the tasks agree. method: kendall (tau-b), spearman or pearson.
    minimum: the models that a correlation needs. Source: `compute.analysis.correlation`. Raises BadInput.
    """
    reading = ScoreReading(model=model, only=only, ignore=ignore, lower_is_better=lower_is_better, transpose=transpose)
    table = reading.table(scores)
    if len(table.tasks) < 2:
        raise BadInput(f"The table has {len(table.tasks)} task; a correlation needs two or more. Add columns")
    if len(table.models) < minimum:
        raise BadInput(f"The table has {len(table.models)} models; a correlation needs {minimum} or more. Add rows")
    result = correlations.correlate(scores=table.turned, method=method, minimum=minimum)
    return TaskCorrelations(
        method=method,
        tasks=table.tasks,
        r=result.r,
        low=result.low,
        high=result.high,
        n=result.n,
        notes=table.notes,
    )
