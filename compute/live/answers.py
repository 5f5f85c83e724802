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
from compute.content.messages import Question, Reply
from compute.live import examples
from compute.live.questions import Answer, LiveQuestion, cannot
from compute.live.subject import LiveSubject, column_of
from compute.procedures import choice, odd_one_out
from compute.procedures.shared import conditions, parsing, prompts, ratings
from compute.procedures.shared.similarity import embeds, symmetric
from compute.tasks.data import Choices, OddOneOut
from compute.types import BadInput, CannotDo

UNKNOWN = np.zeros(1, dtype=int)  # where a task says which option is right
ROUNDING = 1e-6  # float32 carries a cosine to about a tenth of this
# How similar a judge says two inputs are. The wording is ours: PairBench's templates (section 3.1) also state what
# counts as similar, which a visitor's pair leaves open.
_DESCRIBES = (
    "How well does the text describe the image, from 1 (not at all) to 10 (completely)? Answer with one number only."
)
RATED = {
    "image-image": 'Here are two images: "data1" and "data2". How similar are they, from 1 (nothing in common) to 10 '
    "(the same)? Answer with one number only.",
    "image-text": f'Here are an image and a text. The image: "data1" The text: "data2" {_DESCRIBES}',
    "text-image": f'Here are a text and an image. The text: "data1" The image: "data2" {_DESCRIBES}',
}


def answer(
    subject: LiveSubject,
    question: LiveQuestion,
    *,
    calibrations: Calibrations = Calibrations(),  # noqa: B008 (frozen)
    controls: bool = False,
) -> Answer:
    """The model's answer, with the seconds it took and which of the model's calibrations speaks for the inputs.

    With `controls`, a pair that none gives a percentile is compared with unrelated examples too. Raises BadInput for
    inputs that the model refuses, CannotDo for a question that it cannot answer.
    """
    started = time.perf_counter()
    if reason := cannot(subject.row, question.mode, question.kinds):
        raise CannotDo(reason)
    inputs = [column_of([each]) for each in question.inputs]
    has_scores = subject.can("compare") or embeds(subject, *inputs)
    if has_scores:
        subject.encode(question.inputs)
    if question.mode == "quality":
        result = _quality(subject, inputs, question.attribute)
    elif has_scores:
        result = _scored(subject, inputs, question.mode)
    else:
        result = _in_words(subject, inputs, question.mode)
    seconds = time.perf_counter() - started
    if result.unit in ("rating", "votes"):
        return replace(result, seconds=seconds)
    check = subject.domain(question.inputs, pairing=question.pairing, calibrations=calibrations)
    below = None
    if controls and has_scores and question.mode == "pair" and not check.has_percentile:
        below = _above_unrelated(subject, question)
    return replace(result, seconds=seconds, domain=check, controls=below)


def _above_unrelated(subject: LiveSubject, question: LiveQuestion) -> tuple[int, int]:
    """How many unrelated examples are further from the first of a pair than the second is, and how many were tried.

    Where no distribution speaks for the inputs: a direction, not a measure.
    """
    first, second = question.inputs
    others = [each for each in examples.unrelated(second.modality) if each.key not in (first.key, second.key)]
    subject = replace(subject, inputs={**subject.inputs, **{each.key: each for each in others}})
    subject.encode(others)
    own, *controls = (_similarity(subject, column_of([first]), column_of([each])) for each in (second, *others))
    return sum(score < own for score in controls), len(controls)


def _scored(subject: LiveSubject, inputs: Sequence[Column], mode: str) -> Answer:
    result = Answer(row=subject.row, unit="cosine" if embeds(subject, *inputs) else "own")
    if mode == "odd":
        pairs = {(i, j): _similarity(subject, inputs[i], inputs[j]) for i, j in combinations(range(len(inputs)), 2)}
        columns = {pair: np.array([score]) for pair, score in pairs.items()}
        scores = tuple(odd_one_out.oddness(columns, len(inputs))[0].tolist())
        return replace(result, scores=scores, pick=_best(scores), pairs=pairs)
    reference, *options = inputs
    scores = tuple(_similarity(subject, reference, option) for option in options)
    return replace(result, scores=scores, pick=_best(scores) if mode == "choice" else None)


def _quality(subject: LiveSubject, inputs: Sequence[Column], attribute: str) -> Answer:
    if subject.can("choose") and not ({"compare", "embed_text"} & set(subject.row.abilities)):
        data = Choices(names=("live",), alternatives=tuple(inputs), answer=UNKNOWN, question=attribute)
        return _both_orders(subject, data, len(inputs))
    scores = tuple(float(choice.judged(subject, column, question=attribute)[0]) for column in inputs)
    return Answer(
        row=subject.row,
        scores=scores,
        pick=_best(scores) if len(scores) > 1 else None,
        unit="cosine" if subject.can("embed_text") else "own",
    )


def _in_words(subject: LiveSubject, inputs: Sequence[Column], mode: str) -> Answer:
    if mode == "choice":
        reference, *options = inputs
        data = Choices(names=("live",), alternatives=tuple(options), answer=UNKNOWN, reference=reference)
        return _both_orders(subject, data, len(options))
    if mode == "odd":
        return _both_orders(subject, OddOneOut(names=("live",), members=tuple(inputs), odd=UNKNOWN), len(inputs))
    # Both orders, as PairBench puts them (section 3.2): a judge whose two answers differ is not symmetric.
    replies = _replies(subject, [rating_question(*inputs), rating_question(*inputs[::-1])])
    read = [ratings.read(reply.text, finish=reply.finish, lenient=True).value for reply in replies]
    known = [value for value in read if value is not None]
    return Answer(
        row=subject.row,
        scores=(float(np.mean(known)),) if known else (),
        replies=tuple(reply.text for reply in replies),
        unit="rating",
        problem="" if known else "Neither of its replies holds a number from 1 to 10",
    )


def rating_question(first: Column, second: Column) -> Question:
    """How similar two columns of one row are, in this order, from 1 to 10."""
    prompt = RATED[f"{first.modality}-{second.modality}"]
    return Question(item="pair", parts=tuple(conditions.parts(prompt, first, second, 0)))


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
    options = "members" if isinstance(data, OddOneOut) else "alternatives"
    mirrored = replace(data, **{options: getattr(data, options)[::-1]})
    questions = [*prompts.questions(data), *prompts.questions(mirrored)]
    replies = _replies(subject, questions)
    read = [
        parsing.read(reply.text, question.choices, finish=reply.finish)
        for reply, question in zip(replies, questions, strict=True)
    ]
    picks = (read[0], None if read[1] is None else count - 1 - read[1])
    return Answer(
        row=subject.row,
        pick=picks[0] if picks[0] == picks[1] else None,
        picks=picks,
        replies=tuple(reply.text for reply in replies),
        scores=tuple(picks.count(option) / 2 for option in range(count)),
        unit="votes",
    )


def _replies(subject: LiveSubject, questions: Sequence[Question]) -> list[Reply]:
    replies = subject.choose(questions)
    if error := next((reply.error for reply in replies if reply.error), ""):
        raise BadInput(error)
    return replies
