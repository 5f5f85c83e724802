"""How many tokens an answer may take: what the row says, else what the question says, else the usual number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compute.content.messages import Question
from compute.models.options import chosen
from compute.types import BadInput, Model

USUAL = 32  # an option's letter, or a number: what most questions ask for
MOST = 10**6


class AnswerLimit:
    """The option `max_tokens` of a judge. One that a row sets holds for every question: longer answers for a model
    that thinks first, shorter ones to save cost. Where it is None, a question may say how long its answer is."""

    def __init__(self, option: int | None) -> None:
        self.tokens = USUAL if option is None else option  # of a question that does not say
        self.is_fixed = option is not None

    @property
    def rule(self) -> str:
        """Whose number holds, for the settings of a run."""
        return "of every answer" if self.is_fixed else "where the question does not say"

    def applied(self, questions: Sequence[Question]) -> list[Question]:
        """The questions without limits that do not hold, so that their answers are stored as those of any question."""
        return [replace(question, longest=None) for question in questions] if self.is_fixed else list(questions)

    def of(self, question: Question) -> int:
        """Tokens that the answer to a question may take."""
        return self.tokens if self.is_fixed or question.longest is None else question.longest


def options_of(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The row's options over its family's. Raises BadInput for an unknown one, and for a `max_tokens` that is none."""
    options = chosen(row, defaults)
    limit = options["max_tokens"]
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise BadInput(f'{row.key}: option "max_tokens" is a whole number from 1 to {MOST:,}; got {limit!r}')
    return options
