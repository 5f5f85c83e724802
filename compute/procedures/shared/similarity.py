"""Similarity according to a model: cosines, MaxSim of late interaction, or the model's own comparison."""

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


ROWS = 4096  # rows converted to float64 at a time
CROWDED = 1000  # squared norm of the mean over the variance; above it, float32 loses three digits of distances
LENGTHS = (1e-6, 1e6)  # range of vector norms for which float32 arithmetic and optimisers' tolerances are suitable
COMMON = 0.99  # squared norm of the mean direction; above it, cosines differ only slightly
QUERY_VECTORS, DOCUMENT_VECTORS = 512, 32768  # vectors per side that MaxSim multiplies at a time


def embeds(subject: Subject, *columns: Column) -> bool:
    """Returns whether the model can embed all of these columns."""
    return all(subject.can(ability) for column in columns for ability in ABILITY[column.modality])


def against(subject: Subject, reference: Column, alternatives: Sequence[Column]) -> Floats:
    """Returns (n, k): the similarity of each of k alternatives to the reference of its row; higher is nearer.

    Uses embeddings if the model can embed both sides, otherwise its comparison of reference and alternative, in this
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
    """Returns (n,) the symmetric similarity of the two items of each row; higher is nearer.

    It is the cosine if the model embeds both, otherwise the mean of its own comparison over both orders. Raises
    CannotDo as `against`.
    """
    if embeds(subject, first, second):
        return alike(subject.embed(first), subject.embed(second))
    return (against(subject, first, [second])[:, 0] + against(subject, second, [first])[:, 0]) / 2


def compared(subject: Subject, first: Column, second: Column) -> Floats:
    """Returns the model's own scores (n,), higher is nearer. They may be infinite (PSNR of equal images) but not
    NaN.
    """
    scores = np.asarray(subject.compare(first, second), dtype=float)
    wrong = np.flatnonzero(np.isnan(scores) | np.isneginf(scores))
    if len(wrong):
        raise BadItem(second.name(int(wrong[0])), f"{subject.row.key} gave no number for it", key=second.keys[wrong[0]])
    return scores


def alike(first: NDArray[np.floating], second: NDArray[np.floating]) -> Floats:
    """Returns (n,) cosines item by item; a zero vector has cosine 0 with everything."""
    out = np.empty(len(first))
    for start in range(0, len(first), ROWS):
        rows = slice(start, start + ROWS)
        out[rows] = np.einsum("nd,nd->n", unit(first[rows]), unit(second[rows]))
    return out


def in_range(vectors: Floats32, *others: Floats32) -> list[Floats32]:
    """Prepares vectors (n, d), and others compared with them, for float32 arithmetic that does not normalise them:
    Euclidean distances, regressions with an intercept.

    Vectors that are much farther from 0 than from one another are centred on their mean, which does not affect these
    computations. Vectors of extreme scale are scaled to a root mean square norm of 1. All others are returned
    unchanged.
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
    """Scores of late interaction: for each vector of a query, the largest dot product with a vector of the document,
    summed.

    Vectors are not normalised. Documents are read a few at a time, never all. `base` (n,) is to be added to each
    query's scores.
    """

    def __init__(self, queries: Many, documents: Many) -> None:
        self.queries, self.documents, self.device = queries, documents, _device()
        self.rows, self.block = slice(0, 0), []  # queries of the last call

    def base(self, rows: slice) -> Floats:
        return np.zeros(rows.stop - rows.start)

    def __call__(self, rows: slice, columns: slice) -> torch.Tensor:
        """Returns a block, computed in smaller parts. Padded vectors are multiplied, but padding never wins and never
        counts.
        """
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
        """Yields items in parts of about `most` vectors: their positions among `rows`, their vectors (n, longest, d),
        and which are not padding (n, longest).
        """
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

    If the documents' directions are nearly equal, float32 cannot distinguish their cosines. Then their mean is
    subtracted: a . b = a . mean + a . (b - mean). The first term is the same for all documents of a query. A block
    holds the second term in float32, whose rounding error is then small; `base` (n,) holds the first term in float64.
    """

    def __init__(self, queries: Floats32, documents: Floats32) -> None:
        import torch

        self.queries, self.documents, self.device = queries, documents, _device()
        self.mean = self._directions(documents[:: -(-len(documents) // ROWS) or 1]).mean(dim=0)
        if self.mean @ self.mean < COMMON:
            self.mean.zero_()
        self.rows, self.block = slice(0, 0), torch.empty(0)  # queries of the last call
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
        """Scales rows to unit length, as `unit`; float64 can hold the squares of all float32 numbers, so no scaling is
        needed.
        """
        import torch

        rows = torch.from_numpy(np.ascontiguousarray(vectors)).to(self.device).double()
        lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        return rows.div_(torch.where(lengths > 0, lengths, 1.0))


def _device() -> torch.device:
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
