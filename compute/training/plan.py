"""Every value that decides the outcome of a training run; the defaults are the paper's (UniSim, appendix B.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from compute.types import BadInput, unknown

CHOICES = {
    "tune": ("lora", "full"),
    "towers": ("vision", "both"),
    "optimiser": ("adamw", "muon"),
    "precision": ("auto", "float32", "bfloat16"),
    "keep": ("none", "distill", "interpolate"),
}
LEAST = dict.fromkeys(("rank", "batch_size", "samples", "evaluate_every", "save_every"), 1)  # the other numbers: 0


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
    margin: float = 0.05  # of the hinge loss, in cosine
    batch_size: int = 32  # examples of each task a step
    samples: int = 400_000  # examples of each task in all; with batch_size they give the steps
    optimiser: str = "adamw"  # or muon, for the matrices of linear layers; AdamW has the other weights
    learning_rate: float = 5e-6  # the highest
    weight_decay: float = 0.35  # not on biases and norms
    warm_up: int = 500  # steps
    clip_norm: float = 0.0  # highest norm of a step's gradient; 0: not clipped, as the paper names none
    checkpointing: bool = False  # activations are computed again rather than stored, to save memory
    precision: str = "auto"  # of matrix products; auto: bfloat16 on CUDA and on processors that multiply in it
    seed: int = 0
    evaluate_every: int = 500  # steps
    save_every: int = 100  # steps after which a killed run goes on
    keep: str = "none"  # how generalisation is kept: distill or interpolate
    strength: float = 0.0  # of `keep`: the weight of distill's term, or the base's share of interpolated weights

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise BadInput(unknown(f"training option {name}", value, known, listed=True))
        for field in fields(self):
            value, least = getattr(self, field.name), LEAST.get(field.name, 0)
            if type(field.default) in (int, float) and not least <= value < math.inf:
                raise BadInput(f"Training option {field.name}: {value} is not a number from {least} up")
        if self.towers == "both" and self.tune == "lora":
            raise BadInput("Training option towers=both needs tune=full: LoRA changes the vision tower alone")
        if self.dropout >= 1 or (self.keep == "interpolate" and self.strength > 1):
            raise BadInput("Training options dropout and, with keep=interpolate, strength are shares: at most 1")
        if (self.keep == "none") != (self.strength == 0):
            raise BadInput(
                f"Training options keep={self.keep} and strength={self.strength:g} do not go together: give "
                "keep=distill or keep=interpolate a strength above 0, or keep=none"
            )

    @property
    def steps(self) -> int:
        """Steps in all: each takes `batch_size` examples of every task."""
        return math.ceil(self.samples / self.batch_size)

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
    for name, value in options.items() if isinstance(options, Mapping) else map(_pair, options):
        if name not in kinds:
            raise BadInput(unknown("training option", name, kinds, listed=True))
        if name in changed:
            raise BadInput(f"Training option {name} is given more than once: give one of its values")
        changed[name] = _value(name, value, kinds[name])
    if changed.get("tune") == "lora":
        changed.setdefault("towers", "vision")
    if changed.get("keep") == "none":
        changed.setdefault("strength", 0.0)
    return replace(plan, **changed)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"Training option {text!r} has no value: write name=value, such as learning_rate=1e-4")
    return name.strip(), value.strip()


def _value(name: str, value: Any, kind: type) -> Any:
    """The value in the option's own type; texts are read."""
    try:
        if kind is bool and isinstance(value, str):
            return {"true": True, "false": False}[value.lower()]
        return kind(value)
    except (KeyError, TypeError, ValueError) as error:
        expected = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
        raise BadInput(f"Training option {name}: {value!r} is not {expected}") from error


PAPER = TuningPlan()
