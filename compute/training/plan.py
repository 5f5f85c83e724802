"""All values that determine the outcome of a training run; the defaults are the paper's (UniSim, appendix B.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError
from pydantic.dataclasses import dataclass

from compute.types import BadInput, unknown


@dataclass(frozen=True, kw_only=True, config={"allow_inf_nan": False})
class TuningPlan:
    """How a dual encoder is tuned.

    The paper leaves open whether its 32 examples are averaged: they are here, and the tasks' means are summed.
    """

    tune: Literal["lora", "full"] = "lora"  # full: every weight of a tower and its projection
    # both: the text tower, frozen in the paper, is tuned too; with full alone
    towers: Literal["vision", "both"] = "vision"
    rank: PositiveInt = 16
    alpha: NonNegativeFloat = 32.0  # the change that LoRA adds is scaled by alpha / rank
    dropout: NonNegativeFloat = 0.2  # of LoRA's inputs
    margin: NonNegativeFloat = 0.05  # of the hinge loss, in cosine
    batch_size: PositiveInt = 32  # examples of each task a step
    samples: PositiveInt = 400_000  # examples of each task in all; with batch_size they give the steps
    learning_rate: NonNegativeFloat = 5e-6  # the highest
    weight_decay: NonNegativeFloat = 0.35  # not on biases and norms
    warm_up: NonNegativeInt = 500  # steps
    clip_norm: NonNegativeFloat = 0.0  # highest norm of a step's gradient; 0: not clipped, as the paper names none
    checkpointing: bool = False  # activations are computed again rather than stored, to save memory
    # of matrix products; auto: bfloat16 on CUDA and on processors that multiply in it
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    seed: NonNegativeInt = 0
    evaluate_every: PositiveInt = 500  # steps
    save_every: PositiveInt = 100  # steps between checkpoints
    keep: Literal["none", "distill", "interpolate"] = "none"  # how generalisation is kept
    strength: NonNegativeFloat = 0.0  # of `keep`: the weight of distill's term, or the base's share of mixed weights

    def __post_init__(self) -> None:
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
        """Returns the learning rate of a step from 0: a linear warm-up, then half a cosine down to 0."""
        if step < self.warm_up:
            return self.learning_rate * (step + 1) / self.warm_up
        done = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def with_options(plan: TuningPlan, options: Mapping[str, Any] | Sequence[str]) -> TuningPlan:
    """Returns the plan with options as a mapping, or as `name=value` texts. Raises BadInput naming what is wrong."""
    known = [field.name for field in fields(TuningPlan)]
    changed: dict[str, Any] = {}
    as_texts = not isinstance(options, Mapping)
    for name, *value in [map(str.strip, text.split("=", 1)) for text in options] if as_texts else options.items():
        if not value:
            raise BadInput(f"Training option {name!r} has no value: write name=value, such as learning_rate=1e-4")
        if name not in known:
            raise BadInput(unknown("training option", name, known, listed=True))
        if name in changed:
            raise BadInput(f"Training option {name} is given more than once: give one of its values")
        changed[name] = value[0]
    if changed.get("tune") == "lora":
        changed.setdefault("towers", "vision")
    if changed.get("keep") == "none":
        changed.setdefault("strength", 0.0)
    try:
        return replace(plan, **changed)
    except ValidationError as error:
        first = error.errors()[0]
        name, reason = first["loc"][0], first["msg"].replace("Input", "it")
        raise BadInput(f"Training option {name} cannot be {first['input']!r}: {reason}") from None


PAPER = TuningPlan()
