"""What a procedure finds, one row an item, and what it may ask of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from compute.content.items import Column
from compute.content.messages import Question, Reply
from compute.types import Model


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One row an item: `item`, `expected`, `answer` (text), `correct` (True, False, None), `value`, `detail`.

    `value` is what items are sorted by: a margin, negative when wrong, or the item's own score. `detail` is a dict:
    its `images` (content keys) and `texts` are what a page can show; or a function that gives it, which is called only
    for items that a page can open: of many queries the texts of all hits would not fit into memory. A metric that is a
    mean over items has a column of its key (`accuracy`, `ndcg_at_10`, ...); NaN there is an item that was not answered.
    Other metrics are functions of named columns (`human`, `value`, ...).
    """

    items: pd.DataFrame
    # What the procedure reports: draws, iterations; `tied` counts the items that an exact tie decides.
    settings: dict[str, Any] = field(default_factory=dict)
    # Items without a row, because a question of theirs never reached the model: no answer, and the next run asks again.
    unasked: int = 0

    @classmethod
    def of(
        cls,
        *,
        names: Sequence[str],
        expected: Sequence[str] | np.ndarray | str,
        answer: Sequence[str] | np.ndarray,
        value: np.ndarray,
        detail: Sequence[Any],
        worth: np.ndarray | None = None,
        figures: Mapping[str, np.ndarray] | None = None,
        settings: dict[str, Any] | None = None,
        unasked: int = 0,
    ) -> Evidence:
        """From columns of one row an item: `figures` by metric; `worth` is what `correct` follows from.

        Full credit is correct, none is wrong; a shared pick, no answer, or no `worth` at all is neither.
        """
        known = [None] * len(names) if worth is None else worth.tolist()
        columns = {
            "item": list(names),
            "expected": expected,
            "answer": answer,
            "correct": pd.Series([bool(mark) if mark in (0, 1) else None for mark in known], dtype=object),
            "value": value,
            **(figures or {}),
            "detail": pd.Series(detail, dtype=object),
        }
        return cls(items=pd.DataFrame(columns), settings=settings or {}, unasked=unasked)


class Subject(Protocol):
    """A model together with what is stored of it: all that a procedure may ask."""

    row: Model

    def can(self, ability: str) -> bool:
        """Whether the model has an ability, such as `embed_image`."""

    def embed(self, column: Column) -> np.ndarray:
        """(n, d) float32, one row an item, not normalised; a model of many vectors an item raises CannotDo."""

    def embed_many(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        """All vectors (N, d) float32 and offsets (n + 1,): item i has rows offsets[i]:offsets[i + 1]."""

    def compare(self, first: Column | None, second: Column) -> np.ndarray:
        """(n,) float64, higher is nearer; without `first`, higher is better. A text comes before an image."""

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        """A judge's replies, one for each question."""


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How a kind of question is put to a model. `version` is part of every run's fingerprint: raise it with the rules.

    `needs`: any one of these sets of abilities is enough. `options`: name -> allowed values, the first is the default.
    `run(subject, data, options)` gets every option with a value.
    """

    key: str
    needs: tuple[frozenset[str], ...]
    run: Callable[[Subject, Any, Mapping[str, Any]], Evidence]
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    version: int = 1
