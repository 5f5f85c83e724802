"""How similar things are to a model: cosines of embeddings, MaxSim of many vectors, or the model's own comparison."""

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
CROWDED = 1000  # the mean's squared length over the variance, above which float32 loses three digits of distances
LENGTHS = (1e-6, 1e6)  # of vectors that float32 arithmetic and optimisers' tolerances are made for
COMMON = 0.99  # the squared length of the mean of directions, above which their cosines differ by little
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
    """(n,): how similar the two items of each row are, in either order; higher is nearer.

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
    wrong = np.flatnonzero(np.isnan(scores) | np.isneginf(scores))
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
        out[rows] = np.einsum("nd,nd->n", unit(first[rows]), unit(second[rows]))
    return out


def in_range(vectors: Floats32, *others: Floats32) -> list[Floats32]:
    """Vectors (n, d), and others compared with them, for arithmetic in float32 on vectors as they are: Euclidean
    distances, regressions with an intercept.

    Vectors that lie much farther from 0 than from one another are moved to their mean, which changes neither; those of
    extreme scale are brought to a root mean square length of 1. All others are returned as they are.
    """
    mean = vectors.mean(axis=0, dtype=np.float64)
    offset, spread = float(mean @ mean), float(vectors.var(axis=0, dtype=np.float64).sum())
    crowded = offset > CROWDED * spread > CROWDED * np.finfo(np.float32).eps ** 2 * offset
    length = np.sqrt(spread if crowded else spread + offset)
    extreme = length > 0 and not LENGTHS[0] < length < LENGTHS[1]
    if not (crowded or extreme):
        return [vectors, *others]
    return [
        ((side.astype(np.float64) - (mean if crowded else 0)) / (length if extreme else 1)).astype(np.float32)
        for side in (vectors, *others)
    ]


def scorer(queries: Embeddings, documents: Embeddings) -> Scorer:
    """What gives a block of scores of queries and documents, on the accelerator where there is one."""
    if isinstance(queries, Many) != isinstance(documents, Many):
        raise CannotDo("The model gives one vector for some items and many for others: these cannot be compared")
    return MaxSim(queries, documents) if isinstance(queries, Many) else Cosines(queries, documents)


class MaxSim:
    """Scores of items of many vectors; `base` (n,) is what is to be added to each query's scores."""

    def __init__(self, queries: Many, documents: Many) -> None:
        self.queries, self.documents, self.device = queries, documents, _device()

    def base(self, rows: slice) -> Floats:
        return np.zeros(rows.stop - rows.start)

    def __call__(self, rows: slice, columns: slice) -> torch.Tensor:
        """A block, made in smaller ones: padded vectors are multiplied, padding never wins and never counts."""
        import torch

        out = torch.empty((rows.stop - rows.start, columns.stop - columns.start), device=self.device)
        down, across = QUERY_VECTORS // _longest(self.queries), DOCUMENT_VECTORS // _longest(self.documents)
        for start in range(columns.start, columns.stop, max(1, across)):
            part = slice(start, min(start + max(1, across), columns.stop))
            b, b_there = (torch.from_numpy(side).to(self.device) for side in _padded(self.documents, part))
            flat, even = b.reshape(-1, b.shape[2]).T, bool(b_there.all())
            for top in range(rows.start, rows.stop, max(1, down)):
                bottom = min(top + max(1, down), rows.stop)
                a, a_there = (
                    torch.from_numpy(side).to(self.device) for side in _padded(self.queries, slice(top, bottom))
                )
                products = (a.reshape(-1, a.shape[2]) @ flat).view(*a.shape[:2], *b.shape[:2])
                if not even:
                    products.masked_fill_(~b_there, -torch.inf)
                best = (products.amax(dim=3) * a_there[:, :, None]).sum(dim=1)
                out[top - rows.start : bottom - rows.start, start - columns.start : part.stop - columns.start] = best
        return out


class Cosines:
    """Cosines of queries (n, d) and documents (m, d), as exact as in float64 at the cost of float32.

    Where nearly all of the documents' directions is common to them, float32 does not tell their cosines apart. Then
    their mean is taken off: a . b = a . mean + a . (b - mean); the first is the same for all documents of a
    query. A block has the second, in float32, whose rounding is that of small numbers; `base` (n,) is the first, in
    float64.
    """

    def __init__(self, queries: Floats32, documents: Floats32) -> None:
        import torch

        self.queries, self.documents, self.device = queries, documents, _device()
        self.mean = self._directions(documents[:: -(-len(documents) // ROWS) or 1]).mean(dim=0)
        if self.mean @ self.mean < COMMON:
            self.mean.zero_()
        self.rows, self.block = slice(0, 0), torch.empty(0)  # the queries of the last call
        self.room = torch.empty(0, device=self.device)  # of a block, used again: fresh memory costs a tenth of it

    def base(self, rows: slice) -> Floats:
        return (self._directions(self.queries[rows]) @ self.mean).cpu().numpy()

    def __call__(self, rows: slice, columns: slice) -> torch.Tensor:
        import torch

        if rows != self.rows:
            self.rows, self.block = rows, self._directions(self.queries[rows]).float()
        documents = self._directions(self.documents[columns]).sub_(self.mean).float()
        size = len(self.block) * len(documents)
        if len(self.room) < size:
            self.room = torch.empty(size, device=self.device)
        return torch.mm(self.block, documents.T, out=self.room[:size].view(len(self.block), len(documents)))

    def _directions(self, vectors: Floats32) -> torch.Tensor:
        """As `unit`: squares of float32 numbers are within the range of float64, so none need be scaled."""
        import torch

        rows = torch.from_numpy(np.ascontiguousarray(vectors)).to(self.device).double()
        lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        return rows.div_(torch.where(lengths > 0, lengths, 1.0))


def _device() -> torch.device:
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _longest(many: Many) -> int:
    return int(np.diff(many.offsets).max(initial=1))


def _padded(many: Many, rows: slice) -> tuple[Floats32, Bools]:
    """Vectors of some items as (n, longest, d), and which of them are real (n, longest)."""
    starts, stops = many.offsets[:-1][rows], many.offsets[1:][rows]
    at = starts[:, None] + np.arange(int((stops - starts).max(initial=1)))
    inside = at < stops[:, None]
    return many.vectors[np.minimum(at, len(many.vectors) - 1)], inside
