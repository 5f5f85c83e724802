"""A dual encoder tuned to a person's answers, and tested on answers that it was not tuned to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute import paths
from compute.analysis import power
from compute.catalog import shipped
from compute.eyes import exchange
from compute.eyes.folder import IMAGES, StudyFolder
from compute.eyes.report import Share
from compute.eyes.study import TUNES_FROM, Kind
from compute.models import hardware
from compute.models.files import weights
from compute.tasks.source import Source
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.training import curves, exported, leaks, loop, plan, splits, towers
from compute.training.evaluation import measured
from compute.training.examples import Examples, packed
from compute.training.run_folder import RunFolder
from compute.types import BadInput, Model, slug

HELD_OUT = 0.3  # of the answers
BY_IMAGE = (0.2, 0.4)  # what share may be held out so that no image is on both sides
# How examples of each kind are trained on, and the task of the catalogue that asks the same.
AS_TASK: dict[Kind, tuple[str, str]] = {
    "image": ("image-choice", "unisim/nights"),
    "text": ("image-for-text", "unisim/hpdv2"),
    "quality": ("quality", "unisim/kadid-10k"),
}
EPOCHS = 20
# The paper's recipe for few examples: LoRA at its usual rate.
FEW = replace(plan.PAPER, learning_rate=1e-4, warm_up=10, evaluate_every=50)


class TunedModel(NamedTuple):
    """A tuned model on disk, and how it and its base agree with the held-out answers."""

    folder: Path
    base: str
    steps: int
    trained: int  # answers
    by_image: bool  # whether no image is on both sides
    before: Share
    after: Share
    low: float  # of the 95% interval of the difference, paired over the held-out answers; NaN: none changed
    high: float

    @property
    def lines(self) -> list[str]:
        """The result in sentences."""
        apart = "of other images" if self.by_image else "some of the same images, as these hang together"
        gap = 100 * (self.after.value - self.before.value)
        if math.isnan(self.low):
            compared = "Tuning changed none of these answers."
        else:
            verdict = "significant" if self.low > 0 or self.high < 0 else "not significant"
            ends = f"95% interval {100 * self.low:+.1f} to {100 * self.high:+.1f}"
            compared = f"The difference is {gap:+.1f} points ({ends}), {verdict}."
        return [
            f"{self.folder}: {self.steps} steps on {self.trained} answers; {self.after.n} were held out, {apart}.",
            f"On these {self.base} agrees with you in {self.before.percent(1)}, tuned in {self.after.percent(1)}.",
            compared,
        ]


def tune(
    folder: StudyFolder,
    base: Model,
    *,
    out: Path,
    options: Sequence[str] = (),
    device: str = "",
    report: Callable[[str], None] = print,
) -> TunedModel:
    """Tunes the base to about 70% of a study's answers, stores it in `out`, and tests both on the others.

    Of several raters' answers to a question the majority counts. A stopped call goes on. Raises BadInput for fewer
    than TUNES_FROM answers, and as `compute.train` does.
    """
    examples = _examples(folder)
    held, by_image = _held_out(examples, seed=folder.settings.seed)
    training, test = examples.take(np.flatnonzero(~held)), examples.take(np.flatnonzero(held))
    made = plan.with_options(replace(FEW, samples=EPOCHS * len(training), seed=folder.settings.seed), options)
    exported.check_save(base, save="merged", plan=made)
    encoder = towers.load(base, hardware=hardware(device), tasks=[examples.task])
    run = RunFolder(
        path=out,
        identity={
            "base": {**asdict(weights.by_name(replace(base, revision=""))), "revision": encoder.revision},
            "plan": asdict(made) | {"save": "merged"},
            "suite": {"name": "own"},
            "data": [training.record()],
        },
    )
    items = [(shipped().task(AS_TASK[folder.study.kind][1]), {"default": test.data})]

    def measure() -> pd.DataFrame:
        import torch

        with torch.inference_mode():
            return measured(items, row=base, encoder=encoder.towers)

    with run.opened():
        if (done := run.finished()) is not None:
            report(f"{out} is complete: nothing was trained")
            state, (change,) = done
        else:
            before = measure()
            state = loop.train(encoder, [training], plan=made, folder=run, report=report)
            change = replace(curves.changes(before=before, after=measure())[-1], title="Held-out answers")
            exported.write_model(encoder, out, save="merged")
            compared = _compared(examples)
            exported.write_card(encoder, run, state, [change], save="merged", plan=made, compared=compared)
            run.finish(state, [change])
    return TunedModel(
        folder=out,
        base=base.title,
        steps=state.step,
        trained=len(training),
        by_image=by_image,
        before=Share.at(change.before, len(test)),
        after=Share.at(change.after, len(test)),
        low=change.low,
        high=change.high,
    )


def _examples(folder: StudyFolder) -> Examples:
    """The questions that have an answer most raters gave. Raises BadInput for too few."""
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


def _held_out(examples: Examples, *, seed: int) -> tuple[np.ndarray, bool]:
    """(n,) bool: about HELD_OUT of the examples, and whether none of their images is in the others."""
    held = splits.held_out(examples, share=HELD_OUT)
    if BY_IMAGE[0] <= held.mean() <= BY_IMAGE[1]:
        return held, True
    order = np.random.default_rng(seed).permutation(len(examples))
    return order < round(HELD_OUT * len(examples)), False


def _compared(examples: Examples) -> str:
    """Whether images of the study are in evaluated tasks, as a sentence."""
    source = Source.keeping(paths.RESULTS, root=None, offline=True)
    try:
        return leaks.check([examples], source=source)
    except BadInput:
        return "Some of its images are in tasks of unisim or mini: its scores there say nothing"
