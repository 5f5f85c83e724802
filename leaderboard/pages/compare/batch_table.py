"""What models gave a table of pairs: a CSV that programs and spreadsheets read alike, and a few rows to look at."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compute.types import Model
from leaderboard.data.spreadsheet import safe_cell
from leaderboard.live.calibrated import References, judged

if TYPE_CHECKING:
    from compute.live.answers import Answer, Asked
    from compute.live.batch import Row

SHOWN = 200  # characters of a visitor's cell that the CSV repeats
SEEN = 60  # and the preview
PREVIEW = 10  # rows


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one model gave one pair: a score, a reason why there is none, or neither before it was asked."""

    score: float | None = None
    percentile: float | None = None  # None: the model has no distribution for this pairing
    reading: str = ""
    source: str = ""  # of the distribution
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One pair and a cell for every model."""

    row: Row
    cells: tuple[Cell, ...]
    problem: str  # why scores are missing; empty where none is


def cell(answer: Answer, model: Model, asked: Asked, references: References) -> Cell:
    """A model's answer to a pair. What is no number is a problem, never a score."""
    if answer.problem or not answer.scores or math.isnan(answer.scores[0]):
        return Cell(problem=answer.problem or "It gave no number")
    found, score = judged(answer, model, asked, references), answer.scores[0]
    if not found.places:
        return Cell(score=score, reading="a rating from 1 to 10" if answer.unit == "rating" else "")
    place, reference = found.places[0], found.reference
    return Cell(
        score=score,
        percentile=place.percentile,
        reading=place.reading,
        source=f"{reference.source} (synthetic)" if reference.synthetic else reference.source,
    )


def table(models: Sequence[Model], lines: Iterable[Line]) -> str:
    """The CSV: numbers with six digits; texts as they were given, shortened and safe in spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [f"{model.key} {part}" for model in models for part in ("score", "percentile", "reading")]
    writer.writerow(map(safe_cell, ("number", "name", "first", "second", *columns, "source", "problem")))
    for line in lines:
        row = line.row
        given = [safe_cell(_short(text, SHOWN)) for text in (row.name, row.first, row.second)]
        numbers = [part for one in line.cells for part in (_number(one.score), _number(one.percentile), one.reading)]
        writer.writerow([row.number, *given, *numbers, source(line.cells), safe_cell(line.problem)])
    return out.getvalue()


def preview(models: Sequence[Model], lines: Sequence[Line]) -> list[list[str]]:
    """The first rows under a heading, one cell a model: its percentile and reading, or the bare score."""
    heads = ["No.", "Name", "First", "Second", *(model.title for model in models), "Problem"]
    return [
        heads,
        *(
            [
                str(line.row.number),
                *(_short(text, SEEN) for text in (line.row.name, line.row.first, line.row.second)),
                *map(_told, line.cells),
                _short(line.problem, SHOWN),
            ]
            for line in lines[:PREVIEW]
        ),
    ]


def source(cells: Iterable[Cell]) -> str:
    """What the numbers of some cells rest on; empty where there are none."""
    known = [one.source for one in cells if one.score is not None]
    if not known:
        return ""
    named = list(dict.fromkeys(filter(None, known)))
    return f"computed live; {'calibrated on ' + ' and '.join(named) if named else 'not calibrated'}"


def _told(one: Cell) -> str:
    if one.score is None:
        return "—"
    if one.percentile is None:
        return f"{_number(one.score)} ({one.reading or 'not calibrated'})"
    return f"{one.percentile:.0f}: {one.reading}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
