"""The scores of a plan's runs as a table to read: a row a task, a column a model, intervals and chance beside them."""

from __future__ import annotations

from collections.abc import Sequence

from compute.analysis.intervals import Z95, score_interval
from compute.catalog import Catalog
from compute.engine import run_folders, variants
from compute.engine.plan import Plan, grouped
from compute.engine.run import Outcome
from compute.engine.run_folders import StoredRun
from compute.tables import padded
from compute.types import Metric

ACROSS = 5  # models side by side; more go into a table of their own
NOTHING = "-"


def lines(plan: Plan, outcomes: Sequence[Outcome], *, catalog: Catalog) -> list[str]:
    """A Markdown table for every few models, what its columns mean, then what failed or was skipped."""
    stored = [outcome.stored for outcome in outcomes if outcome.stored is not None]
    category = {task.key: f"{task.benchmark}/{task.category}" for task in plan.tasks}
    main = variants.main_runs(stored, category=category)
    cells = {(run.run.model, run.run.task): run for run in stored if run.run.id in main}
    models = [row.key for row in plan.models if any(model == row.key for model, _ in cells)]
    text: list[str] = []
    for start in range(0, len(models), ACROSS):
        text += ["", *_table(plan, cells, models[start : start + ACROSS], catalog=catalog)]
    if cells:
        text += [
            "",
            "± is half a 95% interval, 1.96 standard errors, ≤ and ≥ its other end; chance is what guessing gets.",
        ]
    text += _compared(stored, cells, category)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    text += ["", *_grouped("Failed", failed)] if failed else []
    text += _grouped("Skipped", [outcome for outcome in outcomes if outcome.state == "skipped"])
    return text


def _table(
    plan: Plan, cells: dict[tuple[str, str], StoredRun], models: Sequence[str], *, catalog: Catalog
) -> list[str]:
    rows = [("task", "metric", "n", "chance", *models)]
    for task in plan.tasks:
        row = [cells.get((model, task.key)) for model in models]
        if any(row):
            metric = catalog.metric(task.metrics[0])
            counts = {run_folders.headline(run).n for run in row if run is not None}
            rows.append(
                (
                    task.key,
                    metric.title,
                    f"{max(counts):,}" if None not in counts else NOTHING,
                    NOTHING if task.chance is None else _number(task.chance, metric),
                    *(NOTHING if run is None else cell(run, metric) for run in row),
                )
            )
    heads, *drawn = padded(rows)
    return [f"| {' | '.join(row)} |" for row in (heads, ["-" * len(head) for head in heads], *drawn)]


def cell(stored: StoredRun, metric: Metric) -> str:
    """One figure in the metric's own unit: `85.1 ± 2.0`, and the share of items where some are missing."""
    score = run_folders.headline(stored)
    text = _number(score.value, metric)
    if score.stderr:
        text += f" ± {_number(Z95 * score.stderr, metric)}"
    elif score.stderr == 0 and metric.proportion and score.n:  # none right, or none wrong
        low, high = score_interval(value=score.value, stderr=0, share_of=score.n)
        text += f" (≤ {_number(high, metric)})" if score.value == 0 else f" (≥ {_number(low, metric)})"
    return text if stored.coverage >= 1 else f"{text} ({stored.coverage:.1%} of items)"


def _number(value: float, metric: Metric) -> str:
    return f"{value * metric.scale:.{metric.digits}f}"


def _compared(
    stored: Sequence[StoredRun], cells: dict[tuple[str, str], StoredRun], category: dict[str, str]
) -> list[str]:
    """Which of two variants is shown, for each model and category that has both."""
    compared: dict[tuple[str, str], set[str]] = {}
    for run in stored:
        if variants.is_compared(run.variant):
            compared.setdefault((run.run.model, category[run.run.task]), set()).add(run.variant)
    text = []
    for (model, of), names in compared.items():
        if len(names) > 1:
            main = {run.variant for (row, task), run in cells.items() if row == model and category[task] == of}
            text.append(
                f"{model}, {of.partition('/')[2]}: {len(names)} variants; shown is the better on average, "
                f"{', '.join(sorted(main))}"
            )
    return text


def _grouped(title: str, outcomes: Sequence[Outcome]) -> list[str]:
    return grouped(title, [(outcome.job.model.key, outcome.reason, outcome.job.name) for outcome in outcomes])
