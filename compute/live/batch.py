"""A table of pairs that a visitor brings, as CSV or with its images in a ZIP. A bad row has its reason beside it.

Nothing is written to a disk. Images are read when their row comes, and only the last ones are kept.
"""

from __future__ import annotations

import csv
import io
import re
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

from compute.live import examples, inputs
from compute.live.answers import Asked
from compute.live.inputs import Input
from compute.live.packed import Pack
from compute.types import BadInput, LikenessError

LARGEST = 50_000_000  # bytes of the file
LARGEST_TABLE = 8_000_000  # bytes of the table in it
ROWS = 200
SHOWN = 200  # characters of a cell that messages and results repeat
DECODED = 48_000_000  # bytes of images that are kept for the next rows
SEPARATORS = ",;\t"
NEEDED, OPTIONAL = ("first", "second"), ("name",)
EXAMPLE = re.compile(r"example:([\w-]+)", re.IGNORECASE)
IMAGE = re.compile(r"(?is).+\.(png|jpe?g|jfif|webp|gif|bmp|tiff?|avif|hei[cf]|jxl|jp2|svg|ico|psd)")
ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins
SAVE = "Save it as CSV in UTF-8 and add it again"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One pair. Its cells are as they were given: a text, `example:KEY`, or the name of an image in the ZIP."""

    number: int  # 1 is the first below the heading
    name: str
    first: str
    second: str
    problem: str = ""  # why it cannot be asked, as far as the table tells


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """The pairs of one file, in its order. Not for several threads at once."""

    rows: tuple[Row, ...]
    pack: Pack | None = None
    table: str = ""  # the table's path in the ZIP
    _decoded: OrderedDict[str, Input] = field(default_factory=OrderedDict)
    _refused: dict[str, str] = field(default_factory=dict)  # by path: an image is not tried twice

    def asked(self, row: Row) -> Asked:
        """The question about a row's pair, its images decoded. Raises LikenessError where it has none."""
        if row.problem:
            raise BadInput(row.problem)
        return Asked(mode="pair", inputs=(self._input(row.first, "first"), self._input(row.second, "second"))).checked()

    def _input(self, cell: str, column: str) -> Input:
        if example := EXAMPLE.fullmatch(cell):
            return examples.load(example[1].lower())
        path = self.pack.find(cell, beside=self.table) if self.pack else None
        if path is None:
            return inputs.text(cell, name=f"The text in the column {column}")
        if path in self._refused:
            raise BadInput(self._refused[path])
        if path not in self._decoded:
            try:
                self._keep(path, inputs.image(self.pack.read(path, most=inputs.LARGEST_FILE), name=path[-SHOWN:]))
            except LikenessError as error:
                self._refused[path] = str(error)
                raise
        self._decoded.move_to_end(path)
        return self._decoded[path]

    def _keep(self, path: str, image: Input) -> None:
        """Keeps an image for the rows that follow; the longest unused go."""
        self._decoded[path] = image
        while len(self._decoded) > 1 and sum(map(_size, self._decoded.values())) > DECODED:
            self._decoded.popitem(last=False)


def read(data: bytes) -> Batch:
    """A CSV, or a ZIP of one CSV with images, as pairs. Raises BadInput, as a sentence, where the whole file fails.

    The CSV is UTF-8 with commas, semicolons or tabs between its cells; its heading names `first` and `second`, in any
    case and order, and may name `name`. Other columns are passed over. What is wrong with one row stands in that row.
    """
    if len(data) > LARGEST:
        raise BadInput(f"The file has {len(data) / 1e6:.0f} MB, more than {LARGEST // 1_000_000} MB. Split it")
    pack = Pack(data) if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) else None
    table = pack.table() if pack else ""
    if pack:
        data = pack.read(table, most=LARGEST_TABLE)
    elif len(data) > LARGEST_TABLE:
        raise BadInput(f"The CSV has {len(data) / 1e6:.0f} MB, more than {LARGEST_TABLE // 1_000_000} MB. Split it")
    whole = Batch(rows=tuple(_rows(_text(data))), pack=pack, table=table)
    return replace(whole, rows=tuple(replace(row, problem=row.problem or _problem(whole, row)) for row in whole.rows))


def _text(data: bytes) -> str:
    if data.startswith(WIDE):
        raise BadInput(f"The table is UTF-16 text. {SAVE}")
    try:
        return data.decode("utf-8-sig").lstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"The file is neither CSV text in UTF-8 nor a ZIP. {SAVE}") from error


def _rows(text: str) -> list[Row]:
    reader = _reader(text, _separator(text))
    rows: list[Row] = []
    try:
        columns = _names(next(reader))
        for column in (*NEEDED, *OPTIONAL):
            if columns.count(column) > 1:
                raise BadInput(f"The column {column} stands twice in the heading. Keep one")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(rows) == ROWS:
                raise BadInput(f"The table has more than {ROWS} rows. Split it: at most {ROWS} pairs are asked at once")
            rows.append(_row(len(rows) + 1, [cell.strip() for cell in cells], columns))
    except csv.Error as error:
        raise BadInput(
            f"The table cannot be read from line {reader.line_num} on ({error}): a cell with quotes in it "
            "stands in quotes, and each of them twice"
        ) from error
    if not rows:
        raise BadInput("The table has no rows below its heading. Add one for every pair")
    return rows


def _row(number: int, cells: list[str], columns: list[str]) -> Row:
    given = dict(zip(columns, cells, strict=False))
    first, second = (given.get(column, "") for column in NEEDED)
    problem = ""
    if any(cells[len(columns) :]):
        problem = (
            f"It has {len(cells)} cells, the heading {len(columns)}. Put a text that holds the sign between "
            "cells in quotes"
        )
    for column, cell in zip(NEEDED, (first, second), strict=True):
        if not cell:
            problem = problem or f"The cell in the column {column} is empty. Write a text or name an image"
    # One more than is shown: whoever shortens a name says so.
    return Row(number=number, name=given.get("name", "")[: SHOWN + 1], first=first, second=second, problem=problem)


def _problem(batch: Batch, row: Row) -> str:
    """What names of images in a row do not lead to; empty where all do."""
    for cell in (row.first, row.second):
        shown = cell if len(cell) <= SHOWN else f"{cell[:SHOWN]}..."
        try:
            found = batch.pack.find(cell, beside=batch.table) if batch.pack else None
        except BadInput as error:
            return str(error)
        if found is not None or not IMAGE.fullmatch(cell):
            continue
        if ADDRESS.fullmatch(cell):
            return f"{shown} is an address, and nothing is fetched. Put the image in a ZIP with the CSV and name it"
        if batch.pack is None:
            return f"{shown} is the name of an image, but no image came with the CSV. Put both in one ZIP"
        return f"There is no image {shown} in the ZIP. Check its name; if it is meant as a text, end it otherwise"
    return ""


def _separator(text: str) -> str:
    """The sign between cells: the one by which the first line holds the columns. Raises BadInput where none does."""
    for sign in SEPARATORS:
        try:
            if set(NEEDED) <= set(_names(next(_reader(text, sign), []))):
                return sign
        except csv.Error:
            continue
    line = text.partition("\n")[0].strip()[:80]
    raise BadInput(
        "The table needs a heading with the columns first and second, and may have the column name. "
        + (f"Its first line reads {line!r}" if line else "It is empty")
    )


def _reader(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)


def _names(cells: list[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _size(image: Input) -> int:
    return 0 if isinstance(image.content, str) else 4 * image.content.width * image.content.height
