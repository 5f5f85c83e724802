"""Questions drawn from a data set, and their conversion to a task's items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from compute.content.items import Column, texts
from compute.tasks.data import Choices, OddOneOut
from compute.tasks.unisim.files import Files


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One question: a reference (file name or text; empty: none), k alternatives, and the index of the correct one."""

    name: str
    alternatives: tuple[str, ...]
    answer: int
    reference: str = ""


def shuffled(random: Random, name: str, good: str, *others: str, reference: str = "") -> Sample:
    """Returns a question with the correct answer at a random position among the others."""
    answer = random.randrange(len(others) + 1)
    return Sample(
        name=name, reference=reference, answer=answer, alternatives=(*others[:answer], good, *others[answer:])
    )


Look = Callable[[Sequence[str], bool], Column]  # names or texts, and whether they are images -> column


ODD = "odd"  # the question of which image does not belong


def items(
    samples: list[Sample], look: Look, *, reference: str, alternatives: str, question: str
) -> Choices | OddOneOut:
    """Converts questions to columns; `reference` and `alternatives` are `image`, `text`, or empty for no reference."""
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
    """Returns a function that turns names into columns of the data set's images, changed by `change`, and texts into
    columns of texts.
    """
    return lambda contents, pictures: (
        files.images(contents, change=change, cache=cache)
        if pictures
        else texts(contents, of=f"{files.repo}, captions")
    )
