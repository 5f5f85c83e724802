"""Formats the scores of a plan's runs as a table: a row per task, a column per model, with intervals and chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compute.analysis.intervals import Z95, bias_note, score_interval
from compute.catalog import Catalog
from compute.engine import run_folders, variants
from compute.engine.plan import Plan, grouped
from compute.engine.run import Outcome, doubted
from compute.engine.run_folders import StoredRun
from compute.io.tables import markdown
from compute.rounding import rounded
from compute.types import TIES_SHOWN, Metric, counted

ACROSS = 5  # models per table; others go into further tables
NOTHING = "-"


def lines(plan: Plan, outcomes: Sequence[Outcome], *, catalog: Catalog) -> list[str]:
    """Returns Markdown tables of a few models each, what the columns mean, then failed and skipped runs."""
    stored = [outcome.stored for outcome in outcomes if outcome.stored is not None]
    main = variants.main_runs(stored, tasks=plan.tasks)
    cells = {key: main[key] for key in ((run.run.model, run.run.task) for run in stored)}
    rows = dict.fromkeys(row.key for row in plan.models)
    models = [key for key in rows if any(model == key for model, _ in cells)]
    text: list[str] = []
    for start in range(0, len(models), ACROSS):
        text += ["", *_table(plan, cells, models[start : start + ACROSS], catalog=catalog)]
    if cells:
        text += [
            "",
            "± is half a 95% interval, 1.96 standard errors, ≤ and ≥ its other end; chance is what guessing gets.",
        ]
    if any(run_folders.headline(run).lower_bound is not None for run in cells.values()):
        text.append("At least: the score if every answer that is missing or cannot be read were wrong.")
    if any(run.tied > TIES_SHOWN for run in cells.values()):
        text.append("Tied: the share of items that exact ties decide.")
    text += [line for run in cells.values() for line in how_answers_were_read(run)]
    text += [line for run in cells.values() for line in doubted(run)]
    text += _compared(plan, stored, cells)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    text += ["", *_grouped("Failed", failed), *traced(failed)] if failed else []
    text += _grouped("Skipped", [outcome for outcome in outcomes if outcome.state == "skipped"])
    left = sum(outcome.state == "stopped" for outcome in outcomes)
    text += [f"{counted(left, 'run')} left: the same command makes them"] if left else []
    return text


def traced(failed: Sequence[Outcome]) -> list[str]:
    """Returns where the tracebacks of failed runs are: the first one's file, and how many others have one."""
    files = [outcome.trace for outcome in failed if outcome.trace is not None]
    if not files:
        return []
    others = len(files) - 1
    return [f"Traceback: {files[0]}{f', and {others:,} more in the folders of the other runs' if others else ''}"]


def _table(
    plan: Plan, cells: Mapping[tuple[str, str], StoredRun], models: Sequence[str], *, catalog: Catalog
) -> list[str]:
    rows = [("task", "metric", "n", "chance", *models)]
    for task in plan.tasks:
        row = [cells.get((model, task.key)) for model in models]
        if any(row):
            metric = catalog.metric(task.metrics[0])
            counts = [run_folders.headline(run).n for run in row if run is not None]
            rows.append(
                (
                    task.key,
                    metric.title,
                    _counted(counts),
                    NOTHING if task.chance is None else _number(task.chance, metric),
                    *(NOTHING if run is None else cell(run, metric) for run in row),
                )
            )
    return markdown(rows)


def _counted(counts: Sequence[int | None]) -> str:
    """Returns how many items a row's scores cover: `160`, or `88-160` if judges left some unanswered."""
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return NOTHING
    low, high = min(known), max(known)
    return f"{high:,}" if low == high else f"{low:,}-{high:,}"


def cell(stored: StoredRun, metric: Metric) -> str:
    """Returns one score in the metric's unit with notes: `85.1 ± 2.0`, or `85.1 (82.0 to 87.5)` if it has its own
    interval.
    """
    notes = cell_notes(stored, metric)
    return cell_text(stored, metric) + (f" ({', '.join(notes)})" if notes else "")


def cell_text(stored: StoredRun, metric: Metric) -> str:
    """Returns the score without notes."""
    score = run_folders.headline(stored)
    text = _number(score.value, metric)
    if score.low is not None and score.high is not None:
        text += f" ({_number(score.low, metric)} to {_number(score.high, metric)})"
    elif score.stderr:
        text += f" ± {_number(Z95 * score.stderr, metric)}"
    elif score.stderr == 0 and metric.proportion and score.n:  # none right, or none wrong
        low, high = score_interval(value=score.value, stderr=0, share_of=score.n)
        text += f" (≤ {_number(high, metric)})" if score.value == 0 else f" (≥ {_number(low, metric)})"
    return text


def cell_notes(stored: StoredRun, metric: Metric) -> list[str]:
    """Returns notes on a score: item coverage below 100%, the score without a known bias, a judge's lower bound, the
    share of items decided by exact ties if over 1%, and whether the run is doubtful.
    """
    score = run_folders.headline(stored)
    notes = [f"{rounded(stored.coverage, 1, scale=100)}% of items"] if stored.coverage < 1 else []
    notes += [note] if (note := bias_note(score.value, score.bias, digits=metric.digits, scale=metric.scale)) else []
    notes += [f"at least {_number(score.lower_bound, metric)}"] if score.lower_bound is not None else []
    notes += [f"{rounded(stored.tied, 1, scale=100)}% tied"] if stored.tied > TIES_SHOWN else []
    notes += ["doubtful"] if stored.doubts else []
    return notes


def how_answers_were_read(stored: StoredRun) -> list[str]:
    """Returns how many of a judge's answers state no score from 1 to 10, by reason, and how many the lenient reader
    adds; empty if all do, or if no answers were requested.

    PairBench's MMScore counts such answers as a label of their own, so the score alone does not show them.
    """
    parts = [part for part in stored.run.settings.get("found", {}).values() if "refused" in part]
    counts = {name: sum(part.get(name, 0) for part in parts) for name in ("refused", "truncated", "invalid")}
    answers, of = sum(part["asked"] - part["errors"] for part in parts), f"{stored.run.model}, {stored.run.task}"
    lines = []
    if added := [part["added"] for part in parts if "added" in part]:
        share = rounded(sum(added) / answers, 1, scale=100)
        lines = [f"{of}: the lenient reader adds {sum(added):,} of {answers:,} answers ({share}%)"]
    reasons = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    total = sum(counts.values())
    return [f"{of}: {total:,} of {answers:,} answers state no score ({reasons})", *lines] if total else lines


def _number(value: float, metric: Metric) -> str:
    return rounded(value, metric.digits, scale=metric.scale)


def _compared(plan: Plan, stored: Sequence[StoredRun], cells: Mapping[tuple[str, str], StoredRun]) -> Iterator[str]:
    """Yields which of several variants is shown, for each model and category with more than one."""
    category = {task.key: (task.benchmark, task.category) for task in plan.tasks}
    compared: dict[tuple[str, tuple[str, str]], tuple[set[str], set[str]]] = {}
    for run in stored:
        if run.variant in variants.COMPARED:
            names, main = compared.setdefault((run.run.model, category[run.run.task]), (set(), set()))
            names.add(run.variant)
            main.add(cells[run.run.model, run.run.task].variant)
    for (model, (_, of)), (names, main) in compared.items():
        if len(names) > 1:
            shown = ", ".join(sorted(main))
            yield f"{model}, {of}: {len(names)} variants; shown is the better on average, {shown}"


def _grouped(title: str, outcomes: Sequence[Outcome]) -> list[str]:
    return grouped(title, [(outcome.job.model.key, outcome.reason, outcome.job.name) for outcome in outcomes])
