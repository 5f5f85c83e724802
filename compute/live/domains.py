"""Whether a model's distributions of scores speak for a question's inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.analysis.domain import Calibrations, DomainCheck, Observed, image_facts, text_facts, words
from compute.live.inputs import Input
from compute.live.models.subject import LiveSubject, column_of
from compute.live.question import LiveQuestion
from compute.models import abilities


def pairing(question: LiveQuestion) -> str:
    """Which distribution a question needs: two modalities, or the attribute of single images."""
    if question.mode == "quality":
        return question.attribute
    if question.mode == "odd":
        return "image-image"
    return abilities.pairing_of(*question.kinds[:2])


def judged(subject: LiveSubject, inputs: Sequence[Input], *, pairing: str, calibrations: Calibrations) -> DomainCheck:
    """The distribution of the subject's model whose domain holds all inputs, or why there is none.

    An encoder's vectors of the inputs are computed where they are not known yet.
    """
    own = calibrations.of(subject.row.key, pairing)
    if not own.references:
        return DomainCheck()
    return own.judged(subject.row.key, pairing, [observed(subject, each) for each in inputs])


def observed(subject: LiveSubject, seen: Input) -> Observed:
    """One input as the domains of the subject's model see it."""
    facts = text_facts(seen.content) if seen.modality == "text" else image_facts(np.asarray(seen.content))
    vector = None
    if subject.can(f"embed_{seen.modality}") and not getattr(subject.model, "multi_vector", False):
        vector = subject.embed(column_of([seen]))[0]
    spoken = words(seen.content) if seen.modality == "text" else frozenset()
    return Observed(modality=seen.modality, facts=facts, vector=vector, words=spoken)
