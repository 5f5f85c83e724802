"""The end of a training run: base and tuned model on the suite's own items, as a table and as a page of one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from compute import drafts, models
from compute.interface.pages import training as training_page
from compute.interface.pages.training import CurvePoint
from compute.models.adapter import Encoder, Hardware
from compute.tasks.source import Source
from compute.training.unisim import curves, held_out
from compute.training.unisim.checkpoints import FOLDER
from compute.training.unisim.curves import TaskChange
from compute.training.unisim.evaluation import HeldOutTask, measured
from compute.training.unisim.results import TrainingResult, add_suite_table
from compute.types import BadInput, Model

EVALUATION, PAGE = "evaluation.json", "training.html"


def added(
    result: TrainingResult,
    *,
    base: Model,
    tuned: Model,
    suite: str,
    source: Source,
    hardware: Hardware,
    report: Callable[[str], None],
) -> TrainingResult:
    """The result with the table of changes, which is reported, stored, drawn and put into the model's card; a stored
    table is made again where there are tasks now that it lacks.

    Tasks whose data is not in `source` are reported and left out; where it has none, there is no table.
    """
    stored = result.folder / FOLDER / EVALUATION
    rows = _stored(stored)
    items, missing = held_out.evaluation_items(suite, source=source)
    measured_before = {row.key for row in rows}
    if missing := {key: reason for key, reason in missing.items() if key not in measured_before}:
        first = next(iter(missing))
        report(f"{len(missing)} tasks of {suite} are not measured, such as {first}: {missing[first]}")
    if {part.task.key for part in items} - measured_before:
        rows = compared(base, tuned, items=items, hardware=hardware)
        with drafts.replacing(stored) as draft:
            draft.write_text(json.dumps(curves.record(rows), indent=1) + "\n", encoding="utf-8")
    if not rows:
        return result
    add_suite_table(result.folder, rows, suite=suite)
    for line in curves.lines(rows, title="The suite's own items, %"):
        report(line)
    if result.measurements:
        with drafts.replacing(result.folder / PAGE) as draft:
            draft.write_text(_page(result, rows, base=base, suite=suite), encoding="utf-8")
        report(f"Both curves: {result.folder / PAGE}")
    return replace(result, changes=tuple(rows))


def compared(base: Model, tuned: Model, *, items: Sequence[HeldOutTask], hardware: Hardware) -> list[TaskChange]:
    """Base and tuned model on the suite's own items."""
    before, after = (
        measured(items, row=each, encoder=cast(Encoder, models.load(each, hardware=hardware))) for each in (base, tuned)
    )
    return curves.changes(before=before, after=after)


def _stored(path: Path) -> list[TaskChange]:
    if not path.is_file():
        return []
    try:
        return curves.from_record(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is damaged ({error}). Remove it, and the same command makes it again") from error


def _page(result: TrainingResult, rows: list[TaskChange], *, base: Model, suite: str) -> str:
    core, ood = (next((row for row in rows if row.key == side), None) for side in curves.TITLES)
    towers = "both towers" if result.plan.towers == "both" else "its vision tower"
    lead = [f"{base.title}, {towers} tuned by UniSim’s recipe in {result.steps:,} steps."]
    if core and ood:
        lead.append(
            f"On the {suite} suite’s own items the core average went from {curves.numbers(core)[0]} to "
            f"{curves.numbers(core)[1]}, the out-of-distribution average from {curves.numbers(ood)[0]} to "
            f"{curves.numbers(ood)[1]}."
        )
    if suite == "unisim":
        lead.append(f"{held_out.DRAWN_OOD}.")
    if result.best == 0:
        lead.append("No step was better than the base on validation items, so what is stored are the base’s weights.")
    if result.stopped:
        lead.append(f"Training stopped early: {result.stopped}.")
    return training_page.page(
        title=result.folder.name,
        lead=lead,
        points=[CurvePoint(step=each.step, core=each.core, ood=each.ood) for each in result.measurements],
        rows=rows,
        best=result.best,
    )
