"""Embeddings of items that have an image, a text, or both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.arrays import Floats32, Ints, Many
from compute.features.subject import Subject
from compute.tasks.data import Mixed
from compute.types import BadInput, CannotDo

# For image and text: the plain sum of both embeddings, not normalised, or a joint embedding, which is the default for
# families with a prompt for both (engine.plan.defaults). MIEB's public code uses either, depending on the model's
# family.
WAYS = ("sum", "joint")


def embed(subject: Subject, mixed: Mixed, *, how: str) -> Floats32 | Many:
    """Returns embeddings (n, d) of items; `how`, one of WAYS, applies to items with both image and text. For a
    late-interaction model it returns all vectors; items with both have the vectors of both, as in MIEB's public code.

    Raises BadInput for an item that has neither, CannotDo if the model cannot embed the items.
    """
    image, text = (np.full(len(mixed), -1) if at is None else at for at in (mixed.image_at, mixed.text_at))
    both = (image >= 0) & (text >= 0)
    empty = np.flatnonzero((image < 0) & (text < 0))
    if len(empty):
        raise BadInput(f"{mixed.names[empty[0]]!r} has neither an image nor a text")
    if both.any() and how == "joint":
        parts = mixed.joined()
        order = np.argsort(np.concatenate([at for at, _ in parts]))
        return np.concatenate([subject.embed(column) for _, column in parts])[order]
    late = subject.row.late_interaction
    parts = [
        (subject.embed_many(column) if late else subject.embed(column), at)
        for column, at in ((mixed.image, image), (mixed.text, text))
        if column is not None and (at >= 0).any()
    ]
    if len(parts) == 1:
        vectors, at = parts[0]
        return vectors if len(at) == len(vectors) and np.array_equal(at, np.arange(len(at))) else vectors[at]
    if late:
        return _strung(parts)
    (pictures, image), (words, text) = parts
    if pictures.shape[1] != words.shape[1]:
        raise CannotDo(f"{subject.row.key} embeds images in {pictures.shape[1]} dimensions, texts in {words.shape[1]}")
    fused = np.zeros((len(mixed), pictures.shape[1]), dtype=np.float32)
    for vectors, at in parts:
        fused[at >= 0] += vectors[at[at >= 0]]
    return fused


def _strung(parts: Sequence[tuple[Many, Ints]]) -> Many:
    """Concatenates the vectors of each item over the parts that have them: at (n,), -1 if a part does not."""

    def read(items: Ints) -> list[Floats32]:
        found: list[list[Floats32]] = [[] for _ in items]
        for many, at in parts:
            there = np.flatnonzero(at[items] >= 0)
            for item, vectors in zip(there.tolist(), many.read(at[items][there]), strict=True):
                found[item].append(vectors)
        return [np.concatenate(vectors) for vectors in found]

    return Many(read=read, lengths=sum(np.where(at >= 0, many.lengths[at], 0) for many, at in parts))
