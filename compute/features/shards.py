"""Shards: named arrays in one file, read by memory map, and the rows of several of them by content key.

The format is that of safetensors (an 8-byte length, a JSON header, raw bytes), written here so that parts of an array
can be strung together on disk without holding the whole. Keys stay where they are mapped: opening reads a header each.
Checksums (CRC-32, in the header) tell a damaged file: the header's is compared when a file is opened, that of the
arrays before they are first used. Files of earlier versions have none and are taken as they are, until a merge.
"""

from __future__ import annotations

import contextlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from compute.arrays import cumulative
from compute.io.files import replacing
from compute.types import LikenessError

KINDS = {
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
NAMES = {kind: name for name, kind in KINDS.items()}
SORTED = "sorted"  # in a header: the keys ascend, and are looked up where they lie
CHECKSUMS = "crc32"  # in a header: of the header with zeros in their place, and of the arrays, 8 digits each
UNKNOWN = b"0" * 16


class Damaged(LikenessError):
    """A file of encodings is not as it was written."""


@dataclass(frozen=True, kw_only=True)
class StreamedArray:
    """An array to write in parts along the first axis, one in memory at a time."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: Iterable[np.ndarray]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole."""
        return math.prod(self.shape) * self.dtype.itemsize


def write(path: Path, arrays: Mapping[str, np.ndarray | StreamedArray], *, is_sorted: bool = False) -> None:
    """Writes arrays; `is_sorted` says that its keys ascend.

    Wider numbers go first, so that each array starts at a multiple of its own width.
    """
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    notes = {CHECKSUMS: UNKNOWN.decode()} | ({SORTED: "yes"} if is_sorted else {})
    header: dict[str, object] = {"__metadata__": notes}
    end = 0
    for name in order:
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "data_offsets": [start, end], "shape": list(array.shape)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    checksum = 0
    with open(path, "wb") as handle:
        put(handle, len(text).to_bytes(8, "little") + text)
        for name in order:
            array = arrays[name]
            for part in array.parts if isinstance(array, StreamedArray) else [array]:
                data = memoryview(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
                put(handle, data)
                checksum = zlib.crc32(data, checksum)
        handle.seek(8)
        put(handle, text.replace(UNKNOWN, b"%08x%08x" % (zlib.crc32(text), checksum), 1))


def put(handle: BinaryIO, data: bytes | memoryview) -> None:
    """The only function where a shard's bytes go to the disk."""
    handle.write(data)


@dataclass(frozen=True, kw_only=True)
class MappedFile:
    """The arrays of a file, mapped and read-only. `notes` are those of its header, `data` all bytes behind it."""

    path: Path
    arrays: Mapping[str, np.ndarray]
    notes: Mapping[str, str]
    data: np.ndarray

    @cached_property
    def is_sound(self) -> bool:
        """Whether the arrays are as they were written; reads all of them, once."""
        return CHECKSUMS not in self.notes or int(self.notes[CHECKSUMS][8:], 16) == zlib.crc32(self.data)


def mapped(path: Path) -> MappedFile:
    """A file's arrays. Raises FileNotFoundError, Damaged where the header cannot be right."""
    raw = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, np.uint8)
    try:
        start = 8 + int.from_bytes(bytes(raw[:8]), "little")
        text = bytes(raw[8:start])
        header = json.loads(text)
        notes = header.pop("__metadata__")
        checksums = notes.get(CHECKSUMS, "").encode()
        if checksums and int(checksums[:8], 16) != zlib.crc32(text.replace(checksums, UNKNOWN, 1)):
            raise ValueError("the header's checksum")
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            data = np.asarray(raw[start + first : start + last]).view(KINDS[entry["dtype"]])
            arrays[name] = data.reshape(entry["shape"])
        return MappedFile(path=path, arrays=arrays, notes=notes, data=raw[start:])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise Damaged(f"{path}: a damaged file of encodings. Delete it: its items are encoded again") from error


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


@dataclass(frozen=True, eq=False)
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
        return None if SORTED in self.file.notes else np.argsort(self.keys, kind="stable")

    @cached_property
    def ascending(self) -> np.ndarray:
        """(n,) S32, the keys in ascending order: the mapped ones themselves where they are."""
        return self.keys if self.order is None else self.keys[self.order]


class Lookup:
    """Several shards as one table. A key that several hold is read from the first.

    `has` takes the shards that turn out to be damaged from the table, into `damaged`.
    """

    def __init__(self, files: Sequence[MappedFile], *, where: str) -> None:
        self.shards = [shard for shard in map(Shard, files) if len(shard.keys)]
        self.damaged: list[Path] = []
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
        """(n,) bool: which of the keys (n,) S32 are stored, in files that are as they were written."""
        while True:
            shard_of, _ = self._locate(keys)
            used = [self.shards[at] for at in np.unique(shard_of[shard_of >= 0])]
            damaged = [shard for shard in used if not shard.file.is_sound]
            if not damaged:
                return shard_of >= 0
            self.shards = [shard for shard in self.shards if shard not in damaged]
            self.damaged += [shard.file.path for shard in damaged]

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
