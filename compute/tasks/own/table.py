"""A manifest as it is read: CSV, TSV, JSON lines or Parquet, its values as Arrow arrays, never a Python object a row.

Images inside a Parquet file stay there until they are read.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.delimited import heading
from compute.tasks import parquet
from compute.tasks.own.faults import Faults
from compute.types import BadInput, shortened

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 16 << 20  # bytes that are parsed at a time; no row of JSON lines may be longer
PARQUET = ".parquet"
SPLIT = "split"  # the column that says which rows train and which test


@dataclass(frozen=True, kw_only=True)
class OwnTable:
    """The rows of a file. `values` has every column but those of images' bytes, which are in `stored`."""

    title: str  # the file's name, for messages
    values: pa.Table
    folder: Path | None = None  # that paths of images begin at; None: they may not be paths
    # Columns of images' bytes: the images, given `cache`, the folder where content keys are stored.
    stored: Mapping[str, Callable[..., Column]] = field(default_factory=dict)
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of columns of class numbers
    digest: str = ""  # of the file's content

    def __len__(self) -> int:
        return self.values.num_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return (*self.values.column_names, *self.stored)


def read(path: Path, *, faults: Faults, folder: Path | None = None) -> OwnTable:
    """A manifest by the end of its name, one of FORMATS. Rows of another width are faults.

    Paths of images begin at `folder`, by default the manifest's.

    Raises BadInput for a file that cannot be read as what its name says, or that has no row.
    """
    if not path.is_file():
        raise BadInput(f"There is no file {path}")
    if path.suffix.lower() not in FORMATS:
        raise BadInput(f"{path.name} is no manifest: its name must end in {', '.join(FORMATS)}")
    try:
        table = FORMATS[path.suffix.lower()](path, faults)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is not UTF-8 ({error.reason}, byte {error.start}): save it as UTF-8") from error
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read ({error.strerror or error})") from error
    if not len(table) and not faults.count:
        raise BadInput(f"{path.name} has no rows")
    return replace(table, folder=folder) if folder else table


def digest_of(path: Path) -> str:
    """32 hex digits of BLAKE2b over a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def of_values(title: str, values: Mapping[str, list[str]], *, folder: Path | None) -> OwnTable:
    """A table of texts in memory, as an image folder gives it."""
    import pyarrow as pa

    return OwnTable(
        title=title,
        folder=folder,
        values=pa.table({name: pa.array(column, pa.large_string()) for name, column in values.items()}),
        digest=items.content_key(json.dumps([sorted(values), *(values[name] for name in sorted(values))])).decode(),
    )


def _csv(path: Path, faults: Faults) -> OwnTable:
    import pyarrow as pa
    from pyarrow import csv as reader

    delimiter, header = heading(path)
    _check_names(path.name, header)
    uneven: list[tuple[int, int]] = []

    def skip(row: reader.InvalidRow) -> str:
        uneven.append((row.number, row.actual_columns))
        return "skip"

    try:
        values = reader.read_csv(
            path,
            read_options=reader.ReadOptions(use_threads=False, block_size=BLOCK),  # threads give no rows' numbers
            parse_options=reader.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip, ignore_empty_lines=True
            ),
            convert_options=reader.ConvertOptions(column_types=dict.fromkeys(header, pa.large_string())),
        )
    except pa.ArrowInvalid as error:
        reason = _first_line(error)
        if "UTF8" in reason:
            raise BadInput(f"{path.name} is not UTF-8: save it as UTF-8") from error
        raise BadInput(f"{path.name} cannot be read as CSV ({reason})") from error
    for number, width in uneven:  # the parser's row 1 is the header
        faults.at(path.name, number - 1, f"it has {width} values for {len(header)} columns")
    return OwnTable(title=path.name, values=values, folder=path.parent, digest=digest_of(path))


def _json_lines(path: Path, faults: Faults) -> OwnTable:
    import pyarrow as pa
    from pyarrow import json as reader

    with path.open(encoding="utf-8-sig") as file:
        file.readline(BLOCK)  # raises UnicodeDecodeError for UTF-16
    if not path.stat().st_size:
        raise BadInput(f"{path.name} has no rows")
    try:
        values = reader.read_json(path, read_options=reader.ReadOptions(block_size=BLOCK))
    except pa.ArrowInvalid as error:
        raise BadInput(_bad_line(path) or f"{path.name} cannot be read as JSON lines ({_first_line(error)})") from error
    _check_names(path.name, values.column_names)
    return OwnTable(title=path.name, values=_plain(values), folder=path.parent, digest=digest_of(path))


def _bad_line(path: Path) -> str:
    """Which line is no JSON object or has a value of another kind than the first; Arrow counts rows by block."""
    kinds: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for row, line in enumerate((line for line in file if line.strip()), start=1):
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
                return f"{path.name}, row {row:,}: it is no JSON"
            if not isinstance(value, dict):
                return f"{path.name}, row {row:,}: it is no JSON object"
            for name, content in value.items():
                kind = KINDS.get(type(content), "")
                if kind and kinds.setdefault(name, kind) != kind:
                    return f"{path.name}, row {row:,}: {name} is {kind}, in earlier rows {kinds[name]}"
    return ""


KINDS = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


def _parquet(path: Path, faults: Faults) -> OwnTable:
    return of_parquet(parquet.Table((path,), path.name), folder=path.parent, digest=digest_of(path))


def of_parquet(table: parquet.Table, *, folder: Path | None, digest: str) -> OwnTable:
    """The rows of a Parquet table, a file's or a hub data set's. Raises BadInput for a damaged file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = table.schema
    _check_names(table.title, schema.names)
    in_bytes = [field.name for field in schema if _is_bytes(field.type)]
    others = [name for name in schema.names if name not in in_bytes]
    values = pa.concat_tables([pq.read_table(file, columns=others) for file in table.files])
    if not others:
        values = pa.table({"row": np.arange(len(table))})
    return OwnTable(
        title=table.title,
        values=_plain(values),
        folder=folder,
        stored={name: partial(table.images, name) for name in in_bytes},
        class_names={name: names for name in others if (names := table.class_names(name))},
        digest=digest,
    )


def _is_bytes(kind: pa.DataType) -> bool:
    """Whether a column holds images' bytes: bare, or as the hub has them, `{bytes, path}`."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return "bytes" in [field.name for field in kind]
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _plain(values: pa.Table) -> pa.Table:
    """Texts as one type of text; categories, which pandas writes, as their values."""
    import pyarrow as pa

    for at, column in enumerate(values.schema):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_string_view(kind):
            kind = pa.large_string()
        if kind != column.type:
            values = values.set_column(at, column.name, values.column(at).cast(kind))
    return values


def _check_names(title: str, names: Sequence[str]) -> None:
    if not any(name.strip() for name in names):
        raise BadInput(f"{title} has no columns: its first line names them")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise BadInput(f"{title} has two columns {shortened(name)!r}: rename one")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


FORMATS: dict[str, Callable[[Path, Faults], OwnTable]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    PARQUET: _parquet,
}
