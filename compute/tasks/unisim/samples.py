"""The drawn questions of a data set: drawn once from a fixed seed, then stored as a manifest and used again."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from compute.content.items import Column, texts
from compute.io.files import write_text
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.unisim.files import Files
from compute.types import BadInput

FIELDS = ("name", "reference", "answer")  # then one column an alternative


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One question: a reference (file name or text; empty: none), k alternatives, and which of them is right."""

    name: str
    alternatives: tuple[str, ...]
    answer: int
    reference: str = ""


def shuffled(random: Random, name: str, good: str, *others: str, reference: str = "") -> Sample:
    """A question whose right answer stands at a random position among the others."""
    answer = random.randrange(len(others) + 1)
    return Sample(
        name=name, reference=reference, answer=answer, alternatives=(*others[:answer], good, *others[answer:])
    )


def read(path: Path) -> list[Sample]:
    """Reads a manifest. Raises BadInput for one with a line that is not a question."""
    samples = []
    with path.open(encoding="utf-8", newline="") as handle:
        for line in list(csv.reader(handle))[1:]:
            try:
                name, reference, answer, *alternatives = line
                range(len(alternatives)).index(int(answer))
            except ValueError as error:
                raise BadInput(
                    f"{path.name}: {line} is not name, reference, answer, alternatives. "
                    "Delete the file and the questions are resampled from the same seed"
                ) from error
            samples.append(Sample(name=name, reference=reference, answer=int(answer), alternatives=tuple(alternatives)))
    return samples


def drawn(path: Path | None, draw: Callable[[], list[Sample]]) -> list[Sample]:
    """The manifest at `path` if it exists, else what `draw` gives, stored at `path`."""
    if path and path.is_file():
        return read(path)
    samples = draw()
    if not samples:
        raise BadInput("No question could be drawn: the data set's files are not what its loader expects")
    if path:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        most = max(len(sample.alternatives) for sample in samples)
        writer.writerow([*FIELDS, *(f"alternative_{at}" for at in range(most))])
        writer.writerows([sample.name, sample.reference, sample.answer, *sample.alternatives] for sample in samples)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text.getvalue())
    return samples


Look = Callable[[Sequence[str], bool], Column]  # names or texts, and whether they are images -> column


ODD = "odd"  # the question of which image does not belong


def items(
    samples: list[Sample], look: Look, *, reference: str, alternatives: str, question: str
) -> Choices | OddOneOut:
    """Questions as columns; `reference` and `alternatives` are `image`, `text`, or empty for no reference."""
    names = tuple(sample.name for sample in samples)
    answer = np.array([sample.answer for sample in samples])
    columns = tuple(
        look(column, alternatives == "image")
        for column in zip(*(sample.alternatives for sample in samples), strict=True)
    )
    if question == ODD:
        return OddOneOut(names=names, odd=answer, members=columns)
    return Choices(
        names=names,
        reference=look([sample.reference for sample in samples], reference == "image") if reference else None,
        alternatives=columns,
        answer=answer,
        question=question,
    )


def looker(files: Files, *, cache: Path | None, change: Callable[[bytes], bytes] | None = None) -> Look:
    """Turns names into columns of the data set's images, changed by `change`, and texts into columns of texts."""
    return lambda contents, pictures: (
        files.images(contents, change=change, cache=cache)
        if pictures
        else texts(contents, of=f"{files.repo}, captions")
    )
