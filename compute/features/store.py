"""Encodings on disk: `<folder>/<model>/<identity digest>/<modality>/`, one shelf a modality.

A shelf holds shards (`00000001.safetensors`: `vectors`, `keys`, and `offsets` where items have many vectors), the plan
of an unfinished pass (`plan.safetensors`: `keys` in the order of encoding, `cuts` between batches), the items that
cannot be used (`bad.jsonl`) and finished passes (`passes.jsonl`). Files are written under a draft name and moved to
their path, so each is whole or absent; shards are never changed, only merged into larger ones. Reading needs no lock;
writing does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from compute import drafts, versions
from compute.arrays import LazyRows, cumulative
from compute.features import shards
from compute.types import LikenessError

SMALL = 64 << 20  # bytes: shards below this are merged at the end of a pass
MERGED = 512 << 20  # bytes that one merged shard holds at most, about: what a merge needs beside the old shards
ABOUT = (
    "Encodings of one model under one identity. The folder's name is a digest of `identity`: whatever decides the "
    "numbers and is known before the weights are loaded. `settings` is what the loaded model says of itself. "
    "`versions` are the exact ones that the first encodings were made with. "
    "The folder can be deleted; what is missing is encoded again."
)


class FeatureStore:
    """All models' encodings below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def home(self, model: str, identity: Mapping[str, Any]) -> Path:
        """The folder of one model under one identity."""
        text = json.dumps(identity, sort_keys=True, default=str)
        return self.folder / model.replace("/", "__") / hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def settle(self, home: Path, *, identity: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Writes down what the folder stands for; raises LikenessError if it already stands for other settings."""
        record = json.loads(
            json.dumps(
                {"about": ABOUT, "identity": identity, "settings": settings, "versions": versions.exact(identity)},
                default=str,
            )
        )
        before = self.settled(home)
        if before is None:
            shards.make(home)
            text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
            shards.place(home / "identity.json", lambda path: path.write_text(text))
        elif before["settings"] != record["settings"]:
            stored, loaded = before["settings"], record["settings"]
            names = sorted(name for name in {*stored, *loaded} if stored.get(name) != loaded.get(name))
            raise LikenessError(
                f"{home}: stored with other settings than the model loaded now ({', '.join(names)}). "
                f"Pin the model's revision, or delete the folder to encode again"
            )

    def settled(self, home: Path) -> dict[str, Any] | None:
        """What `settle` wrote, or None."""
        try:
            return json.loads((home / "identity.json").read_text())
        except FileNotFoundError:
            return None


class Shelf:
    """Everything stored of one model and modality; opened once, updated with new shards by `refresh`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bad: dict[bytes, tuple[str, str]] = {}  # key -> name and problem of items that cannot be used
        self._shards: list[dict[str, np.ndarray]] = []
        self._names: list[str] = []
        self.refresh()

    # ---- reading

    def refresh(self) -> None:
        """Looks at the folder again: another process may have added shards or merged them."""
        while True:
            names = self._listed()
            if names != self._names or not self._shards:
                try:
                    self._shards = [shards.mapped(self.folder / name) for name in names]
                except FileNotFoundError:
                    continue  # merged by another process since it was listed
                self._index(names)
            self.bad = {line["key"].encode(): (line["item"], line["problem"]) for line in self._lines("bad.jsonl")}
            return

    def has(self, keys: np.ndarray) -> np.ndarray:
        """(n,) bool: which of the keys (n,) S32 are stored."""
        return self._locate(keys)[0]

    @property
    def ragged(self) -> bool:
        """Whether items have many vectors each."""
        return any("offsets" in shard for shard in self._shards)

    def vectors(self, keys: np.ndarray) -> np.ndarray:
        """(n, d), one row a key, all of which must be stored, with one vector each."""
        return self.many(keys)[0]

    def lazy(self, keys: np.ndarray) -> LazyRows:
        """As `vectors`, but each row is read from its shard when it is used."""
        like = self._shards[0]["vectors"]
        return LazyRows(read=lambda rows: self.vectors(keys[rows]), shape=(len(keys), like.shape[1]), dtype=like.dtype)

    def many(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All vectors (N, d) and offsets (n + 1,) of the keys, all of which must be stored."""
        stored, shard_of, rows = self._locate(keys)
        counts = np.ones(len(keys), dtype=np.int64)
        for shard, at, inside in self._each(shard_of, rows, stored):
            if "offsets" in shard:
                counts[at] = shard["offsets"][inside + 1] - shard["offsets"][inside]
        offsets = cumulative(counts)
        like = self._shards[0]["vectors"] if self._shards else np.zeros((0, 0), dtype=np.float32)
        out = np.empty((offsets[-1], like.shape[1]), dtype=like.dtype)
        for shard, at, inside in self._each(shard_of, rows, stored):
            starts = shard["offsets"][inside] if "offsets" in shard else inside
            step = np.arange(counts[at].sum()) - np.repeat(np.cumsum(counts[at]) - counts[at], counts[at])
            out[np.repeat(offsets[at], counts[at]) + step] = shard["vectors"][np.repeat(starts, counts[at]) + step]
        return out, offsets

    # ---- writing, under the lock

    @contextlib.contextmanager
    def locked(self, *, waiting: Callable[[str], None]) -> Iterator[None]:
        """Holds the shelf for one process at a time; `waiting` is called before it has to wait. Removes drafts left."""
        import fcntl

        shards.make(self.folder)
        with shards.writing(self.folder):
            handle = open(self.folder / "lock", "ab")  # noqa: SIM115 - open, as the lock is, until the end of this context
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting(f"{self.folder}: another process is encoding here; waiting until it has finished")
                fcntl.flock(handle, fcntl.LOCK_EX)
            drafts.sweep(self.folder, deep=False)
            self._drop_replaced()
            self.refresh()
            yield

    def append(self, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None = None) -> None:
        """Stores one shard: `vectors` (n, d) for `keys` (n,), or (N, d) with `offsets` (n + 1,)."""
        arrays = {"vectors": [vectors], "keys": [_as_bytes(keys)]} | ({} if offsets is None else {"offsets": [offsets]})
        shards.place(self._next(), lambda path: shards.write(path, arrays))

    def plan(self) -> tuple[np.ndarray, np.ndarray]:
        """The unfinished pass's keys (n,) S32 and cuts (batches + 1,) int64; both empty when there is none."""
        try:
            stored = shards.mapped(self.folder / "plan.safetensors")
        except FileNotFoundError:
            return np.zeros(0, dtype="S32"), np.zeros(1, dtype=np.int64)
        return stored["keys"].reshape(-1).view("S32").copy(), stored["cuts"].copy()

    def write_plan(self, keys: np.ndarray, cuts: np.ndarray) -> None:
        """Stores the plan of a pass: keys (n,) S32 in order, cuts (batches + 1,) between its batches."""
        arrays = {"cuts": [np.asarray(cuts, dtype=np.int64)], "keys": [_as_bytes(keys)]}
        shards.place(self.folder / "plan.safetensors", lambda path: shards.write(path, arrays))

    def drop_plan(self) -> None:
        """Removes the plan of a finished pass."""
        (self.folder / "plan.safetensors").unlink(missing_ok=True)

    def remember_bad(self, key: bytes, item: str, problem: str) -> None:
        """Stores that an item cannot be used, and why."""
        self.bad[key] = (item, problem)
        self._note("bad.jsonl", {"key": key.decode(), "item": item, "problem": problem})

    def forget_bad(self) -> None:
        """Has items that could not be used tried again."""
        (self.folder / "bad.jsonl").unlink(missing_ok=True)
        self.bad = {}

    def note_pass(self, **record: Any) -> None:
        """Adds a line to what is known of finished passes."""
        self._note("passes.jsonl", record)

    def merge(self) -> None:
        """Merges small shards; a disk too full for it leaves them as they are."""
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
        mapped = [shards.mapped(self.folder / name) for name in names]
        arrays = {"vectors": [shard["vectors"] for shard in mapped], "keys": [shard["keys"] for shard in mapped]}
        if "offsets" in mapped[0]:
            ends = cumulative([shard["offsets"][-1] for shard in mapped])
            parts = [shard["offsets"][1:] + end for shard, end in zip(mapped, ends[:-1], strict=True)]
            arrays["offsets"] = [np.zeros(1, dtype=np.int64), *parts]
        try:
            shards.place(self._next(), lambda path: shards.write(path, arrays, replaces=names))
        except LikenessError:
            return False
        self._drop_replaced()
        return True

    def _drop_replaced(self) -> None:
        """Removes shards that a merged one holds, also after a process that died between the two steps."""
        for name in self._listed():
            for old in shards.replaced(self.folder / name):
                (self.folder / old).unlink(missing_ok=True)

    def _listed(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("[0-9]*.safetensors"))

    def _next(self) -> Path:
        names = self._listed()
        return self.folder / f"{int(names[-1].partition('.')[0]) + 1 if names else 1:08}.safetensors"

    def _index(self, names: list[str]) -> None:
        self._names = names
        keys = [shard["keys"].reshape(-1).view("S32") for shard in self._shards]
        every = np.concatenate(keys) if keys else np.zeros(0, dtype="S32")
        self._starts = cumulative([len(part) for part in keys])
        self._order = np.argsort(every, kind="stable")
        self._sorted = every[self._order]

    def _locate(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which keys are stored, and each one's shard and row there."""
        wanted = np.asarray(keys, dtype="S32")
        if not len(self._sorted):
            nothing = np.zeros(len(wanted), dtype=np.int64)
            return nothing.astype(bool), nothing, nothing
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        row = self._order[at]
        shard = np.searchsorted(self._starts, row, side="right") - 1
        return self._sorted[at] == wanted, shard, row - self._starts[shard]

    def _each(
        self, shard_of: np.ndarray, rows: np.ndarray, stored: np.ndarray
    ) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]]:
        """Each shard that is needed, with the positions it fills and its rows, in the order they lie on disk."""
        if not stored.all():
            raise LikenessError(f"{self.folder}: {int((~stored).sum())} of the requested items are not stored yet")
        order = np.lexsort((rows, shard_of))
        for part in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1):
            if len(part):
                yield self._shards[shard_of[part[0]]], part, rows[part]

    def _lines(self, name: str) -> list[dict[str, Any]]:
        try:
            lines = (self.folder / name).read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        records = []
        for line in lines:
            with contextlib.suppress(ValueError):  # a line cut short by a process that died
                records.append(json.loads(line))
        return records

    def _note(self, name: str, record: Mapping[str, Any]) -> None:
        with shards.writing(self.folder), open(self.folder / name, "ab") as handle:
            # A line of its own even after one that was cut short.
            handle.write(b"\n" + json.dumps(record, ensure_ascii=False).encode())


def _as_bytes(keys: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(keys, dtype="S32").view(np.uint8).reshape(-1, 32)
