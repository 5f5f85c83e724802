"""A model whose embeddings, comparisons and replies a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from compute.content.items import Column, content_key, images, texts
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
        return np.stack(self._vectors(column, many=False))

    def embed_many(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        found = self._vectors(column, many=True)
        return np.concatenate(found), np.cumsum([0, *map(len, found)])

    def _vectors(self, column: Column, *, many: bool) -> list[np.ndarray]:
        needed = {"image": BOTH[:1], "text": BOTH[1:]}.get(column.modality, BOTH)
        if self.many != many or not all(map(self.can, needed)):
            raise CannotDo(f"known gives no such vectors of a {column.modality}")
        return [self.vectors[key] for key in column.keys.tolist()]

    def compare(self, first: Column | None, second: Column) -> np.ndarray:
        return np.array(
            [self._compare(None if first is None else first.read(row), second.read(row)) for row in range(len(second))],
            dtype=float,
        )

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        self.asked += questions
        texts = [(question.item, self._reply(question)) for question in questions]
        return [
            Reply(item=item, error="cut off")
            if text == "error"
            else Reply(item=item, text=text, input_tokens=7, output_tokens=2)
            for item, text in texts
        ]


BOTH = ("embed_image", "embed_text")


def shown(vectors: np.ndarray, name: str, *, known: dict[bytes | str, np.ndarray], kind: str = "image") -> Column:
    """Contents `<name><row>` with these embeddings, which `known` takes up."""
    words = [f"{name}{row}" for row in range(len(vectors))]
    contents = words if kind == "text" else [word.encode() for word in words]
    known.update(zip(contents, vectors, strict=True))
    return (texts if kind == "text" else images)(contents, of="tests")
