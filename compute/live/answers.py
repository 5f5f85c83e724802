"""One model's answer to one question about a few inputs: scores, the pick, and how the order affects a judge."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from compute.analysis.domain import Calibrations
from compute.content.items import Column
from compute.live import domains, examples, modes, rating
from compute.live.models.subject import LiveSubject, columns
from compute.live.question import Answer, LiveQuestion
from compute.procedures import choice, odd_one_out
from compute.procedures.shared import parsing, prompts
from compute.procedures.shared.similarity import embeds, symmetric
from compute.tasks.data import Choices, OddOneOut
from compute.types import BadInput, CannotDo

UNKNOWN = np.zeros(1, dtype=int)  # where a task says which option is right
ROUNDING = 1e-6  # float32 carries a cosine to about a tenth of this


def answer(subject: LiveSubject, question: LiveQuestion) -> Answer:
    """The model's answer. Raises BadInput for inputs that it refuses, CannotDo as the model."""
    inputs = columns(question.inputs)
    reason = modes.cannot(subject.row, question.mode, question.kinds)
    if reason:
        raise CannotDo(reason)
    if _has_scores(subject, inputs):
        subject.encode(question.inputs)
    ask = {"pair": _pair, "choice": _choice, "odd": _odd, "quality": _quality}[question.mode]
    return ask(subject, question, inputs)


def timed(subject: LiveSubject, *, question: LiveQuestion, calibrations: Calibrations, controls: bool = True) -> Answer:
    """The answer with the seconds it took and which of the model's calibrations speaks for the inputs.

    With `controls`, a pair that none gives a percentile is compared with unrelated examples too.
    """
    started = time.perf_counter()
    result = answer(subject, question)
    seconds = time.perf_counter() - started
    if result.unit in ("rating", "votes"):
        return replace(result, seconds=seconds)
    check = domains.judged(subject, question.inputs, pairing=domains.pairing(question), calibrations=calibrations)
    below = above_unrelated(subject, question) if controls and not check.has_percentile else None
    return replace(result, seconds=seconds, domain=check, controls=below)


def above_unrelated(subject: LiveSubject, question: LiveQuestion) -> tuple[int, int] | None:
    """How many unrelated examples are further from the first of a pair than the second is, and how many were tried.

    Where no distribution speaks for the inputs: a direction, not a measure. None for judges, which it would cost that
    many more questions.
    """
    if question.mode != "pair" or not _has_scores(subject, columns(question.inputs)):
        return None
    first, second = question.inputs
    others = [each for each in examples.unrelated(second.modality) if each.key not in (first.key, second.key)]
    subject = replace(subject, inputs={**subject.inputs, **{each.key: each for each in others}})
    subject.encode(others)
    own, *controls = (_similarity(subject, *columns((first, each))) for each in (second, *others))
    return sum(score < own for score in controls), len(controls)


def _pair(subject: LiveSubject, question: LiveQuestion, inputs: Sequence[Column]) -> Answer:
    if not _has_scores(subject, inputs):
        values, replies = rating.rated(subject, inputs[0], inputs[1])
        known = [value for value in values if value is not None]
        return Answer(
            model=subject.row.key,
            scores=(float(np.mean(known)),) if known else (),
            replies=replies,
            unit="rating",
            problem="" if known else "Neither of its replies holds a number from 1 to 10",
        )
    score = _similarity(subject, inputs[0], inputs[1])
    return Answer(model=subject.row.key, scores=(score,), unit=_unit(subject, inputs))


def _choice(subject: LiveSubject, question: LiveQuestion, inputs: Sequence[Column]) -> Answer:
    reference, *options = inputs
    if not _has_scores(subject, inputs):
        data = Choices(names=("live",), alternatives=tuple(options), answer=UNKNOWN, reference=reference)
        return _both_orders(subject, data, len(options))
    scores = [_similarity(subject, reference, option) for option in options]
    return Answer(model=subject.row.key, scores=tuple(scores), pick=_best(scores), unit=_unit(subject, inputs))


def _odd(subject: LiveSubject, question: LiveQuestion, inputs: Sequence[Column]) -> Answer:
    count = len(inputs)
    if not _has_scores(subject, inputs):
        return _both_orders(subject, OddOneOut(names=("live",), members=tuple(inputs), odd=UNKNOWN), count)
    pairs = {(i, j): np.array([_similarity(subject, inputs[i], inputs[j])]) for i, j in combinations(range(count), 2)}
    scores = odd_one_out.oddness(pairs, count)[0].tolist()
    return Answer(
        model=subject.row.key,
        scores=tuple(scores),
        pick=_best(scores),
        unit=_unit(subject, inputs),
        pairs={pair: float(value[0]) for pair, value in pairs.items()},
    )


def _quality(subject: LiveSubject, question: LiveQuestion, inputs: Sequence[Column]) -> Answer:
    if subject.can("choose") and not ({"compare", "embed_text"} & set(subject.row.abilities)):
        data = Choices(names=("live",), alternatives=tuple(inputs), answer=UNKNOWN, question=question.attribute)
        return _both_orders(subject, data, len(inputs))
    scores = [float(choice.judged(subject, column, question=question.attribute)[0]) for column in inputs]
    return Answer(
        model=subject.row.key,
        scores=tuple(scores),
        pick=_best(scores) if len(scores) > 1 else None,
        unit="cosine" if subject.can("embed_text") else "own",
    )


def _has_scores(subject: LiveSubject, inputs: Sequence[Column]) -> bool:
    return subject.can("compare") or embeds(subject, *inputs)


def _unit(subject: LiveSubject, inputs: Sequence[Column]) -> str:
    return "cosine" if embeds(subject, *inputs) else "own"


def _similarity(subject: LiveSubject, first: Column, second: Column) -> float:
    return float(symmetric(subject, first, second)[0])


def _best(scores: Sequence[float]) -> int | None:
    """The index of the highest score; None for a tie.

    Scores that differ by no more than rounding are a tie: a model that takes the mean of its words' vectors would else
    prefer one order of the same words to another.
    """
    best = max(scores)
    indices = [i for i, score in enumerate(scores) if math.isclose(score, best, rel_tol=ROUNDING, abs_tol=ROUNDING)]
    return indices[0] if len(indices) == 1 else None


def _both_orders(subject: LiveSubject, data: Choices | OddOneOut, count: int) -> Answer:
    """A judge prompted in words, in this order and in reverse; it picks only what it picks both times."""
    questions = [*prompts.questions(data), *prompts.questions(_reversed(data))]
    replies = subject.choose(questions)
    if replies[0].error:
        raise BadInput(replies[0].error)
    read = [parsing.read(reply.text, question.choices) for reply, question in zip(replies, questions, strict=True)]
    picks = (read[0], None if read[1] is None else count - 1 - read[1])
    agreed = picks[0] if picks[0] == picks[1] else None
    return Answer(
        model=subject.row.key,
        pick=agreed,
        picks=picks,
        replies=tuple(reply.text for reply in replies),
        scores=tuple(picks.count(option) / 2 for option in range(count)),
        unit="votes",
    )


def _reversed(data: Choices | OddOneOut) -> Choices | OddOneOut:
    if isinstance(data, OddOneOut):
        return replace(data, members=data.members[::-1])
    return replace(data, alternatives=data.alternatives[::-1])
