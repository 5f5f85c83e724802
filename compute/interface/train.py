"""`compute.train`: a dual encoder tuned as a multi-task metric, from Python and for `python -m compute train`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import paths
from compute.catalog import Catalog, shipped
from compute.engine import named_models, workspace
from compute.interface import training_report
from compute.models import hardware as chosen_hardware
from compute.models.files import weights
from compute.tasks.mini import GENERATOR_VERSION
from compute.tasks.source import Source
from compute.training.unisim import held_out, leaks, loop, lora, mini, preserving, results, trackers, trainable
from compute.training.unisim import plan as plans
from compute.training.unisim.checkpoints import RunFolder
from compute.training.unisim.evaluation import Evaluator, HeldOutTask
from compute.training.unisim.examples import ExampleSet, by_task, check_task
from compute.training.unisim.results import TrainingResult
from compute.types import BadInput, suggestion

if TYPE_CHECKING:
    from compute.training.unisim.plan import TuningPlan
    from compute.types import Model

SUITES = ("mini",)


def train(
    base: str | Path,
    *,
    out: str | Path,
    suite: str = "mini",
    tasks: str | Sequence[str] = (),
    examples: Sequence[ExampleSet] = (),
    options: Mapping[str, Any] | Sequence[str] = (),
    save: str = "merged",
    track: str = "",
    device: str = "",
    offline: bool = False,
    final: bool = True,
    report: Callable[[str], None] | None = None,
) -> TrainingResult:
    """Tunes a dual encoder's vision tower by UniSim's recipe (section 3.3, appendix B.2) and stores it in `out`.

    `base`: a key of the catalogue, a checkpoint's folder, or a hub id, `hub:org/name@revision`. `suite`: whose kind of
    examples it is trained on; none of the suite's own items is. `tasks`: only these of image-choice, image-for-text,
    text-for-image and quality. `examples`: what to train on instead. `options`: values of the plan
    (compute/training/unisim/plan.py), as a mapping or as `name=value`; the others are the suite's. `save`: merged, a
    whole checkpoint, or adapter, LoRA weights alone. `track`: tensorboard, or another tracker of accelerate. `report`
    takes a line at every evaluation. At the end base and tuned model are measured on the suite's own items, and
    `training.html` in `out` shows both curves and that table; `final=False` leaves that out.

    A call that was interrupted goes on from its last stored step with the same result; one that is complete returns it.
    Raises UnknownKey, BadInput, NotHere, CannotDo before the first step, among them where another process trains in
    `out`, and LikenessError where a loss is not finite: the state before that step is then in `out`.
    """
    report = report or (lambda line: None)
    if suite not in SUITES:
        raise BadInput(
            f"Nothing to train on for the suite {suite!r}.{suggestion(suite, SUITES)} Choose {' or '.join(SUITES)}"
        )
    plan = plans.with_options(plans.MINI, options)
    sets = list(examples) or _sets(suite, (tasks,) if isinstance(tasks, str) and tasks else tuple(tasks), plan)
    kinds = list(by_task(sets))
    hardware = chosen_hardware(device)
    row = model_row(base, offline=offline)
    trainable.check(row, tasks=kinds)
    encoder = trainable.load(row, hardware=hardware, tasks=kinds)
    results.check_save(encoder, save=save, plan=plan)
    lora.check(encoder, plan)
    folder = RunFolder(
        path=Path(out).expanduser(),
        identity={
            "base": {**asdict(weights.by_name(replace(row, revision=""))), "revision": encoder.revision},
            "plan": asdict(plan) | {"save": save},
            "suite": {"name": suite, "generator": GENERATOR_VERSION},
            "data": [{"task": part.task, "dataset": part.dataset, "examples": len(part)} for part in sets],
        },
    )
    folder.open()
    with folder.reserved():
        if (state := folder.finished()) is None:
            tracker = trackers.opened(track, folder=folder.training, settings=asdict(plan))
            try:
                apart = leaks.sentence(_leak_check(sets))
                report(apart)
                state = loop.train(
                    encoder,
                    sets,
                    plan=plan,
                    folder=folder,
                    evaluator=_evaluator(held_out.validation_items(suite), encoder),
                    penalties=preserving.penalties(plan.keep, plan.strength),
                    tracker=tracker,
                    report=report,
                )
            finally:
                if tracker is not None:
                    tracker.close()
            results.write(encoder, folder, state, save=save, plan=plan, apart=apart)
            folder.finish(state)
        else:
            report(f"{folder.path} is complete: nothing was trained")
        result = results.result(folder, state, base=row, plan=plan)
        if not final:
            return result
        tuned = model_row(folder.path, offline=True)
        tuned = replace(tuned, options={**tuned.options, **result.model_options})
        return training_report.added(result, base=row, tuned=tuned, suite=suite, hardware=hardware, report=report)


def _sets(suite: str, tasks: Sequence[str], plan: TuningPlan) -> list[ExampleSet]:
    for task in tasks:
        check_task(task)
    drawn = mini.training(seed=plan.seed, count=min(mini.COUNT, plan.samples), cache=paths.RESULTS / "keys")
    return [part for part in drawn if not tasks or part.task in tasks]


def _leak_check(sets: Sequence[ExampleSet]) -> leaks.LeakCheck:
    """Raises BadInput where an image that is trained on is evaluated, naming it."""
    evaluated = leaks.evaluated_images(
        leaks.evaluated_tasks(shipped()),
        source=Source.keeping(paths.RESULTS, root=None, offline=True),
        roots=(paths.COMPUTED, paths.RESULTS),
    )
    return leaks.check(sets, evaluated)


def model_row(base: str | Path, *, offline: bool) -> Model:
    """The row of a model by key, folder or hub id. Raises UnknownKey, BadInput, NotHere."""
    catalog: Catalog = workspace.catalog_with_own(None, warn=lambda problem: warnings.warn(problem, stacklevel=2))
    text = str(base)
    if isinstance(base, Path) and not named_models.of_folder(text):
        text = f"./{text}"
    (chosen,) = named_models.named([text], catalog=catalog, offline=offline)
    return chosen.row


def _evaluator(items: Sequence[HeldOutTask], encoder: trainable.DualEncoder) -> Evaluator:
    towers = encoder.towers

    def embed_texts(texts: Sequence[str]) -> Any:
        return towers.embed("text", [towers.prepare("text", text) for text in texts])

    return Evaluator(items, row=encoder.row, embed_texts=embed_texts)
