"""`compute.lite`: selects a smaller suite of any table of scores, with what it preserves and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.lite import selection, smaller
from compute.analysis.lite.smaller import Fidelity, HeldOut, LostTask, Smaller
from compute.analysis.ranks.means import CATEGORY_MEAN, TASK_MEAN
from compute.analysis.table import WHOLE, ScoreTable
from compute.interface.score_checks import check_scales
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.options import taking
from compute.pages.shown import ShownTable, ShowsItself
from compute.types import BadInput, argument

FOR_HALVES = 8  # models, below which halves are not informative


@dataclass(frozen=True, kw_only=True, repr=False)
class SmallerTable(ShowsItself):
    """The tasks that rank models most like the whole table."""

    table: ScoreTable
    choice: Smaller
    tasks: tuple[str, ...]  # in the order of choice
    spearman_by_step: tuple[float, ...]  # with the whole, after each of them
    dropped: tuple[str, ...]  # as redundant, before the choice
    fidelity: Fidelity  # on the models it was chosen on, so it is optimistic
    held_out: HeldOut | None  # on models excluded from the choice; None below FOR_HALVES models
    lost: tuple[LostTask, ...]  # the tasks not chosen, those least similar to any chosen one first

    def frame(self) -> pd.DataFrame:
        """Returns a row per task, the chosen ones first: task, category, step, spearman, nearest, r, n.

        `step` and `spearman` are set for chosen tasks. `nearest`, `r` and `n` are set for others: the chosen task that
        orders models most similarly.
        """
        category = {
            task: self.table.categories[code] for task, code in zip(self.table.tasks, self.table.codes, strict=True)
        }
        rows = [
            {"task": task, "category": category[task], "step": step, "spearman": reached}
            for step, (task, reached) in enumerate(zip(self.tasks, self.spearman_by_step, strict=True), start=1)
        ]
        for one in self.lost:
            name, nearest = self.table.tasks[one.task], self.table.tasks[one.nearest] if one.nearest >= 0 else None
            rows.append({"task": name, "category": category[name], "nearest": nearest, "r": one.r, "n": one.n_models})
        frame = pd.DataFrame(rows, columns=["task", "category", "step", "spearman", "nearest", "r", "n"])
        return frame.astype({"step": "Int64", "n": "Int64"})

    def shown_table(self) -> ShownTable:
        """Returns the chosen tasks in order, below a summary of how well they rank."""
        several = self.table.categories != (WHOLE,)
        frame, above = self.frame().head(len(self.tasks)), list(smaller.summary(self.choice))
        if self.held_out is not None:
            above.insert(
                2,
                f"On models that took no part in the choice (halves of {self.held_out.n_models} or more): median "
                f"Spearman {self.held_out.median:.3f}, lowest {min(self.held_out.spearman):.3f}",
            )
        return ShownTable(
            heads=("step", "task", *["category"] * several, "Spearman"),
            rows=[
                (str(row.step), row.task, *[row.category] * several, f"{row.spearman:.3f}")
                for row in frame.itertuples()
            ],
            above=above,
            below=[*self.table.notes, *self.table.unlike_scales],
        )

    def plot(self) -> Any:
        """Returns a plotly curve: the correlation with the whole table by number of tasks."""
        from compute.analysis.figures.curve import curve

        return curve(self.choice, held_out=self.held_out, own=None)


@taking(ScoreReading, without=("groups", "shares"))
def lite(
    scores: TableOfScores,
    *,
    tasks: int,
    thresholds: Sequence[float] = selection.THRESHOLDS,
    aggregate: str = CATEGORY_MEAN,
    seed: int = 0,
    **reading: Any,
) -> SmallerTable:
    """Chooses `tasks` tasks of any table that rank its models like all of them, after MIEB section 6.3.

    scores, how to read it and weights (of categories) as in `compute.rank`. thresholds: mean correlations above which
    tasks are dropped as redundant, the highest first. Models without a score on every task are excluded. Agreement on
    the models that the tasks were chosen on is optimistic; `held_out` chooses on half of the models and measures on the
    others. Raises BadInput, Undefined.
    """
    if aggregate not in (CATEGORY_MEAN, TASK_MEAN):
        raise BadInput(f"No rule {aggregate!r} for a smaller suite. Use {CATEGORY_MEAN} or {TASK_MEAN}")
    table, weights = ScoreReading(**reading).table(scores), reading.get("weights") or {}
    if isinstance(tasks, bool) or not isinstance(tasks, int) or not 0 < tasks < len(table.tasks):
        raise BadInput(
            f"Cannot choose {tasks!r} of {len(table.tasks)} tasks: give a whole number from 1 to "
            f"{max(len(table.tasks) - 1, 1)}"
        )
    whole = int((~np.isnan(table.values).any(axis=1)).sum())
    if whole < 3:
        raise BadInput(
            f"Only {whole} of {len(table.models)} models have a score on every task; choosing tasks needs 3 or more. "
            f"Skip tasks that few models have ({argument('ignore')})"
        )
    suite = replace(table, aggregate=aggregate).weighted(weights)
    check_scales(suite, told=weights)
    if (suite.task_weights != 1).any() or (suite.weights == 0).any():
        raise BadInput(
            f"A smaller suite takes weights of categories, above 0. Exclude tasks by name ({argument('ignore')})"
        )
    choice = smaller.choose(suite, size=tasks, thresholds=thresholds)
    chosen = choice.selection
    names = [table.tasks[index] for index in chosen.path]
    halves = smaller.held_out(suite, size=tasks, thresholds=thresholds, seed=seed) if whole >= FOR_HALVES else None
    return SmallerTable(
        table=table,
        choice=choice,
        tasks=tuple(names),
        spearman_by_step=tuple(map(float, chosen.agreement)),
        dropped=tuple(table.tasks[index] for index in chosen.dropped),
        fidelity=choice.fidelity,
        held_out=halves,
        lost=tuple(smaller.lost(choice, minimum=min(10, whole))),
    )
