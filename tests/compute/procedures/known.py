"""A model whose embeddings, comparisons and replies a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from compute.content.items import Column, content_key
from compute.content.messages import Question, Reply
from compute.types import CannotDo, Model


class Known:
    """Embeddings by content: (d,) a vector an item, or (vectors, d) for a model of many. Counts what it is asked."""

    def __init__(
        self,
        vectors: Mapping[bytes | str, np.ndarray] | None = None,
        *,
        abilities: Sequence[str] = (),
        many: bool = False,
        compare: Callable[[bytes | str | None, bytes | str], float] | None = None,
        reply: Callable[[Question], str] | None = None,
        modalities: Sequence[str] = ("image", "text"),
    ) -> None:
        self.row = Model(key="known", title="Known", abilities=tuple(abilities), modalities=tuple(modalities))
        self.vectors = {
            content_key(content): np.asarray(vector, dtype=np.float32) for content, vector in (vectors or {}).items()
        }
        self.many, self._compare, self._reply = many, compare, reply
        self.asked: list[Question] = []

    def can(self, ability: str) -> bool:
        return ability in self.row.abilities

    def embed(self, column: Column) -> np.ndarray:
        if self.many or not all(self.can(ability) for ability in _abilities(column)):
            raise CannotDo(f"known gives no single vector of a {column.modality}")
        return np.stack([self.vectors[key] for key in column.keys.tolist()])

    def embed_many(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        if not self.many or not all(self.can(ability) for ability in _abilities(column)):
            raise CannotDo(f"known gives no vectors of a {column.modality}")
        found = [self.vectors[key] for key in column.keys.tolist()]
        return np.concatenate(found), np.cumsum([0, *map(len, found)])

    def compare(self, first: Column | None, second: Column) -> np.ndarray:
        return np.array(
            [self._compare(None if first is None else first.read(row), second.read(row)) for row in range(len(second))],
            dtype=float,
        )

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        self.asked += questions
        return [
            Reply(item=question.item, text=self._reply(question), input_tokens=7, output_tokens=2)
            if self._reply(question) != "error"
            else Reply(item=question.item, error="cut off")
            for question in questions
        ]


def _abilities(column: Column) -> list[str]:
    return {"image": ["embed_image"], "text": ["embed_text"]}.get(column.modality, ["embed_image", "embed_text"])


BOTH = ("embed_image", "embed_text")
