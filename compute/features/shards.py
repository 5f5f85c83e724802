"""Shards: vectors and content keys in one safetensors file, read by memory map; and the rows of several of them by key.

Keys stay where they are mapped: opening a shard reads its header alone.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from compute.arrays import cumulative
from compute.io.files import replacing
from compute.types import LikenessError

KINDS = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}
SORTED = "sorted"  # in a header: the keys ascend, and are looked up where they lie


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """One file of encodings, mapped and read-only."""

    vectors: np.ndarray  # (N, d) as stored
    keys: np.ndarray  # (n,) S32 in the order of the rows
    offsets: np.ndarray | None  # (n + 1,) where items have many vectors: item i has the rows offsets[i]:offsets[i + 1]
    is_sorted: bool  # the keys ascend, as in all but some files of earlier versions

    @cached_property
    def order(self) -> np.ndarray | None:
        """(n,) the rows by ascending key; None where they ascend already."""
        return None if self.is_sorted else np.argsort(self.keys, kind="stable")

    @cached_property
    def ascending(self) -> np.ndarray:
        """(n,) S32, the keys in ascending order: the mapped ones themselves where they are."""
        return self.keys if self.order is None else self.keys[self.order]


def write(path: Path, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None = None) -> None:
    """Writes a shard of ascending keys (n,) S32. Raises LikenessError."""
    from safetensors.numpy import save

    arrays = {"vectors": vectors, "keys": keys.view(np.uint8).reshape(-1, 32)}
    data = save(arrays if offsets is None else {**arrays, "offsets": offsets}, metadata={SORTED: "yes"})
    place(path, lambda draft: draft.write_bytes(data))


def read(path: Path) -> Shard:
    """The shard in a file. Raises FileNotFoundError, LikenessError where its header cannot be right."""
    raw = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, np.uint8)
    try:
        start = 8 + int.from_bytes(bytes(raw[:8]), "little")
        header = json.loads(bytes(raw[8:start]))
        notes = header.pop("__metadata__")
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            data = np.asarray(raw[start + first : start + last]).view(KINDS[entry["dtype"]])
            arrays[name] = data.reshape(entry["shape"])
        return Shard(
            vectors=arrays["vectors"],
            keys=arrays["keys"].reshape(-1).view("S32"),
            offsets=arrays.get("offsets"),
            is_sorted=SORTED in notes,
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise LikenessError(f"{path}: a damaged file of encodings. Delete it: its items are encoded again") from error


def make(folder: Path) -> None:
    """Makes a folder and those above it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def place(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a draft and moves it to its path; a draft that fails is removed."""
    with replacing(path) as draft, writing(path.parent):
        write(draft)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns the system's refusals into a message that says where and what next."""
    try:
        yield
    except OSError as error:
        raise LikenessError(
            f"{folder}: cannot write there ({error.strerror or error}). Free some space or give the "
            f"store another folder, then run again: what is stored stays"
        ) from error


class Lookup:
    """Several shards as one table. A key that several hold is read from the first."""

    def __init__(self, shards: Sequence[Shard], *, where: str) -> None:
        self.shards = [shard for shard in shards if len(shard.keys)]
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
            if shard.offsets is None:
                out[offsets[at]] = shard.vectors[inside]
                continue
            step = np.arange(counts[at].sum()) - np.repeat(np.cumsum(counts[at]) - counts[at], counts[at])
            starts = np.repeat(shard.offsets[inside], counts[at])
            out[np.repeat(offsets[at], counts[at]) + step] = shard.vectors[starts + step]
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
        """Each shard that is needed, with the positions it fills and its rows, in the order they are on disk."""
        order = np.lexsort((rows, shard_of))
        for part in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1):
            if len(part):
                yield self.shards[shard_of[part[0]]], part, rows[part]
