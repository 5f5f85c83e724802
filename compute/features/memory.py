"""What models make of single items, in memory: of a visitor's inputs, or of what training measures itself on."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.content.items import content_key
from compute.content.messages import Question, Reply
from compute.types import BadInput, BadItem

if TYPE_CHECKING:
    from compute.features.passes import DistinctItems, Operation

# A kind (a modality, `comparison` or `reply`), a model's key, and the key of the content.
Name = tuple[str, str, str]
PARTS = ("image", "text", "pair", "comparison", "reply")


class MemoryStore:
    """Vectors, scores and replies by name: `known` before, and `new` ones. They are never written to disk."""

    dtype = "float32"

    def __init__(self, known: Mapping[Name, Any] | None = None) -> None:
        self.new: dict[Name, Any] = {}
        self.results = ChainMap(self.new, dict(known or {}))

    def cache(self, model: str, kind: str) -> MemoryCache:
        """What is stored of one model and kind."""
        return MemoryCache(self, model, kind)

    def fill(self, model: str, kind: str, operation: Operation, wanted: DistinctItems, missing: np.ndarray) -> None:
        """Makes what is missing (n,) bool, a batch at a time. Raises BadItem at an item that cannot be used."""
        (make, forward), at, size = operation.steps(), np.flatnonzero(missing), operation.batch.size
        for rows in np.split(at, range(size, len(at), size)):
            made = [make(wanted, row, wanted.read(row)) for row in rows.tolist()]
            vectors, _, problems = forward(made)
            for row, vector, problem in zip(rows.tolist(), vectors, problems, strict=True):
                if problem:
                    raise BadItem(wanted.name(row), problem, key=bytes(wanted.keys[row]))
                self.new[kind, model, wanted.keys[row].decode()] = vector.copy()

    def replies(
        self, model: str, questions: Sequence[Question], ask: Callable[[list[Question]], list[Reply]]
    ) -> list[Reply]:
        """One reply a question, in order; a judge gets the same question once. Raises BadInput where one fails."""
        names = [("reply", model, content_key(question.prompt()).decode()) for question in questions]
        missing = {name: question for name, question in zip(names, questions, strict=True) if name not in self.results}
        for name, reply in zip(missing, ask(list(missing.values())) if missing else (), strict=True):
            if reply.error:
                raise BadInput(reply.error)
            self.new[name] = reply
        # Two questions may have one prompt: an image with itself, in both orders.
        return [
            replace(self.results[name], item=question.item) for name, question in zip(names, questions, strict=True)
        ]


@dataclass(frozen=True)
class MemoryCache:
    """The part of a store that holds what one model makes of one kind of item."""

    store: MemoryStore
    model: str
    kind: str

    def has(self, keys: np.ndarray) -> np.ndarray:
        """(n,) bool: which of the keys (n,) S32 are stored."""
        return np.array([name in self.store.results for name in self._names(keys)], dtype=bool)

    def vectors(self, keys: np.ndarray) -> np.ndarray:
        """(n, d), one row a key, all of which must be stored."""
        return np.stack([self.store.results[name] for name in self._names(keys)])

    def _names(self, keys: np.ndarray) -> list[Name]:
        return [(self.kind, self.model, key.decode()) for key in keys.tolist()]
