"""A visitor's table of pairs, as CSV or with its images in a ZIP. A bad row carries its reason.

Nothing is written to disk. Images are read when their row comes, and only the most recent ones stay in memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from operator import attrgetter

from cachetools import LRUCache

from compute.io.forms import Form, FormField, fitting
from compute.io.tables import read_table
from compute.live import examples, inputs
from compute.live.archive import LONGEST_NAME, Archive
from compute.live.decoder import POOL, DecoderUnavailable
from compute.live.inputs import Input
from compute.live.questions import LiveQuestion
from compute.types import BadInput, LikenessError

LARGEST_FILE = 50_000_000  # bytes of the CSV or ZIP
LARGEST_TABLE = 8_000_000  # bytes of the table in it
ROWS = 200
PREVIEW = 200  # characters of a cell repeated in messages and results
DECODED = 48_000_000  # bytes of decoded images cached for the next rows; an image takes 16 MB at most
PAIRS = Form("pairs", (FormField("first"), FormField("second"), FormField("name", optional=True)))
EXAMPLE = re.compile(r"example:([\w-]+)", re.IGNORECASE)
IMAGE = re.compile(r"(?is).+\.(png|jpe?g|jfif|webp|gif|bmp|tiff?|avif|hei[cf]|jxl|jp2|svg|ico|psd)")
ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """One pair. Its cells are as the visitor wrote them: a text, `example:KEY`, or the name of an image in the ZIP."""

    number: int  # 1 is the first below the heading
    name: str
    first: str
    second: str
    problem: str = ""  # why it cannot be scored, as far as the table tells
    kinds: tuple[str, str] = field(default=("text", "text"), compare=False)  # the modalities of its cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """The pairs of one file, in its order. Not thread-safe."""

    rows: tuple[PairRow, ...]
    archive: Archive | None = None
    table: str = ""  # the table's path in the ZIP
    _decoded: LRUCache[str, Input] = field(default_factory=lambda: LRUCache(DECODED, getsizeof=attrgetter("nbytes")))
    _refused: dict[str, str] = field(default_factory=dict)  # by path, so that no image is tried twice

    def question(self, row: PairRow) -> LiveQuestion:
        """Returns the question about a row's pair, with decoded images. Raises LikenessError if the row is invalid."""
        if row.problem:
            raise BadInput(row.problem)
        inputs = (self._input(row.first, "first"), self._input(row.second, "second"))
        return LiveQuestion(mode="pair", inputs=inputs).checked()

    def known(self, cell: str) -> tuple[str, str | None, str]:
        """Returns a cell's modality, the path of its file in the ZIP, and why the named image is missing, without
        decoding an image.
        """
        if example := EXAMPLE.fullmatch(cell):
            key = example[1].lower()
            return next((known.modality for known in examples.EXAMPLES if known.key == key), "text"), None, ""
        if len(cell) > LONGEST_NAME:
            return "text", None, ""
        try:
            path = self.archive.find(cell, beside=self.table) if self.archive else None
        except BadInput as error:  # several files match the name
            return "image", None, str(error)
        if path is not None or not IMAGE.fullmatch(cell):
            return "text" if path is None else "image", path, ""
        name = cell if len(cell) <= PREVIEW else f"{cell[:PREVIEW]}..."
        if ADDRESS.fullmatch(cell):
            why = f"{name} is an address, and nothing is downloaded. Put the image in a ZIP with the CSV and name it"
        elif self.archive is None:
            why = f"{name} is the name of an image, but no image came with the CSV. Put both in one ZIP"
        else:
            why = f"There is no image {name} in the ZIP. Check its name; if it is meant as a text, change its ending"
        return "image", None, why

    def _input(self, cell: str, column: str) -> Input:
        if example := EXAMPLE.fullmatch(cell):
            return examples.load(example[1].lower())
        _, path, _ = self.known(cell)
        if path is None:
            return inputs.text(cell, name=f"The text in the column {column}")
        if path in self._refused:
            raise BadInput(self._refused[path])
        if path not in self._decoded:
            try:
                data = self.archive.read(path, most=inputs.LARGEST_IMAGE)
                self._decoded[path] = POOL.image(data, name=path[-PREVIEW:])
            except DecoderUnavailable:
                raise
            except LikenessError as error:
                self._refused[path] = str(error)
                raise
        return self._decoded[path]


def read(data: bytes) -> Batch:
    """Reads pairs from a CSV, or from a ZIP of one CSV with images. Raises BadInput if the whole file fails.

    The heading of the CSV (`compute.io.tables`) names `first` and `second`, in any case and order, and may name `name`.
    Other columns are ignored. A problem with one row is stored in that row.
    """
    archive = Archive(data) if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) else None
    table = archive.table() if archive else ""
    if archive:
        data = archive.read(table, most=LARGEST_TABLE)
    whole = Batch(rows=(), archive=archive, table=table)
    rows = []
    for row in _rows(data):
        (first, _, why), (second, _, other) = whole.known(row.first), whole.known(row.second)
        rows.append(replace(row, problem=row.problem or why or other, kinds=(first, second)))
    return replace(whole, rows=tuple(rows))


def _rows(data: bytes) -> list[PairRow]:
    file = read_table(data, name="The table", ending=".csv", uneven=True, most_bytes=LARGEST_TABLE, most_rows=ROWS)
    fitting([PAIRS], list(file.frame), title="The table")
    columns = [column.lower() for column in file.frame]
    uneven, whole = dict(file.uneven), iter(file.frame.to_numpy().tolist())
    count = len(uneven) + len(file.frame)
    if not count:
        raise BadInput("The table has no rows below its heading. Add one for every pair")
    return [
        _row(number, uneven[number] if number in uneven else next(whole), columns) for number in range(1, count + 1)
    ]


def _row(number: int, cells: list[str], columns: list[str]) -> PairRow:
    cells = [cell.strip() for cell in cells]
    by_column = dict(zip(columns, cells, strict=False))
    first, second = (by_column.get(column, "") for column in PAIRS.required)
    problem = ""
    if any(cells[len(columns) :]):
        problem = (
            f"It has {len(cells)} cells, the heading {len(columns)}. Put a text that contains the separator in quotes"
        )
    for column, cell in zip(PAIRS.required, (first, second), strict=True):
        if not cell:
            problem = problem or f"The cell in the column {column} is empty. Write a text or name an image"
    # One character more than is shown, to mark a shortened name.
    return PairRow(
        number=number, name=by_column.get("name", "")[: PREVIEW + 1], first=first, second=second, problem=problem
    )
