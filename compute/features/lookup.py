"""Rows of several shards by content key. Keys stay where they are mapped: opening reads a header a shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compute.arrays import cumulative
from compute.features.shards import MappedFile
from compute.types import LikenessError


@dataclass(frozen=True)
class Shard:
    """One file of encodings: `vectors` (N, d), keys (n,) S32, and where items have many vectors `offsets` (n + 1,)."""

    file: MappedFile

    @property
    def vectors(self) -> np.ndarray:
        """(N, d) as stored."""
        return self.file.arrays["vectors"]

    @property
    def offsets(self) -> np.ndarray | None:
        """(n + 1,) or None: item i has the rows offsets[i]:offsets[i + 1]."""
        return self.file.arrays.get("offsets")

    @cached_property
    def keys(self) -> np.ndarray:
        """(n,) S32 in the order of the rows."""
        return self.file.arrays["keys"].reshape(-1).view("S32")

    @cached_property
    def order(self) -> np.ndarray | None:
        """(n,) the rows by ascending key; None where they ascend already."""
        return None if self.file.is_sorted else np.argsort(self.keys, kind="stable")

    @cached_property
    def ascending(self) -> np.ndarray:
        """(n,) S32, the keys in ascending order: the mapped ones themselves where they are."""
        return self.keys if self.order is None else self.keys[self.order]


class Lookup:
    """Several shards as one table. A key that several hold is read from the first."""

    def __init__(self, files: Sequence[MappedFile], *, where: str) -> None:
        self.shards = [shard for shard in map(Shard, files) if len(shard.keys)]
        self.where = where
        dtypes = {shard.vectors.dtype.name for shard in self.shards}
        if len(dtypes) > 1:
            raise LikenessError(
                f"{where}: vectors of several types ({', '.join(sorted(dtypes))}). "
                "Delete the folder: its items are encoded again"
            )

    @property
    def ragged(self) -> bool:
        """Whether items have many vectors each."""
        return any(shard.offsets is not None for shard in self.shards)

    @property
    def width(self) -> int:
        """Numbers in a vector; 0 where nothing is stored."""
        return self.shards[0].vectors.shape[1] if self.shards else 0

    @property
    def dtype(self) -> np.dtype:
        """Of the vectors as stored; float32 where nothing is."""
        return self.shards[0].vectors.dtype if self.shards else np.dtype(np.float32)

    def has(self, keys: np.ndarray) -> np.ndarray:
        """(n,) bool: which of the keys (n,) S32 are stored."""
        return self._locate(keys)[0] >= 0

    def many(self, keys: np.ndarray, *, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """All vectors (N, d) in `dtype` and offsets (n + 1,) of the keys, all of which must be stored."""
        shard_of, rows = self._locate(keys)
        counts = self._counts(shard_of, rows)
        offsets = cumulative(counts)
        out = np.empty((offsets[-1], self.width), dtype=dtype)
        for shard, at, inside in self._each(shard_of, rows):
            if shard.offsets is None and not self.ragged:
                out[at] = shard.vectors[inside]
                continue
            starts = inside if shard.offsets is None else shard.offsets[inside]
            step = np.arange(counts[at].sum()) - np.repeat(np.cumsum(counts[at]) - counts[at], counts[at])
            out[np.repeat(offsets[at], counts[at]) + step] = shard.vectors[np.repeat(starts, counts[at]) + step]
        return out, offsets

    def counts(self, keys: np.ndarray) -> np.ndarray:
        """(n,) how many vectors each key has; all must be stored."""
        return self._counts(*self._locate(keys))

    def _counts(self, shard_of: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if (shard_of < 0).any():
            raise LikenessError(f"{self.where}: {int((shard_of < 0).sum())} of the requested items are not stored yet")
        counts = np.ones(len(rows), dtype=np.int64)
        for shard, at, inside in self._each(shard_of, rows):
            if shard.offsets is not None:
                counts[at] = shard.offsets[inside + 1] - shard.offsets[inside]
        return counts

    def _locate(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each key's shard, -1 where it is not stored, and its row there."""
        wanted = np.asarray(keys, dtype="S32")
        order = np.argsort(wanted)
        among = wanted[order]
        shard_of, rows = np.full(len(wanted), -1), np.zeros(len(wanted), dtype=np.int64)
        for number, shard in reversed(list(enumerate(self.shards))):
            ascending = shard.ascending
            first = np.searchsorted(among, ascending[0])
            last = np.searchsorted(among, ascending[-1], side="right")
            part = among[first:last]
            nearest = np.minimum(np.searchsorted(ascending, part), len(ascending) - 1)
            same = ascending[nearest] == part
            at = order[first:last][same]
            shard_of[at] = number
            rows[at] = nearest[same] if shard.order is None else shard.order[nearest[same]]
        return shard_of, rows

    def _each(self, shard_of: np.ndarray, rows: np.ndarray) -> Iterator[tuple[Shard, np.ndarray, np.ndarray]]:
        """Each shard that is needed, with the positions it fills and its rows, in the order they lie on disk."""
        order = np.lexsort((rows, shard_of))
        for part in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1):
            if len(part):
                yield self.shards[shard_of[part[0]]], part, rows[part]
