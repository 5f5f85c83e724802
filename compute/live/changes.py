"""Comparisons of an image with a transformed copy: how a model's score falls with the strength of one of PairBench's
transformations, and how a judge rates the pair from 1 to 10, under both conditions and in both orders.

The questions, the answer parser and the map from numbers to scores are those of the procedure `judging` (PairBench
section 3). There is only one image, so everything that a run derives from all of its pairs is missing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from PIL import Image

from compute.analysis.calibrated import Calibrations, DomainCheck
from compute.content.items import Column, content_key
from compute.features.subject import Subject
from compute.live import questions
from compute.live.inputs import Input, column_of
from compute.live.questions import domain
from compute.models import model_rows
from compute.procedures import judging
from compute.procedures.shared import conditions
from compute.procedures.shared.similarity import symmetric
from compute.tasks.data import RatedPairs
from compute.tasks.pairbench.making import STRENGTHS as RANDOM_STRENGTHS
from compute.tasks.pairbench.splits import expected
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.types import BadInput, CannotDo, Model

STRENGTHS = tuple(step / 8 for step in range(9))
SIDE = 512  # pixels: larger images are reduced first, because perturbing nine copies takes long
TEMPLATE = 0  # the first of PairBench's prompts, which its Appendix A prints in full
KINDS = ("image", "image")
OPTIONS = judging.PROCEDURE.usual
QUESTIONS = 2  # questions per condition: one per order
SEED = 13  # for random applications; the changed copy has the curves' seed
NO_MAP = (
    "Its own scores have no lowest and highest value. A run turns them into 1 to 10 by the spread of all its pairs, "
    "and one pair has none"
)


def changed(image: Input, *, kind: str, strength: float, seed: int = 0) -> Input:
    """Returns the image after one transformation, as a separate input. Raises BadInput for a text, and as `perturb`."""
    if image.modality != "image":
        raise BadInput(f"{image.name} is a text: only an image can be perturbed")
    whole, reduced = image.content, size(image)
    if reduced != whole.size:
        whole = whole.resize(reduced, Image.Resampling.LANCZOS)
    perturbed = perturb(whole, kind=kind, strength=strength, seed=seed)
    return replace(
        image,
        content=perturbed,
        name=f"{image.name}, {PERTURBATIONS[kind].title} {PERTURBATIONS[kind].amount(strength, perturbed.size)}",
        key=content_key(b"+".join((image.key, kind.encode(), f"{strength:g} {seed}".encode()))),
    )


def size(image: Input) -> tuple[int, int]:
    """Returns the width and height in pixels at which an image is perturbed."""
    width, height = image.content.size
    scale = min(1.0, SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A model's score at each of STRENGTHS, and which of its calibrations applies to the unchanged inputs."""

    scores: tuple[float, ...]
    domain: DomainCheck


def curve(subject: Subject, kind: str, image: Input, other: Input | None, calibrations: Calibrations) -> Curve:
    """Returns the curve of the changed image with `other`, or with itself unchanged.

    Changed images may leave the domain: the curve is meant to show that.
    """
    inputs = (image, other) if other else (image,)
    kinds = (image.modality, inputs[-1].modality)
    if reason := questions.cannot(subject.row, "pair", kinds):
        raise CannotDo(reason)
    if not (subject.can("compare") or all(subject.can(f"embed_{kind}") for kind in kinds)):
        raise CannotDo("It answers in words, and a curve would take nine questions")
    steps = [changed(image, kind=kind, strength=strength) for strength in STRENGTHS]
    fixed = other or steps[0]
    return Curve(
        scores=tuple(symmetric(subject, column_of([fixed] * len(steps)), column_of(steps)).tolist()),
        domain=domain(subject, inputs, pairing=model_rows.pairing_of(*kinds), calibrations=calibrations),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangedPair:
    """An image and a copy changed by one transformation of PERTURBATIONS, with a strength in 0..1."""

    image: Input
    kind: str
    strength: float

    @property
    def key(self) -> tuple[bytes, str, str]:
        """Returns a key that is equal for equal pairs."""
        return self.image.key, self.kind, f"{self.strength:g}"

    @property
    def type(self) -> str:
        """Returns the pair's type in PairBench's terms."""
        return "transformed" if self.strength > 0 else "identical"

    @cached_property
    def sides(self) -> tuple[Input, Input]:
        """Returns the image and its copy, reduced as for the curves. Raises BadInput for a text or an invalid
        strength.
        """
        change = partial(changed, self.image, kind=self.kind)
        return change(strength=0), change(strength=self.strength)

    @cached_property
    def variants(self) -> tuple[tuple[Input, ...], tuple[Input, ...]]:
        """Returns k random applications of the transformation to each side, for models without a prompt (section
        4.2.2).
        """
        draws = np.random.default_rng(SEED)
        made = []
        for side in self.sides:
            strengths = draws.uniform(*RANDOM_STRENGTHS, OPTIONS["k"]).tolist()
            seeds = draws.integers(2**32, size=OPTIONS["k"]).tolist()
            made.append(
                tuple(
                    changed(side, kind=self.kind, strength=strength, seed=seed)
                    for strength, seed in zip(strengths, seeds, strict=True)
                )
            )
        return made[0], made[1]

    def inputs(self, row: Model, condition: str) -> tuple[Input, ...]:
        """Returns all images that a model is shown under a condition."""
        if condition == "sensitive" or answers_in_words(row):
            return self.sides
        return tuple(each for side in self.variants for each in side)

    def rated(self, row: Model, condition: str) -> RatedPairs:
        """Returns the pair as input of the procedure, for a model under a condition."""
        first, second = (column_of([side]) for side in self.sides)
        variants: list[tuple[Column, ...]] = [(), ()]
        if condition == "invariant" and not answers_in_words(row):
            variants = [tuple(column_of([each]) for each in side) for side in self.variants]
        return replace(
            RatedPairs.of_one(first, second),
            names=(f"live/{self.type}",),
            expected=np.array([expected(self.type, condition)]),
            types=np.array([self.type]),
            condition=condition,
            transformations=(self.kind,),
            first_variants=variants[0],
            second_variants=variants[1],
        )


@dataclass(frozen=True, kw_only=True)
class PairRating:
    """A model's scores of a pair under one condition, in the order shown and then in reverse."""

    scores: tuple[int | None, int | None]  # None: no score could be read from the answer
    # From the evidence of `judging`: a judge's `problems` and `replies`, or the `numbers` of any other model.
    detail: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def apart(self) -> int:
        """Returns the difference between the two scores; 0 if either is missing."""
        first, second = self.scores
        return 0 if first is None or second is None else abs(first - second)


def cannot(row: Model) -> str:
    """Returns why a model cannot rate a pair of images from 1 to 10, as a sentence; empty if it can."""
    if reason := questions.cannot(row, "pair", KINDS):
        return reason
    if answers_in_words(row) or model_rows.embeds(row, "image-image") or model_rows.bounds(row):
        return ""
    return NO_MAP


def answers_in_words(row: Model) -> bool:
    """Returns whether the model is a judge that answers in words: each question takes seconds or costs money."""
    return "choose" in row.abilities and not model_rows.scores(row, "image-image")


def prompt(kind: str, condition: str) -> str:
    """Returns the question in words, in which "data1" and "data2" stand for the images."""
    return conditions.prompt("image-image", template=TEMPLATE, condition=condition, transformations=(kind,))


def rate(subject: Subject, pair: ChangedPair, condition: str) -> PairRating:
    """Returns the model's scores. Raises CannotDo with the reason if it cannot rate the pair, BadInput if a judge
    fails.
    """
    if reason := cannot(subject.row):
        raise CannotDo(reason)
    if not answers_in_words(subject.row):
        subject.prepare([column_of(pair.inputs(subject.row, condition))])  # as one batch
    evidence = judging.rated(subject, pair.rated(subject.row, condition), OPTIONS)
    row = evidence.items.iloc[0]
    forward, reverse = (None if np.isnan(score) else round(score) for score in (row.forward, row.reverse))
    return PairRating(scores=(forward, reverse), detail=row.detail, settings=evidence.settings)
