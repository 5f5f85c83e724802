"""What models are calibrated with: pairs of a task's items that belong together, and drawn ones that do not.

A matching pair is a reference with its right alternative, an image with its caption, a query with a relevant document;
two texts match that belong to one image. An unrelated pair is the first side of one matching pair with the second side
of another of the same task, so both distributions are over the same items. Odd ones, classes and clusters give no
pairs: what they share is a kind, not a content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compute.arrays import cumulative
from compute.calibration.files import ALONE, PAIRINGS
from compute.content.items import Column
from compute.tasks.data import Choices, Data, Matches, Mixed, Retrieval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEWEST = 30  # pairs of each, or images: fewer tell little of a distribution's ends
ROUNDS = 20  # of repairing a derangement that paired related items
PROCEDURES = ("choice", "matching", "retrieval", "multiple_choice")  # of the tasks whose items can give pairs

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Matching pairs of one subset: row rows[i, 0] of `first` with row rows[i, 1] of `second`."""

    first: Column
    second: Column
    rows: Rows  # (n, 2)
    related: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None  # which rows (k,), (k,) belong together: (k, k)

    @property
    def pairing(self) -> str:
        """The kind of its two sides, one of analysis.calibrated.PAIRS."""
        return "-".join(sorted((self.first.modality, self.second.modality)))

    def take(self, rows: Rows) -> tuple[Column, Column]:
        """The pairs of these rows (k, 2), as two columns."""
        return self.first.take(rows[:, 0]), self.second.take(rows[:, 1])


@dataclass(frozen=True, kw_only=True)
class PairSample:
    """What one subset of a task gives to one pairing: two columns a side; of single images one column, unrelated."""

    task: str
    matching: tuple[Column, ...]
    unrelated: tuple[Column, ...]
    scenes: Rows  # (n,) the scene of each matching pair, or of each single image: what shares an item is of one scene


def material(data: Mapping[str, Mapping[str, Data]], *, most: int, seed: int) -> dict[str, list[PairSample]]:
    """By pairing, at most `most` matching pairs of the tasks' items (task -> subset -> data) and as many unrelated.

    Tasks share evenly, and each gives all it has if that is less. The same seed and items give the same draw.
    """
    out: dict[str, list[PairSample]] = {}
    for pairing in PAIRINGS:
        draw = _images if pairing in ALONE else _pairs
        pools = {task: draw(subsets.values(), pairing) for task, subsets in data.items()}
        pools = {task: pool for task, pool in pools.items() if len(pool[1])}
        for task, share in shares({task: len(pool[1]) for task, pool in pools.items()}, most=most).items():
            parts, positions = pools[task]
            digest = hashlib.blake2b(f"calibration {seed} {pairing} {task}".encode(), digest_size=8).digest()
            lots = np.random.default_rng(int.from_bytes(digest))
            chosen = positions[np.sort(lots.permutation(len(positions))[:share])]
            for at in np.unique(chosen[:, 0]).tolist():
                rows, part = chosen[chosen[:, 0] == at, 1], parts[at]
                out.setdefault(pairing, []).append(
                    PairSample(task=task, matching=(), unrelated=(part.take(rows),), scenes=rows)
                    if isinstance(part, Column)
                    else _sample(task, part, part.rows[rows], lots)
                )
    return out


def count(samples: Sequence[PairSample]) -> tuple[int, int]:
    """How many matching and unrelated pairs; of single images, 0 and how many."""
    return (
        sum(len(sample.matching[0]) for sample in samples if sample.matching),
        sum(len(sample.unrelated[0]) for sample in samples),
    )


def shares(sizes: Mapping[str, int], *, most: int) -> dict[str, int]:
    """How many each gives to a draw of `most`: evenly, and what the small ones are short of is the others'."""
    out, left = {}, most
    for index, key in enumerate(sorted(sizes, key=lambda key: (sizes[key], key))):
        out[key] = min(sizes[key], left // (len(sizes) - index))
        left -= out[key]
    return {key: out[key] for key in sizes}


def matching(data: Data) -> list[Pairs]:
    """The matching pairs of one subset's items; none of a shape that has none."""
    match data:
        case Choices(reference=Column()):
            return [Pairs(first=data.reference, second=_right(data), rows=_even(len(data.names)))]
        case Matches():
            return [
                Pairs(first=image, second=caption, rows=_even(len(data.names)))
                for image, caption in zip(data.images, data.captions, strict=False)
            ]
        case Retrieval():
            return _of_retrieval(data)
    return []


def _even(count: int) -> Rows:
    return np.stack([np.arange(count)] * 2, axis=1)


def _right(data: Choices) -> Column:
    """Each row's right alternative."""
    columns, answer = data.alternatives, np.asarray(data.answer).tolist()
    return Column(
        modality=columns[0].modality,
        name=lambda row: columns[answer[row]].name(row),
        read=lambda row: columns[answer[row]].read(row),
        keys=np.array([columns[at].keys[row] for row, at in enumerate(answer)], dtype="S32"),
    )


def _of_retrieval(data: Retrieval) -> list[Pairs]:
    """Queries with their relevant documents, by kind, and texts of one image; an item of both kinds is in no pair."""
    query, document, grade = (np.asarray(side) for side in data.relevant)
    good = grade > 0
    ignored = data.ignored or (np.zeros(0, dtype=np.int64),) * 2
    near = np.stack([np.concatenate([query, ignored[0]]), np.concatenate([document, ignored[1]])], axis=1)
    out = []
    for query_side, document_side in product(("image", "text"), repeat=2):
        first, first_at = _only(data.queries, query_side)
        second, second_at = _only(data.documents, document_side)
        if first is None or second is None:
            continue
        related = np.stack([first_at[near[:, 0]], second_at[near[:, 1]]])
        listed = _matrix(*related[:, (related >= 0).all(axis=0)], shape=(len(first), len(second)))
        rows = np.stack([first_at[query[good]], second_at[document[good]]], axis=1)
        rows = rows[(rows >= 0).all(axis=1)]
        out.append(
            Pairs(
                first=first,
                second=second,
                rows=rows,
                related=lambda rows, columns, listed=listed: listed[rows][:, columns].toarray() > 0,
            )
        )
        if query_side != document_side:
            texts = (first, rows[:, 0], rows[:, 1]) if query_side == "text" else (second, rows[:, 1], rows[:, 0])
            out.append(_of_one_image(*texts))
    return [pairs for pairs in out if len(pairs.rows)]


def _only(mixed: Mixed, modality: str) -> tuple[Column | None, Rows]:
    """A column of a side and, of each of its items, its row; -1 for items without it, or not alone."""
    at = {"image": mixed.image_at, "text": mixed.text_at}
    own, other = (at[kind] for kind in (("image", "text") if modality == "image" else ("text", "image")))
    column = mixed.image if modality == "image" else mixed.text
    if column is None or own is None:
        return None, np.zeros(0, dtype=np.int64)
    return column, np.asarray(own) if other is None else np.where(np.asarray(other) >= 0, -1, own)


def _of_one_image(texts: Column, text: Rows, image: Rows) -> Pairs:
    """Two texts of each image that has several, from which text (n,) belongs to which image (n,)."""
    order = np.lexsort((text, image))
    text, image = text[order], image[order]
    starts = np.flatnonzero(np.append(image[1:] == image[:-1], False) & np.append(True, image[1:] != image[:-1]))
    rows = np.stack([text[starts], text[starts + 1]], axis=1)

    shown = _matrix(text, image)
    return Pairs(
        first=texts,
        second=texts,
        rows=rows,
        related=lambda first, second: (shown[first] @ shown[second].T).toarray() > 0,
    )


def _matrix(row: Rows, column: Rows, *, shape: tuple[int, int] | None = None) -> csr_array:
    """1 or more where the two are listed together."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=shape)


# ---- drawing


def _pairs(subsets: Sequence[Data], pairing: str) -> tuple[list[Pairs], Rows]:
    """A task's matching pairs of one kind, and the different ones among them as (part, row); no item with itself."""
    parts = [pairs for data in subsets for pairs in matching(data) if pairs.pairing == pairing]
    sides = [(part.first.keys[part.rows[:, 0]], part.second.keys[part.rows[:, 1]]) for part in parts]
    if not parts:
        return [], np.zeros((0, 2), dtype=np.int64)
    first, second = (np.concatenate(side) for side in zip(*sides, strict=True))
    ordered = np.char.add(np.where(first < second, first, second), np.where(first < second, second, first))
    return parts, _positions([len(part.rows) for part in parts], ordered, keep=first != second)


def _images(subsets: Sequence[Data], question: str) -> tuple[list[Column], Rows]:
    """The different images of a task's choices by a quality, as columns and (column, row)."""
    parts = [
        column
        for data in subsets
        if isinstance(data, Choices) and data.reference is None and data.question == question
        for column in data.alternatives
        if column.modality == "image"
    ]
    keys = np.concatenate([np.zeros(0, dtype="S32"), *(column.keys for column in parts)])
    return parts, _positions([len(part) for part in parts], keys, keep=np.ones(len(keys), dtype=bool))


def _positions(sizes: Sequence[int], keys: NDArray[np.bytes_], *, keep: NDArray[np.bool_]) -> Rows:
    """(m, 2): the part and the row in it of every different key (n,) among those to keep, in their order."""
    first = np.sort(np.unique(keys, return_index=True)[1])
    first = first[keep[first]]
    starts = cumulative(sizes)
    part = np.searchsorted(starts, first, side="right") - 1
    return np.stack([part, first - starts[part]], axis=1)


def _sample(task: str, part: Pairs, rows: Rows, lots: np.random.Generator) -> PairSample:
    partner = deranged(_together(part, rows), lots)
    paired = np.flatnonzero(partner >= 0)
    crossed = np.unique(np.stack([rows[paired, 0], rows[partner[paired], 1]], axis=1), axis=0)
    first, second = part.take(rows)
    return PairSample(
        task=task, matching=(first, second), unrelated=part.take(crossed), scenes=scenes_of(first.keys, second.keys)
    )


def scenes_of(first: NDArray[np.bytes_], second: NDArray[np.bytes_]) -> Rows:
    """(n,) the scene of each pair of content keys: pairs that share an item, also by way of others, are of one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    items, index = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = index[: len(first)], index[len(first) :]
    links = coo_array((np.ones(len(one)), (one, other)), shape=(len(items), len(items)))
    return connected_components(links, directed=False)[1][one].astype(np.int64)


def _together(part: Pairs, rows: Rows) -> NDArray[np.bool_]:
    """(k, k): whether the first of pair i and the second of pair j are the same, or match in any drawn pair or list."""
    first, second = part.first.keys[rows[:, 0]], part.second.keys[rows[:, 1]]
    same_first, same_second = first[:, None] == first, second[:, None] == second
    together = (same_first.astype(np.float32) @ same_second.astype(np.float32)) > 0
    together |= first[:, None] == second
    return together if part.related is None else together | part.related(rows[:, 0], rows[:, 1])


def deranged(together: NDArray[np.bool_], lots: np.random.Generator) -> Rows:
    """(k,): for each row another column drawn at random, each column once, so that no two belong together (k, k).

    A row for which none is left has -1.
    """
    size = len(together)
    order, rows = lots.permutation(size), np.arange(size)
    for _ in range(ROUNDS):
        wrong = np.flatnonzero(together[rows, order])
        if not len(wrong):
            break
        for row in wrong.tolist():
            fits = np.flatnonzero(~together[row, order] & ~together[rows, order[row]])
            if together[row, order[row]] and len(fits):
                other = int(lots.choice(fits))
                order[[row, other]] = order[[other, row]]
    return np.where(together[rows, order], -1, order)
