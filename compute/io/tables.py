"""Reads tables from files of any program (CSV, TSV, JSON Lines, Excel, Parquet), and formats tables for printing.

Binary formats are recognised by the first bytes, others by the suffix. Text and JSON may be compressed by gzip. Text is
UTF-8, UTF-16 or else Windows-1252, with columns separated by commas, semicolons or tabs. Cells of text and Excel files
are texts, so that they can be quoted as written; Parquet and JSON keep their types. Nothing is unpacked before its size
is known, because a file of some kilobytes can contain gigabytes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd
from rich.cells import cell_len

from compute.types import BadInput, first_line, shortened

if TYPE_CHECKING:
    import duckdb

TEXTS, JSONS, PARQUET, EXCEL = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson"), ".parquet", ".xlsx"
JSON = ".json"  # a list of objects, or lines of them; not among ENDINGS, as other files also end in it
ENDINGS = (".csv", ".tsv", *JSONS, PARQUET, EXCEL, ".csv.gz", ".tsv.gz", ".jsonl.gz")  # of tables; text may have any
MOST_BYTES = 256 << 20  # of a table's unpacked text
MOST_COLUMNS, MOST_LINE = 10_000, 1 << 20  # MOST_LINE: characters of the line that names the columns
MOST_CELL = csv.field_size_limit()  # characters
GZIP = b"\x1f\x8b"
SEPARATORS = ",;\t"
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # Excel's, above the heading
QUOTED = re.compile(r'"[^"]*"?')
BLOCK, ROWS = 1 << 20, 20_000  # read at a time: bytes, and rows
NAMED = 10  # rows that an error names
KINDS = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}
MEMORY = "1GB"  # while Parquet is read; above it DuckDB uses the disk


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """A table as read. Its rows count from 1, the first below the heading; blank rows are not counted."""

    title: str  # the file's name
    frame: pd.DataFrame
    comma: bool | None = None  # whether decimals have a comma, as the separator suggests
    uneven: tuple[tuple[int, list[str]], ...] = ()  # rows and their cells that are skipped because of their width
    stored: tuple[str, ...] = ()  # columns of images inside a Parquet file, which are not read
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dictionary per row, with None for empty cells of typed columns. Raises BadInput if there are no
        rows.
        """
        if not len(self.frame):
            raise BadInput(f"{self.title} has no rows")
        return self.frame.astype(object).where(self.frame.notna(), None).to_dict("records")


def is_table(name: str | Path) -> bool:
    """Returns whether a file's name has the suffix of a table."""
    return str(name).lower().endswith(ENDINGS)


def read_table(
    source: Path | bytes,
    *,
    name: str = "",
    ending: str = "",
    columns: Collection[str] = (),
    uneven: bool = False,
    repeated: bool = False,
    most_bytes: int = MOST_BYTES,
    most_rows: int | None = None,
) -> TableFile:
    """Returns the table in a file or in bytes, which need a `name`; `ending` replaces the name's suffix.

    `columns` limits the columns read from a Parquet file, ignoring case. Rows with a different width from the heading
    are skipped if `uneven`; columns may share a name if `repeated`. Raises BadInput in one sentence with the file and a
    remedy, or with all such rows.
    """
    title = name or Path(source).name
    try:
        with _opened(source) as file:
            start = file.read(8)
            ending = ending or Path(title.lower().removesuffix(".gz")).suffix
            if start.startswith(b"PAR1") or ending == PARQUET:
                if isinstance(source, bytes):
                    raise BadInput(f"{title} is a Parquet file. Save it as CSV")
                return _parquet(source, title, columns, most_bytes=most_bytes)
            file.seek(0)
            if start.startswith(b"PK\x03\x04") or ending == EXCEL:
                table = _excel(file, title, repeated=repeated, most_bytes=most_bytes)
            elif ending in (*TEXTS, *JSONS, JSON):
                text, notes = _decoded(file, title, most_bytes=most_bytes)
                if ending in (*JSONS, JSON):
                    table = _json_lines(text, title, notes, most_rows=most_rows, whole=ending == JSON)
                else:
                    table = _text(text, title, notes, repeated=repeated, tabs=ending == ".tsv", most_rows=most_rows)
            else:
                raise BadInput(f"{title} is not a table: its name must end in {', '.join(ENDINGS)}. Save it as CSV")
    except FileNotFoundError as error:
        raise BadInput(f"There is no file {source}. Check the path") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"{title} is damaged: it cannot be unpacked ({error})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{title} is damaged text ({error.reason}, byte {error.start}). Save it as UTF-8") from error
    except OSError as error:
        raise BadInput(f"{title} cannot be opened ({error.strerror or error})") from error
    if table.uneven and not uneven:
        listed = ", ".join(f"row {row:,} has {len(cells):,}" for row, cells in table.uneven[:NAMED])
        more = f" and {len(table.uneven) - NAMED:,} rows more" if len(table.uneven) > NAMED else ""
        raise BadInput(
            f"{title}: the heading has {table.frame.shape[1]:,} cells, {listed}{more}. Name every column, and put a "
            "text that contains the separator in quotes"
        )
    return table


def read_csv(path: Path, *, columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """Reads a CSV of the repository as text, without conversion to NaN. Raises BadInput with the file and the error."""
    frame = read_table(path).frame
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise BadInput(f"{path.name} is missing the column {missing[0]!r}; it has: {', '.join(frame.columns)}")
    return frame.astype(object)


def read_lines(path: Path) -> list[str]:
    """Returns the lines of a text without line ends; blank lines at its end are skipped. Raises BadInput.

    Only line feeds end a line (with the carriage return before them), because other separators occur within texts.
    """
    try:
        with _opened(path) as file:
            text, _ = _decoded(file, path.name, most_bytes=MOST_BYTES)
            lines = [line.rstrip("\r\n") for line in text]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name} cannot be read as text ({error})") from error
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _check_regular(path: str | Path) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        raise BadInput(f"{path} is not a regular file. Save its content as one")


def _opened(source: Path | bytes) -> IO[bytes]:
    if isinstance(source, bytes):
        return gzip.open(io.BytesIO(source)) if source.startswith(GZIP) else io.BytesIO(source)
    _check_regular(source)
    with open(source, "rb") as file:
        packed = file.read(2) == GZIP
    return gzip.open(source) if packed else open(source, "rb")


def _decoded(file: IO[bytes], title: str, *, most_bytes: int) -> tuple[io.TextIOWrapper, tuple[str, ...]]:
    """Returns the file as text from its beginning, after one pass over its bytes. Raises BadInput."""
    start = file.read(4)
    file.seek(0)
    wide = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}.get(start[:2], "")
    if not wide and start.count(b"\0") == 2:
        wide = "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
    size, notes, encoding = 0, (), wide or "utf-8-sig"
    utf8 = codecs.getincrementaldecoder("utf-8")()
    while block := file.read(BLOCK):
        size += len(block)
        if size > most_bytes:
            raise BadInput(f"{title} unpacks to more than {most_bytes / 1e6:,.0f} MB. Split it")
        if not wide and b"\0" in block:
            raise BadInput(f"{title} is not text. Save it as CSV in UTF-8")
        if encoding == "utf-8-sig":
            try:
                utf8.decode(block)
            except UnicodeDecodeError:
                encoding = "cp1252"
    if encoding == "utf-8-sig" and utf8.getstate()[0]:
        encoding = "cp1252"
    if encoding == "cp1252":
        notes = (f"{title} is not UTF-8: read as Windows-1252 (Latin-1). If names look wrong, save it as UTF-8.",)
    file.seek(0)
    strict = "replace" if encoding == "cp1252" else "strict"
    return io.TextIOWrapper(file, encoding=encoding, errors=strict, newline=""), notes


def _text(
    file: io.TextIOWrapper, title: str, notes: tuple[str, ...], *, repeated: bool, tabs: bool, most_rows: int | None
) -> TableFile:
    lines = filter(str.strip, iter(partial(file.readline, MOST_LINE + 1), ""))
    first = next(lines, "")
    if said := SEPARATOR_LINE.fullmatch(first):
        first = next(lines, "")
    bare = QUOTED.sub("", first)
    separator = said[1] if said else "\t" if tabs else max(SEPARATORS, key=bare.count)
    if len(first) > MOST_LINE or bare.count(separator) >= MOST_COLUMNS:
        raise BadInput(
            f"{title}: its first line names more than {MOST_COLUMNS:,} columns, or has more than {MOST_LINE:,} "
            "characters. Is it a table with a heading?"
        )
    loose = f"{separator} " in bare  # a blank between a separator and a quotation mark is then ignored
    reader = csv.reader(chain([first], file), delimiter=separator, strict=True, skipinitialspace=loose)
    frames, uneven, count = [], [], 0
    try:
        names = [cell.strip() for cell in next(reader, [])]
        while block := list(islice(reader, ROWS)):
            filled = list(map(str.strip, map("".join, block)))
            if not all(filled):
                block = [row for row, text in zip(block, filled, strict=True) if text]
                if not block:
                    continue
            if most_rows is not None and count + len(block) > most_rows:
                raise BadInput(f"{title} has more than {most_rows:,} rows. Split it")
            widths = list(map(len, block))
            if min(widths) != len(names) or max(widths) != len(names):
                uneven += [(count + at, row) for at, row in enumerate(block, 1) if len(row) != len(names)]
            count += len(block)
            frames.append(_texts([row for row in block if len(row) == len(names)], len(names)))
    except csv.Error as error:
        if "field limit" in str(error):
            raise BadInput(
                f"{title}: a cell near line {reader.line_num:,} has more than {MOST_CELL:,} characters. Shorten it, or "
                "check that every quotation mark is closed"
            ) from error
        raise BadInput(
            f"{title} cannot be read from line {reader.line_num:,} on ({error}): put a cell that contains quotes in "
            "quotes, and double each quote inside it"
        ) from error
    frame = pd.concat(frames, ignore_index=True) if frames else _texts([], len(names))
    return TableFile(
        title=title,
        frame=_named(frame, names, title, repeated=repeated),
        comma={",": False, ";": True}.get(separator),
        uneven=tuple(uneven),
        notes=notes,
    )


def _texts(rows: Sequence[Sequence[str]], width: int) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=range(width), dtype="str")


def _named(frame: pd.DataFrame, names: Sequence[str], title: str, *, repeated: bool) -> pd.DataFrame:
    """Returns the frame with its names; trailing columns without a name or content, which spreadsheets add, are
    skipped.
    """
    width = len(names)
    while width and not names[width - 1] and not frame[width - 1].str.strip().any():
        width -= 1
    frame, names = frame.iloc[:, :width], names[:width]
    check_names(names, title, repeated=repeated)
    return frame.set_axis(names, axis=1)


def check_names(names: Sequence[str], title: str, *, repeated: bool = False) -> None:
    if not any(names):
        raise BadInput(f"{title} has no columns: its first line names them. Is it empty?")
    name, count = Counter(names).most_common(1)[0]
    if count > 1 and not repeated:
        raise BadInput(f"{title} has two columns {shortened(name)!r}: rename one")


def _objects(file: io.TextIOWrapper, title: str, *, whole: bool) -> Iterator[Any]:
    """Yields the objects of the lines or, if `whole`, of a JSON list."""
    listed = file.read() if whole else ""
    is_list = listed.lstrip().startswith("[")
    lines = [listed] if is_list else filter(str.strip, io.StringIO(listed) if whole else file)
    for at, text in enumerate(lines, 1):
        try:
            read = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{title}, {'' if is_list else f'row {at:,}: '}it is not JSON ({error})") from error
        yield from read if is_list else (read,)


def _json_lines(
    file: io.TextIOWrapper, title: str, notes: tuple[str, ...], *, most_rows: int | None, whole: bool
) -> TableFile:
    rows = []
    kinds = {}  # empty while a column has no values, or for other kinds
    for count, row in enumerate(_objects(file, title, whole=whole), 1):
        if not isinstance(row, dict):
            raise BadInput(f"{title}, row {count:,}: it is not a JSON object")
        if most_rows is not None and count > most_rows:
            raise BadInput(f"{title} has more than {most_rows:,} rows. Split it")
        for key, value in row.items():
            kind = KINDS.get(type(value), "")
            kinds[key] = known = kinds.get(key) or kind
            if kind not in ("", known):
                raise BadInput(f"{title}, row {count:,}: {key} is {kind}, in earlier rows {known}")
        if len(kinds) > MOST_COLUMNS:
            raise BadInput(f"{title} has more than {MOST_COLUMNS:,} columns. Is it a table?")
        rows.append(row)
    if not rows:
        raise BadInput(f"{title} has no rows")
    check_names([key.strip() for key in kinds], title)
    typed = {}
    for key, kind in kinds.items():
        cells = [row.get(key) for row in rows]
        whole = kind == "a number" and not any(isinstance(cell, float) for cell in cells)
        types = {"a text": "str", "a number": "Int64" if whole else "float64", "true or false": "boolean"}
        try:
            typed[key] = pd.Series(cells, dtype=types.get(kind, "object"))
        except OverflowError as error:
            raise BadInput(f"{title}: {key} has a number beyond 64 bits") from error
    return TableFile(title=title, frame=pd.DataFrame(typed), notes=notes)


def _excel(file: IO[bytes], title: str, *, repeated: bool, most_bytes: int) -> TableFile:
    import openpyxl

    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > most_bytes:
            raise BadInput(f"{title} unpacks to {size / 1e6:,.0f} MB, more than {most_bytes / 1e6:,.0f} MB. Split it")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheets = []  # non-empty sheets with their first two rows
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # they may be wrong
            rows = filter(any, (_cells(row) for row in sheet.iter_rows()))
            if first := list(islice(rows, 2)):
                sheets.append((sheet, rows, first))
            if len(first) == 2 and len(first[0]) > 1:  # other sheets are notes, if there is such a sheet
                break
        else:
            sheets = sheets[:1]
        if not sheets:
            raise BadInput(f"{title} has no sheet with a table")
        sheet, rows, (names, *second) = sheets[-1]
        if len(names) > MOST_COLUMNS:
            raise BadInput(f"{title} has more than {MOST_COLUMNS:,} columns")
        listed = [*second, *rows]
        if any("" in row or len(row) < len(names) for row in listed):
            written = openpyxl.load_workbook(file, read_only=True)[sheet.title]
            written.reset_dimensions()
            for row, values in zip(written.iter_rows(), sheet.iter_rows(), strict=True):
                for cell, value in zip(row, values, strict=True):
                    if cell.data_type == "f" and value.value is None:  # no spreadsheet program calculated it
                        raise BadInput(
                            f"{title}: the cell {cell.coordinate} has a formula without value "
                            f"({shortened(str(cell.value))}). Open the file in a spreadsheet program and save it, or "
                            "write the value"
                        )
        others = [one.title for one in book.worksheets if one is not sheet]
        notes = [
            f"{title}: only the sheet {sheet.title!r} is read, the first that is a table; the others are "
            f"{', '.join(map(repr, others[:NAMED]))}. To read another, put it first."
        ] * bool(others)
    except BadInput:
        raise
    except Exception as error:  # a damaged workbook may raise anything
        raise BadInput(
            f"{title} is not an Excel workbook, or a damaged one ({error}). Save it as .xlsx or CSV"
        ) from error
    uneven = tuple((at, row) for at, row in enumerate(listed, 1) if len(row) > len(names))
    whole = [[*row, *[""] * (len(names) - len(row))] for row in listed if len(row) <= len(names)]
    frame = _named(_texts(whole, len(names)), names, title, repeated=repeated)
    return TableFile(title=title, frame=frame, uneven=uneven, notes=tuple(notes))


def _cells(row: Sequence[Any]) -> list[str]:
    """Returns the cells of a sheet's row as displayed, without empty ones at the end."""
    cells = []
    for cell in row:
        value = cell.value
        if isinstance(value, bool):
            text = str(value).lower()
        elif isinstance(value, int | float):
            percent = "%" in (cell.number_format or "")
            text = f"{value * 100:.12g}%" if percent else f"{value:.15g}"
        else:
            text = "" if value is None else str(value).strip()
        cells.append(text)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def literal_path(path: str | Path) -> str:
    """Returns a path escaped for DuckDB, for which brackets, `*` and `?` are patterns, and `~` is the home folder.

    Raises BadInput for a pipe, which would block, and for a folder.
    """
    _check_regular(path)
    return re.sub(r"[*?[]", r"[\g<0>]", os.path.abspath(path))


def _parquet(path: Path, title: str, columns: Collection[str], *, most_bytes: int) -> TableFile:
    """Reads texts and numbers; images stay in the file."""
    import duckdb  # slow to import: not at start

    try:
        with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1}) as connection:
            table = connection.read_parquet(literal_path(path), hive_partitioning=False)
            kinds = {name: str(kind) for name, kind in zip(table.columns, table.types, strict=True)}
            check_names(list(kinds), title)
            wanted = [name for name in _ordered(connection, path, kinds) if not columns or name.lower() in columns]
            stored = tuple(name for name in wanted if "BLOB" in kinds[name])
            read = [name for name in wanted if name not in stored]
            if len(read) > MOST_COLUMNS:
                raise BadInput(f"{title} has more than {MOST_COLUMNS:,} columns")
            if not read:
                return TableFile(title=title, frame=pd.DataFrame(index=range(len(table))), stored=stored)
            quoted = list(map(_quoted, read))
            _check_unpacked(table, quoted, title, most_bytes=most_bytes)
            frame = table.project(", ".join(quoted)).df()
    except duckdb.Error as error:
        raise BadInput(f"{title} is not a Parquet file, or a damaged one ({first_line(error)})") from error
    return TableFile(title=title, frame=frame, stored=stored)


def _ordered(connection: duckdb.DuckDBPyConnection, path: Path, names: Collection[str]) -> Iterator[str]:
    """Yields the columns, first those that pandas had as the index."""
    rows = connection.execute("FROM parquet_kv_metadata(?) WHERE key = 'pandas'", [literal_path(path)]).fetchall()
    try:
        index = json.loads(rows[0][2])["index_columns"] if rows else []
    except (ValueError, KeyError, TypeError):
        index = []
    first = [name for name in index if isinstance(name, str) and name in names]
    return iter(dict.fromkeys((*first, *names)))


def check_unpacked(path: Path, columns: Iterable[str], *, most_bytes: int) -> None:
    """Raises BadInput for a Parquet file whose columns would unpack to more than `most_bytes`, and
    for a damaged one.
    """
    import duckdb  # slow to import: not at start

    try:
        with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1}) as connection:
            table = connection.read_parquet(literal_path(path), hive_partitioning=False)
            _check_unpacked(table, map(_quoted, columns), path.name, most_bytes=most_bytes)
    except duckdb.Error as error:
        raise BadInput(f"{path.name} is not a Parquet file, or a damaged one ({first_line(error)})") from error


def _check_unpacked(table: duckdb.DuckDBPyRelation, columns: Iterable[str], title: str, *, most_bytes: int) -> None:
    # Repeated strings are stored once, and counted here without being copied.
    sizes = [f"coalesce(sum(strlen({column}::VARCHAR)), 0) + 8 * count(*)" for column in columns]
    size = sum(table.aggregate(", ".join(sizes)).fetchall()[0]) if sizes else 0
    if size > most_bytes:
        raise BadInput(
            f"{title} unpacks to {size / 1e6:,.0f} MB, more than {most_bytes / 1e6:,.0f} MB. Choose fewer columns, or "
            "split it"
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def padded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns the cells of a table padded to the width of their column; a Chinese character takes two places."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return [[cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table to print."""
    return ["  ".join(row).rstrip() for row in padded(rows)]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table in Markdown; the first row is its head."""
    head, *body = padded([[cell.replace("|", r"\|") for cell in row] for row in rows])
    return [f"| {' | '.join(row)} |" for row in (head, ["-" * cell_len(cell) for cell in head], *body)]
