"""A model for a visitor's inputs: what procedures may ask of it, answered from memory and never from disk."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.analysis.domain import COLOURS, Calibrations, DomainCheck, Seen
from compute.content.items import Column, content_key
from compute.content.messages import Question, Reply
from compute.features import encoding
from compute.features.subject import ABILITY
from compute.live.inputs import Input
from compute.models import abilities
from compute.models.metrics.pixels import colour_histogram
from compute.types import BadInput, Model

Cache = MutableMapping[tuple[str, ...], Any]


@dataclass(kw_only=True)
class LiveSubject:
    """The Subject of one loaded model. `cache` holds its results for earlier inputs, by model and content keys.

    Images come from `inputs`, decoded when they arrived; nothing is decoded twice or written to disk.
    """

    row: Model
    model: Any
    inputs: Mapping[bytes, Input]
    cache: Cache = field(default_factory=dict)

    def can(self, ability: str) -> bool:
        """Whether the model has an ability, such as `embed_image`."""
        return ability in self.row.abilities

    def encode(self, inputs: Sequence[Input]) -> None:
        """Embeds all inputs in one batch a modality, where the model has a tower for it; cached ones are skipped."""
        for modality, needed in ABILITY.items():
            batch = [each for each in inputs if each.modality == modality]
            if batch and all(map(self.can, needed)):
                self.embed(column_of(batch))

    def embed(self, column: Column) -> NDArray[np.float32]:
        """(n, d) float32; new items go through the model as one batch."""
        names = [("vector", self.row.key, column.modality, key.decode()) for key in column.keys.tolist()]
        missing = {name: row for row, name in enumerate(names) if name not in self.cache}
        if missing:
            try:
                prepared = [self.model.prepare(column.modality, self._content(column, row)) for row in missing.values()]
            except ValueError as error:  # how image processors refuse a shape or a size
                raise BadInput(f"its preprocessing refuses an input ({' '.join(str(error).split())[:160]})") from error
            vectors, _, finite = encoding.checked(
                self.model.embed(column.modality, prepared), count=len(prepared), multi=False, model=self.row.key
            )
            if not finite.all():
                raise BadInput("it returned a number that is not finite for an input")
            self.cache.update(zip(missing, vectors.copy(), strict=True))
        return np.stack([self.cache[name] for name in names])

    def compare(self, first: Column | None, second: Column) -> NDArray[np.float64]:
        """(n,) float64, higher is nearer; without `first`, higher is better."""
        names = [
            ("compare", self.row.key, "" if first is None else first.keys[row].decode(), key.decode())
            for row, key in enumerate(second.keys.tolist())
        ]
        missing = [row for row, name in enumerate(names) if name not in self.cache]
        if missing:
            references = None if first is None else [self._content(first, row) for row in missing]
            scores = self.model.compare(references, [self._content(second, row) for row in missing])
            self.cache.update({names[row]: float(score) for row, score in zip(missing, scores, strict=True)})
        return np.array([self.cache[name] for name in names])

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order; a judge gets the same question once."""
        names = [("reply", self.row.key, content_key(question.prompt()).decode()) for question in questions]
        missing = {name: question for name, question in zip(names, questions, strict=True) if name not in self.cache}
        replies = self.model.reply(list(missing.values())) if missing else []
        for name, reply in zip(missing, replies, strict=True):
            if reply.error:
                return [Reply(item=question.item, error=reply.error) for question in questions]
            self.cache[name] = reply
        # Two questions may have one prompt: an image with itself, in both orders.
        return [replace(self.cache[name], item=question.item) for name, question in zip(names, questions, strict=True)]

    def domain(self, inputs: Sequence[Input], *, pairing: str, calibrations: Calibrations) -> DomainCheck:
        """The model's distribution whose domain holds all inputs, or why there is none.

        An encoder's vectors of the inputs are computed where they are not known yet.
        """
        own = calibrations.of(self.row.key, pairing)
        if not own.references:
            return DomainCheck()
        return own.judged(self.row.key, pairing, [seen for each in inputs for seen in self._seen(each)])

    def _seen(self, one: Input) -> list[Seen]:
        """An input by the model's vector, where it learned any, and an image by its colours."""
        seen = []
        if one.modality in abilities.learned_vectors(self.row):
            seen.append(Seen(self.row.key, one.modality, self.embed(column_of([one]))[0]))
        if one.modality == "image":
            seen.append(Seen(COLOURS, "image", colour_histogram(one.content)))
        return seen

    def _content(self, column: Column, row: int) -> Any:
        decoded = self.inputs.get(bytes(column.keys[row]))
        return column.read(row) if decoded is None else decoded.content  # a prompt is not an input


def column_of(inputs: Sequence[Input]) -> Column:
    """A column of inputs of one modality, a row each; only judges that take files read an image as one."""
    return Column(
        modality=inputs[0].modality,
        keys=np.array([each.key for each in inputs], dtype="S32"),
        name=lambda row: inputs[row].name,
        read=lambda row: inputs[row].file() if inputs[row].modality == "image" else inputs[row].content,
    )
