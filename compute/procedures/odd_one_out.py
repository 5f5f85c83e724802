"""Finding the one of k images that does not belong (UniSim-Bench OOO)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, Procedure, contents_of
from compute.procedures.shared import replies
from compute.procedures.shared.similarity import alike, compared, embeds
from compute.tasks.data import OddOneOut
from compute.types import CannotDo


def run(subject: Subject, data: OddOneOut, options: Mapping[str, Any]) -> Evidence:
    """Measures the accuracy of finding the odd one out: the item without which the others are most similar on average.

    With three items, it is the one outside the most similar pair; with more, the one with the lowest mean similarity to
    the others. Comparisons are averaged over both orders. Ties count as in `credit`. Raises CannotDo if the model lacks
    the ability.
    """
    k = len(data.members)
    details = contents_of(data.members)
    if not (embeds(subject, *data.members) or subject.can("compare")) and subject.can("choose"):
        return replies.ask(subject, data, right=data.odd, details=details)
    return Evidence.of_picks(
        names=data.names, right=data.odd, scores=oddness(similarities(subject, data), k), details=details
    )


def oddness(pairs: Mapping[tuple[int, int], Floats], k: int) -> Floats:
    """Returns (n, k): the mean similarity among the others, from the similarities (n,) of every pair i < j."""
    return np.stack(
        [np.mean([values for pair, values in pairs.items() if odd not in pair], axis=0) for odd in range(k)], axis=1
    )


def similarities(subject: Subject, data: OddOneOut) -> dict[tuple[int, int], Floats]:
    """Returns the similarity (n,) of every pair of members. Raises CannotDo if the model lacks the ability."""
    every = list(combinations(range(len(data.members)), 2))
    if embeds(subject, *data.members):
        embeddings = [subject.embed(column) for column in data.members]
        return {(i, j): alike(embeddings[i], embeddings[j]) for i, j in every}
    if not subject.can("compare"):
        raise CannotDo(f"{subject.row.key} can neither embed {data.members[0].modality} nor compare")
    return {
        (i, j): (
            compared(subject, data.members[i], data.members[j]) + compared(subject, data.members[j], data.members[i])
        )
        / 2
        for i, j in every
    }


PROCEDURE = Procedure(
    key="odd_one_out",
    needs=({"embed_image"}, {"compare"}, {"choose"}),
    run=run,
)
