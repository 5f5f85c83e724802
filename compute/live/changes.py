"""An image compared with its changed copy: how a model's score falls as it is changed more and more by PairBench's
transformations, and how a judge rates the pair from 1 to 10, under both conditions and in both orders.

Of a rating, questions, the reader of answers and the map from numbers to scores are those of the procedure `judging`
(PairBench section 3). An image comes in once, so whatever a run makes from all of its pairs is missing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from PIL import Image

from compute.analysis.domain import Calibrations, DomainCheck
from compute.content.items import Column, content_key
from compute.live import questions
from compute.live.inputs import Input
from compute.live.subject import LiveSubject, column_of
from compute.models import abilities
from compute.procedures import judging
from compute.procedures.shared import conditions
from compute.procedures.shared.similarity import symmetric
from compute.tasks.data import RatedPairs
from compute.tasks.pairbench.making import STRENGTHS as RANDOM_STRENGTHS
from compute.tasks.pairbench.splits import expected
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.types import BadInput, CannotDo, Model

STRENGTHS = tuple(step / 8 for step in range(9))
SIDE = 512  # pixels: larger images are reduced first, since perturbing nine copies of one takes long
TEMPLATE = 0  # of PairBench's prompts: the first, which its Appendix A shows in full
KINDS = ("image", "image")
OPTIONS = {name: values[0] for name, values in judging.PROCEDURE.options.items()}
QUESTIONS = 2  # a condition: one an order
SEED = 13  # of the random applications; the changed copy itself has the seed of the curves
TOTALS = ("input_tokens", "output_tokens", "cost")
NO_MAP = (
    "Its own scores have no lowest and highest value. A run turns them into 1 to 10 by the spread of all its pairs, "
    "and one pair has none"
)


def changed(image: Input, *, kind: str, strength: float, seed: int = 0) -> Input:
    """The image changed by one transformation, as its own input. Raises BadInput as `perturb`, and for a text."""
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
    """Width and height in pixels at which an image is perturbed."""
    width, height = image.content.size
    scale = min(1.0, SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A model's score at each of STRENGTHS, and which of its calibrations speaks for the unchanged inputs."""

    scores: tuple[float, ...]
    domain: DomainCheck


def curve(
    subject: LiveSubject, image: Input, *, other: Input | None = None, kind: str, calibrations: Calibrations
) -> Curve:
    """The curve of the changed image with `other`, or with itself unchanged.

    Changed images may leave the domain: that is the question.
    """
    inputs = (image, other) if other else (image,)
    kinds = (image.modality, inputs[-1].modality)
    if reason := questions.cannot(subject.row, "pair", kinds):
        raise CannotDo(reason)
    if not (subject.can("compare") or all(subject.can(f"embed_{kind}") for kind in kinds)):
        raise CannotDo("It answers in words, and a curve would take nine questions")
    steps = [changed(image, kind=kind, strength=strength) for strength in STRENGTHS]
    fixed = other or steps[0]
    seen = replace(subject, inputs={**subject.inputs, **{each.key: each for each in (*steps, fixed)}})
    return Curve(
        scores=tuple(symmetric(seen, column_of([fixed] * len(steps)), column_of(steps)).tolist()),
        domain=subject.domain(inputs, pairing=abilities.pairing_of(*kinds), calibrations=calibrations),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangedPair:
    """An image and its copy, changed by one transformation of PERTURBATIONS at a strength 0..1."""

    image: Input
    kind: str
    strength: float

    @property
    def key(self) -> tuple[bytes, str, str]:
        """Equal for equal pairs."""
        return self.image.key, self.kind, f"{self.strength:g}"

    @property
    def type(self) -> str:
        """The type of PairBench's pairs that it is."""
        return "transformed" if self.strength > 0 else "identical"

    @cached_property
    def sides(self) -> tuple[Input, Input]:
        """The image and its copy, reduced as for the curves. Raises BadInput for a text or another strength."""
        change = partial(changed, self.image, kind=self.kind)
        return change(strength=0), change(strength=self.strength)

    @cached_property
    def variants(self) -> tuple[tuple[Input, ...], tuple[Input, ...]]:
        """k random applications of the transformation to each side, for models without a prompt (section 4.2.2)."""
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
        """All images that a model is shown under a condition."""
        if condition == "sensitive" or answers_in_words(row):
            return self.sides
        return tuple(each for side in self.variants for each in side)

    def rated(self, row: Model, condition: str) -> RatedPairs:
        """The pair as the procedure takes it, for a model under a condition."""
        first, second = (column_of([side]) for side in self.sides)
        variants: list[tuple[Column, ...]] = [(), ()]
        if condition == "invariant" and not answers_in_words(row):
            variants = [tuple(column_of([each]) for each in side) for side in self.variants]
        return RatedPairs(
            names=(f"live/{self.type}",),
            first=first,
            second=second,
            expected=np.array([expected(self.type, condition)]),
            types=np.array([self.type]),
            sources=np.array(["live"]),
            templates=np.array([TEMPLATE]),
            condition=condition,
            transformations=(self.kind,),
            first_variants=variants[0],
            second_variants=variants[1],
        )


@dataclass(frozen=True, kw_only=True)
class PairRating:
    """A model's scores of a pair under one condition, the order as shown first and then the reverse."""

    scores: tuple[int | None, int | None]  # None: the answer has no score
    problems: tuple[str, str] = ("", "")  # of procedures.shared.ratings.PROBLEMS, or empty
    replies: tuple[str, ...] = ()  # both, of a judge in words
    numbers: tuple[float, ...] = ()  # both, of any other model: what became the scores
    measure: str = ""  # what the numbers are: cosine | comparison (the model's own)
    ends: tuple[float, float] | None = None  # the numbers that become 1 and 10
    totals: Mapping[str, float] = field(default_factory=dict)  # tokens and US dollars, where both answers state them
    at_least: Mapping[str, float] = field(default_factory=dict)  # where one of the two does

    @property
    def apart(self) -> int:
        """How far the two scores are apart; 0 where either is missing."""
        first, second = self.scores
        return 0 if first is None or second is None else abs(first - second)


def cannot(row: Model) -> str:
    """Why a model cannot rate a pair of images from 1 to 10, as a sentence; empty where it can."""
    if reason := questions.cannot(row, "pair", KINDS):
        return reason
    if answers_in_words(row) or abilities.embeds(row, "image-image") or abilities.bounds(row):
        return ""
    return NO_MAP


def answers_in_words(row: Model) -> bool:
    """Whether the model is a judge that answers questions in words: each takes seconds, or costs money."""
    return "choose" in row.abilities and not abilities.scores(row, "image-image")


def prompt(kind: str, condition: str) -> str:
    """The question in words; "data1" and "data2" stand for the images."""
    return conditions.prompt("image-image", template=TEMPLATE, condition=condition, transformations=(kind,))


def rate(subject: LiveSubject, *, pair: ChangedPair, condition: str) -> PairRating:
    """The model's scores. Raises CannotDo with the reason where it has none, BadInput where a judge fails."""
    if reason := cannot(subject.row):
        raise CannotDo(reason)
    data = pair.rated(subject.row, condition)
    if answers_in_words(subject.row):
        for reply in subject.choose(conditions.questions(data)):  # the procedure reads them again, from memory
            if reply.error:
                raise BadInput(reply.error)
    else:
        subject.encode(pair.inputs(subject.row, condition))  # as one batch
    evidence = judging.rated(subject, data, OPTIONS)
    row, settings = evidence.items.iloc[0], evidence.settings
    forward, reverse = (None if np.isnan(score) else round(score) for score in (row.forward, row.reverse))
    detail: dict[str, Any] = row.detail
    return PairRating(
        scores=(forward, reverse),
        problems=tuple(detail.get("problems", ("", ""))),
        replies=tuple(detail.get("replies", ())),
        numbers=tuple(detail.get("numbers", ())),
        measure=settings.get("numbers", ""),
        ends=tuple(settings["scale"]["from"]) if "scale" in settings else None,
        totals={name: settings[name] for name in TOTALS if name in settings},
        at_least={name: part["at_least"] for name, part in settings.get("in_part", {}).items() if name in TOTALS},
    )
