"""What a procedure would ask of a model that has no vectors, counted without running the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compute.content.items import Column
from compute.content.messages import Question, Reply
from compute.features.subject import pairs_of
from compute.procedures.evidence import Procedure
from compute.tasks.data import Data
from compute.types import CannotDo, Model


class Tally:
    """A Subject that only notes what it is asked; every comparison comes out equal, every answer is the first."""

    def __init__(self, row: Model) -> None:
        self.row = row
        self.compared: list[tuple[Column | None, Column]] = []
        self.questions: list[Question] = []

    def can(self, ability: str) -> bool:
        """Whether the model has an ability."""
        return ability in self.row.abilities

    def embed(self, column: Column) -> np.ndarray:
        """Nothing. Raises CannotDo: what is encoded follows from the items alone."""
        raise CannotDo(f"{self.row.key} is only counted")

    embed_many = embed

    def compare(self, first: Column | None, second: Column) -> np.ndarray:
        """(n,) zeros."""
        self.compared.append((first, second))
        return np.zeros(len(second))

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        """The first option of each question."""
        self.questions += questions
        return [Reply(item=question.item, text="A") for question in questions]

    @property
    def pairs(self) -> list[Column]:
        """What is compared as columns of pairs, whose keys are those of the feature store."""
        return [pairs_of(first, second) for first, second in self.compared]


def count(row: Model, *, procedure: Procedure, data: Mapping[str, Data], options: Mapping[str, Any]) -> Tally:
    """What a run would ask of the model for these items by subset. Raises LikenessError where it would fail."""
    tally = Tally(row)
    for part in data.values():
        procedure.run(tally, part, options)
    return tally
