"""Tunes a dual encoder on a person's answers, and tests it on held-out answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from compute import paths
from compute.analysis import power
from compute.catalog import shipped
from compute.eyes import exchange
from compute.eyes.folder import IMAGES, StudyFolder
from compute.eyes.report import Share
from compute.eyes.study import TUNES_FROM, Kind
from compute.models import hardware
from compute.tasks.source import Source
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.training import exported, plan, splits, towers
from compute.training.examples import Examples, packed
from compute.training.run_folder import RunFolder
from compute.types import BadInput, Model, slug

HELD_OUT = 0.3  # of the answers
BY_IMAGE = (0.2, 0.4)  # shares that may be held out so that no image is on both sides
# The training kind of each kind of question, and the catalogue task that asks the same.
AS_TASK: dict[Kind, tuple[str, str]] = {
    "image": ("image-choice", "unisim/nights"),
    "text": ("image-for-text", "unisim/hpdv2"),
    "quality": ("quality", "unisim/kadid-10k"),
}
EPOCHS = 20
# The paper's recipe for few examples: LoRA at its usual rate.
FEW = replace(plan.PAPER, learning_rate=1e-4, warm_up=10, evaluate_every=50)


def tune(
    folder: StudyFolder,
    base: Model,
    *,
    out: Path,
    options: Sequence[str] = (),
    device: str = "",
    report: Callable[[str], None] = print,
) -> list[str]:
    """Tunes the base on about 70% of a study's answers and stores it in `out`; returns sentences on the agreement of
    both with the other answers.

    With several raters, the majority counts. A stopped call resumes. Raises BadInput for fewer than TUNES_FROM answers,
    and as `compute.train` does.
    """
    examples = _examples(folder)
    held = splits.held_out(examples, share=HELD_OUT)
    if not (by_image := BY_IMAGE[0] <= held.mean() <= BY_IMAGE[1]):
        order = np.random.default_rng(folder.settings.seed).permutation(len(examples))
        held = order < round(HELD_OUT * len(examples))
    training, test = examples.take(np.flatnonzero(~held)), examples.take(np.flatnonzero(held))
    made = plan.with_options(replace(FEW, samples=EPOCHS * len(training), seed=folder.settings.seed), options)
    exported.check_save(base, save="merged", plan=made)
    encoder = towers.load(base, hardware=hardware(device), tasks=[examples.task])
    identity = exported.identity(encoder, [training], save="merged", plan=made)
    run = RunFolder(path=out, identity=identity | {"suite": {"name": "own"}})
    task = replace(shipped().task(AS_TASK[folder.study.kind][1]), title="Held-out answers")
    with run.opened():
        if (done := run.finished()) is not None:
            report(f"{out} is complete: nothing was trained")
        else:
            try:
                compared = splits.check_leaks([examples], source=Source(offline=True, cache=paths.RESULTS))
            except BadInput:
                compared = "Some of its images are in tasks of unisim or mini: its scores there say nothing"
            done = exported.tuned(
                encoder,
                [training],
                plan=made,
                save="merged",
                folder=run,
                held_out=lambda: [(task, {"default": test.data})],
                compared=compared,
                report=report,
            )
    state, (*_, change) = done
    before, after = (Share.at(value, len(test)).percent(1) for value in (change.before, change.after))
    compared = "Tuning changed none of these answers."
    if not math.isnan(change.low):
        verdict = "significant" if change.low > 0 or change.high < 0 else "not significant"
        gap, low, high = (f"{100 * value:+.1f}" for value in (change.difference, change.low, change.high))
        compared = f"The difference is {gap} points (95% interval {low} to {high}), {verdict}."
    apart = "of other images" if by_image else "some of the same images, as these hang together"
    return [
        f"{out}: {state.step} steps on {len(training)} answers; {len(test)} were held out, {apart}.",
        f"On these {base.title} agrees with you in {before}, tuned in {after}.",
        compared,
    ]


def _examples(folder: StudyFolder) -> Examples:
    """Returns the questions with a majority answer. Raises BadInput if there are too few."""
    study = folder.study
    samples = [
        Sample(
            name=f"question {question + 1}",
            reference=study.contents[reference] if reference >= 0 else "",
            alternatives=(study.contents[first], study.contents[second]),
            answer=int(chosen[1] > chosen[0]),
        )
        for question, chosen in sorted(exchange.chosen(folder.judgments()).items())
        if chosen[0] != chosen[1]
        for reference, first, second in [study.questions[question]]
    ]
    if len(samples) < TUNES_FROM:
        raise BadInput(
            f"Tuning takes {TUNES_FROM} questions that were answered, and there are {len(samples)}: answer "
            f"{TUNES_FROM - len(samples)} more. Of {TUNES_FROM}, {HELD_OUT:.0%} are held out, and even these show only "
            f"differences from {100 * power.of_proportions(round(HELD_OUT * TUNES_FROM)):.0f} points on"
        )
    files = Files.of("your images", folder.path / IMAGES)
    dataset = slug(f"answers-{folder.path.resolve().name}-{study.key}", default="answers")
    return packed(samples, task=AS_TASK[study.kind][0], dataset=dataset, files=files)
