"""How similar things are to a model: cosines, MaxSim of late interaction, or the model's own comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Floats, Floats32, Many, unit
from compute.content.items import Column
from compute.features.subject import ABILITY, Subject
from compute.types import BadItem, CannotDo

if TYPE_CHECKING:
    import torch


ROWS = 4096  # rows taken to float64 at a time
CROWDED = 1000  # the mean's squared length over the variance, above which float32 loses three digits of distances
LENGTHS = (1e-6, 1e6)  # of vectors that float32 arithmetic and optimisers' tolerances are made for
COMMON = 0.99  # the squared length of the mean of directions, above which their cosines differ by little
QUERY_VECTORS, DOCUMENT_VECTORS = 512, 32768  # vectors per side that MaxSim multiplies at once


def embeds(subject: Subject, *columns: Column) -> bool:
    """Returns whether the model has embeddings for all of these."""
    return all(subject.can(ability) for column in columns for ability in ABILITY[column.modality])


def against(subject: Subject, reference: Column, alternatives: Sequence[Column]) -> Floats:
    """(n, k): how like the reference of its row each of k alternatives is; higher is nearer.

    By embeddings where the model has them for both sides, else by its comparison of reference and alternative, in that
    order. Raises CannotDo if it has neither.
    """
    if embeds(subject, reference, *alternatives):
        first = subject.embed(reference)
        return np.stack([alike(first, subject.embed(column)) for column in alternatives], axis=1)
    if subject.can("compare"):
        return np.stack([compared(subject, reference, column) for column in alternatives], axis=1)
    kinds = " and ".join(dict.fromkeys(column.modality for column in (reference, *alternatives)))
    raise CannotDo(
        f"{subject.row.key} can neither embed {kinds} nor compare them; its abilities: "
        f"{', '.join(subject.row.abilities) or 'none'}"
    )


def symmetric(subject: Subject, first: Column, second: Column) -> Floats:
    """(n,): how similar the two items of each row are, in either order; higher is nearer.

    Cosine where the model embeds both, else the mean of its own comparison in both orders. Raises CannotDo as
    `against`.
    """
    if embeds(subject, first, second):
        return alike(subject.embed(first), subject.embed(second))
    return (against(subject, first, [second])[:, 0] + against(subject, second, [first])[:, 0]) / 2


def compared(subject: Subject, first: Column, second: Column) -> Floats:
    """The model's own scores (n,), higher is nearer; an infinite one is allowed (PSNR of equal images), NaN is not."""
    scores = np.asarray(subject.compare(first, second), dtype=float)
    wrong = np.flatnonzero(np.isnan(scores) | np.isneginf(scores))
    if len(wrong):
        raise BadItem(second.name(int(wrong[0])), f"{subject.row.key} gave no number for it", key=second.keys[wrong[0]])
    return scores


def alike(first: NDArray[np.floating], second: NDArray[np.floating]) -> Floats:
    """(n,) cosines item by item; a vector of length zero has cosine 0 with everything."""
    out = np.empty(len(first))
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


class MaxSim:
    """Scores of late interaction: of each of a query's vectors the best product with one of the document's, summed.

    Vectors are taken as the model gives them. Documents are read a few at a time, never all. `base` (n,) is what is to
    be added to each query's scores.
    """

    def __init__(self, queries: Many, documents: Many) -> None:
        self.queries, self.documents, self.device = queries, documents, _device()
        self.rows, self.block = slice(0, 0), []  # the queries of the last call

    def base(self, rows: slice) -> Floats:
        return np.zeros(rows.stop - rows.start)

    def __call__(self, rows: slice, columns: slice) -> torch.Tensor:
        """Returns a block, made in smaller ones: padded vectors are multiplied, padding never wins and never counts."""
        import torch

        if rows != self.rows:
            self.rows, self.block = rows, list(self._parts(self.queries, rows, QUERY_VECTORS))
        out = torch.empty((rows.stop - rows.start, columns.stop - columns.start), device=self.device)
        for across, documents, real in self._parts(self.documents, columns, DOCUMENT_VECTORS):
            flat, even = documents.flatten(0, 1).T, bool(real.all())
            for down, queries, counted in self.block:
                products = (queries.flatten(0, 1) @ flat).view(*counted.shape, *real.shape)
                if not even:
                    products.masked_fill_(~real, -torch.inf)
                out[down, across] = (products.amax(dim=3) * counted[:, :, None]).sum(dim=1)
        return out

    def _parts(self, many: Many, rows: slice, most: int) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        """Some items after others, about `most` vectors at once: where among `rows`, their vectors (n, longest, d), and
        which of them are not padding (n, longest)."""
        import torch

        step = max(1, most // int(many.lengths[rows].max(initial=1)))
        for start in range(rows.start, rows.stop, step):
            items = np.arange(start, min(start + step, rows.stop))
            vectors = [torch.from_numpy(part) for part in many.read(items)]
            padded = torch.nn.utils.rnn.pad_sequence(vectors, batch_first=True).to(self.device)
            lengths = torch.from_numpy(many.lengths[items]).to(self.device)
            real = torch.arange(padded.shape[1], device=self.device) < lengths[:, None]
            yield slice(start - rows.start, items[-1] + 1 - rows.start), padded, real


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
