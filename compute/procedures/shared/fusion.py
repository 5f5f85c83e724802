"""One embedding for items that have an image, a text, or both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Ints, cumulative
from compute.content.items import Column
from compute.procedures.evidence import Subject
from compute.procedures.shared import similarity
from compute.procedures.shared.similarity import Embeddings, Many
from compute.tasks.data import Mixed
from compute.types import BadInput, CannotDo

# Of image and text: plain sum of both embeddings, not normalised; or embedded as one, which is the default of families
# that have a prompt for both (engine.plan.defaults). MIEB's public code does either by the model's family.
WAYS = ("sum", "joint")


def embed(subject: Subject, mixed: Mixed, *, how: str) -> Embeddings:
    """(n, d) an item's embedding, or many vectors; `how`, one of WAYS, for items that have both image and text.

    Raises BadInput for an item that has neither, CannotDo where the model cannot embed what is there.
    """
    if not len(mixed):
        raise BadInput("There are no queries, or no documents")
    image, text = _positions(mixed.image, mixed.image_at, mixed), _positions(mixed.text, mixed.text_at, mixed)
    both = (image >= 0) & (text >= 0)
    empty = np.flatnonzero((image < 0) & (text < 0))
    if len(empty):
        raise BadInput(f"{mixed.names[empty[0]]!r} has neither an image nor a text")
    if both.any() and how == "joint":
        return _joint(subject, mixed)
    parts = [
        (similarity.embed(subject, column), at)
        for column, at in ((mixed.image, image), (mixed.text, text))
        if column is not None and (at >= 0).any()
    ]
    if len(parts) == 1:
        return rows(*parts[0])
    (pictures, image), (words, text) = parts
    if isinstance(pictures, Many) or isinstance(words, Many):
        raise CannotDo(f"{subject.row.key} gives many vectors per item, which have no sum: use fusion=joint")
    if pictures.shape[1] != words.shape[1]:
        raise CannotDo(f"{subject.row.key} embeds images in {pictures.shape[1]} dimensions, texts in {words.shape[1]}")
    fused = np.zeros((len(mixed), pictures.shape[1]), dtype=np.float32)
    for scores, at in parts:
        fused[at >= 0] += scores[at[at >= 0]]
    return fused


def _joint(subject: Subject, mixed: Mixed) -> Embeddings:
    """Items with both embedded as pairs, the others by what they have."""
    parts = mixed.joined()
    embedded = [similarity.embed(subject, column) for _, column in parts]
    order = np.argsort(np.concatenate([at for at, _ in parts]))
    if any(isinstance(part, Many) for part in embedded):
        if not all(isinstance(part, Many) for part in embedded):
            raise CannotDo(f"{subject.row.key} gives one vector for some items and many for others")
        lengths = np.concatenate([np.diff(part.offsets) for part in embedded])
        return rows(
            Many(
                vectors=np.concatenate([part.vectors for part in embedded]),
                offsets=cumulative(lengths),
            ),
            order,
        )
    return np.concatenate(embedded)[order]


def _positions(column: Column | None, at: NDArray[np.integer] | None, mixed: Mixed) -> Ints:
    if column is None:
        return np.full(len(mixed), -1, dtype=np.int64)
    if at is None or len(at) != len(mixed):
        raise BadInput(
            f"{len(mixed)} items need as many positions in their column, here are {0 if at is None else len(at)}"
        )
    if len(at) and not -1 <= np.min(at) <= np.max(at) < len(column):
        raise BadInput(f"An item points at row {np.max(at)} of a column of {len(column)}")
    return np.asarray(at, dtype=np.int64)


def rows(embeddings: Embeddings, at: Ints) -> Embeddings:
    """The embeddings at these positions; not copied where that is all of them in order."""
    if len(at) == len(embeddings) and np.array_equal(at, np.arange(len(at))):
        return embeddings
    if not isinstance(embeddings, Many):
        return embeddings[at]
    starts, lengths = embeddings.offsets[at], np.diff(embeddings.offsets)[at]
    offsets = cumulative(lengths)
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Many(vectors=embeddings.vectors[np.repeat(starts, lengths) + inside], offsets=offsets)
