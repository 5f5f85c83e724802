"""How many tokens an answer may take: what the row says, else what the question says, else the usual number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compute.content.messages import Question
from compute.models.adapter import chosen
from compute.types import BadInput, Model

USUAL = 32  # an option's letter, or a number: what most questions ask for
MOST = 10**6


def rule(max_tokens: int | None) -> str:
    """Whose number holds, for the settings of a run. `max_tokens` is the row's option: one that it sets holds for every
    question, longer for a model that thinks first or shorter to save cost; where it is None, a question may say how
    long its answer is."""
    return "where the question does not say" if max_tokens is None else "of every answer"


def limited(questions: Sequence[Question], max_tokens: int | None) -> list[Question]:
    """The questions without limits that do not hold, so that their answers are stored as those of any question."""
    return list(questions) if max_tokens is None else [replace(question, longest=None) for question in questions]


def options_of(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The row's options over its family's. Raises BadInput for an unknown one, and for a `max_tokens` that is none."""
    options = chosen(row, defaults)
    limit = options["max_tokens"]
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise BadInput(f'{row.key}: option "max_tokens" is a whole number from 1 to {MOST:,}; got {limit!r}')
    return options
