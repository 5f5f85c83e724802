"""`compute.train`: a dual encoder tuned as a multi-task metric, from Python and for `python -m compute train`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import paths
from compute.catalog import Catalog, shipped
from compute.engine import named_models, workspace
from compute.features import encoding
from compute.interface import training_report
from compute.models import hardware as chosen_hardware
from compute.models.files import weights
from compute.progress import Progress
from compute.tasks.mini import edition
from compute.tasks.source import Source, data_folder
from compute.training.unisim import held_out, loop, lora, results, trackers, trainable
from compute.training.unisim import plan as plans
from compute.training.unisim.checkpoints import RunFolder, data_identity
from compute.training.unisim.data import leaks, mini, splits
from compute.training.unisim.data.examples import Content, ExampleSet, by_task, check_task, is_drawn
from compute.training.unisim.evaluation import Evaluator, HeldOutTask
from compute.training.unisim.results import TrainingResult
from compute.training.unisim.steps import preserving
from compute.types import BadInput, LikenessError, suggestion

if TYPE_CHECKING:
    from compute.training.unisim.checkpoints import TuningState
    from compute.training.unisim.data.splits import FileExamples
    from compute.training.unisim.plan import TuningPlan
    from compute.training.unisim.trackers import Tracker
    from compute.types import Model

# What decides the drawn items of validation, by suite.
VALIDATION = {
    "mini": {"drawn": edition(), "validation": mini.VALIDATION_COUNT},
    "unisim": {"drawn": edition()},
}


def train(
    base: str | Path,
    *,
    out: str | Path,
    suite: str = "mini",
    tasks: str | Sequence[str] = (),
    datasets: Sequence[str] = (),
    data: str | Path | None = None,
    examples: Sequence[ExampleSet] | None = None,
    options: Mapping[str, Any] | Sequence[str] = (),
    save: str = "merged",
    track: str = "",
    device: str = "",
    offline: bool = False,
    final: bool = True,
    report: Callable[[str], None] | None = None,
) -> TrainingResult:
    """Tunes a dual encoder by UniSim's recipe (section 3.3, appendix B.2) and stores it in `out`.

    `base`: a key of the catalogue, a checkpoint's folder, or a hub id, `hub:org/name@revision`. `suite`: whose kind of
    examples it is trained on; none of the suite's own items is. `mini`'s are drawn; `unisim`'s are the training splits
    of Table 5, some of which choose the stored step beside drawn items out of distribution, with the paper's plan.
    `tasks`: only these of image-choice, image-for-text, text-for-image and quality. `datasets`: those of a task, as
    `image-for-text=hpdv2,magicbrush`. `data`: a folder of data sets as <org>/<name>/, searched before the hub's
    cache. `examples`: what to train on instead of all that. `options`: values of the plan
    (compute/training/unisim/plan.py), as a mapping or as `name=value`; the others are the suite's. `save`: merged, a
    whole checkpoint, or adapter, LoRA weights alone. `track`: tensorboard, or another tracker of accelerate. `report`
    takes a line at every evaluation. At the end base and tuned model are measured on the suite's own items, and
    `training.html` in `out` shows both curves and that table; `final=False` leaves that out.

    A call that was interrupted goes on from its last stored step with the same result; one that is complete returns it.
    Raises UnknownKey, BadInput, NotHere, CannotDo, CannotWrite before the first step, among them where another process
    trains in `out`; BadInput where a drawn image is an evaluated one, before the step that would take it; LikenessError
    where a process that draws or prepares images was killed, and where a loss is not finite: `out` is then a model with
    the best weights until that step.
    """
    report = report or (lambda line: None)
    if suite not in plans.SUITES:
        raise BadInput(
            f"Nothing to train on for the suite {suite!r}.{suggestion(suite, plans.SUITES)} "
            f"Choose {' or '.join(plans.SUITES)}"
        )
    plan = plans.with_options(plans.SUITES[suite], options)
    if examples is not None:
        _check_examples(examples, suite=suite, chosen=bool(tasks or datasets or data))
    trackers.check(track)
    with workspace.as_before():
        encoding.share_cores()
        if offline:
            workspace.stay_offline()
        source = Source.keeping(paths.RESULTS, root=data_folder(data), offline=offline)
        validation: list[FileExamples] = []  # of the splits, part of which is held out; mini's are drawn
        sets: Sequence[ExampleSet]
        if examples is not None:
            sets = list(examples)
        else:
            only = (tasks,) if isinstance(tasks, str) and tasks else tuple(tasks)
            sets, validation = _sets(suite, only, datasets, plan=plan, source=source)
        source = replace(source, offline=True)
        kinds = list(by_task(sets))
        hardware = chosen_hardware(device)
        row = model_row(base, offline=offline)
        trainable.check(row, tasks=kinds)
        encoder = trainable.load(row, hardware=hardware, tasks=kinds)
        results.check_save(encoder, save=save, plan=plan)
        lora.check(encoder, plan)
        loop.check_parallel(encoder, plan)
        path = Path(out).expanduser()
        identity = {
            "base": {**asdict(weights.by_name(replace(row, revision=""))), "revision": encoder.revision},
            "plan": asdict(plan) | {"save": save, "terms": preserving.VERSION},
            "suite": {"name": suite, **VALIDATION[suite]},
        }
        RunFolder(path=path, identity=identity).compare()  # before all images are read for their keys
        progress = Progress()
        if validation:
            sets = splits.without_images_of(sets, validation, progress)
        folder = RunFolder(
            path=path,
            identity=identity
            | {"data": data_identity(sets, progress), "validation": data_identity(validation, progress)},
        )
        folder.open()
        with folder.reserved():
            if (state := folder.finished()) is None:
                tracker = trackers.opened(track, folder=folder.training, settings=asdict(plan))
                try:
                    state = _tuned(
                        encoder,
                        sets,
                        validation,
                        folder,
                        suite=suite,
                        source=source,
                        plan=plan,
                        save=save,
                        tracker=tracker,
                        report=report,
                        progress=progress,
                    )
                finally:
                    if tracker is not None:
                        tracker.close()
            else:
                report(f"{folder.path} is complete: nothing was trained")
            result = results.result(folder, state, base=row, plan=plan)
            if not final:
                return result
            tuned = model_row(folder.path, offline=True)
            tuned = replace(tuned, options={**tuned.options, **result.model_options})
            return training_report.added(
                result, base=row, tuned=tuned, suite=suite, source=source, hardware=hardware, report=report
            )


def _tuned(
    encoder: trainable.DualEncoder,
    sets: Sequence[ExampleSet],
    validation: Sequence[FileExamples],
    folder: RunFolder,
    *,
    suite: str,
    source: Source,
    plan: TuningPlan,
    save: str,
    tracker: Tracker | None,
    report: Callable[[str], None],
    progress: Progress,
) -> TuningState:
    """The state at the end of training; the model is then in the folder, and the run marked as complete.

    Of a run that is stopped by a loss that is not finite, the best model until then is: raises LikenessError, and the
    same call goes on from the state before that step.
    """
    folder.go_on_with({"device": encoder.hardware.device.split(":")[0], "precision": loop.precision(encoder, plan)})
    check = _leak_check(sets, validation, source, folder=folder, report=report)
    report("While training, averages are of validation items, which choose the stored step, in percent")
    if suite == "unisim":
        report(held_out.DRAWN_OOD)
    try:
        state = loop.train(
            encoder,
            sets,
            plan=plan,
            folder=folder,
            evaluator=_evaluator(held_out.validation_items(suite, validation), encoder, plan=plan),
            penalties=preserving.penalties(plan.keep, plan.strength),
            compare=check.compare,
            tracker=tracker,
            report=report,
            progress=progress,
        )
    except loop.Diverged as error:
        if error.state is None:
            raise
        stopped = replace(error.state, stopped=error.reason)
        results.write(encoder, folder, stopped, save=save, plan=plan, apart=check.sentence(stopped))
        best = stopped.step if stopped.best is None else stopped.best
        raise LikenessError(f"{error}. What was best until then, step {best}, is a model in {folder.path}") from error
    results.write(encoder, folder, state, save=save, plan=plan, apart=check.sentence(state))
    folder.finish(state)
    return state


def _check_examples(examples: Sequence[ExampleSet], *, suite: str, chosen: bool) -> None:
    """Raises BadInput for examples of one's own that there are none of, or beside a choice of others."""
    by_task(examples)
    if suite == "unisim":
        raise BadInput("Examples of your own are trained with the suite mini, whose validation items are drawn")
    if chosen:
        raise BadInput("Examples of your own are trained on alone: leave out tasks, datasets and data")


def _sets(
    suite: str, tasks: Sequence[str], datasets: Sequence[str], *, plan: TuningPlan, source: Source
) -> tuple[Sequence[ExampleSet], list[FileExamples]]:
    """What is trained on, and of the suite unisim what the stored step is chosen by."""
    for task in tasks:
        check_task(task)
    known = dict.fromkeys(splits.every(), (mini.DATASET,)) if suite == "mini" else None
    named = {task: names for task, names in splits.chosen(datasets, known=known).items() if not tasks or task in tasks}
    if not any(named.values()):
        raise BadInput(f"No data set is left to train on: the options leave none of {', '.join(tasks)}")
    if suite == "mini":
        drawn = mini.training(seed=plan.seed, count=plan.samples)
        return [part for part in drawn if named.get(part.task)], []
    return splits.divided_all(splits.training(named, source=source, seed=plan.seed))


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """What was compared before the first step, how drawn images are compared in training, and what could not be."""

    listed: leaks.LeakCheck
    compare: Callable[[Content], None] | None  # None where all are listed
    warning: str

    def sentence(self, state: TuningState) -> str:
        """What a run that came to this state has compared, for the card."""
        found = leaks.sentence(replace(self.listed, trained=self.listed.trained + state.compared))
        return f"{found}. {self.warning}" if self.warning else found


def _leak_check(
    sets: Sequence[ExampleSet],
    validation: Sequence[FileExamples],
    source: Source,
    *,
    folder: RunFolder,
    report: Callable[[str], None],
) -> _Compared:
    """Compares what can be listed with what is evaluated; reports that, with a warning of what could not be compared.

    Raises BadInput where an image that is trained on is evaluated, naming it, and where a run of drawn images that goes
    on would compare them with others than it began with.
    """
    rows = leaks.evaluated_tasks(shipped())
    evaluated = leaks.evaluated_images(rows, source=source, roots=(paths.COMPUTED, paths.RESULTS))
    are_drawn = all(map(is_drawn, sets))
    found = leaks.check([] if are_drawn else sets, evaluated)
    leaks.check(validation, evaluated)
    report(leaks.sentence(found, are_drawn=are_drawn))
    warning = ""
    if unproven := leaks.uncompared(evaluated, rows=rows, sets=[*sets, *validation]):
        warning = (
            f"Not compared with {', '.join(unproven)}, though they are of data sets that are trained on: their items "
            "are not on this machine or cannot be read"
        )
        report(f"Warning: {warning}")
    if not are_drawn:
        return _Compared(listed=found, compare=None, warning=warning)
    folder.compare_with(evaluated.digest)
    return _Compared(listed=found, compare=leaks.guard(evaluated), warning=warning)


def model_row(base: str | Path, *, offline: bool) -> Model:
    """The row of a model by key, folder or hub id. Raises UnknownKey, BadInput, NotHere."""
    catalog: Catalog = workspace.catalog_with_own(None, warn=lambda problem: warnings.warn(problem, stacklevel=2))
    text = named_models.of_path(base) if isinstance(base, Path) else base
    (chosen,) = named_models.named([text], catalog=catalog, offline=offline)
    return chosen.row


def _evaluator(items: Sequence[HeldOutTask], encoder: trainable.DualEncoder, *, plan: TuningPlan) -> Evaluator:
    towers = encoder.towers

    def embed_texts(texts: Sequence[str]) -> Any:
        return towers.embed("text", [towers.prepare("text", text) for text in texts])

    return Evaluator(items, row=encoder.row, embed_texts=embed_texts, frozen_texts=plan.towers == "vision")
