"""How alike things are to a model: cosines of embeddings, MaxSim of many vectors, or the model's own comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compute.arrays import Bools, Floats, Floats32, Ints, unit
from compute.content.items import Column
from compute.procedures.evidence import Subject
from compute.types import BadItem, CannotDo

if TYPE_CHECKING:
    import torch

    from compute.procedures.shared.top_k import Scorer

ROWS = 4096  # rows taken to float64 at a time
NEEDS = {"image": {"embed_image"}, "text": {"embed_text"}, "pair": {"embed_image", "embed_text"}}
QUERY_VECTORS, DOCUMENT_VECTORS = 512, 32768  # vectors a side that MaxSim multiplies at once


@dataclass(frozen=True, kw_only=True)
class Many:
    """Several vectors an item (late interaction): item i has rows offsets[i]:offsets[i + 1] of `vectors` (N, d)."""

    vectors: Floats32
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1


Embeddings = Floats32 | Many


def embed(subject: Subject, column: Column) -> Embeddings:
    """One vector an item (n, d), or many. Raises BadItem for an embedding that is not finite, CannotDo as the model."""
    try:
        embeddings: Embeddings = subject.embed(column)
    except CannotDo as refusal:
        try:
            vectors, offsets = subject.embed_many(column)
        except CannotDo:
            raise refusal from None
        embeddings = Many(vectors=vectors, offsets=np.asarray(offsets, dtype=np.int64))
    _check(embeddings, column)
    return embeddings


def _check(embeddings: Embeddings, column: Column) -> None:
    if isinstance(embeddings, Many):
        sums = embeddings.vectors.sum(axis=1)
        empty = np.flatnonzero(np.diff(embeddings.offsets) <= 0)
        if len(empty):
            raise BadItem(column.name(int(empty[0])), "the model gave no vector for it", key=column.keys[empty[0]])
        wrong = np.searchsorted(embeddings.offsets, np.flatnonzero(~np.isfinite(sums)), side="right") - 1
    else:
        wrong = np.flatnonzero(~np.isfinite(embeddings.sum(axis=1)))
    if len(wrong):
        raise BadItem(column.name(int(wrong[0])), "its embedding is not finite", key=column.keys[wrong[0]])


def embeds(subject: Subject, *columns: Column) -> bool:
    """Whether the model has embeddings for all of these."""
    return all(subject.can(ability) for column in columns for ability in NEEDS[column.modality])


def against(subject: Subject, reference: Column, alternatives: Sequence[Column]) -> Floats:
    """(n, k): how like the reference of its row each of k alternatives is; higher is nearer.

    By embeddings where the model has them for both sides, else by its comparison of reference and alternative, in that
    order; of a text and an image the text comes first, as metrics of the two are defined. Raises CannotDo where it has
    neither.
    """
    if embeds(subject, reference, *alternatives):
        first = embed(subject, reference)
        return np.stack([alike(first, embed(subject, column)) for column in alternatives], axis=1)
    if subject.can("compare"):
        pairs = [
            (column, reference) if (column.modality, reference.modality) == ("text", "image") else (reference, column)
            for column in alternatives
        ]
        return np.stack([compared(subject, *pair) for pair in pairs], axis=1)
    kinds = " and ".join(dict.fromkeys(column.modality for column in (reference, *alternatives)))
    raise CannotDo(
        f"{subject.row.key} can neither embed {kinds} nor compare them; its abilities: "
        f"{', '.join(subject.row.abilities) or 'none'}"
    )


def symmetric(subject: Subject, first: Column, second: Column) -> Floats:
    """(n,): how alike the two items of each row are, whichever stands first; higher is nearer.

    Cosine where the model embeds both; its own comparison, and MaxSim of many vectors, as the mean of both orders. An
    image and a text have one order, as in `against`. Raises CannotDo as `against`.
    """
    if first.modality != second.modality:
        text, other = (first, second) if first.modality == "text" else (second, first)
        return against(subject, text, [other])[:, 0]
    if embeds(subject, first, second):
        one, other = embed(subject, first), embed(subject, second)
        forth = alike(one, other)
        return (forth + alike(other, one)) / 2 if isinstance(one, Many) else forth
    return (against(subject, first, [second])[:, 0] + against(subject, second, [first])[:, 0]) / 2


def compared(subject: Subject, first: Column | None, second: Column) -> Floats:
    """The model's own scores (n,), higher is nearer; an infinite one is allowed (PSNR of equal images), NaN is not."""
    scores = np.asarray(subject.compare(first, second), dtype=float)
    wrong = np.flatnonzero(np.isnan(scores))
    if len(wrong):
        raise BadItem(second.name(int(wrong[0])), f"{subject.row.key} gave no number for it", key=second.keys[wrong[0]])
    return scores


def alike(first: Embeddings, second: Embeddings) -> Floats:
    """(n,) item by item: cosine, or the sum over `first`'s vectors of the best product with one of `second`'s (MaxSim).

    A vector of length zero has cosine 0 with everything. Vectors of late interaction are taken as the model gives them.
    """
    if isinstance(first, Many) != isinstance(second, Many):
        raise CannotDo("The model gives one vector for some items and many for others: these cannot be compared")
    out = np.empty(len(first))
    if isinstance(first, Many):
        step = max(1, DOCUMENT_VECTORS // max(_longest(first), _longest(second)))
        for start in range(0, len(first), step):
            rows = slice(start, start + step)
            (a, a_there), (b, b_there) = _padded(first, rows), _padded(second, rows)
            products = np.where(b_there[:, None, :], a @ b.transpose(0, 2, 1), -np.inf)
            out[rows] = (products.max(axis=2) * a_there).sum(axis=1, dtype=float)
        return out
    for start in range(0, len(first), ROWS):
        rows = slice(start, start + ROWS)
        a, b = unit(first[rows].astype(np.float64)), unit(second[rows].astype(np.float64))
        out[rows] = np.einsum("nd,nd->n", a, b)
    return out


def scorer(queries: Embeddings, documents: Embeddings) -> Scorer:
    """What gives a block of scores of queries and documents, on the accelerator where there is one."""
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if isinstance(queries, Many) != isinstance(documents, Many):
        raise CannotDo("The model gives one vector for some items and many for others: these cannot be compared")
    if isinstance(queries, Many):
        return lambda rows, columns: _maxsim(queries, documents, rows, columns, device=device)

    room = torch.empty(0, device=device)  # one block, used again: fresh memory costs a tenth of the product

    def cosines(rows: slice, columns: slice) -> torch.Tensor:
        nonlocal room
        first, second = (
            torch.from_numpy(np.ascontiguousarray(side)).to(device) for side in (queries[rows], documents[columns])
        )
        first, second = (torch.nn.functional.normalize(side, eps=1e-30) for side in (first, second))
        size = len(first) * len(second)
        if len(room) < size:
            room = torch.empty(size, device=device)
        return torch.mm(first, second.T, out=room[:size].view(len(first), len(second)))

    return cosines


def _maxsim(queries: Many, documents: Many, rows: slice, columns: slice, *, device: torch.device) -> torch.Tensor:
    """Scores of a block, made in smaller ones: padded vectors are multiplied, padding never wins and never counts."""
    import torch

    out = torch.empty((rows.stop - rows.start, columns.stop - columns.start), device=device)
    down, across = max(1, QUERY_VECTORS // _longest(queries)), max(1, DOCUMENT_VECTORS // _longest(documents))
    for start in range(columns.start, columns.stop, across):
        stop = min(start + across, columns.stop)
        b, b_there = (torch.from_numpy(side).to(device) for side in _padded(documents, slice(start, stop)))
        flat, even = b.reshape(-1, b.shape[2]).T, bool(b_there.all())
        for top in range(rows.start, rows.stop, down):
            bottom = min(top + down, rows.stop)
            a, a_there = (torch.from_numpy(side).to(device) for side in _padded(queries, slice(top, bottom)))
            products = (a.reshape(-1, a.shape[2]) @ flat).view(*a.shape[:2], *b.shape[:2])
            if not even:
                products.masked_fill_(~b_there, -torch.inf)
            best = products.amax(dim=3)
            out[top - rows.start : bottom - rows.start, start - columns.start : stop - columns.start] = (
                best * a_there[:, :, None]
            ).sum(dim=1)
    return out


def _longest(many: Many) -> int:
    return int(np.diff(many.offsets).max(initial=1))


def _padded(many: Many, rows: slice) -> tuple[Floats32, Bools]:
    """Vectors of some items as (n, longest, d), and which of them are real (n, longest)."""
    starts, stops = many.offsets[:-1][rows], many.offsets[1:][rows]
    at = starts[:, None] + np.arange(int((stops - starts).max(initial=1)))
    inside = at < stops[:, None]
    return many.vectors[np.minimum(at, len(many.vectors) - 1)], inside
