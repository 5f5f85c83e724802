"""`compute.train`: tunes a dual encoder as a multi-task metric, from Python and for `likeness train`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from compute import paths
from compute.engine import named_models, workspace
from compute.engine.workspace import DataFolder, Device, Offline
from compute.features import encoding
from compute.io.files import write_text
from compute.models import hardware
from compute.pages import one_file
from compute.pages.curves import curves
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.progress import Progress
from compute.rounding import rounded
from compute.tasks.mini import edition
from compute.tasks.source import Source, data_folder
from compute.training import evaluation, exported, splits, towers
from compute.training.evaluation import TaskChange, measured, numbers
from compute.training.plan import PAPER, TuningPlan, with_options
from compute.training.run_folder import RunFolder, StepMeasurement
from compute.training.splits import Datasets
from compute.types import Model
from compute.versions import naming_packages

PAGE = "training.html"


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingResult(ShowsItself):
    """A trained model on disk, and the measurements made during training."""

    folder: Path
    plan: TuningPlan
    steps: int  # that were made
    best: int | None  # the step of the stored weights; None: the last
    seconds: float
    measurements: tuple[StepMeasurement, ...]  # the first is the base's
    losses: tuple[Mapping[str, float], ...]  # of every step
    model_options: Mapping[str, Any]  # to load it with, as for the base
    changes: tuple[TaskChange, ...]  # base and tuned model on the suite's items, which were not used for any choice

    def frame(self) -> pd.DataFrame:
        """Returns a row per task, averages before their tasks: key, title, side, before, after, difference, low, high.

        Values are fractions; low and high are the ends of the 95% interval of the difference.
        """
        rows = [{**asdict(row), "difference": row.difference} for row in self.changes]
        return pd.DataFrame(rows, columns=["key", "title", "side", "before", "after", "difference", "low", "high"])

    def shown_table(self) -> ShownTable:
        """Returns base and tuned model on the suite's items."""
        stored = f", of which step {self.best:,} is stored" if self.best is not None else ""
        rows = [
            (row.title if row.is_average else f"· {row.title}", *cells, Cell(text=ends, marks=[marks]))
            for row in self.changes
            for *cells, ends in [numbers(row)]
            for marks in [tuple(100 * end for end in (row.low, row.difference, row.high))]
        ]
        return ShownTable(
            heads=("the suite's own items, %", *evaluation.HEADINGS[1:]),
            rows=rows,
            above=[f"{self.folder.name}: {self.steps:,} steps{stored}; in {self.folder}"],
        )

    def plot(self) -> Any:
        """Returns a plotly figure: both averages on validation items by step."""
        from compute.analysis.figures.curve import training

        return training(self._curves(), best=self.best)

    def _curves(self) -> dict[str, dict[int, float]]:
        """Returns averages in percent by step for each side that was measured, by the side's title."""
        return {
            title: {each.step: 100 * value for each in self.measurements if (value := getattr(each, side)) is not None}
            for side, title in evaluation.TITLES.items()
        }

    def _curve_names(self) -> list[tuple[int, str]]:
        """Returns each curve's colour index, and its name with the value at the stored step."""
        return [
            (place, f"{title} {rounded(side.get(self.best, side[max(side)]), 1)}")
            for place, (title, side) in enumerate(self._curves().items())
            if side
        ]


@naming_packages()
def train(
    base: str | Path,
    *,
    out: str | Path,
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
    splits of Table 5 in `data`; some of their examples select the stored step. `options`: values of the plan
    (compute/training/plan.py), also as a mapping; the others are the paper's. `report` is called with a line at every
    evaluation. At the end, base and tuned model are measured on the suite's items, and `training.html` in `out` shows
    both curves and that table.

    An interrupted call resumes from its last stored step with the same result; a complete one returns it. Raises
    UnknownKey, BadInput, NotHere, CannotDo or CannotWrite before the first step, for example if another process trains
    in `out` or an image of the splits is an evaluated one; LikenessError if a loss is not finite.
    """
    import torch  # noqa: F401 (if it is missing, that is said before data are asked for)

    plan = with_options(PAPER, options)
    rows = splits.chosen(datasets, tasks=(tasks,) if isinstance(tasks, str) and tasks else tasks)
    with workspace.as_before():
        encoding.share_cores()
        if offline:
            workspace.stay_offline()
        source = Source(root=data_folder(data), offline=offline, cache=paths.RESULTS)
        sets, validation = splits.divided(splits.training(rows, source=source, seed=plan.seed))
        row = model_row(base, offline=offline)
        exported.check_save(row, save=save, plan=plan)
        encoder = towers.load(row, hardware=hardware(device), tasks=[part.task for part in sets])
        folder = RunFolder(
            path=Path(out).expanduser(),
            identity={
                "suite": {"name": "unisim", "drawn": edition()},
                **exported.identity(encoder, sets, save=save, plan=plan),
                "validation": [part.record() for part in validation],
            },
        )
        source = replace(source, offline=True)
        with folder.opened():
            if folder.finished():
                report(f"{folder.path} is complete: nothing was trained")
            else:
                compared = splits.check_leaks([*sets, *validation], source=source)
                report(compared)
                report("While training, averages are over the validation items that select the stored step, in percent")
                report(evaluation.DRAWN_OOD)
                chosen_by = evaluation.validation_items(validation)
                exported.tuned(
                    encoder,
                    sets,
                    plan=plan,
                    save=save,
                    folder=folder,
                    measure=lambda: evaluation.record(measured(chosen_by, row=row, encoder=encoder.towers)),
                    held_out=partial(evaluation.suite_items, source=source, report=report),
                    compared=compared,
                    report=report,
                    progress=Progress(),
                )
    state, changes = folder.finished()
    result = TrainingResult(
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
    if changes and not (path := folder.path / PAGE).exists():
        report(str(result))
        write_text(path, page(row.title, folder.path.name, result))
        report(f"Both curves: {path}")
    return result


def model_row(base: str | Path, *, offline: bool) -> Model:
    """Returns the row of a model by key, folder or hub id. Raises UnknownKey, BadInput, NotHere."""
    catalog = workspace.catalog_with_own(None, warn=partial(warnings.warn, stacklevel=2))
    text = named_models.of_path(base) if isinstance(base, Path) else base
    (chosen,) = named_models.named([text], catalog=catalog, offline=offline)
    return chosen.row


def page(base: str, name: str, result: TrainingResult) -> str:
    """Returns the results and costs of training the model `name` as one HTML file: both curves and the final table.

    base: its base's title.
    """
    return one_file.render(
        "training.html",
        styles=("training.css",),
        title=name,
        base=base,
        result=result,
        about=evaluation.DRAWN_OOD,
        plot=curves(
            {place: list(side.items()) for place, side in enumerate(result._curves().values()) if side},
            marked=result.best,
        ),
        names=result._curve_names(),
        headings=evaluation.HEADINGS,
        rows=[(row, numbers(row)) for row in result.changes],
        percent=lambda share: "" if share is None else rounded(share, 1, scale=100),
    )
