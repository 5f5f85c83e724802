"""Encodings on disk: `<folder>/<model>/<identity digest>/<modality>/`, one cache per modality.

A cache consists of shards (`<digest of its keys>.safetensors`: `vectors`, `keys` in ascending order, and `offsets` if
items have many vectors), which are memory-mapped: opening one only reads its header. Files are written under a draft
name and moved to their path, so each is complete or absent. Shards are never changed, only merged into larger ones. The
process that makes a pass holds the lock; reading and adding a shard need no lock.

The store may be an address (compute/storage.py). Its shards are then fetched once into a local folder and mapped there,
and each new one is uploaded as a whole object. They are not merged, because others may have fetched them, and nothing
is locked between machines: two that encode the same items write the same object.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from compute import storage, versions
from compute.arrays import LazyRows, Many, cumulative
from compute.io.files import replacing, sweep
from compute.types import BadInput, LikenessError, NotHere

KINDS = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}
SORTED = "sorted"  # in a header: the keys are ascending and need no sorting for lookups
SMALL = 64 << 20  # bytes: smaller shards are merged at the end of a pass
MERGED = 128 << 20  # approximate maximum bytes of a merged shard: a merge needs a few times as much memory
DTYPES = ("float32", "float16")  # of stored vectors
SHARDS = "[0-9a-f]*.safetensors"
ABOUT = (
    "Encodings of one model under one identity. The folder's name is a digest of `identity`: whatever decides the "
    "numbers and is known before the weights are loaded. `settings` is what the loaded model says of itself. "
    "`versions` are the exact ones that the first encodings were made with. "
    "The folder can be deleted; what is missing is encoded again."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """One file of encodings, memory-mapped and read-only."""

    vectors: np.ndarray  # (N, d) as stored
    keys: np.ndarray  # (n,) S32 in the order of the rows
    offsets: np.ndarray | None  # (n + 1,) if items have many vectors: item i has the rows offsets[i]:offsets[i + 1]
    is_sorted: bool  # the keys are ascending, as in all but some files of earlier versions

    @cached_property
    def order(self) -> np.ndarray | None:
        """The rows (n,) by ascending key; None if they are already ascending."""
        return None if self.is_sorted else np.argsort(self.keys, kind="stable")

    @cached_property
    def ascending(self) -> np.ndarray:
        """The keys (n,) S32 in ascending order: the mapped array itself if it is sorted."""
        return self.keys if self.order is None else self.keys[self.order]


def write_shard(path: Path, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None) -> None:
    """Writes a shard of ascending keys (n,) S32. Raises LikenessError."""
    from safetensors.numpy import save

    arrays = {"vectors": vectors, "keys": keys.view(np.uint8).reshape(-1, 32)}
    data = save(arrays if offsets is None else {**arrays, "offsets": offsets}, metadata={SORTED: "yes"})
    place(path, lambda draft: draft.write_bytes(data))


def read_shard(path: Path) -> Shard:
    """Reads the shard in a file. Raises FileNotFoundError, and LikenessError for an invalid header."""
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


def make_folder(folder: Path) -> None:
    """Creates a folder and its parents."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def place(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a draft and moves it to its path; a failed draft is removed."""
    with replacing(path) as draft, writing(path.parent):
        write(draft)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Converts the system's errors to a message with the location and a remedy."""
    try:
        yield
    except OSError as error:
        raise LikenessError(
            f"{folder}: cannot write there ({error.strerror or error}). Free some space or give the "
            f"store another folder, then run again: what is stored stays"
        ) from error


class Lookup:
    """Several shards as one table. A key in several shards is read from the first."""

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
        """The dimension of vectors; 0 if nothing is stored."""
        return self.shards[0].vectors.shape[1] if self.shards else 0

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the stored vectors; float32 if there are none."""
        return self.shards[0].vectors.dtype if self.shards else np.dtype(np.float32)

    def has(self, keys: np.ndarray) -> np.ndarray:
        """Returns (n,) bool: which of the keys (n,) S32 are stored."""
        return self._locate(keys)[0] >= 0

    def many(self, keys: np.ndarray, *, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """Returns all vectors (N, d) in `dtype` and offsets (n + 1,) of the keys, all of which must be stored."""
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
        """Returns the number of vectors (n,) of each key; all must be stored."""
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
        """Returns each key's shard, -1 if it is not stored, and its row in it."""
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
        """Yields each shard that is needed, with the positions it fills and its rows, in disk order."""
        order = np.lexsort((rows, shard_of))
        for part in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1):
            if len(part):
                yield self.shards[shard_of[part[0]]], part, rows[part]


class FeatureStore:
    """All models' encodings below one folder or address.

    `dtype` applies to added vectors: `float16` takes half the space of `float32`, and rounds vectors of higher
    precision.
    """

    def __init__(self, location: Path | str, *, dtype: str = "float32") -> None:
        if dtype not in DTYPES:
            raise BadInput(f"Vectors cannot be stored as {dtype!r}: choose from {', '.join(DTYPES)}")
        self.location, self.dtype = location, dtype
        self.remote = storage.RemoteFolder(str(location)) if storage.is_url(location) else None
        self.folder = Path(location) if self.remote is None else storage.folder_of(self.remote.url)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another machine has a different local folder.
        return partial(FeatureStore, dtype=self.dtype), (self.location,)

    def home(self, model: str, identity: Mapping[str, Any]) -> Path:
        """Returns the folder of one model under one identity."""
        text = json.dumps(identity, sort_keys=True, default=str)
        return self.folder / model.replace("/", "__") / hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def cache(self, home: Path, name: str) -> EmbeddingCache:
        """Returns the cache of one model and modality."""
        return EmbeddingCache(home / name, remote=self._beside(home / name))

    def record_identity(self, home: Path, *, identity: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Records the identity of a folder; raises LikenessError if other settings are already recorded."""
        record = json.loads(
            json.dumps(
                {"about": ABOUT, "identity": identity, "settings": settings, "versions": versions.exact(identity)},
                default=str,
            )
        )
        before = self.identity_record(home)
        if before is None:
            make_folder(home)
            text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
            place(home / "identity.json", lambda path: path.write_text(text))
            if remote := self._beside(home):
                remote.put(home / "identity.json", "identity.json")
        elif before["settings"] != record["settings"]:
            stored, loaded = before["settings"], record["settings"]
            names = sorted(name for name in {*stored, *loaded} if stored.get(name) != loaded.get(name))
            raise LikenessError(
                f"{home}: stored with other settings than the model loaded now ({', '.join(names)}). "
                f"Pin the model's revision, or delete the folder to encode again"
            )

    def identity_record(self, home: Path) -> dict[str, Any] | None:
        """Returns what `record_identity` wrote, or None."""
        path = home / "identity.json"
        with contextlib.suppress(FileNotFoundError, NotHere, ValueError):  # the latter: damaged, so rewritten
            if (remote := self._beside(home)) and not path.exists():
                remote.get("identity.json", path)
            return json.loads(path.read_text())
        return None

    def _beside(self, folder: Path) -> storage.RemoteFolder | None:
        """Returns the remote objects of a local folder; None if the store has no address."""
        return self.remote and self.remote.below(folder.relative_to(self.folder).as_posix())


class EmbeddingCache:
    """The stored encodings of one model and modality; opened once, updated with new shards by `refresh`."""

    def __init__(self, folder: Path, *, remote: storage.RemoteFolder | None = None) -> None:
        self.folder, self.remote = folder, remote
        self._shards: dict[str, Shard] = {}  # by file
        self._lookup = Lookup([], where=str(folder))
        self.refresh()

    # ---- reading

    def refresh(self) -> None:
        """Rereads the folder: another process may have added or merged shards."""
        if self.remote is not None:
            self._fetch(self.remote)
        while (names := self._listed()) != list(self._shards):
            with contextlib.suppress(FileNotFoundError):  # merged by another process after it was listed
                self._shards = {name: self._shards.get(name) or read_shard(self.folder / name) for name in names}
        self._lookup = Lookup(list(self._shards.values()), where=str(self.folder))

    def has(self, keys: np.ndarray) -> np.ndarray:
        """Returns (n,) bool: which of the keys (n,) S32 are stored."""
        return self._lookup.has(keys)

    def vectors(self, keys: np.ndarray) -> np.ndarray:
        """Returns (n, d), one row per key, all of which must be stored with one vector each."""
        return self._lookup.many(keys, dtype=self._read_dtype)[0]

    def lazy(self, keys: np.ndarray) -> LazyRows:
        """Returns the same as `vectors`, but reads each row from its shard on access."""
        shape = (len(keys), self._lookup.width)
        return LazyRows(read=lambda rows: self.vectors(keys[rows]), shape=shape, dtype=self._read_dtype)

    def many(self, keys: np.ndarray) -> Many:
        """Returns all vectors of the keys, all of which must be stored; float16 becomes float32."""

        def read(items: np.ndarray) -> list[np.ndarray]:
            vectors, offsets = self._lookup.many(keys[items], dtype=self._read_dtype)
            return np.split(vectors, offsets[1:-1])

        return Many(read=read, lengths=self._lookup.counts(keys))

    @property
    def _read_dtype(self) -> np.dtype:
        return np.promote_types(self._lookup.dtype, np.float32)

    # ---- writing, under the lock

    @contextlib.contextmanager
    def locked(self, *, tell: Callable[[str], None]) -> Iterator[None]:
        """Locks the cache for one process and removes drafts. `tell` is called with a line before it has to wait."""
        import fcntl

        make_folder(self.folder)
        with writing(self.folder):
            handle = open(self.folder / "lock", "ab")  # noqa: SIM115 - open, as the lock is, until the end of this context
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell(f"{self.folder}: another process is encoding here; waiting until it has finished")
                fcntl.flock(handle, fcntl.LOCK_EX)
            sweep(self.folder, deep=False)
            self.refresh()
            yield

    def append(self, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None = None) -> None:
        """Stores one shard, sorted by key: `vectors` (n, d) for `keys` (n,), or (N, d) with `offsets` (n + 1,)."""
        keys = np.asarray(keys, dtype="S32")
        order = np.argsort(keys, kind="stable")
        ascending = keys[order]
        if offsets is None:
            vectors = vectors[order]
        else:
            counts = np.diff(offsets)[order]
            step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            vectors, offsets = vectors[np.repeat(offsets[order], counts) + step], cumulative(counts)
        self._send(self._write(ascending, vectors, offsets))

    def merge(self) -> None:
        """Merges small shards. They stay as they are if the disk is too full, and always at an address."""
        if self.remote is not None:
            self.refresh()
            return
        sizes = {name: (self.folder / name).stat().st_size for name in self._listed()}
        groups: list[list[str]] = [[]]
        for name in (name for name, size in sizes.items() if size < SMALL):
            if sum(sizes[other] for other in groups[-1]) + sizes[name] > MERGED:
                groups.append([])
            groups[-1].append(name)
        for group in groups:
            if len(group) > 1 and not self._merged(group):
                break
        self.refresh()

    # ---- internals

    def _merged(self, names: Sequence[str]) -> bool:
        """Merges several shards into one; returns False if there is no space.

        If a process died before it removed the originals, they are merged again.
        """
        lookup = Lookup([read_shard(self.folder / name) for name in names], where=str(self.folder))
        keys = np.unique(np.concatenate([shard.keys for shard in lookup.shards]))
        vectors, offsets = lookup.many(keys, dtype=lookup.dtype)
        try:
            made = self._write(keys, vectors, offsets if lookup.ragged else None)
        except LikenessError:
            return False
        for name in {*names} - {made}:
            (self.folder / name).unlink(missing_ok=True)
        return True

    def _listed(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob(SHARDS))

    def _write(self, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None) -> str:
        """Writes a shard of ascending keys (n,) S32; returns its name, which is the same for the same keys."""
        name = f"{hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()}.safetensors"
        write_shard(self.folder / name, keys, vectors, offsets)
        return name

    # ---- an address

    def _fetch(self, remote: storage.RemoteFolder) -> None:
        """Fetches missing shards, and uploads local ones that another process wrote but could not upload.

        That process was killed, or its connection failed. Since the shards exist locally, no process would encode them
        again.
        """
        names = remote.names()
        for name in names:
            if "/" not in name and fnmatch(name, SHARDS) and not (self.folder / name).exists():
                remote.get(name, self.folder / name)
        for name in self._listed():
            if name not in names:
                self._send(name)

    def _send(self, name: str) -> None:
        if self.remote is not None:
            self.remote.put(self.folder / name, name)


def as_stored(vectors: np.ndarray, *, dtype: str, model: str) -> np.ndarray:
    """Converts vectors (N, d) to the store's dtype. Raises BadInput if a finite number exceeds its range."""
    with np.errstate(over="ignore"):
        stored = vectors.astype(dtype, copy=False)
    if (np.isinf(stored) & np.isfinite(vectors)).any():
        largest = np.abs(vectors[np.isfinite(vectors)]).max()
        raise BadInput(f"{model}: its vectors reach {largest:.3g}, more than {dtype} holds. Omit --store-dtype {dtype}")
    return stored
