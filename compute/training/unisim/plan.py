"""Every value that decides the outcome of a training run; the defaults are the paper's (UniSim, appendix B.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from compute.training.unisim.steps import preserving
from compute.types import BadInput, suggestion

TUNINGS = ("lora", "full")
TOWERS = ("vision", "both")
OPTIMISERS = ("adamw", "muon")
PRECISIONS = ("auto", "float32", "bfloat16", "fast")
TRUE, FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


@dataclass(frozen=True, kw_only=True)
class TuningPlan:
    """How a dual encoder is tuned.

    The paper leaves open whether its 32 examples are averaged: they are here, and the tasks' means are summed.
    """

    tune: str = "lora"  # or full: every weight of a tower and its projection
    towers: str = "vision"  # or both: the text tower, frozen in the paper, is tuned too; with full alone
    rank: int = 16
    alpha: float = 32.0  # the change that LoRA adds is scaled by alpha / rank
    dropout: float = 0.2  # of LoRA's inputs
    targets: tuple[str, ...] = ()  # names of layers that LoRA changes; empty: the family's q, k, v, out, fc1, fc2
    margin: float = 0.05  # of the hinge loss, in cosine
    batch_size: int = 32  # examples of each task a step
    samples: int = 400_000  # examples of each task in all; with batch_size they give the steps
    optimiser: str = "adamw"  # or muon, for the matrices of linear layers; AdamW has the other weights
    learning_rate: float = 5e-6  # the highest
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-6
    momentum: float = 0.95  # of muon
    weight_decay: float = 0.35  # not on biases and norms
    warm_up: int = 500  # steps
    clip_norm: float = 0.0  # highest norm of a step's gradient; 0: not clipped, as the paper names none
    accumulate: int = 1  # parts that a step's batches are processed in, to save memory; distill compares within one
    checkpointing: bool = False  # activations are computed again rather than stored, to save memory
    precision: str = "auto"  # of matrix products: bfloat16 on CUDA, else float32; fast: also with AMX or AVX-512
    seed: int = 0
    threads: int = 0  # of torch on a CPU, which decide the order of sums; 0: as many as it takes
    parallel: int = (
        1  # parts of a batch that a CPU embeds at once, each by so many threads, and of Muon's matrices; no dropout
    )
    evaluate_every: int = 500  # steps
    save_every: int = 100  # steps after which a killed run goes on
    max_ood_drop: float = 0.0  # points that the out-of-distribution average may fall before training stops; 0: any
    keep: str = "none"  # how generalisation is kept: one of preserving.METHODS
    strength: float = 0.0  # of `keep`: the weight of its term, or the base's share of interpolated weights

    def __post_init__(self) -> None:
        _check(self)

    @property
    def steps(self) -> int:
        """Steps in all: each takes `batch_size` examples of every task."""
        return math.ceil(self.samples / self.batch_size)

    def torch_seed(self, *numbers: int) -> int:
        """For torch, of a seed of any size: with the number of a step that step's own."""
        import numpy as np  # here, as the command line needs the options' names alone

        return int(np.random.SeedSequence([self.seed, *numbers]).generate_state(1, np.uint64)[0] >> 1)

    def rate(self, step: int) -> float:
        """The learning rate of a step from 0: a linear warm-up, then half a cosine down to 0."""
        if step < self.warm_up:
            return self.learning_rate * (step + 1) / self.warm_up
        done = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def with_options(plan: TuningPlan, options: Mapping[str, Any] | Sequence[str]) -> TuningPlan:
    """The plan with options as a mapping, or as `name=value` texts. Raises BadInput naming what is wrong."""
    kinds = {field.name: type(field.default) for field in fields(TuningPlan)}
    changed: dict[str, Any] = {}
    for name, value in named(options):
        if name not in kinds:
            raise BadInput(f"No training option {name!r}.{suggestion(name, kinds)} There are: {', '.join(kinds)}")
        if name in changed:
            raise BadInput(f"Training option {name} is given more than once: give one of its values")
        changed[name] = _value(name, value, kinds[name])
    if changed.get("tune") == "lora":  # the plan's towers are those of its own way of tuning
        changed.setdefault("towers", "vision")
        changed.setdefault("parallel", 1)  # LoRA has dropout
    if changed.get("parallel") == 1:
        changed.setdefault("threads", 0)  # the plan's threads are those of each part
    keep = changed.get("keep", plan.keep)
    if keep != plan.keep and "strength" not in changed:  # the plan's strength is that of its own method
        preserving.check(keep, 0.0)
        if keep != "none":
            raise BadInput(f"Training option keep={keep} needs its strength: add strength=NUMBER")
        changed["strength"] = 0.0
    return replace(plan, **changed)


def named(options: Mapping[str, Any] | Sequence[str]) -> list[tuple[str, Any]]:
    """Names and values of options as a mapping, or as `name=value` texts. Raises BadInput for a text without either."""
    return list(options.items()) if isinstance(options, Mapping) else [_pair(text) for text in options]


def with_steps(suite: str, options: Sequence[str], steps: int | None) -> list[str]:
    """The options with `samples` for so many steps at their batch size, or the suite's; None: as they are.

    Raises BadInput for a batch size or an option that cannot be read, and where `samples` is among them; what else is
    wrong with them is not looked at.
    """
    if steps is None:
        return list(options)
    pairs = named(options)
    if any(name == "samples" for name, _ in pairs):
        raise BadInput(f"Training option samples says how many steps there are, and so does --steps {steps}: give one")
    sizes = {name: value for name, value in pairs if name == "batch_size"}
    batch_size = with_options(SUITES.get(suite, MINI), sizes).batch_size
    return [*options, f"samples={steps * batch_size}"]


def names() -> tuple[str, ...]:
    """The options' names."""
    return tuple(field.name for field in fields(TuningPlan))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadInput(f"Training option {text!r} has no value: write name=value, such as learning_rate=1e-4")
    return name.strip(), value.strip()


def _value(name: str, value: Any, kind: type) -> Any:
    """The value in the option's own type; texts are read."""
    try:
        if kind is tuple:
            parts = value.split(",") if isinstance(value, str) else list(value)
            if not all(isinstance(part, str) for part in parts):
                raise ValueError
            return tuple(part.strip() for part in parts if part.strip())
        if kind is bool and isinstance(value, str):
            if value.lower() not in (*TRUE, *FALSE):
                raise ValueError
            return value.lower() in TRUE
        made = kind(value)
        if kind is int and not isinstance(value, str) and made != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"Training option {name}: {value!r} is no {_words(kind)}; {name}=VALUE takes one") from error
    return made


def _words(kind: type) -> str:
    return {int: "whole number", float: "number", bool: "true or false", tuple: "list of names"}.get(kind, "text")


def _check(plan: TuningPlan) -> None:
    """Raises BadInput for values that no run could have."""
    for name, known in (("tune", TUNINGS), ("towers", TOWERS), ("optimiser", OPTIMISERS), ("precision", PRECISIONS)):
        if getattr(plan, name) not in known:
            raise BadInput(f"Training option {name}: {getattr(plan, name)!r} is none of {', '.join(known)}")
    for name in ("rank", "batch_size", "samples", "accumulate", "parallel", "evaluate_every", "save_every"):
        if getattr(plan, name) < 1:
            raise BadInput(f"Training option {name}: {getattr(plan, name)} is less than 1")
    for name in ("warm_up", "weight_decay", "clip_norm", "seed", "threads", "max_ood_drop", "margin"):
        if not 0 <= getattr(plan, name) < math.inf:
            raise BadInput(f"Training option {name}: {getattr(plan, name)} is not 0 or more")
    for name in ("learning_rate", "epsilon", "alpha"):
        if not 0 < getattr(plan, name) < math.inf:
            raise BadInput(f"Training option {name}: {getattr(plan, name)} is not above 0")
    for name in ("dropout", "beta1", "beta2", "momentum"):
        if not 0 <= getattr(plan, name) < 1:
            raise BadInput(f"Training option {name}: {getattr(plan, name)} is not from 0 to below 1")
    if plan.targets and plan.tune != "lora":
        raise BadInput("Training option targets names layers that LoRA changes: add tune=lora, or leave it out")
    if plan.towers == "both" and plan.tune == "lora":
        raise BadInput("Training option towers=both needs tune=full: LoRA changes the vision tower alone")
    preserving.check(plan.keep, plan.strength)
    if plan.accumulate > plan.batch_size:
        raise BadInput(
            f"Training option accumulate: a batch of {plan.batch_size} cannot be processed in {plan.accumulate} parts"
        )


PAPER = TuningPlan()
# For the mini suite and the bundled model. The paper's rate is for 400K samples a task and large pre-trained models;
# with 414,720 drawn examples a task and a small model it would change nothing. Each is seen once: seen four times, the
# same number of steps ended 0.3 points lower on other items.
MINI = TuningPlan(
    tune="full",
    towers="both",
    optimiser="muon",
    margin=0.06,
    batch_size=432,
    samples=414_720,
    learning_rate=1.2e-3,
    weight_decay=0.05,
    warm_up=20,
    clip_norm=1.0,
    precision="fast",
    threads=1,
    parallel=2,
    evaluate_every=480,
    save_every=100,
    keep="distill",
    strength=5.0,
)
SUITES = {"mini": MINI, "unisim": PAPER}  # the plan that each suite is trained by where no option says otherwise
