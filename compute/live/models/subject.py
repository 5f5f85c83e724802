"""A model asked about a visitor's inputs: what procedures may ask of it, answered from memory and never from disk."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.content.items import Column
from compute.content.messages import Question, Reply
from compute.features import encoding
from compute.features.subject import ABILITY
from compute.live.inputs import Input
from compute.types import BadInput, CannotDo, Model

Kept = MutableMapping[tuple[str, ...], Any]


@dataclass(kw_only=True)
class LiveSubject:
    """The Subject of one loaded model. `kept` holds what it made of earlier inputs, by model and content keys.

    Images are taken from `inputs` as they were decoded on the way in; nothing is decoded twice or written anywhere.
    """

    row: Model
    model: Any
    inputs: Mapping[bytes, Input]
    kept: Kept = field(default_factory=dict)

    def can(self, ability: str) -> bool:
        return ability in self.row.abilities

    def encode(self, inputs: Sequence[Input]) -> None:
        """Puts all inputs through the model's towers at once, where it has them; one that it has seen stays."""
        for modality, abilities in ABILITY.items():
            those = [one for one in inputs if one.modality == modality]
            if those and all(map(self.can, abilities)):
                self._vectors(column_of(those))

    def embed(self, column: Column) -> NDArray[np.float32]:
        """(n, d) float32. Raises CannotDo for a model of many vectors an item, and for one that does not embed it."""
        if self.model_of(column).multi_vector:
            raise CannotDo(f"{self.row.key} has many vectors an item")
        return np.concatenate(self._vectors(column))

    def embed_many(self, column: Column) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """All vectors (N, d) float32 and offsets (n + 1,)."""
        self.model_of(column)
        found = self._vectors(column)
        return np.concatenate(found), np.concatenate([[0], np.cumsum([len(one) for one in found])]).astype(np.int64)

    def compare(self, first: Column | None, second: Column) -> NDArray[np.float64]:
        """(n,) float64, higher is nearer; without `first`, higher is better."""
        if not self.can("compare"):
            raise CannotDo(f"{self.row.key} does not compare")
        names = [
            ("compare", self.row.key, "" if first is None else first.keys[row].decode(), key.decode())
            for row, key in enumerate(second.keys.tolist())
        ]
        missing = [row for row, name in enumerate(names) if name not in self.kept]
        if missing:
            given = None if first is None else [self._content(first, row) for row in missing]
            found = np.asarray(self.model.compare(given, [self._content(second, row) for row in missing]), dtype=float)
            self.kept.update({names[row]: float(value) for row, value in zip(missing, found.tolist(), strict=True)})
        return np.array([self.kept[name] for name in names])

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order; a judge is asked the same thing once."""
        names = [("reply", self.row.key, question.prompt()) for question in questions]
        missing = {name: question for name, question in zip(names, questions, strict=True) if name not in self.kept}
        replies = self.model.reply(list(missing.values())) if missing else []
        for name, reply in zip(missing, replies, strict=True):
            if reply.error:
                return [Reply(item=question.item, error=reply.error) for question in questions]
            self.kept[name] = reply
        return [self.kept[name] for name in names]

    def model_of(self, column: Column) -> Any:
        """The loaded model. Raises CannotDo where it does not embed what the column holds."""
        if not all(self.can(ability) for ability in ABILITY[column.modality]):
            raise CannotDo(f"{self.row.key} does not embed {column.modality}s")
        return self.model

    def _vectors(self, column: Column) -> list[NDArray[np.float32]]:
        """(v, d) an item, v = 1 but for models of many vectors; what is new goes through the model as one batch."""
        names = [("vector", self.row.key, column.modality, key.decode()) for key in column.keys.tolist()]
        missing = dict(
            zip(
                [name for name in names if name not in self.kept],
                [row for row, name in enumerate(names) if name not in self.kept],
                strict=True,
            )
        )
        if missing:
            try:
                prepared = [self.model.prepare(column.modality, self._content(column, row)) for row in missing.values()]
            except ValueError as error:  # how image processors refuse a shape or a size
                raise BadInput(f"its preprocessing refuses an input ({' '.join(str(error).split())[:160]})") from error
            made = self.model.embed(column.modality, prepared)
            vectors, offsets, finite = encoding.checked(
                made, count=len(prepared), multi=self.model.multi_vector, model=self.row.key
            )
            if not finite.all():
                raise BadInput("it gave a number that is not finite for an input")
            for place, name in enumerate(missing):
                rows = slice(place, place + 1) if offsets is None else slice(offsets[place], offsets[place + 1])
                self.kept[name] = vectors[rows].copy()
        return [self.kept[name] for name in names]

    def _content(self, column: Column, row: int) -> Any:
        held = self.inputs.get(bytes(column.keys[row]))
        if held is not None:
            return held.content
        if column.modality != "text":
            raise BadInput(f"{column.name(row)} is no longer here. Add it again")
        return column.read(row)


def columns(inputs: Sequence[Input]) -> list[Column]:
    """A column of one row for each input."""
    return [column_of([one]) for one in inputs]


def column_of(inputs: Sequence[Input]) -> Column:
    """A column of inputs of one modality, a row each; an image is read as a file only by who asks for one."""
    return Column(
        modality=inputs[0].modality,
        keys=np.array([one.key for one in inputs], dtype="S32"),
        name=lambda row: inputs[row].name,
        read=lambda row: inputs[row].file() if inputs[row].modality == "image" else inputs[row].content,
    )
