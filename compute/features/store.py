"""Encodings on disk: `<folder>/<model>/<identity digest>/<modality>/`, one cache per modality.

A cache holds shards (`<digest of its keys>.safetensors`: `vectors`, `keys` in ascending order, and `offsets` where
items have many vectors). Files are written under a draft name and moved to their path, so each is whole or absent;
shards are never changed, only merged into larger ones. The process that makes a pass holds the lock; reading needs
none, nor does adding a shard.

The store may be an address (compute/storage.py). Its shards are then fetched once each into a local folder and mapped
there, and each new one is put as a whole object. They are not merged, as others may have fetched them, and nothing is
locked between machines: two that encode the same items write the same object.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from compute import storage, versions
from compute.arrays import LazyRows, Many, cumulative
from compute.features import shards
from compute.features.shards import Lookup
from compute.io.files import sweep
from compute.types import BadInput, LikenessError, NotHere

SMALL = 64 << 20  # bytes: shards below this are merged at the end of a pass
MERGED = 128 << 20  # bytes that one merged shard holds at most, about: a merge needs a few times as much memory
DTYPES = ("float32", "float16")  # of stored vectors
SHARDS = "[0-9a-f]*.safetensors"
ABOUT = (
    "Encodings of one model under one identity. The folder's name is a digest of `identity`: whatever decides the "
    "numbers and is known before the weights are loaded. `settings` is what the loaded model says of itself. "
    "`versions` are the exact ones that the first encodings were made with. "
    "The folder can be deleted; what is missing is encoded again."
)


class FeatureStore:
    """All models' encodings below one folder, or below an address. `dtype` is of the vectors that are added: `float16`
    takes half the space of `float32`, and rounds what is not of that precision already."""

    def __init__(self, location: Path | str, *, dtype: str = "float32") -> None:
        if dtype not in DTYPES:
            raise BadInput(f"Vectors cannot be stored as {dtype!r}: choose from {', '.join(DTYPES)}")
        self.location, self.dtype = location, dtype
        self.remote = storage.RemoteFolder(str(location)) if storage.is_url(location) else None
        self.folder = Path(location) if self.remote is None else storage.folder_of(self.remote.url)

    def __reduce__(self) -> tuple[Any, ...]:
        # On another machine its local folder is another.
        return partial(FeatureStore, dtype=self.dtype), (self.location,)

    def home(self, model: str, identity: Mapping[str, Any]) -> Path:
        """The folder of one model under one identity."""
        text = json.dumps(identity, sort_keys=True, default=str)
        return self.folder / model.replace("/", "__") / hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def cache(self, home: Path, name: str) -> EmbeddingCache:
        """What is stored of one model and modality."""
        return EmbeddingCache(home / name, remote=self._beside(home / name))

    def record_identity(self, home: Path, *, identity: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Writes down what the folder stands for; raises LikenessError if it already stands for other settings."""
        record = json.loads(
            json.dumps(
                {"about": ABOUT, "identity": identity, "settings": settings, "versions": versions.exact(identity)},
                default=str,
            )
        )
        before = self.identity_record(home)
        if before is None:
            shards.make(home)
            text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
            shards.place(home / "identity.json", lambda path: path.write_text(text))
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
        """What `record_identity` wrote, or None."""
        path = home / "identity.json"
        with contextlib.suppress(FileNotFoundError, NotHere, ValueError):  # the latter: damaged, and written again
            if (remote := self._beside(home)) and not path.exists():
                remote.get("identity.json", path)
            return json.loads(path.read_text())
        return None

    def _beside(self, folder: Path) -> storage.RemoteFolder | None:
        """The objects that a local folder of the store stands for; None in a store without an address."""
        return self.remote and self.remote.below(folder.relative_to(self.folder).as_posix())


class EmbeddingCache:
    """Everything stored of one model and modality; opened once, updated with new shards by `refresh`."""

    def __init__(self, folder: Path, *, remote: storage.RemoteFolder | None = None) -> None:
        self.folder, self.remote = folder, remote
        self._shards: dict[str, shards.Shard] = {}  # by file
        self._lookup = Lookup([], where=str(folder))
        self.refresh()

    # ---- reading

    def refresh(self) -> None:
        """Looks at the folder again: another process may have added shards or merged them."""
        if self.remote is not None:
            self._fetch(self.remote)
        while (names := self._listed()) != list(self._shards):
            with contextlib.suppress(FileNotFoundError):  # merged by another process since it was listed
                self._shards = {name: self._shards.get(name) or shards.read(self.folder / name) for name in names}
        self._lookup = Lookup(list(self._shards.values()), where=str(self.folder))

    def has(self, keys: np.ndarray) -> np.ndarray:
        """(n,) bool: which of the keys (n,) S32 are stored."""
        return self._lookup.has(keys)

    def vectors(self, keys: np.ndarray) -> np.ndarray:
        """(n, d), one row a key, all of which must be stored, with one vector each."""
        return self._lookup.many(keys, dtype=self._read_dtype)[0]

    def lazy(self, keys: np.ndarray) -> LazyRows:
        """As `vectors`, but each row is read from its shard when it is used."""
        shape = (len(keys), self._lookup.width)
        return LazyRows(read=lambda rows: self.vectors(keys[rows]), shape=shape, dtype=self._read_dtype)

    def many(self, keys: np.ndarray) -> Many:
        """Every vector of the keys, all of which must be stored; halves as float32."""

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
        """Holds the cache for one process at a time. Removes drafts. `tell` gets a line before it has to wait."""
        import fcntl

        shards.make(self.folder)
        with shards.writing(self.folder):
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
        """Stores one shard: `vectors` (n, d) for `keys` (n,), or (N, d) with `offsets` (n + 1,), by ascending key."""
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
        """Merges small shards; a disk too full for it leaves them as they are, and an address has them for good."""
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

    # ---- within

    def _merged(self, names: Sequence[str]) -> bool:
        """Makes one shard of several; False without room. After a process that died before it removed them, they are
        merged once more."""
        lookup = Lookup([shards.read(self.folder / name) for name in names], where=str(self.folder))
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
        shards.write(self.folder / name, keys, vectors, offsets)
        return name

    # ---- an address

    def _fetch(self, remote: storage.RemoteFolder) -> None:
        """Fetches the shards that are not here yet. Puts those that a process wrote here and could not put: it was
        killed, or the connection failed. Nobody would encode them again, as they are here."""
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
    """Vectors (N, d) in the type that a store has them. Raises BadInput where a finite number leaves its range."""
    with np.errstate(over="ignore"):
        stored = vectors.astype(dtype, copy=False)
    if (np.isinf(stored) & np.isfinite(vectors)).any():
        largest = np.abs(vectors[np.isfinite(vectors)]).max()
        raise BadInput(f"{model}: its vectors reach {largest:.3g}, more than {dtype} holds. Omit --store-dtype {dtype}")
    return stored
