"""Judgments in and out: the log, the votes of own data, other raters' files, Label Studio's export and plain tables."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from compute.eyes import asking
from compute.eyes.study import Judgment, Study, standing
from compute.training.examples import QUALITY_PROMPT
from compute.types import CannotWrite

VOTES = ("name", "prompt", "alternative_1", "alternative_2", "votes_1", "votes_2")


def append(path: Path, judgments: Sequence[Judgment]) -> None:
    """Adds rows to a log, on disk when it returns; a row that a killed process left unfinished stays apart."""
    rows = "".join(f"{each.model_dump_json()}\n" for each in judgments).encode()
    try:
        with open(path, "a+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                rows = rows if file.read(1) == b"\n" else b"\n" + rows
            file.write(rows)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(f"Cannot write {path}: {error.strerror}. Free some disk space, then answer again") from error


def judgments_of(data: bytes) -> tuple[list[Judgment], int]:
    """The rows of a log, and how many were skipped as they are not whole."""
    rows, skipped = [], 0
    for line in filter(None, data.split(b"\n")):
        try:
            rows.append(Judgment.model_validate_json(line))
        except ValidationError:
            skipped += 1
    return rows, skipped


def images_of(study: Study) -> set[int]:
    """The numbers of the contents that are images."""
    first = 1 if study.kind == "text" else 0
    return {at for question in study.questions for at in question[first:] if at >= 0}


def votes(study: Study, judgments: Sequence[Judgment], *, folder: str = "") -> str:
    """The answers as own data of the shape `votes`, a CSV: a row for each question that somebody chose in.

    Paths of images begin with `folder`. Repeated questions count once.
    """
    counts: dict[int, list[int]] = {}
    for each in standing(list(judgments)):
        if each.choice is not None and each.draw != asking.REPEAT:
            counts.setdefault(each.question, [0, 0])[each.choice] += 1
    images = images_of(study)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(VOTES)
    for question, chosen in sorted(counts.items()):
        shown = [
            QUALITY_PROMPT if at < 0 else f"{folder}{study.contents[at]}" if at in images else study.contents[at]
            for at in study.questions[question]
        ]
        table.writerow([f"question {question + 1}", *shown, *chosen])
    return out.getvalue()
