"""Data sets in the hub's layout: folders of Parquet with a table per configuration and split, read by row groups."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache

from compute.content.items import Column, content_key
from compute.tasks.source import command, stored_keys
from compute.types import BadInput, NotHere, first_line

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# Row groups of images cached in memory, over all columns: at least this many of any size, for columns that are read in
# parallel, and more if they are small. Tables of images have 100 to 1,000 rows per group.
CACHED_GROUPS, CACHED_BYTES = 12, 512 << 20
NO_KEY = b""  # for a row without an image


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
                f"{self.title}: a Parquet file is damaged or half-fetched ({first_line(error)}). "
                "Fetch the data set again"
            ) from error

    @cached_property
    def schema(self) -> pa.Schema:
        """Returns the Arrow schema, with the metadata that the hub writes."""
        return self._parts[0].schema_arrow

    def __len__(self) -> int:
        return sum(part.metadata.num_rows for part in self._parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """Returns the names of the columns, in order."""
        return tuple(self.schema.names)

    @property
    def in_bytes(self) -> list[str]:
        """Returns the columns of image bytes: plain, or in the hub's format, `{bytes, path}`."""
        import pyarrow as pa

        return [
            field.name
            for field in self.schema
            if pa.types.is_binary(field.type)
            or pa.types.is_large_binary(field.type)
            or (pa.types.is_struct(field.type) and field.type.get_field_index("bytes") >= 0)
        ]

    def values(self, *names: str) -> list[list[Any]]:
        """Returns whole columns as Python lists, in the requested order. Raises BadInput with the name of a missing
        column.
        """
        for name in names:
            self._need(name)
        tables = [part.read(columns=list(names)) for part in self._parts]
        return [[value for table in tables for value in table.column(name).to_pylist()] for name in names]

    def class_names(self, name: str) -> tuple[str, ...] | None:
        """Returns the names of a label column's classes from the schema's metadata; None if it has none."""
        self._need(name)
        described = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
        feature = described.get("info", {}).get("features", {}).get(name, {})
        feature = feature[0] if isinstance(feature, list) else feature.get("feature", feature)
        return tuple(feature["names"]) if feature.get("names") else None

    def rows(self, name: str) -> Sequence[Any]:
        """Returns a column of images row by row, without their keys: bytes, a list of them, or None."""
        self._need(name)
        return _ImageRows(self._parts, name, title=self.title)

    def images(self, name: str, *, cache: Path | None = None) -> Column:
        """Returns a column of images, one per row. Rows without an image have the key NO_KEY."""
        (column,) = self.image_columns(name, cache=cache)
        return column

    def image_columns(self, name: str, *, cache: Path | None = None) -> list[Column]:
        """Returns a column of images; if rows are lists of equal length, one column per position."""
        self._need(name)
        rows = _ImageRows(self._parts, name, title=self.title)
        facts = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in self.files]
        keys = stored_keys(cache, json.dumps([name, facts]), lambda: self._keys(name, rows))

        def column(position: int) -> Column:
            return Column(
                modality="image",
                keys=keys[:, position],
                read=lambda row: rows[row][position],
                name=lambda row: f"{self.title}, {name} {row}, image {position}",
            )

        if keys.ndim == 2:
            return [column(position) for position in range(keys.shape[1])]
        return [
            Column(modality="image", keys=keys, read=rows.__getitem__, name=lambda row: f"{self.title}, {name} {row}")
        ]

    def _need(self, name: str) -> None:
        if name not in self.columns:
            raise BadInput(
                f"{self.title} has no column {name!r}; it has: {', '.join(self.columns)}. Is it the pinned revision?"
            )

    def _keys(self, name: str, rows: _ImageRows) -> np.ndarray:
        """Returns content keys of all rows: (n,), or (n, images) if rows are lists."""
        keys = [_key(row) for row in rows]
        if len({len(row) for row in keys if isinstance(row, list)}) > 1:
            raise BadInput(f"{self.title}: rows of {name!r} hold unlike numbers of images")
        return np.array(keys, dtype="S32")


def _key(row: Any) -> Any:
    return [_key(image) for image in row] if isinstance(row, list) else content_key(row) if row else NO_KEY


def _bytes_of(row: Any) -> int:
    return sum(map(_bytes_of, row)) if isinstance(row, list) else len(row or b"")


# The most recently read row groups, by column and group: columns of a whole suite are alive at once.
_recent: LRUCache[tuple[int, int], list] = LRUCache(
    CACHED_BYTES, getsizeof=lambda rows: min(_bytes_of(rows), CACHED_BYTES // CACHED_GROUPS)
)
_recent_lock = threading.Lock()
_numbers = itertools.count()


class _ImageRows(Sequence[Any]):
    """The rows of one image column, decoded by row group; recent groups are cached. Thread-safe."""

    def __init__(self, parts: list[pq.ParquetFile], name: str, *, title: str) -> None:
        self._name, self._title = name, title
        self._groups = [(part, group) for part in parts for group in range(part.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *(part.metadata.row_group(group).num_rows for part, group in self._groups)])
        self._number = next(_numbers)
        self._lock = threading.Lock()  # a ParquetFile does not support concurrent readers

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, row: Any) -> Any:
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        with self._lock:
            with _recent_lock:
                rows = _recent.get((self._number, group))
            if rows is None:
                rows = self._decoded(group)
                with _recent_lock:
                    _recent[self._number, group] = rows
        return rows[row - int(self._starts[group])]

    def __iter__(self) -> Iterator[Any]:
        """Yields every row in order without caching."""
        for group in range(len(self._groups)):
            with self._lock:
                rows = self._decoded(group)
            yield from rows

    def _decoded(self, at: int) -> list:
        part, group = self._groups[at]
        values = part.read_row_group(group, columns=[self._name]).column(self._name).to_pylist()
        return [_bytes(value, of=self._title) for value in values]


def _bytes(value: Any, *, of: str) -> Any:
    """Returns the bytes of the hub's image value `{bytes, path}`, of plain bytes, or of a list of either; None stays
    None.
    """
    if isinstance(value, list):
        return [_bytes(item, of=of) for item in value]
    if isinstance(value, dict):
        if value.get("bytes") is None and value.get("path"):
            raise BadInput(f"{of}: an image is only a path, {value['path']!r}; images must be inside the Parquet file")
        return value.get("bytes")
    return value


def table(folder: Path, *, repo: str, config: str = "default", split: str) -> Table:
    """Returns one split of one configuration of the data set in `folder`.

    The card's `configs` list names the files. A card without it follows the hub's rule: a folder per configuration, and
    file names that begin with the split. Raises NotHere with what is missing and which files exist.
    """
    files = _listed(folder, config=config, split=split)
    files = files or sorted(path for path in _of_config(folder, config) if _split(path) == split)
    if not files:
        present = sorted({str(path.relative_to(folder)) for path in folder.rglob("*.parquet")})
        commit = folder.name if len(folder.name) == 40 else ""  # of a snapshot in the hub's cache
        raise NotHere(
            f"Data set {repo!r} has no Parquet for configuration {config!r}, split {split!r} in "
            f"{folder}; it has {', '.join(present[:6]) or 'no Parquet at all'}. Fetch the pinned revision: "
            f"{command(repo, revision=commit)}"
        )
    title = f"{repo} {split}" if config == "default" else f"{repo} {config}/{split}"
    return Table(files=tuple(files), title=title)


def configs(folder: Path) -> tuple[str, ...]:
    """Returns the configurations that a data set has, by its card or its folders."""
    listed = [entry["config_name"] for entry in _card(folder)]
    return tuple(listed) or tuple(sorted({path.parent.name for path in folder.rglob("*.parquet")}))


def splits(folder: Path, *, config: str = "default") -> tuple[str, ...]:
    """Returns the splits of a configuration, by the card or the file names."""
    listed = tuple(split for name, split, _ in _data_files(folder) if name == config and split)
    return listed or tuple(sorted({_split(path) for path in _of_config(folder, config)}))


def files_of(folder: Path, *, config: str) -> tuple[str, ...]:
    """Returns the files of a configuration as patterns; empty if the card does not list them."""
    return tuple(path for name, _, paths in _data_files(folder) if name == config for path in paths)


def patterns(folder: Path, *, splits: Collection[str]) -> tuple[str, ...]:
    """Returns the files of these splits of the default configuration, or all files in the card if no splits are given;
    empty if the card does not list them.
    """
    parts = [part for part in _data_files(folder) if part[1]]
    if splits:
        parts = [part for part in parts if part[0] == "default" and part[1] in splits]
        if {split for _, split, _ in parts} != set(splits):
            return ()
    return tuple(path for _, _, paths in parts for path in paths)


def _data_files(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the card's files: configuration, split (empty: any), and patterns of their paths."""
    for entry in _card(folder):
        files = entry.get("data_files") or []
        for part in [{"split": "", "path": files}] if isinstance(files, str) else files:
            paths = part["path"] if isinstance(part["path"], list) else [part["path"]]
            yield entry["config_name"], part["split"], paths


def _card(folder: Path) -> list[dict[str, Any]]:
    """Returns the `configs` of the data set's card; none without a card or a list in it."""
    path = folder / "README.md"
    if not path.is_file():
        return []
    from huggingface_hub.repocard import RepoCard

    try:
        return RepoCard.load(path, ignore_metadata_errors=True).data.to_dict().get("configs") or []
    except (ValueError, OSError):
        return []


def _listed(folder: Path, *, config: str, split: str) -> list[Path]:
    for name, own, paths in _data_files(folder):
        if name == config and own in ("", split):
            return sorted(
                path
                for path in folder.rglob("*.parquet")
                if any(fnmatch(str(path.relative_to(folder)), pattern) for pattern in paths)
            )
    return []


def _split(path: Path) -> str:
    return re.split(r"[-.]", path.name)[0]


def _of_config(folder: Path, config: str) -> list[Path]:
    folders = [folder / config] if config != "default" else [folder / "default", folder / "data", folder]
    return [path for each in folders for path in each.glob("*.parquet")]
