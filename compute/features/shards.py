"""Named arrays in one file, read by memory map: the safetensors format (an 8-byte length, a JSON header, raw bytes).

Written here so that parts of an array can be strung together on disk without holding the whole.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from compute import drafts
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


@dataclass(frozen=True, kw_only=True)
class StreamedArray:
    """An array to write, of which only one part along the first axis is in memory at a time."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: Iterable[np.ndarray]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole."""
        return math.prod(self.shape) * self.dtype.itemsize


def write(
    path: Path,
    arrays: Mapping[str, np.ndarray | StreamedArray],
    *,
    replaces: Sequence[str] = (),
    is_sorted: bool = False,
) -> None:
    """Writes arrays; `replaces` names files that this one stands for, `is_sorted` says that its keys ascend.

    Wider numbers go first, so that each array starts at a multiple of its own width.
    """
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    notes = {"replaces": ",".join(replaces)} | ({SORTED: "yes"} if is_sorted else {})
    header: dict[str, object] = {"__metadata__": notes}
    end = 0
    for name in order:
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "data_offsets": [start, end], "shape": list(array.shape)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as handle:
        put(handle, len(text).to_bytes(8, "little") + text)
        for name in order:
            array = arrays[name]
            for part in array.parts if isinstance(array, StreamedArray) else [array]:
                put(handle, memoryview(np.ascontiguousarray(part).reshape(-1).view(np.uint8)))


def put(handle: BinaryIO, data: bytes | memoryview) -> None:
    """The only function where a shard's bytes go to the disk."""
    handle.write(data)


@dataclass(frozen=True, kw_only=True)
class MappedFile:
    """The arrays of a file, mapped and read-only, and whether its keys ascend."""

    arrays: Mapping[str, np.ndarray]
    is_sorted: bool


def mapped(path: Path) -> MappedFile:
    """A file's arrays. Raises FileNotFoundError, LikenessError when the file is damaged."""
    raw = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, np.uint8)
    try:
        start, header = _header(bytes(raw[:8]), lambda size: bytes(raw[8 : 8 + size]))
        arrays = {}
        for name, entry in header.items():
            if name != "__metadata__":
                first, last = entry["data_offsets"]
                data = np.asarray(raw[start + first : start + last]).view(KINDS[entry["dtype"]])
                arrays[name] = data.reshape(entry["shape"])
        return MappedFile(arrays=arrays, is_sorted=header["__metadata__"].get(SORTED) == "yes")
    except (ValueError, KeyError, TypeError) as error:
        raise LikenessError(f"{path}: a damaged file of encodings. Delete it: its items are encoded again") from error


def replaced(path: Path) -> list[str]:
    """The names of the files that this one stands for."""
    with open(path, "rb") as handle:
        header = _header(handle.read(8), handle.read)[1]
    return [name for name in header["__metadata__"]["replaces"].split(",") if name]


def _header(length: bytes, read: Callable[[int], bytes]) -> tuple[int, dict[str, Any]]:
    """Where the arrays begin, and the header's entries."""
    size = int.from_bytes(length, "little")
    return 8 + size, json.loads(read(size))


def make(folder: Path) -> None:
    """Makes a folder and those above it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def place(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a draft and moves it to its path; a draft that fails is removed."""
    with drafts.replacing(path) as draft, writing(path.parent):
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
