"""A table of pairs with the models' scores: a CSV for programs and spreadsheets, and a preview of a few rows."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute.live.batch import PREVIEW, PairRow
from compute.live.questions import Answer
from compute.types import Model, shortened
from leaderboard.html.formatting import number
from leaderboard.web.responses import safe_cell

PREVIEW_CHARACTERS = 60  # of a visitor's cell in the preview; the CSV has PREVIEW
PREVIEW_ROWS = 10


@dataclass(frozen=True, kw_only=True)
class PairScore:
    """One model's result for one pair: a score, the reason for a missing one, or neither before its turn."""

    score: float | None = None
    percentile: float | None = None  # None: the model has no distribution for this pairing
    reading: str = ""
    source: str = ""  # of the distribution
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class ScoredPair:
    """One pair with each model's result."""

    row: PairRow
    scores: Sequence[PairScore]
    problem: str  # why scores are missing; empty where none is


def pair_score(answer: Answer) -> PairScore:
    """A model's answer about a pair. What is not a number is a problem, never a score."""
    if answer.problem or not answer.scores or math.isnan(answer.scores[0]):
        return PairScore(problem=answer.problem or "It gave no number")
    score = answer.scores[0]
    if not answer.standings:
        return PairScore(score=score, reading="a rating from 1 to 10" if answer.unit == "rating" else answer.why)
    standing, reference = answer.standings[0], answer.reference
    return PairScore(
        score=score,
        percentile=standing.percentile,
        reading=standing.reading,
        source=f"{reference.source} (synthetic)" if reference.synthetic else reference.source,
    )


def table(models: Sequence[Model], pairs: Iterable[ScoredPair]) -> str:
    """The CSV: numbers with six digits; the visitor's texts shortened and safe in spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [f"{model.key} {part}" for model in models for part in ("score", "percentile", "reading")]
    writer.writerow(map(safe_cell, ("number", "name", "first", "second", *columns, "source", "problem")))
    for pair in pairs:
        row = pair.row
        texts = [shortened(text, PREVIEW) for text in (row.name, row.first, row.second)]
        numbers = [
            part for each in pair.scores for part in (_number(each.score), _number(each.percentile), each.reading)
        ]
        writer.writerow([row.number, *map(safe_cell, (*texts, *numbers, source(pair.scores), pair.problem))])
    return out.getvalue()


def preview(models: Sequence[Model], pairs: Sequence[ScoredPair]) -> list[list[str]]:
    """The first rows below a heading, one cell per model: its percentile and reading, or the score alone."""
    heads = ["No.", "Name", "First", "Second", *(model.title for model in models), "Problem"]
    return [
        heads,
        *(
            [
                str(pair.row.number),
                *(shortened(text, PREVIEW_CHARACTERS) for text in (pair.row.name, pair.row.first, pair.row.second)),
                *map(_in_words, pair.scores),
                shortened(pair.problem, PREVIEW),
            ]
            for pair in pairs[:PREVIEW_ROWS]
        ),
    ]


def source(scores: Iterable[PairScore]) -> str:
    """What these scores are based on; empty where there are none."""
    sources = [each.source for each in scores if each.score is not None]
    if not sources:
        return ""
    named = list(dict.fromkeys(filter(None, sources)))
    return f"computed live; {'calibrated on ' + ' and '.join(named) if named else 'not calibrated'}"


def _in_words(score: PairScore) -> str:
    if score.score is None:
        return "—"
    if score.percentile is None:
        return f"{_number(score.score)} ({score.reading or 'not calibrated'})"
    return f"{number(score.percentile, digits=0)}: {score.reading}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
