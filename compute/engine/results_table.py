"""The scores of a plan's runs as a table to read: a row a task, a column a model, intervals and chance beside them."""

from __future__ import annotations

from collections.abc import Sequence

from compute.analysis.intervals import Z95, score_interval
from compute.catalog import Catalog
from compute.engine import run_folders as runs
from compute.engine import variants as ways
from compute.engine.plan import Plan
from compute.engine.run import Outcome
from compute.engine.run_folders import Kept
from compute.types import Metric

ACROSS = 5  # models side by side; more go into a table of their own
NOTHING = "-"


def lines(plan: Plan, outcomes: Sequence[Outcome], *, catalog: Catalog) -> list[str]:
    """A table in Markdown for every few models, what the columns mean, then what fell out."""
    kept = [one.kept for one in outcomes if one.kept is not None]
    category = {task.key: f"{task.benchmark}/{task.category}" for task in plan.tasks}
    shown = ways.main_ones(kept, category=category)
    cells = {(one.run.model, one.run.task): one for one in kept if one.run.id in shown}
    models = [row.key for row in plan.models if any(model == row.key for model, _ in cells)]
    said: list[str] = []
    for start in range(0, len(models), ACROSS):
        said += ["", *_table(plan, cells, models[start : start + ACROSS], catalog=catalog)]
    if cells:
        said += [
            "",
            "± is half a 95% interval, 1.96 standard errors, ≤ and ≥ its other end; chance is what guessing gets.",
        ]
    said += _asked_twice(kept, cells, category)
    failed = [one for one in outcomes if one.state == "failed"]
    said += ["", *_grouped("Failed", failed)] if failed else []
    said += _grouped("Left out", [one for one in outcomes if one.state == "left out"])
    return said


def _table(plan: Plan, cells: dict[tuple[str, str], Kept], models: Sequence[str], *, catalog: Catalog) -> list[str]:
    rows = [("task", "metric", "n", "chance", *models)]
    for task in plan.tasks:
        found = [cells.get((model, task.key)) for model in models]
        if any(found):
            metric = catalog.metric(task.metrics[0])
            counts = {runs.headline(one).n for one in found if one is not None}
            rows.append(
                (
                    task.key,
                    metric.title,
                    f"{max(counts):,}" if None not in counts else NOTHING,
                    NOTHING if task.chance is None else _number(task.chance, metric),
                    *(NOTHING if one is None else cell(one, metric) for one in found),
                )
            )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    drawn = [f"| {' | '.join(value.ljust(width) for value, width in zip(row, widths, strict=True))} |" for row in rows]
    return [drawn[0], f"| {' | '.join('-' * width for width in widths)} |", *drawn[1:]]


def cell(kept: Kept, metric: Metric) -> str:
    """One figure in the metric's own unit: `85.1 ± 2.0`, and the share of items where some are missing."""
    score = runs.headline(kept)
    text = _number(score.value, metric)
    if score.stderr:
        text += f" ± {_number(Z95 * score.stderr, metric)}"
    elif score.stderr == 0 and metric.proportion and score.n:  # none right, or none wrong
        low, high = score_interval(value=score.value, stderr=0, share_of=score.n)
        text += f" (≤ {_number(high, metric)})" if score.value == 0 else f" (≥ {_number(low, metric)})"
    return text if kept.coverage >= 1 else f"{text} ({kept.coverage:.1%} of items)"


def _number(value: float, metric: Metric) -> str:
    return f"{value * metric.scale:.{metric.digits}f}"


def _asked_twice(kept: Sequence[Kept], cells: dict[tuple[str, str], Kept], category: dict[str, str]) -> list[str]:
    """Which of two ways of asking is shown, for each model and category that was asked in both."""
    asked: dict[tuple[str, str], set[str]] = {}
    for one in kept:
        if ways.is_way(one.variant):
            asked.setdefault((one.run.model, category[one.run.task]), set()).add(one.variant)
    said = []
    for (model, of), variants in asked.items():
        shown = {one.variant for (row, task), one in cells.items() if row == model and category[task] == of}
        if len(variants) > 1:
            said.append(
                f"{model}, {of.partition('/')[2]}: asked in {len(variants)} ways; shown is the better on "
                f"average, {', '.join(sorted(shown))}"
            )
    return said


def _grouped(title: str, outcomes: Sequence[Outcome]) -> list[str]:
    """One line a model and reason, with the tasks it holds for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in outcomes:
        reasons.setdefault((one.job.model.key, one.reason), []).append(one.job.name)
    return [f"{title}: {model} on {', '.join(names)}: {reason}" for (model, reason), names in reasons.items()]
