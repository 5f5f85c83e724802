"""`compute.compare`: compares two models over the tasks of any table of scores, or as evaluated.

Evaluations are compared over the suite's tasks, and per task over the items that both answered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import pandas as pd

from compute.analysis.comparison import Comparison, compared, of_error, paired_difference
from compute.analysis.intervals import Difference
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import CATEGORY_MEAN, TASK_MEAN
from compute.analysis.significance import holm
from compute.analysis.table import of_scores, position
from compute.database import store
from compute.engine.run_folders import ITEMS, StoredRun
from compute.engine.scoring import row_of
from compute.interface.score_checks import check_scales
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.interface.standing import comparability, mixed, unlike
from compute.options import taking
from compute.types import BadInput, Metric, Score, Suite, Task, UnknownKey, argument, shortened

COLUMNS = ("task", "category", "a", "b", "difference", "low", "high", "p", "over", "n", "better", "reason")
NO_ERROR = "the standard error of a score is not known"


@taking(ScoreReading, without=("groups",))
def compare(
    a: Annotated[str | Any, "A model of the table."],
    b: Annotated[str | Any, "Another one."],
    *,
    scores: TableOfScores | None = None,
    aggregate: Annotated[str, "category-mean or task-mean."] = CATEGORY_MEAN,
    **reading: Any,
) -> Comparison:
    """Two models side by side: the paired difference, its interval and p, and whether it is significant.

    Without `scores`, a is what `compute.evaluate` returns, and b the same or the key of a model (`Evaluation.compare`).
    With `scores`, a and b are models of that table, compared over the tasks that both have by flipping the signs of
    their differences; other arguments as in `compute.rank`. The interval is about other tasks of these kinds; these
    count as a sample of them. It and p are about this pair by itself; `reading` and the sentence say what holds on the
    table as a whole, as `compute.rank` does. Source: `compute.analysis.comparison.compared`.
    Raises BadInput.
    """
    if scores is None:
        if isinstance(a, str):
            raise BadInput(
                f"{shortened(a)!r} is the name of a model: give the table that holds both ({argument('scores')})"
            )
        return a.compare(b)
    if not (isinstance(a, str) and isinstance(b, str)):
        raise BadInput("With a table of scores, a and b are names of its models. Omit scores to compare evaluations")
    if aggregate not in (CATEGORY_MEAN, TASK_MEAN):
        raise BadInput(f"No rule {aggregate!r} for a comparison. Use {CATEGORY_MEAN} or {TASK_MEAN}")
    table, weights = ScoreReading(**reading).table(scores), reading.get("weights") or {}
    first, second = (position(name, table.models, noun="model") for name in (a, b))
    if first == second:
        raise BadInput(f"{a!r} is compared with itself. Name two models")
    chosen = replace(table, aggregate=aggregate).weighted(weights)
    check_scales(chosen, told=weights)
    found = compared(chosen, first, second)
    if found.better and len(chosen.models) > 2:  # with two models the table adds nothing
        found = replace(found, decided="same").on_board(Ranking.of(chosen), first, second)
    return replace(found, notes=(*table.notes, *chosen.unlike_scales))


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """One model's headline scores by task, and the runs behind those that were computed locally."""

    key: str
    origin: str
    scores: Mapping[str, Score]
    runs: Mapping[str, StoredRun] = field(default_factory=dict)


def compare_scores(
    a: ModelScores,
    b: ModelScores,
    *,
    suite: Suite,
    tasks: Sequence[Task],
    metrics: Mapping[str, Metric],
    task: str = "",
) -> Comparison:
    """Compares a minus b: over the suite's tasks by its rule, or over the items of one task.

    `tasks` are the suite's counted tasks. `parts` has a row per shared task. A row covers the task's items if both were
    computed on the same ones and the score is a mean over items. Otherwise it uses the two standard errors, taken as
    independent. `better` in it holds over all rows, by Holm's method. Raises BadInput if nothing is shared, UnknownKey
    for a task that is not shared.
    """
    names = (a.key, b.key if b.origin == a.origin and b.key != a.key else f"{b.key} ({b.origin})")
    shared = [row for row in tasks if row.key in a.scores and row.key in b.scores]
    if not shared:
        raise BadInput(f"{names[0]} and {names[1]} share no task of {suite.key}")
    if task and task not in {row.key for row in shared}:
        raise UnknownKey("task", task, [row.key for row in shared])
    used = [row for row in shared if task in ("", row.key)]
    ups = {row.key: metrics[row.metrics[0]].higher_is_better for row in used}
    rows = [_part(row, a, b) for row in used]
    for row, is_significant in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["better"] = names[int((row["difference"] > 0) != ups[row["task"]])] if is_significant else ""
    scores = {name: {row.key: side.scores[row.key] for row in used} for name, side in zip(names, (a, b), strict=True)}
    result = replace(
        compared(of_scores(suite, scores, tasks=tasks, metrics=metrics), 0, 1),
        notes=_notes(a, b, tasks=used),
        parts=pd.DataFrame(rows, columns=list(COLUMNS)),
        higher_is_better=all(ups.values()),
    )
    if len(rows) == 1 and rows[0]["over"] == "items":
        fields = ("over", "n", "difference", "low", "high", "p", "reason")
        return replace(result, about="items", **{name: rows[0][name] for name in fields})
    return result


def _notes(a: ModelScores, b: ModelScores, *, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Returns caveats for comparing the scores of the two on these tasks, in sentences."""
    if b.origin != "computed":
        return comparability(model=a.key, origin=b.origin, tasks=tasks, runs=a.runs, others=None)
    of_both = [{task.key: side.runs[task.key] for task in tasks if task.key in side.runs} for side in (a, b)]
    departures, notes = [unlike(runs) for runs in of_both], []
    for side, runs, own, other in zip((a, b), of_both, departures, departures[::-1], strict=True):
        notes += [f"{side.key}: {sentence}" for sentence in own if sentence not in other]
        notes += mixed(runs, which=f"The runs of {side.key}")
    return tuple(notes)


def _part(task: Task, a: ModelScores, b: ModelScores) -> dict[str, Any]:
    """Returns one task's row of the parts, without `better`."""
    first, second = a.scores[task.key], b.scores[task.key]
    runs, over, found = [side.runs.get(task.key) for side in (a, b)], "items", Difference(value=math.nan)
    if all(runs):
        found = item_difference(*runs)
    if math.isnan(found.value):
        over, gap, reason = "scores", first.value - second.value, found.reason
        if first.stderr and second.stderr:
            found = replace(of_error(gap, math.hypot(first.stderr, second.stderr)), reason=reason)
        else:
            found = Difference(value=gap, reason="; ".join(filter(None, (reason, NO_ERROR))))
    row = {"task": task.key, "category": task.category, "a": first.value, "b": second.value, "over": over}
    return row | vars(found) | {"difference": found.value}


def item_difference(a: StoredRun, b: StoredRun) -> Difference:
    """Returns the paired difference of two runs of one task whose headline is a mean over items, or
    why there is none.
    """
    metric, other = (run.scores[0].metric for run in (a, b))
    contents = {run.run.settings.get("contents") for run in (a, b)}
    frames = [store.read_parquet(run.folder / ITEMS) for run in (a, b)]
    if other != metric:
        reason = f"the one is scored by {metric}, the other by {other}"
    elif None in contents or len(contents) > 1:
        reason = "they did not see the same items"
    elif not all(metric in frame for frame in frames):
        row = row_of(metric)
        reason = f"{row.title if row else metric} is not a mean over items"
    else:
        return paired_difference(*frames, metric=metric)
    return Difference(value=math.nan, reason=reason)
