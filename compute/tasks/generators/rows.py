"""Small tables from files: CSV, TSV, JSON Lines or Parquet, a dictionary a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from compute.types import BadInput

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")


def read_rows(path: Path, *, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a table, at least one. Of Parquet only `columns` where named, as images need not be read.

    Raises BadInput naming the file and what is wrong with it.
    """
    ending = path.suffix.lower()
    if not path.is_file():
        raise BadInput(f"There is no file {path}: give a table ({', '.join(ENDINGS)})")
    if ending not in ENDINGS:
        raise BadInput(f"{path.name}: tables end in {', '.join(ENDINGS)}")
    try:
        rows = _parquet(path, columns) if ending == ".parquet" else _text(path, ending)
    except (OSError, ValueError, csv.Error) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"{path.name} cannot be read as {ending[1:]} in UTF-8 ({reason})") from error
    if not rows:
        raise BadInput(f"{path.name} holds no rows")
    return rows


def column_of(rows: Sequence[dict[str, Any]], names: Iterable[str], *, of: str, what: str) -> str:
    """The first column that has one of the names, in any case of letters. Raises BadInput naming what there is."""
    names = tuple(names)
    if column := optional_column(rows, names):
        return column
    raise BadInput(f"{of} has no column of {what} ({', '.join(names)}); it has: {', '.join(map(str, rows[0]))}")


def optional_column(rows: Sequence[dict[str, Any]], names: Iterable[str]) -> str:
    """As `column_of`; empty where there is none."""
    known = {str(column).lower(): column for column in reversed(list(rows[0]))}
    return next((known[name] for name in names if name in known), "")


def _text(path: Path, ending: str) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8-sig")
    if ending == ".jsonl":
        return _json_lines(text, path.name)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if ending == ".tsv" else ","))
    for at, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise BadInput(f"{path.name}, line {at} has more or fewer cells than the head. Quote cells with commas")
    return rows


def _json_lines(text: str, name: str) -> list[dict[str, Any]]:
    rows = []
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(dict(json.loads(line)))
        except (TypeError, ValueError) as error:
            raise BadInput(f"{name}, line {at} is not a JSON object") from error
    return rows


def _parquet(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        known = [name for name in file.schema_arrow.names if name.lower() in columns] if columns else None
        return file.read(columns=known).to_pylist()
