"""Data sets as the hub keeps them: folders of Parquet, a table a configuration and split, read by row groups."""

from __future__ import annotations

import itertools
import json
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.items import Column, content_key
from compute.tasks.source import command
from compute.types import BadInput, NotHere

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# Row groups of images kept in memory, of all columns together: so many whatever their size, for columns that are read
# side by side, and more while they are small. Tables of images hold 100 to 1,000 rows a group.
KEPT_GROUPS, KEPT_BYTES = 12, 512 << 20
NO_KEY = b""  # of a row without an image


@dataclass(frozen=True)
class Table:
    """One split of one configuration: its Parquet files in order, as one table."""

    files: tuple[Path, ...]
    title: str  # for messages: data set, configuration, split

    @cached_property
    def _parts(self) -> list[pq.ParquetFile]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return [pq.ParquetFile(path) for path in self.files]
        except (pa.ArrowInvalid, OSError) as error:
            raise BadInput(
                f"{self.title}: a Parquet file is damaged or half-fetched ({_first_line(error)}). "
                "Fetch the data set again"
            ) from error

    @cached_property
    def schema(self) -> pa.Schema:
        return self._parts[0].schema_arrow

    def __len__(self) -> int:
        return sum(part.metadata.num_rows for part in self._parts)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    def values(self, *names: str) -> list[list[Any]]:
        """Whole columns as Python lists, in the order asked for. Raises BadInput naming a column that is not there."""
        for name in names:
            self._need(name)
        tables = [part.read(columns=list(names)) for part in self._parts]
        return [[value for table in tables for value in table.column(name).to_pylist()] for name in names]

    def class_names(self, name: str) -> tuple[str, ...] | None:
        """The names of a label column's classes as the schema's metadata lists them; None when it lists none."""
        self._need(name)
        described = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
        feature = described.get("info", {}).get("features", {}).get(name, {})
        feature = feature[0] if isinstance(feature, list) else feature.get("feature", feature)
        return tuple(feature["names"]) if feature.get("names") else None

    def images(self, name: str, *, cache: Path | None = None) -> Column:
        """A column of images, one a row. Rows without an image have the key NO_KEY."""
        groups, counts = self._image_groups(name)
        keys = self._keys(name, groups, cache=cache, lists=False)
        starts = np.concatenate([[0], np.cumsum(counts)])

        def read(row: int) -> bytes:
            at = int(np.searchsorted(starts, row, side="right")) - 1
            return groups(at)[row - int(starts[at])]

        return Column(modality="image", keys=keys, read=read, name=lambda row: f"{self.title}, {name} {row}")

    def image_lists(self, name: str, *, cache: Path | None = None) -> list[Column]:
        """A column whose rows are lists of equally many images, as one column of images a place."""
        groups, counts = self._image_groups(name)
        keys = self._keys(name, groups, cache=cache, lists=True)
        starts = np.concatenate([[0], np.cumsum(counts)])

        def place(position: int) -> Column:
            def read(row: int) -> bytes:
                at = int(np.searchsorted(starts, row, side="right")) - 1
                return groups(at)[row - int(starts[at])][position]

            return Column(
                modality="image",
                keys=keys[:, position],
                read=read,
                name=lambda row: f"{self.title}, {name} {row}, image {position}",
            )

        return [place(position) for position in range(keys.shape[1])]

    def holds_lists(self, name: str) -> bool:
        """Whether a column's rows are lists."""
        import pyarrow as pa

        self._need(name)
        kind = self.schema.field(name).type
        return pa.types.is_list(kind) or pa.types.is_large_list(kind)

    def _need(self, name: str) -> None:
        if name not in self.columns:
            raise BadInput(
                f"{self.title} has no column {name!r}; it has: {', '.join(self.columns)}. Is it the pinned revision?"
            )

    def _image_groups(self, name: str) -> tuple[_Groups, list[int]]:
        self._need(name)
        places = [(part, group) for part in self._parts for group in range(part.metadata.num_row_groups)]
        counts = [part.metadata.row_group(group).num_rows for part, group in places]
        return _Groups(places, name, title=self.title), counts

    def _keys(self, name: str, groups: _Groups, *, cache: Path | None, lists: bool) -> np.ndarray:
        """Content keys of all rows, (n,) or (n, places); kept in `cache` so that files are read for them only once."""
        kept = cache / f"{self._identity(name)}.npy" if cache else None
        if kept and kept.is_file():
            return np.load(kept, allow_pickle=False)
        found = [_keys_of(row, lists=lists) for at in range(len(groups)) for row in groups(at, keep=False)]
        if lists and len({len(row) for row in found}) > 1:
            raise BadInput(f"{self.title}: rows of {name!r} hold unlike numbers of images")
        keys = np.array(found, dtype="S32")
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            draft = kept.with_suffix(f".draft-{threading.get_ident()}.npy")
            np.save(draft, keys, allow_pickle=False)
            draft.replace(kept)
        return keys

    def _identity(self, name: str) -> str:
        facts = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in self.files]
        return content_key(json.dumps([name, facts])).decode()


class _Recent:
    """The row groups read last, whichever column's: columns of a whole suite live at once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[int, int], tuple[list, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[int, int]) -> list | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: tuple[int, int], rows: list) -> None:
        size = sum(map(_size, rows))
        with self._lock:
            self._bytes += size - self._held.pop(key, ([], 0))[1]
            self._held[key] = rows, size
            while len(self._held) > KEPT_GROUPS and self._bytes > KEPT_BYTES:
                self._bytes -= self._held.popitem(last=False)[1][1]

    def drop(self, column: int) -> None:
        """Forgets a column that is gone."""
        with self._lock:
            for key in [key for key in self._held if key[0] == column]:
                self._bytes -= self._held.pop(key)[1]


_recent = _Recent()
_columns = itertools.count()


class _Groups:
    """Row groups of one image column, decoded from Parquet to bytes; those read last stay in memory. Thread-safe."""

    def __init__(self, places: list[tuple[pq.ParquetFile, int]], name: str, *, title: str) -> None:
        self._places, self._name, self._title = places, name, title
        self._column = next(_columns)
        self._lock = threading.Lock()
        weakref.finalize(self, _recent.drop, self._column)

    def __len__(self) -> int:
        return len(self._places)

    def __call__(self, at: int, *, keep: bool = True) -> list:
        with self._lock:  # a ParquetFile is not made for two readers at once
            kept = _recent.get((self._column, at))
            if kept is not None:
                return kept
            part, group = self._places[at]
            rows = [
                _bytes(value, of=self._title)
                for value in part.read_row_group(group, columns=[self._name]).column(self._name).to_pylist()
            ]
            if keep:
                _recent.put((self._column, at), rows)
            return rows


def _keys_of(row: Any, *, lists: bool) -> Any:
    return [_keys_of(one, lists=False) for one in row] if lists else content_key(row) if row else NO_KEY


def _size(row: Any) -> int:
    return sum(map(_size, row)) if isinstance(row, list) else len(row or b"")


def _bytes(value: Any, *, of: str) -> Any:
    """The bytes of the hub's image value `{bytes, path}`, of bare bytes, or of a list of either; None stays None."""
    if isinstance(value, list):
        return [_bytes(one, of=of) for one in value]
    if isinstance(value, dict):
        if value.get("bytes") is None and value.get("path"):
            raise BadInput(f"{of}: an image is only a path, {value['path']!r}; images must be inside the Parquet file")
        return value.get("bytes")
    return value


def table(folder: Path, *, repo: str, config: str = "default", split: str) -> Table:
    """One split of one configuration of the data set in `folder`.

    The card's `configs` list says which files those are; a card without one means the hub's own rule: a folder a
    configuration, file names that begin with the split. Raises NotHere naming what is missing and what is there.
    """
    found = _listed(folder, config=config, split=split) or _named(folder, config=config, split=split)
    if not found:
        there = sorted({str(path.relative_to(folder)) for path in folder.rglob("*.parquet")})
        commit = folder.name if len(folder.name) == 40 else ""  # of a snapshot in the hub's cache
        raise NotHere(
            f"Data set {repo!r} has no Parquet for configuration {config!r}, split {split!r} in "
            f"{folder}; it has {', '.join(there[:6]) or 'no Parquet at all'}. Fetch the pinned revision: "
            f"{command(repo, revision=commit)}"
        )
    return Table(files=tuple(found), title=_title(repo, config, split))


def configs(folder: Path) -> tuple[str, ...]:
    """The configurations that a data set has, by its card or its folders."""
    listed = [entry["config_name"] for entry in _card(folder)]
    return tuple(listed) or tuple(sorted({path.parent.name for path in folder.rglob("*.parquet")}))


def splits(folder: Path, *, config: str = "default") -> tuple[str, ...]:
    """The splits of a configuration, by the card or the file names."""
    for entry in _card(folder):
        if entry["config_name"] == config and isinstance(entry.get("data_files"), list):
            return tuple(part["split"] for part in entry["data_files"])
    names = [path.name for path in _of_config(folder, config)]
    return tuple(sorted({re.split(r"[-.]", name)[0] for name in names}))


def patterns(folder: Path, *, splits: Collection[str]) -> tuple[str, ...]:
    """Which files hold these splits of the default configuration, none named: all files that the card lists; empty
    where it does not say."""
    parts = [part for part in _data_files(folder) if part[1]]
    if splits:
        parts = [part for part in parts if part[0] == "default" and part[1] in splits]
        if {split for _, split, _ in parts} != set(splits):
            return ()
    return tuple(one for _, _, paths in parts for one in paths)


def _data_files(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The card's files: configuration, split (empty: any), and patterns of their paths."""
    for entry in _card(folder):
        files = entry.get("data_files") or []
        for part in [{"split": "", "path": files}] if isinstance(files, str) else files:
            paths = part["path"] if isinstance(part["path"], list) else [part["path"]]
            yield entry["config_name"], part["split"], paths


def _card(folder: Path) -> list[dict[str, Any]]:
    """The `configs` of the data set's card; none when there is no card or it lists none."""
    path = folder / "README.md"
    if not path.is_file():
        return []
    from huggingface_hub import DatasetCardData
    from huggingface_hub.repocard import RepoCard

    try:
        data = RepoCard.load(path, ignore_metadata_errors=True).data
    except (ValueError, OSError):
        data = DatasetCardData()
    return list(data.to_dict().get("configs") or [])


def _listed(folder: Path, *, config: str, split: str) -> list[Path]:
    for name, there, paths in _data_files(folder):
        if name == config and there in ("", split):
            return sorted(
                path
                for path in folder.rglob("*.parquet")
                if any(fnmatch(str(path.relative_to(folder)), pattern) for pattern in paths)
            )
    return []


def _named(folder: Path, *, config: str, split: str) -> list[Path]:
    return sorted(path for path in _of_config(folder, config) if re.split(r"[-.]", path.name)[0] == split)


def _of_config(folder: Path, config: str) -> list[Path]:
    places = [folder / config] if config != "default" else [folder / "default", folder / "data", folder]
    return [path for place in places if place.is_dir() for path in place.glob("*.parquet")]


def _title(repo: str, config: str, split: str) -> str:
    return f"{repo} {split}" if config == "default" else f"{repo} {config}/{split}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
