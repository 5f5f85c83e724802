"""`compute.correlate`: correlates the tasks of any table of scores by how they order models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from compute.analysis import correlation as correlations
from compute.analysis.correlation import Correlation
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.options import taking
from compute.pages.shown import MOST, Cell, ShownTable, ShowsItself
from compute.rounding import rounded
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True, repr=False)
class TaskCorrelations(ShowsItself, Correlation):
    """Correlations of every two tasks over the models that have both. Arrays are [tasks, tasks], NaN if undefined.

    An interval is also NaN if |r| = 1, since the formula has no width there.
    """

    method: str
    tasks: tuple[str, ...]
    minimum: int  # models that a correlation needs
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Returns a row per pair of tasks, the most similar first: first, second, r, low, high, n."""
        first, second = np.triu_indices(len(self.tasks), 1)
        names = np.array(self.tasks, object)
        named = {"first": names[first], "second": names[second]}
        frame = pd.DataFrame(named | {name: getattr(self, name)[first, second] for name in ("r", "low", "high", "n")})
        return frame.sort_values("r", ascending=False, kind="stable", ignore_index=True)

    def matrix(self) -> pd.DataFrame:
        """Returns the correlations as a square frame, tasks by tasks."""
        return pd.DataFrame(self.r, index=list(self.tasks), columns=list(self.tasks))

    def shown_table(self) -> ShownTable:
        """Returns the extremes in words, and the first rows and columns of the matrix as a heatmap."""
        corner = range(min(len(self.tasks), MOST))
        return ShownTable(
            heads=("", "task", *(str(at + 1) for at in corner)),
            rows=[
                (
                    str(at + 1),
                    self.tasks[at],
                    *(
                        Cell(text="" if math.isnan(r) else rounded(r, 2), shade=r)
                        for r in self.r[at, : len(corner)].tolist()
                    ),
                )
                for at in corner
            ],
            above=self._summary(),
            below=[
                *([".matrix() has all tasks, .plot() draws them."] if len(self.tasks) > len(corner) else []),
                *self.notes,
            ],
        )

    def _summary(self) -> list[str]:
        pairs = self.frame()
        known = pairs[pairs["r"].notna()]
        about = f"{self.method.capitalize()} correlations of {len(self.tasks):,} tasks"
        if known.empty:
            return [f"{about}: no pair has {self.minimum} models with both scores."]
        fewest, most = known["n"].min(), known["n"].max()
        models = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        lines = [
            f"{about}: median {known['r'].median():.2f} over {len(known):,} of {len(pairs):,} pairs, each of {models} "
            "models."
        ]
        for word, row in (("Most", known.iloc[0]), ("Least", known.iloc[-1])):
            interval = "" if math.isnan(row["low"]) else f", 95% interval {row['low']:.2f} to {row['high']:.2f}"
            lines.append(f"{word} similar: {row['first']} and {row['second']} ({row['r']:.2f}{interval}).")
        return lines

    def plot(self) -> Any:
        """Returns a plotly heatmap in the order of the tasks."""
        from compute.analysis.figures.heatmap import heatmap
        from compute.analysis.figures.style import unmarked

        names = [unmarked(task) for task in self.tasks]
        return heatmap(labels=names, keys=names, groups=[""] * len(names), correlation=self, minimum=self.minimum)


@taking(ScoreReading, without=("categories", "groups", "weights", "shares"))
def correlate(
    scores: TableOfScores,
    *,
    method: Annotated[str, "kendall (tau-b), spearman or pearson."] = "kendall",
    minimum: Annotated[int, "How many models with both scores a correlation needs."] = 4,
    **reading: Any,
) -> TaskCorrelations:
    """Correlations between the tasks of any table of scores, each over the models that have both scores.

    Tasks of which lower is better are turned, so that a positive correlation means that the tasks agree.

    scores and how to read it as in `compute.rank`. Source: `compute.analysis.correlation`. Raises BadInput.
    """
    table = ScoreReading(**reading).table(scores)
    if len(table.tasks) < 2:
        raise BadInput(f"The table has {len(table.tasks)} task; a correlation needs two or more. Add columns")
    if len(table.models) < minimum:
        raise BadInput(f"The table has {len(table.models)} models; a correlation needs {minimum} or more. Add rows")
    result = correlations.correlate(scores=table.turned, method=method, minimum=minimum)
    return TaskCorrelations(**vars(result), method=method, tasks=table.tasks, minimum=minimum, notes=table.notes)
