"""The training loop (UniSim, section 3.3 and appendix B.2): steps, schedule, evaluation, what stops it, and resuming.

A step is a function of the plan, the data and the weights before it: batches and dropout are drawn from the seed and
the step's number. So a run that was killed goes on from its last stored state to the same result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from compute.progress import Progress
from compute.training.unisim import lora, trainable
from compute.training.unisim.checkpoints import RunFolder, StepMeasurement, TuningState
from compute.training.unisim.data.examples import QUALITY_PROMPT, Content, ExampleSet
from compute.training.unisim.steps import in_parts
from compute.training.unisim.steps.hinge import hinge
from compute.training.unisim.steps.optimisers import Optimiser, optimiser_of
from compute.training.unisim.steps.prepared_batches import PreparedExample, batches_ahead, distinct_images
from compute.types import BadInput, LikenessError

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from compute.training.unisim.evaluation import Measurement
    from compute.training.unisim.plan import TuningPlan
    from compute.training.unisim.trackers import Tracker
    from compute.training.unisim.trainable import DualEncoder

# Instructions of a processor that multiply in bfloat16: 2.8 times as many images a second with AVX-512's.
FAST_BFLOAT16 = ("amx_bf16", "avx512_bf16")


class Diverged(LikenessError):
    """A loss or a gradient is not finite. `reason`: which, and at which step; `state`: that before the step, once it is
    stored."""

    def __init__(self, reason: str, *, plan: TuningPlan) -> None:
        super().__init__(f"{reason}. {_remedy(plan)}")
        self.reason = reason
        self.state: TuningState | None = None


class Measures(Protocol):
    """What measures the model on held-out items: compute/training/unisim/evaluation.py's Evaluator."""

    def measure(self, embed_images: Callable[[Sequence[Image.Image]], np.ndarray]) -> Measurement:
        """The measurement with the image tower as it is now; `embed_images` gives (n, d) of n RGB images."""
        ...


@dataclass(frozen=True, kw_only=True)
class EmbeddedBatch:
    """A part of a step's batches after the towers. Vectors have length 1."""

    base: DualEncoder
    tasks: Mapping[str, torch.Tensor]  # (n, 3, d) of reference and alternatives, by task
    preferred: Mapping[str, torch.Tensor]  # (n,) of 0 and 1
    prepared: Sequence[Mapping[str, torch.Tensor]]  # of all images, in order of `images`
    images: torch.Tensor  # (m, d), with gradients
    stated: Sequence[str]  # the texts that are not the prompt on quality
    captions: torch.Tensor | None  # (k, d) of them, with gradients where the text tower is trained


class Penalty(Protocol):
    """A term that is added to the hinge losses, such as one that keeps the base's similarities."""

    @property
    def key(self) -> str:
        """Its name in logs."""
        ...

    def __call__(self, batch: EmbeddedBatch) -> torch.Tensor:
        """The term of a part of a step, already weighted."""
        ...


def train(
    base: DualEncoder,
    sets: Sequence[ExampleSet],
    *,
    plan: TuningPlan,
    folder: RunFolder,
    evaluator: Measures | None = None,
    penalties: Sequence[Penalty] = (),
    compare: Callable[[Content], None] | None = None,
    tracker: Tracker | None = None,
    report: Callable[[str], None] = print,
    progress: Progress | None = None,
) -> TuningState:
    """Tunes the base in place, from the folder's last state on; at the end it has the best weights.

    Best is the highest core average of the evaluator among those within `plan.max_ood_drop`; without an evaluator, the
    last weights; interpolated with the base's where the plan says so. `compare` is called with every image before the
    step that takes it, from any thread or process, and what it raises ends the run there. Raises Diverged at a loss
    that is not finite: the state before that step is then in the folder, and the base has the best weights so far.
    Raises BadInput before the first step for data or a plan that cannot be trained.
    """
    import torch

    progress = progress or Progress(watched=False)
    report = progress.beside(report)

    tune(base, plan, keep_base=bool(penalties) or plan.keep == "interpolate")
    optimiser = optimiser_of(base, plan)
    state = folder.load(base, optimiser)
    if state.step:
        report(f"Resumed after step {state.step} of {plan.steps}")
    measured = _Measuring(
        base=base,
        plan=plan,
        folder=folder,
        evaluator=evaluator,
        tracker=tracker,
        report=report,
        threads=torch.get_num_threads(),
    )
    begun = time.perf_counter() - state.seconds

    def save() -> None:
        state.seconds = time.perf_counter() - begun
        folder.save(base, optimiser, state)

    with (
        _threads(plan.threads),
        _in_parts(base, plan),
        _own_randomness(base),
        folder.loss_log(step=state.step) as log,
        _says_where_it_goes_on(folder, plan, report),
        progress.bar("Training", total=plan.steps, done=state.step, unit="step") as advance,
    ):
        if state.step == 0 and not state.measurements:
            measured(state, losses={})
        base.training(True)
        end = plan.steps if not state.stopped else state.step
        for batch in batches_ahead(base, sets, plan, start=state.step, end=end, compare=compare):
            try:
                losses = step(base, batch, plan=plan, number=state.step, optimiser=optimiser, penalties=penalties)
            except Diverged as error:
                save()
                _take_best(base, state, plan=plan, folder=folder)
                error.state = state
                raise
            log(losses)
            if tracker is not None:
                tracker.log({f"loss/{name}": loss for name, loss in losses.items()}, step=state.step)
            state.step += 1
            advance(1)
            state.compared += 0 if compare is None else len(distinct_images(batch))
            last = state.step == plan.steps
            if last or state.step % plan.evaluate_every == 0:
                measured(state, losses=losses)
                last = last or bool(state.stopped)
            if last or state.step % plan.save_every == 0:
                save()
            if last:
                break
    _take_best(base, state, plan=plan, folder=folder)
    return state


@contextmanager
def _says_where_it_goes_on(folder: RunFolder, plan: TuningPlan, report: Callable[[str], None]) -> Iterator[None]:
    """Where a user interrupts it, as the steps since the last stored state are lost."""
    try:
        yield
    except KeyboardInterrupt:
        report(
            f"Stopped: the same command goes on after step {folder.stored_step()} of {plan.steps} (save_every="
            f"{plan.save_every} says how often the state is stored)"
        )
        raise


def _take_best(base: DualEncoder, state: TuningState, *, plan: TuningPlan, folder: RunFolder) -> None:
    """Puts the best weights so far into the base, the last where nothing was measured."""
    if state.best is not None and state.best != state.step:
        folder.load_best(base, step=state.best)
    if plan.keep == "interpolate":
        trainable.move_towards_base(base, base_share=plan.strength)
    base.training(False)


def tune(base: DualEncoder, plan: TuningPlan, *, keep_base: bool = False) -> None:
    """Makes the weights trainable that the plan names: LoRA's, or all of one or both towers.

    `keep_base`: what the base gives is needed too; full tuning then holds a copy of it. Raises NotHere, BadInput.
    """
    if plan.tune == "lora":
        base.adapted = lora.apply(base, plan)
    else:
        if keep_base:
            base.frozen = trainable.load(base.row, hardware=base.hardware, tasks=())
        base.unfreeze(text=plan.towers == "both")
    if plan.checkpointing:
        base.checkpoint_activations()


def check_parallel(base: DualEncoder, plan: TuningPlan) -> None:
    """Raises BadInput where the plan embeds a batch in parts at once and a pass draws at random: in any order, then."""
    if plan.parallel == 1 or base.hardware.device != "cpu":
        return
    if base.draws(text=plan.towers == "both") or (plan.tune == "lora" and plan.dropout > 0):
        raise BadInput(
            f"Training option parallel={plan.parallel}: {base.row.key} has dropout in training, whose random numbers "
            "would come in any order. Train with parallel=1"
        )


def step(
    base: DualEncoder,
    batch: Mapping[str, Sequence[PreparedExample]],
    *,
    plan: TuningPlan,
    number: int,
    optimiser: Optimiser,
    penalties: Sequence[Penalty] = (),
) -> dict[str, float]:
    """One step over a batch of every task; returns the mean loss of each, of each penalty, and their `total`.

    Raises Diverged where a loss or a gradient is not finite; the weights are then as they were.
    """
    import torch

    torch.manual_seed(plan.torch_seed(number))
    for group in optimiser.param_groups:
        group["lr"] = plan.rate(number)
    optimiser.zero_grad()
    terms: list[dict[str, torch.Tensor]] = []
    for part in _parts(batch, plan.accumulate):
        with _autocast(base, plan):
            embedded = embed(base, part)
        shares = {task: len(examples) / len(batch[task]) for task, examples in part.items()}
        losses = {
            task: shares[task]
            * hinge(*vectors.unbind(1), preferred=embedded.preferred[task], margin=plan.margin).mean()
            for task, vectors in embedded.tasks.items()
        }
        share = sum(shares.values()) / len(shares)
        with _autocast(base, plan):
            losses |= {penalty.key: share * penalty(embedded) for penalty in penalties}
        sum(losses.values()).backward()
        terms.append({name: loss.detach() for name, loss in losses.items()})
    names = list(dict.fromkeys(name for part in terms for name in part))
    stacked = torch.stack([sum(part[name] for part in terms if name in part) for name in names])
    values = dict(zip(names, stacked.tolist(), strict=True))
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    norm = float(torch.nn.utils.clip_grad_norm_(weights, plan.clip_norm or math.inf))
    if bad := [name for name, value in values.items() if not math.isfinite(value)]:
        raise Diverged(f"The loss of {bad[0]} is {values[bad[0]]} at step {number + 1}", plan=plan)
    if not math.isfinite(norm):
        raise Diverged(f"The gradient is not finite at step {number + 1}", plan=plan)
    optimiser.step(base.threads)
    return {**values, "total": sum(values.values())}


def embed(base: DualEncoder, batch: Mapping[str, Sequence[PreparedExample]]) -> EmbeddedBatch:
    """All contents of the tasks through the towers, what examples share once: images at once, and texts at once."""
    import torch

    contents = [content for examples in batch.values() for example in examples for content in example.contents]
    # A text is known by itself, an image by its object: examples that share one have the same.
    names = [content if isinstance(content, str) else id(content) for content in contents]
    distinct = dict(zip(names, contents, strict=True))
    prepared = [content for content in distinct.values() if not isinstance(content, str)]
    texts_alone = [content for content in distinct.values() if isinstance(content, str)]
    images, texts = base.vectors(prepared, texts_alone)
    vectors = images if texts is None else torch.cat([images, texts])
    place = {id(content): at for at, content in enumerate(prepared)}
    place |= {text: len(prepared) + at for at, text in enumerate(texts_alone)}
    order = torch.tensor([place[name] for name in names], device=vectors.device)
    vectors = vectors[order].view(-1, 3, vectors.shape[-1])
    stated = [at for at, text in enumerate(texts_alone) if text != QUALITY_PROMPT]
    sizes = [len(examples) for examples in batch.values()]
    preferred = torch.tensor([example.preferred for examples in batch.values() for example in examples])
    return EmbeddedBatch(
        base=base,
        tasks=dict(zip(batch, vectors.split(sizes), strict=True)),
        preferred=dict(zip(batch, preferred.to(vectors.device).split(sizes), strict=True)),
        prepared=prepared,
        images=images,
        stated=[texts_alone[at] for at in stated],
        captions=texts[stated] if stated else None,
    )


@dataclass(kw_only=True)
class _Measuring:
    """Measures the model, in float32 unless the plan is for fast arithmetic throughout, reports it beside the base,
    stores the best weights, and says when to stop."""

    base: DualEncoder
    plan: TuningPlan
    folder: RunFolder
    evaluator: Measures | None
    tracker: Tracker | None
    report: Callable[[str], None]
    threads: int  # of torch while it is measured

    def __call__(self, state: TuningState, *, losses: Mapping[str, float]) -> None:
        loss = f", loss {losses['total']:.4f}" if losses else ""
        start = f"Step {state.step} of {self.plan.steps}{loss}"
        if self.evaluator is None:
            if losses:
                self.report(start)
            return
        with (
            _threads(self.threads),
            _as_stored(self.base, self.plan),
            self.base.evaluated() as towers,
            _autocast(self.base, self.plan) if self.plan.precision == "fast" else nullcontext(),
        ):
            measurement = self.evaluator.measure(
                lambda images: towers.embed("image", [towers.prepare("image", image) for image in images])
            )
        now = StepMeasurement(step=state.step, **measurement.record())
        state.measurements.append(now)
        first = state.measurements[0]
        self.report(f"{start}: {_side('core', now.core, first.core)}, {_side('OOD', now.ood, first.ood)}")
        if self.tracker is not None:
            sides = {"measured/core": now.core, "measured/ood": now.ood}
            self.tracker.log({name: value for name, value in sides.items() if value is not None}, step=state.step)
        drop = 100 * (first.ood - now.ood) if first.ood is not None and now.ood is not None else 0.0
        if self.plan.max_ood_drop and drop > self.plan.max_ood_drop:
            state.stopped = (
                f"after step {state.step} the out-of-distribution average had fallen by {drop:.1f} points, more than "
                f"max_ood_drop={self.plan.max_ood_drop:g}"
            )
            self.report(f"Stopped: {state.stopped}")
            return
        best = next((each.core for each in state.measurements if each.step == state.best), None)
        if now.core is not None and (best is None or now.core > best):
            state.best = state.step
            self.folder.save_best(self.base, step=state.step)


def _as_stored(base: DualEncoder, plan: TuningPlan) -> AbstractContextManager:
    """What is measured is the model that would be stored: interpolated, where the plan says so."""
    if plan.keep != "interpolate":
        return nullcontext()
    return trainable.moved_towards_base(base, base_share=plan.strength)


def _side(title: str, now: float | None, first: float | None) -> str:
    if now is None or first is None:
        return f"{title} not measured"
    return f"{title} {100 * now:.1f} ({100 * (now - first):+.1f})"


def _remedy(plan: TuningPlan) -> str:
    return (
        f"Train again with a lower learning_rate than {plan.learning_rate:g}, with "
        "precision=float32, or with clip_norm=1, into another folder"
    )


def _parts(
    batch: Mapping[str, Sequence[PreparedExample]], count: int
) -> Iterator[Mapping[str, Sequence[PreparedExample]]]:
    """The batches of all tasks in `count` parts of nearly equal sizes."""
    for number in range(count):
        yield {
            task: examples[len(examples) * number // count : len(examples) * (number + 1) // count]
            for task, examples in batch.items()
        }


def _autocast(base: DualEncoder, plan: TuningPlan) -> AbstractContextManager:
    import torch

    kind = base.hardware.device.split(":")[0]
    if precision(base, plan) == "float32":
        return nullcontext()
    return torch.autocast(kind, dtype=torch.bfloat16)


def precision(base: DualEncoder, plan: TuningPlan) -> str:
    """The precision of matrix products that the plan means on the base's device."""
    if plan.precision in ("float32", "bfloat16"):
        return plan.precision
    import torch

    fast = base.hardware.device.startswith("cuda")
    if plan.precision == "fast" and not fast:
        # A torch that does not say what the processor can do multiplies in float32.
        can = getattr(torch.cpu, "get_capabilities", dict)()
        fast = any(can.get(name) for name in FAST_BFLOAT16)
    return "bfloat16" if fast else "float32"


@contextmanager
def _threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _in_parts(base: DualEncoder, plan: TuningPlan) -> Iterator[None]:
    """Within it, images and texts are embedded in the plan's number of parts at once, where the base is on a CPU."""
    if plan.parallel == 1 or base.hardware.device != "cpu":
        yield
        return
    with in_parts.opened(plan.parallel) as threads:
        base.threads = threads
        try:
            yield
        finally:
            base.threads = None


@contextmanager
def _own_randomness(base: DualEncoder) -> Iterator[None]:
    """Within it, what is drawn leaves the caller's random state as it was."""
    import torch

    device = base.hardware.device
    devices = [torch.device(device).index or 0] if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        yield
