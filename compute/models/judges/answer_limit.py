"""The maximum number of tokens of an answer: the row's, else the question's, else the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compute.content.messages import Question
from compute.models.adapter import chosen
from compute.types import BadInput, Model

USUAL = 32  # an option's letter or a number, which most questions ask for
MOST = 10**6


def rule(max_tokens: int | None) -> str:
    """Returns which limit applies, for the settings of a run. `max_tokens` is the row's option. If it is set, it
    applies to every question: it is longer for a model that thinks first, or shorter to save cost. If it is None, a
    question may state the length of its answer.
    """
    return "where the question does not say" if max_tokens is None else "of every answer"


def limited(questions: Sequence[Question], max_tokens: int | None) -> list[Question]:
    """Returns the questions without limits that are overridden, so that their answers are stored like any others."""
    return list(questions) if max_tokens is None else [replace(question, longest=None) for question in questions]


def options_of(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the family's options updated with the row's. Raises BadInput for an unknown option and for an invalid
    `max_tokens`.
    """
    options = chosen(row, defaults)
    limit = options["max_tokens"]
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise BadInput(f'{row.key}: option "max_tokens" is a whole number from 1 to {MOST:,}; got {limit!r}')
    return options
