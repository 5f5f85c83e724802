"""`compute.train`: a dual encoder tuned as a multi-task metric, from Python and for `likeness train`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from compute import models, paths
from compute.catalog import shipped
from compute.engine import named_models, workspace
from compute.engine.settings import DataFolder, Device, Offline
from compute.features import encoding
from compute.interface import training_page as page
from compute.io.files import write_text
from compute.models import hardware as chosen_hardware
from compute.models.files import weights
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.progress import Progress
from compute.tasks.mini import edition
from compute.tasks.source import Source, data_folder
from compute.training import curves, drawn, evaluation, exported, leaks, loop, splits, towers
from compute.training import plan as plans
from compute.training.curves import TaskChange
from compute.training.evaluation import measured
from compute.training.examples import TASKS, ExampleSet, check_task
from compute.training.plan import TuningPlan
from compute.training.run_folder import RunFolder, StepMeasurement, TuningState
from compute.training.splits import Datasets, FileExamples
from compute.training.towers import DualEncoder
from compute.types import BadInput, Model, unknown
from compute.versions import naming_packages

PAGE = "training.html"


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingResult(ShowsItself):
    """A trained model on disk, and what was measured on the way."""

    folder: Path
    plan: TuningPlan
    steps: int  # that were made
    best: int | None  # the step whose weights these are; None: the last
    seconds: float
    measurements: tuple[StepMeasurement, ...]  # the first is the base's
    losses: tuple[Mapping[str, float], ...]  # of every step
    model_options: Mapping[str, Any]  # to load it with, as the base was
    changes: tuple[TaskChange, ...]  # base and tuned model on the suite's own items, which decided nothing

    def frame(self) -> pd.DataFrame:
        """A row a task, averages before their tasks: key, title, side, before, after, difference, low, high.

        Fractions; low and high are the ends of the 95% interval of the difference.
        """
        rows = [{**asdict(row), "difference": row.difference} for row in self.changes]
        return pd.DataFrame(rows, columns=["key", "title", "side", "before", "after", "difference", "low", "high"])

    def shown_table(self) -> ShownTable:
        """Base and tuned model on the suite's own items, below both curves of the validation items."""
        stored = f", of which step {self.best:,} is stored" if self.best is not None else ""
        rows = [
            (row.title if row.is_average else f"· {row.title}", *numbers, Cell(text=ends, marks=[marks]))
            for row in self.changes
            for *numbers, ends in [curves.numbers(row)]
            for marks in [tuple(100 * end for end in (row.low, row.difference, row.high))]
        ]
        return ShownTable(
            heads=("the suite's own items, %", *curves.HEADINGS[1:]),
            rows=rows,
            above=[f"{self.folder.name}: {self.steps:,} steps{stored}; in {self.folder}"],
            key=[name for _, name in page.names(self.measurements, best=self.best)],
            picture=page.plot(self.measurements, best=self.best),
        )

    def plot(self) -> Any:
        """A figure of plotly: both averages on validation items by step."""
        from compute.analysis.figures.curve import training

        return training(page.sides(self.measurements), best=self.best)


@naming_packages()
def train(
    base: str | Path,
    *,
    out: str | Path,
    suite: Annotated[
        str,
        "Whose examples it learns from: mini (drawn) or unisim (the training splits of Table 5, with the "
        "paper's plan).",
    ] = "mini",
    tasks: Annotated[
        Sequence[str] | str,
        "Only these, comma-separated: image-choice, image-for-text, text-for-image, quality.",
    ] = (),
    datasets: Datasets = (),
    data: DataFolder | str = None,
    options: Annotated[
        list[str] | Sequence[str] | Mapping[str, Any],
        "A value of the plan as name=value, such as learning_rate=1e-4 or tune=full; repeatable. There "
        f"are: {', '.join(field.name for field in fields(TuningPlan) if field.name != 'seed')}.",
    ] = (),
    save: Annotated[str, "merged, a whole checkpoint, or adapter, LoRA weights over the base."] = "merged",
    device: Device = "",
    offline: Offline = False,
    report: Callable[[str], None] = lambda line: None,
) -> TrainingResult:
    """Tunes a dual encoder by UniSim's recipe (section 3.3, appendix B.2) and stores it in `out`.

    `base`: a key of the catalogue, a checkpoint's folder, or a hub id, `hub:org/name@revision`. `suite`: whose kind of
    examples it is trained on; none of the suite's own items is. Some of the training splits of Table 5 choose the
    stored step by drawn items out of distribution as well. `options`: values of the plan
    (compute/training/plan.py), also as a mapping; the others are the suite's. `report` takes a line at every
    evaluation. At the end base and tuned model are measured on the suite's own items, and `training.html` in `out`
    shows both curves and that table.

    A call that was interrupted goes on from its last stored step with the same result; one that is complete returns it.
    Raises UnknownKey, BadInput, NotHere, CannotDo, CannotWrite before the first step, among them where another process
    trains in `out`; BadInput where a drawn image is an evaluated one, before the step that would take it; LikenessError
    where a loss is not finite.
    """
    if suite not in plans.SUITES:
        raise BadInput(unknown("training suite", suite, plans.SUITES, listed=True))
    plan = plans.with_options(plans.SUITES[suite], options)
    only = (tasks,) if isinstance(tasks, str) and tasks else tuple(tasks)
    with workspace.as_before():
        encoding.share_cores()
        if offline:
            workspace.stay_offline()
        source = Source.keeping(paths.RESULTS, root=data_folder(data), offline=offline)
        sets, validation = _sets(suite, only, datasets, plan=plan, source=source)
        row = model_row(base, offline=offline)
        exported.check_save(row, save=save, plan=plan)
        encoder = towers.load(row, hardware=chosen_hardware(device), tasks=[part.task for part in sets])
        folder = RunFolder(
            path=Path(out).expanduser(),
            identity={
                "base": {**asdict(weights.by_name(replace(row, revision=""))), "revision": encoder.revision},
                "plan": asdict(plan) | {"save": save},
                "suite": {"name": suite, "drawn": edition()},
                "data": _identity(sets),
                "validation": _identity(validation),
            },
        )
        with folder.opened():
            if (done := folder.finished()) is not None:
                report(f"{folder.path} is complete: nothing was trained")
                state, changes = done
            else:
                source = replace(source, offline=True)
                state, changes = _trained(
                    encoder, sets, validation, folder, plan=plan, save=save, source=source, report=report
                )
    return TrainingResult(
        folder=folder.path,
        plan=plan,
        steps=state.step,
        best=state.best,
        seconds=state.seconds,
        measurements=tuple(state.measurements),
        losses=tuple(folder.losses()),
        model_options=exported.options_beyond_files(row),
        changes=tuple(changes),
    )


def _trained(
    encoder: DualEncoder,
    sets: Sequence[ExampleSet],
    validation: Sequence[FileExamples],
    folder: RunFolder,
    *,
    plan: TuningPlan,
    save: str,
    source: Source,
    report: Callable[[str], None],
) -> tuple[TuningState, list[TaskChange]]:
    """The state at the end of training, and the final table; the model is then in the folder and the run complete."""
    suite, progress = folder.identity["suite"]["name"], Progress()
    evaluated = leaks.evaluated_images(leaks.evaluated_tasks(shipped()), source=source, progress=progress)
    leaks.check([*sets, *validation], evaluated)
    are_drawn = suite == "mini"
    report(evaluated.sentence(are_drawn=are_drawn))
    report("While training, averages are over the validation items that select the stored step, in percent")
    if suite == "unisim":
        report(evaluation.DRAWN_OOD)
    items = evaluation.validation_items(suite, validation)
    state = loop.train(
        encoder,
        sets,
        plan=plan,
        folder=folder,
        measure=lambda: evaluation.record(measured(items, row=encoder.row, encoder=encoder.towers)),
        compare=leaks.guard(evaluated) if are_drawn else None,
        report=report,
        progress=progress,
    )
    exported.write_model(encoder, folder.path, save=save)
    changes = _final_table(
        encoder.row, folder.path, suite=suite, hardware=encoder.hardware, source=source, report=report
    )
    sentence = evaluated.sentence(are_drawn=are_drawn)
    exported.write_card(encoder, folder, state, changes, save=save, plan=plan, compared=sentence)
    if changes:
        write_text(folder.path / PAGE, _page(encoder.row, folder, state, changes, plan=plan))
        report(f"Both curves: {folder.path / PAGE}")
    folder.finish(state, changes)
    return state, changes


def _final_table(
    base: Model, folder: Path, *, suite: str, hardware: Any, source: Source, report: Callable[[str], None]
) -> list[TaskChange]:
    """Base and tuned model on the suite's own items. Tasks whose data is not in `source` are reported and skipped."""
    items, missing = evaluation.suite_items(suite, source=source)
    if missing:
        first = next(iter(missing))
        report(f"{len(missing)} tasks of {suite} are not measured, such as {first}: {missing[first]}")
    if not items:
        return []
    tuned = model_row(folder, offline=True)
    tuned = replace(tuned, options={**tuned.options, **exported.options_beyond_files(base)})
    before, after = (measured(items, row=row, encoder=models.load(row, hardware=hardware)) for row in (base, tuned))
    changes = curves.changes(before=before, after=after)
    for line in curves.lines(changes, title="The suite's own items, %"):
        report(line)
    return changes


def _page(
    base: Model, folder: RunFolder, state: TuningState, changes: Sequence[TaskChange], *, plan: TuningPlan
) -> str:
    suite = folder.identity["suite"]["name"]
    trained = "both towers" if plan.towers == "both" else "its vision tower"
    lead = [f"{base.title}, {trained} tuned by UniSim’s recipe in {state.step:,} steps."]
    lead += [
        f"{row.title} went from {curves.numbers(row)[0]} to {curves.numbers(row)[1]} on the {suite} suite’s own items."
        for row in changes
        if row.is_average
    ]
    if suite == "unisim":
        lead.append(f"{evaluation.DRAWN_OOD}.")
    if state.best == 0:
        lead.append("No step was better than the base on validation items, so what is stored are the base’s weights.")
    return page.page(title=folder.path.name, lead=lead, points=state.measurements, rows=changes, best=state.best)


def _sets(
    suite: str, tasks: Sequence[str], datasets: Sequence[str], *, plan: TuningPlan, source: Source
) -> tuple[Sequence[ExampleSet], list[FileExamples]]:
    """What is trained on, and of the suite unisim what the stored step is chosen by."""
    for task in tasks:
        check_task(task)
    if suite == "mini":
        if datasets:
            raise BadInput("The suite mini has only drawn examples: omit --datasets, or name --suite unisim")
        sets = drawn.training(seed=plan.seed, count=plan.samples)
        return [part for part in sets if part.task in (tasks or TASKS)], []
    named = {task: names for task, names in splits.chosen(datasets).items() if task in (tasks or TASKS)}
    if not any(named.values()):
        raise BadInput("No data set is left to train on: name at least one of a task that is trained")
    return splits.divided(splits.training(named, source=source, seed=plan.seed))


def _identity(sets: Sequence[ExampleSet]) -> list[dict[str, Any]]:
    return [
        {"task": part.task, "dataset": part.dataset, "examples": len(part), "contents": part.identity()}
        for part in sets
    ]


def model_row(base: str | Path, *, offline: bool) -> Model:
    """The row of a model by key, folder or hub id. Raises UnknownKey, BadInput, NotHere."""
    catalog = workspace.catalog_with_own(None, warn=partial(warnings.warn, stacklevel=2))
    text = named_models.of_path(base) if isinstance(base, Path) else base
    (chosen,) = named_models.named([text], catalog=catalog, offline=offline)
    return chosen.row
