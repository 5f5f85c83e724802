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
from compute.engine import named_models, workspace
from compute.engine.settings import DataFolder, Device, Offline
from compute.features import encoding
from compute.io.files import write_text
from compute.models import hardware as chosen_hardware
from compute.models.files import weights
from compute.pages import one_file
from compute.pages.curves import curves as drawn_curves
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.progress import Progress
from compute.rounding import rounded
from compute.tasks.mini import edition
from compute.tasks.source import Source, data_folder
from compute.training import curves, evaluation, exported, leaks, loop, splits, towers
from compute.training.curves import TaskChange
from compute.training.evaluation import measured
from compute.training.examples import Examples
from compute.training.plan import PAPER, TuningPlan, with_options
from compute.training.run_folder import RunFolder, StepMeasurement, TuningState
from compute.training.splits import Datasets, Suite
from compute.training.towers import DualEncoder
from compute.types import Model
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
            key=[name for _, name in names(self.measurements, best=self.best)],
            picture=plot(self.measurements, best=self.best),
        )

    def plot(self) -> Any:
        """A figure of plotly: both averages on validation items by step."""
        from compute.analysis.figures.curve import training

        return training(sides(self.measurements), best=self.best)


@naming_packages()
def train(
    base: str | Path,
    *,
    out: str | Path,
    suite: Suite = "unisim",
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

    `base`: a key of the catalogue, a checkpoint's folder, or a hub id, `hub:org/name@revision`. It is trained on the
    splits of Table 5 in `data`; some of their examples choose the stored step. `options`: values of the plan
    (compute/training/plan.py), also as a mapping; the others are the paper's. `report` takes a line at every
    evaluation. At the end base and tuned model are measured on the suite's own items, and `training.html` in `out`
    shows both curves and that table.

    A call that was interrupted goes on from its last stored step with the same result; one that is complete returns it.
    Raises UnknownKey, BadInput, NotHere, CannotDo, CannotWrite before the first step, among them where another process
    trains in `out`, or an image of the splits is an evaluated one; LikenessError where a loss is not finite.
    """
    import torch  # noqa: F401 (where it is missing, that is said before data are asked for)

    plan = with_options(PAPER, options)
    rows = splits.chosen(datasets, suite=suite, tasks=(tasks,) if isinstance(tasks, str) and tasks else tasks)
    with workspace.as_before():
        encoding.share_cores()
        if offline:
            workspace.stay_offline()
        source = Source.keeping(paths.RESULTS, root=data_folder(data), offline=offline)
        sets, validation = splits.divided(splits.training(rows, source=source, seed=plan.seed))
        row = model_row(base, offline=offline)
        exported.check_save(row, save=save, plan=plan)
        encoder = towers.load(row, hardware=chosen_hardware(device), tasks=[part.task for part in sets])
        folder = RunFolder(
            path=Path(out).expanduser(),
            identity={
                "suite": {"name": suite, "drawn": edition()},
                "base": {**asdict(weights.by_name(replace(row, revision=""))), "revision": encoder.revision},
                "plan": asdict(plan) | {"save": save},
                "data": [part.record() for part in sets],
                "validation": [part.record() for part in validation],
            },
        )
        with folder.opened():
            if folder.finished():
                report(f"{folder.path} is complete: nothing was trained")
            else:
                source = replace(source, offline=True)
                _trained(encoder, sets, validation, folder, plan=plan, save=save, source=source, report=report)
    state, changes = folder.finished()
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
    sets: Sequence[Examples],
    validation: Sequence[Examples],
    folder: RunFolder,
    *,
    plan: TuningPlan,
    save: str,
    source: Source,
    report: Callable[[str], None],
) -> None:
    """Trains, writes the model, measures it, and marks the run as complete."""
    base, progress = encoder.row, Progress()
    compared = leaks.check([*sets, *validation], source=source, progress=progress)
    report(compared)
    report("While training, averages are over the validation items that select the stored step, in percent")
    report(evaluation.DRAWN_OOD)
    chosen_by = evaluation.validation_items(validation)
    state = loop.train(
        encoder,
        sets,
        plan=plan,
        folder=folder,
        measure=lambda: evaluation.record(measured(chosen_by, row=base, encoder=encoder.towers)),
        report=report,
        progress=progress,
    )
    exported.write_model(encoder, folder.path, save=save)
    items, missing = evaluation.suite_items(source=source)
    if missing:
        first = next(iter(missing))
        report(f"{len(missing)} tasks of unisim are not measured, such as {first}: {missing[first]}")
    changes = []
    if items:
        tuned = model_row(folder.path, offline=True)
        tuned = replace(tuned, options={**tuned.options, **exported.options_beyond_files(base)})
        before, after = (
            measured(items, row=row, encoder=models.load(row, hardware=encoder.hardware)) for row in (base, tuned)
        )
        changes = curves.changes(before=before, after=after)
        for line in curves.lines(changes, title="The suite's own items, %"):
            report(line)
    exported.write_card(encoder, folder, state, changes, save=save, plan=plan, compared=compared)
    if changes:
        write_text(folder.path / PAGE, page(base.title, folder.path.name, plan, state, changes))
        report(f"Both curves: {folder.path / PAGE}")
    folder.finish(state, changes)


def model_row(base: str | Path, *, offline: bool) -> Model:
    """The row of a model by key, folder or hub id. Raises UnknownKey, BadInput, NotHere."""
    catalog = workspace.catalog_with_own(None, warn=partial(warnings.warn, stacklevel=2))
    text = named_models.of_path(base) if isinstance(base, Path) else base
    (chosen,) = named_models.named([text], catalog=catalog, offline=offline)
    return chosen.row


def page(base: str, name: str, plan: TuningPlan, state: TuningState, rows: Sequence[TaskChange]) -> str:
    """The page of the model `name` as text. base: its base's title; rows: the final table, averages before tasks."""
    trained = "both towers" if plan.towers == "both" else "its vision tower"
    lead = [f"{base}, {trained} tuned by UniSim’s recipe in {state.step:,} steps."]
    lead += [
        f"{row.title} went from {curves.numbers(row)[0]} to {curves.numbers(row)[1]} on the unisim suite’s own items."
        for row in rows
        if row.is_average
    ]
    lead.append(f"{evaluation.DRAWN_OOD}.")
    if state.best == 0:
        lead.append("No step was better than the base on validation items, so what is stored are the base’s weights.")
    points, best = state.measurements, state.best
    return one_file.render(
        "training.html",
        styles=("training.css",),
        title=name,
        lead=lead,
        plot=plot(points, best=best),
        names=names(points, best=best),
        best="" if best is None else f"{best:,}",
        headings=curves.HEADINGS,
        rows=[(row, curves.numbers(row)) for row in rows],
        points=[
            (
                f"{point.step:,}",
                *(rounded(value, 1, scale=100) if value is not None else "" for value in (point.core, point.ood)),
            )
            for point in points
        ],
    )


def plot(points: Sequence[StepMeasurement], *, best: int | None) -> Any:
    """Both curves as SVG; a side that was not measured has none."""
    return drawn_curves(
        {place: list(side.items()) for place, side in enumerate(sides(points).values()) if side},
        x="training step",
        y="percent",
        digits=1,
        bounds=(0, 100),
        marked=best,
        based=True,
        label="Core and out-of-distribution averages by training step",
    )


def names(points: Sequence[StepMeasurement], *, best: int | None) -> list[tuple[int, str]]:
    """Of each curve the number of its colour, and its name with the value of the step that was stored."""
    return [
        (place, f"{title} {rounded(side.get(best, side[max(side)]), 1)}")
        for place, (title, side) in enumerate(sides(points).items())
        if side
    ]


def sides(points: Sequence[StepMeasurement]) -> dict[str, dict[int, float]]:
    """Averages in percent by step, of each side that was measured there, by the side's title."""
    return {
        title: {point.step: 100 * value for point in points if (value := getattr(point, side)) is not None}
        for side, title in curves.TITLES.items()
    }
