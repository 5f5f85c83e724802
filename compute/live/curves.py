"""How a model's score falls as an image is changed more and more, by PairBench's transformations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compute.analysis.domain import Calibrations, DomainCheck
from compute.content.items import content_key
from compute.live import domains, modes
from compute.live.inputs import Input
from compute.live.models.subject import LiveSubject, column_of
from compute.models import abilities
from compute.procedures.shared.similarity import symmetric
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.types import BadInput, CannotDo

if TYPE_CHECKING:
    from PIL import Image

STRENGTHS = tuple(step / 8 for step in range(9))
SIDE = 512  # pixels: larger images are reduced first, since perturbing nine copies of one takes long


def changed(image: Input, *, kind: str, strength: float, seed: int = 0) -> Input:
    """The image changed by one transformation, as an input of its own. Raises BadInput as `perturb`, and for a text."""
    if image.modality != "image":
        raise BadInput(f"{image.name} is a text: only an image can be perturbed")
    perturbed = perturb(_reduced(image.content), kind=kind, strength=strength, seed=seed)
    return replace(
        image,
        content=perturbed,
        name=f"{image.name}, {PERTURBATIONS[kind].title} {PERTURBATIONS[kind].amount(strength, perturbed.size)}",
        key=content_key(b"+".join((image.key, kind.encode(), f"{strength:g} {seed}".encode()))),
    )


def size(image: Input) -> tuple[int, int]:
    """Width and height in pixels at which an image is perturbed."""
    return _reduced_size(*image.content.size)


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
    if reason := modes.cannot(subject.row, "pair", kinds):
        raise CannotDo(reason)
    if not (subject.can("compare") or all(subject.can(f"embed_{kind}") for kind in kinds)):
        raise CannotDo("It answers in words, and a curve would take nine questions")
    steps = [changed(image, kind=kind, strength=strength) for strength in STRENGTHS]
    fixed = other or steps[0]
    seen = replace(subject, inputs={**subject.inputs, **{each.key: each for each in (*steps, fixed)}})
    return Curve(
        scores=tuple(symmetric(seen, column_of([fixed] * len(steps)), column_of(steps)).tolist()),
        domain=domains.judged(subject, inputs, pairing=abilities.pairing_of(*kinds), calibrations=calibrations),
    )


def _reduced(image: Image.Image) -> Image.Image:
    from PIL import Image

    size = _reduced_size(*image.size)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)


def _reduced_size(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))
