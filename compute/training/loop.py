"""Training loop (UniSim, section 3.3 and appendix B.2): steps, schedule, evaluation, and resuming.

A step is a function of the plan, the data and the weights before it: batches and dropout depend on the seed and the
step number. A run that was killed therefore resumes from its last stored state and reaches the same result.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.items import Column
from compute.features.encoding import ready
from compute.progress import Progress
from compute.training import lora, towers
from compute.training.examples import QUALITY_PROMPT, Examples, batches, naming, text
from compute.training.plan import TuningPlan
from compute.training.run_folder import RunFolder, StepMeasurement, TuningState
from compute.types import LikenessError

if TYPE_CHECKING:
    import torch

    from compute.training.towers import DualEncoder

Measure = Callable[[], Mapping[str, Any]]  # the scores of the current model, as in `evaluation.record`
COMPARED = 64  # most images per step that keep=distill compares with the base
WORKERS = 8  # most processes that prepare batches for a GPU; a CPU, whose cores the model needs, gets one


@dataclass(frozen=True)
class TrainingBatch:
    """The batch of one step; a text shared by several examples appears once."""

    images: dict[str, torch.Tensor]  # (m, ...) of m images, as inputs of the image tower
    texts: list[str]  # k
    rows: dict[str, torch.Tensor]  # task -> (n, 3) int: indices of reference and alternatives among the m + k contents
    preferred: dict[str, torch.Tensor]  # task -> (n,) of 0 and 1


def batch_of(base: DualEncoder, sets: Sequence[Examples], plan: TuningPlan, step: int) -> TrainingBatch:
    """Returns the batch of a step from 0. Raises LikenessError for unreadable content."""
    import torch

    def content(column: Column, row: int) -> Any:
        """Returns a text, or an image as input of the image tower."""
        if column.modality == "text":
            return text(column, row)
        with naming(column, row):
            return ready("image", column.read(row), base.towers.prepare)

    tasks = batches(sets, batch_size=plan.batch_size, seed=plan.seed, step=step)
    contents = [content(column, row) for rows in tasks.values() for part, row in rows for column in part.columns]
    texts = list(dict.fromkeys(each for each in contents if isinstance(each, str)))
    images = [each for each in contents if not isinstance(each, str)]
    shown = count()
    places = [len(images) + texts.index(each) if isinstance(each, str) else next(shown) for each in contents]
    sizes = [len(rows) for rows in tasks.values()]
    answers = {task: [int(part.data.answer[row]) for part, row in rows] for task, rows in tasks.items()}
    return TrainingBatch(
        images={name: torch.stack([image[name] for image in images]) for name in images[0]},
        texts=texts,
        rows=dict(zip(tasks, torch.tensor(places).view(-1, 3).split(sizes), strict=True)),
        preferred={task: torch.tensor(each) for task, each in answers.items()},
    )


def prepared(
    base: DualEncoder, sets: Sequence[Examples], plan: TuningPlan, *, start: int = 0
) -> Iterator[TrainingBatch]:
    """Yields the batches of the steps from `start` on, prepared in other processes. Raises as `batch_of`."""
    from torch.utils.data import DataLoader

    def made(step: int) -> TrainingBatch | LikenessError:
        """Returns a batch or an error, because the loader would change the message of an exception."""
        try:
            return batch_of(base, sets, plan, step)
        except LikenessError as error:
            return error

    workers = min(WORKERS, max(1, (os.cpu_count() or 1) - 1)) if base.hardware.device != "cpu" else 1
    loader = DataLoader(
        range(start, plan.steps),
        batch_size=None,
        collate_fn=made,
        num_workers=workers if sys.platform == "linux" else 0,
        multiprocessing_context="fork" if sys.platform == "linux" else None,  # readers of data sets cannot be pickled
    )
    for batch in loader:
        if isinstance(batch, LikenessError):
            raise batch
        yield batch


BETAS, EPSILON = (0.9, 0.98), 1e-6  # of AdamW (appendix B.2)
FAST_BFLOAT16 = ("amx_bf16", "avx512_bf16")  # instructions of processors that multiply in bfloat16


class Tuning:
    """A base in training: its weights, optimiser and state. The base is modified in place."""

    def __init__(self, base: DualEncoder, plan: TuningPlan, folder: RunFolder) -> None:
        import torch

        self.base, self.plan, self.folder = base, plan, folder
        if plan.tune == "lora":
            base.adapted = lora.apply(base, plan)
        else:
            base.unfreeze(text=plan.towers == "both")
        if plan.checkpointing:
            if hasattr(base.module, "gradient_checkpointing_enable"):
                base.module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            else:
                (base.module if base.trains_text else base.module.visual).set_grad_checkpointing(True)
        self.weights = base.parameters()
        self.start = self.copy() if plan.keep == "interpolate" else {}  # the base's weights
        self.before = towers.load(base.row, hardware=base.hardware, tasks=()) if plan.keep == "distill" else None
        weights = self.weights.values()
        groups = [  # no weight decay for biases and norms, which have at most one dimension
            {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": plan.weight_decay},
            {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=plan.learning_rate, betas=BETAS, eps=EPSILON)
        self.state = TuningState()
        self.best: dict[str, torch.Tensor] = {}  # the best weights so far
        if stored := folder.load():
            self.state, self.best = TuningState(**stored["state"]), stored["best"]
            self.take(stored["weights"])
            self.optimiser.load_state_dict(stored["optimiser"])

    def take(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Copies these weights into the base."""
        import torch

        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(weights[name])

    def copy(self) -> dict[str, torch.Tensor]:
        """Returns a copy of the current weights."""
        return {name: weight.detach().clone() for name, weight in self.weights.items()}

    def save(self) -> None:
        """Stores everything that the run needs to resume from here."""
        state = self.optimiser.state_dict()
        self.folder.save(self.state, weights=self.copy(), best=self.best, optimiser=state)

    @contextmanager
    def as_stored(self) -> Iterator[None]:
        """Replaces the weights in the block by those that would be stored: with keep=interpolate, they are mixed with
        the base's.

        Any mixing share is possible without retraining (WiSE-FT, Wortsman et al., 2022, section 3). LoRA changes a
        weight by alpha / rank x B A, and B starts at 0, so mixing only B mixes the weights themselves.
        """
        import torch

        trained = self.copy()
        if self.plan.keep == "interpolate":
            with torch.no_grad():
                for name, weight in self.weights.items():
                    if ".lora_A." not in name:
                        weight.lerp_(self.start[name], self.plan.strength)
        yield
        self.take(trained)

    def autocast(self) -> torch.autocast:
        """Returns a context for matrix products in the plan's precision."""
        import torch

        kind = self.base.hardware.device.split(":")[0]
        return torch.autocast(kind, dtype=torch.bfloat16, enabled=precision(self.base, self.plan) == "bfloat16")

    def losses(self, batch: TrainingBatch) -> dict[str, torch.Tensor]:
        """Returns the mean hinge loss of each task and, with keep=distill, the distillation term times its strength."""
        import torch

        base, plan = self.base, self.plan
        stated = [at for at, text in enumerate(batch.texts) if text != QUALITY_PROMPT]  # which tuning is to change
        chosen = spread(len(next(iter(batch.images.values()))))
        with self.autocast():
            images = base.image_vectors(batch.images)
            texts = base.text_vectors(batch.texts) if batch.texts else images[:0]
            if self.before is not None:
                with torch.no_grad():
                    own = self.before.image_vectors({name: value[chosen] for name, value in batch.images.items()})
                    said = self.before.text_vectors([batch.texts[at] for at in stated]) if stated else None
        vectors = torch.cat([images, texts])
        losses = {
            task: hinge(
                *vectors[rows.to(vectors.device)].unbind(1),  # (n, 3, d) to three of (n, d)
                preferred=batch.preferred[task].to(vectors.device),
                margin=plan.margin,
            ).mean()
            for task, rows in batch.rows.items()
        }
        if self.before is not None:
            captions = (texts[stated], said) if stated else None
            losses["distill"] = plan.strength * distance(images[chosen], own, captions)
        return losses

    def step(self, batch: TrainingBatch) -> dict[str, float]:
        """Makes one step and returns each loss and their `total`. Raises LikenessError if one is not finite."""
        import torch

        number, plan = self.state.step, self.plan
        torch.manual_seed(int(np.random.SeedSequence([plan.seed, number]).generate_state(1)[0]))  # of dropout
        self.optimiser.zero_grad(set_to_none=True)
        for group in self.optimiser.param_groups:
            group["lr"] = plan.rate(number)
        losses = self.losses(batch)
        sum(losses.values()).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.weights.values(), plan.clip_norm or math.inf)
        values = {name: loss.item() for name, loss in losses.items()}
        if bad := [name for name, value in (values | {"gradient": norm.item()}).items() if not math.isfinite(value)]:
            raise LikenessError(
                f"The {bad[0]} is not finite at step {number + 1}. Train again with a lower learning_rate than "
                f"{plan.learning_rate:g}, with precision=float32, or with clip_norm=1, into another folder"
            )
        self.optimiser.step()
        return {**values, "total": sum(values.values())}


def train(
    base: DualEncoder,
    sets: Sequence[Examples],
    *,
    plan: TuningPlan,
    folder: RunFolder,
    measure: Measure | None = None,
    report: Callable[[str], None] = print,
    progress: Progress | None = None,
) -> TuningState:
    """Tunes the base in place, starting from the folder's last state; at the end it has the best weights.

    The best weights have the highest core average in `measure` (`evaluation.record`); without `measure`, they are the
    last weights. They are interpolated with the base's if the plan says so. Raises LikenessError for a loss that is not
    finite, for unreadable content, and if a process that prepares images was killed.
    """
    progress = progress or Progress(watched=False)
    report = progress.beside(report)
    run = Tuning(base, plan, folder)
    state = run.state
    if state.step:
        report(f"Resumed after step {state.step} of {plan.steps}")
    begun, stored_step = time.perf_counter() - state.seconds, state.step
    if not state.step:
        _measure(run, measure, "", report)
    base.training(True)
    try:
        with (
            folder.loss_log(step=state.step) as log,
            progress.bar("Training", total=plan.steps, done=state.step, unit="step") as advance,
        ):
            for batch in prepared(base, sets, plan, start=state.step):
                losses = run.step(batch)
                log(losses)
                state.step += 1
                advance(1)
                is_last = state.step == plan.steps
                if is_last or state.step % plan.evaluate_every == 0:
                    _measure(run, measure, f", loss {losses['total']:.4f}", report)
                if is_last or state.step % plan.save_every == 0:
                    state.seconds = time.perf_counter() - begun
                    run.save()
                    stored_step = state.step
    except KeyboardInterrupt:
        report(
            f"Stopped: the same command goes on after step {stored_step} of {plan.steps} (save_every="
            f"{plan.save_every} sets how often the state is stored)"
        )
        raise
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):  # which may be noticed at any point of a step
            raise
        raise LikenessError(
            f"A process that prepares training images was killed, perhaps because memory ran out ({error}). Run the "
            "same command again to go on"
        ) from error
    run.take(run.best or run.copy())
    base.training(False)
    return state


def _measure(run: Tuning, measure: Measure | None, loss: str, report: Callable[[str], None]) -> None:
    """Measures the weights as they would be stored, reports the result relative to the base, and stores the best."""
    import torch

    state, at = run.state, f"Step {run.state.step} of {run.plan.steps}{loss}"
    run.base.training(False)
    with run.as_stored():
        if measure is None:
            run.best = run.copy()
            report(at)
        else:
            with torch.inference_mode(), run.autocast():
                now = StepMeasurement(step=state.step, **measure())
            state.measurements.append(now)
            first, cores = state.measurements[0], {each.step: each.core for each in state.measurements}
            sides = [
                f"{title} not measured" if None in (to, of) else f"{title} {100 * to:.1f} ({100 * (to - of):+.1f})"
                for title, to, of in (("core", now.core, first.core), ("OOD", now.ood, first.ood))
            ]
            report(f"{at}: {', '.join(sides)}")
            if now.core is not None and (state.best is None or now.core > cores[state.best]):
                state.best, run.best = state.step, run.copy()
    run.base.training(True)


def precision(base: DualEncoder, plan: TuningPlan) -> str:
    """Returns the precision of matrix products that the plan selects on the base's device."""
    import torch

    if plan.precision != "auto":
        return plan.precision
    processor = getattr(torch.cpu, "get_capabilities", dict)()
    fast = base.hardware.device.startswith("cuda") or any(processor.get(name) for name in FAST_BFLOAT16)
    return "bfloat16" if fast else "float32"


def hinge(
    reference: torch.Tensor, first: torch.Tensor, second: torch.Tensor, *, preferred: torch.Tensor, margin: float
) -> torch.Tensor:
    """Returns (n,) losses of equation 1: max(0, (2y - 1)(sim(reference, first) - sim(reference, second)) + margin).

    `reference`, `first`, `second`: (n, d) unit embeddings, so that sim is the cosine; `preferred`: (n,) the preferred
    index y, 0 or 1. The loss is 0 if the preferred alternative wins by at least the margin.
    """
    difference = (reference * first).sum(dim=-1) - (reference * second).sum(dim=-1)
    return ((2 * preferred - 1) * difference + margin).clamp(min=0)


def distance(
    tuned: torch.Tensor, base: torch.Tensor, captions: tuple[torch.Tensor, torch.Tensor] | None = None
) -> torch.Tensor:
    """Returns the mean squared difference between cosines by the tuned model and by its base. The cosines are of images
    (n, d) with captions (k, d), a pair of tuned and base vectors, or without captions of the images with each other.
    Vectors have unit length.

    With captions, the similarities of texts and images are preserved, and images may come closer in directions without
    texts. This is learning without forgetting on the new tasks' inputs (Li and Hoiem, 2016), with texts as the old
    task's classes. Without captions, all images may rotate together, because only their similarities are preserved
    (Tung and Mori, 2019, equation 4).
    """
    if captions is not None:
        return (tuned @ captions[0].T - base @ captions[1].T).square().mean()
    gap = tuned @ tuned.T - base @ base.T
    n = len(gap)
    return (gap.square().sum() - gap.diagonal().square().sum()) / max(n * (n - 1), 1)


def spread(count: int) -> list[int]:
    """Returns at most COMPARED of `count` positions, evenly spaced from the first to the last.

    They are not every k-th image: images follow the order of the examples, so every k-th might be a reference.
    """
    most = min(count, COMPARED)
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]
