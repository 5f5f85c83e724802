"""One model's answer to one question about a few inputs: scores, the pick, and how the order affects a judge."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from compute.analysis.calibrated import COLOURS, Calibrations, DomainCheck, Seen
from compute.content.items import Column, joined
from compute.features.subject import Subject
from compute.live import examples
from compute.live.inputs import Input, column_of
from compute.live.questions import Answer, LiveQuestion, cannot
from compute.models import abilities
from compute.models.metrics.pixels import colour_histogram
from compute.procedures import choice, judging, odd_one_out
from compute.procedures.shared.similarity import embeds, symmetric
from compute.tasks.data import Choices, OddOneOut, RatedPairs
from compute.types import LETTERS, CannotDo

ROUNDING = 1e-6  # float32 carries a cosine to about a tenth of this
WORDS = {"reader": "lenient"}  # a visitor's judge is asked for a bare number


def ask(
    subject: Subject,
    question: LiveQuestion,
    calibrations: Calibrations = Calibrations(),  # noqa: B008 (frozen)
    controls: bool = False,
) -> Answer:
    """The model's answer, with the seconds it took and which of the model's calibrations speaks for the inputs.

    With `controls`, a pair that none gives a percentile is compared with unrelated examples too. Raises BadItem for an
    input that the model refuses, CannotDo for a question that it cannot answer.
    """
    started = time.perf_counter()
    if reason := cannot(subject.row, question.mode, question.kinds):
        raise CannotDo(reason)
    columns = [column_of([each]) for each in question.inputs]
    vectors = subject.can("embed_text") if question.mode == "quality" else embeds(subject, *columns)
    has_scores = vectors or subject.can("compare")
    if has_scores:
        subject.prepare(columns)
    result = (_scored if has_scores else _in_words)(subject, question, columns)
    seconds = time.perf_counter() - started
    if not has_scores:
        return replace(result, seconds=seconds)
    check = domain(subject, question.inputs, pairing=question.pairing, calibrations=calibrations)
    below = None
    if controls and question.mode == "pair" and not check.has_percentile:
        below = _above_unrelated(subject, *question.inputs)
    unit = "cosine" if vectors else "own"
    return replace(result, unit=unit, seconds=seconds, domain=check, controls=below)


def domain(subject: Subject, inputs: Sequence[Input], *, pairing: str, calibrations: Calibrations) -> DomainCheck:
    """The model's distribution whose domain holds all inputs, or why there is none.

    An encoder's vectors of the inputs are computed where they are not known yet.
    """
    own = calibrations.of(subject.row.key, pairing)
    if not own.references:
        return DomainCheck()
    return own.judged(subject.row.key, pairing, [seen for each in inputs for seen in _seen(subject, each)])


def _seen(subject: Subject, one: Input) -> list[Seen]:
    """An input by the model's vector, where it learned any, and an image by its colours."""
    seen = []
    if one.modality in abilities.learned_vectors(subject.row):
        seen.append(Seen(subject.row.key, one.modality, subject.embed(column_of([one]))[0]))
    if one.modality == "image":
        seen.append(Seen(COLOURS, "image", colour_histogram(one.content)))
    return seen


def _above_unrelated(subject: Subject, first: Input, second: Input) -> tuple[int, int]:
    """How many unrelated examples are further from the first of a pair than the second is, and how many were tried.

    Where no distribution speaks for the inputs: a direction, not a measure.
    """
    others = [each for each in examples.unrelated(second.modality) if each.key not in (first.key, second.key)]
    against = [second, *others]
    own, *controls = symmetric(subject, column_of([first] * len(against)), column_of(against)).tolist()
    return sum(score < own for score in controls), len(controls)


def _data(question: LiveQuestion, columns: Sequence[Column], *, orders: int = 1) -> Choices | OddOneOut:
    """The question as its procedure takes it: a row with the options as given and, of two `orders`, one in reverse."""
    options = columns[1:] if question.mode == "choice" else columns
    rows = tuple(joined(both[:orders]) for both in zip(options, options[::-1], strict=True))
    names, right = ("live",) * orders, np.zeros(orders, dtype=int)  # where a task says which option is right
    if question.mode == "odd":
        return OddOneOut(names=names, members=rows, odd=right)
    if question.mode == "quality":
        return Choices(names=names, alternatives=rows, answer=right, question=question.attribute)
    return Choices(names=names, alternatives=rows, answer=right, reference=joined([columns[0]] * orders))


def _scored(subject: Subject, question: LiveQuestion, columns: Sequence[Column]) -> Answer:
    if question.mode == "pair":
        return Answer(row=subject.row, scores=(float(symmetric(subject, *columns)[0]),))
    data, pairs = _data(question, columns), {}
    if question.mode == "odd":
        pairs = odd_one_out.similarities(subject, data)
        scores = odd_one_out.oddness(pairs, len(columns))[0].tolist()
        pairs = {pair: float(score) for pair, (score,) in pairs.items()}
    else:
        scores = choice.run(subject, data, choice.PROCEDURE.usual).items["detail"][0]["scores"]
    return Answer(row=subject.row, scores=tuple(scores), pick=_best(scores), pairs=pairs)


def _best(scores: Sequence[float]) -> int | None:
    """The index of the highest score; None for a tie, and where there is no choice.

    Scores that differ by no more than rounding are a tie: a model that takes the mean of its words' vectors would else
    prefer one order of the same words to another.
    """
    best = max(scores)
    indices = [i for i, score in enumerate(scores) if math.isclose(score, best, rel_tol=ROUNDING, abs_tol=ROUNDING)]
    return indices[0] if len(indices) == 1 < len(scores) else None


def _in_words(subject: Subject, question: LiveQuestion, columns: Sequence[Column]) -> Answer:
    """A judge prompted in words, in this order and in reverse; it picks only what it picks both times."""
    if question.mode == "pair":
        return _rated(subject, *columns)
    data = _data(question, columns, orders=2)
    procedure = odd_one_out if question.mode == "odd" else choice
    items = procedure.run(subject, data, procedure.PROCEDURE.usual).items
    first, second = (
        None if math.isnan(read) else LETTERS.index(letter)
        for letter, read in zip(items["answer"], items["accuracy"], strict=True)
    )
    count = len(question.options)
    picks = (first, None if second is None else count - 1 - second)
    return Answer(
        row=subject.row,
        pick=picks[0] if picks[0] == picks[1] else None,
        picks=picks,
        replies=tuple(detail["reply"] for detail in items["detail"]),
        scores=tuple(picks.count(option) / 2 for option in range(count)),
        unit="votes",
    )


def _rated(subject: Subject, first: Column, second: Column) -> Answer:
    """A judge's mean score from 1 to 10 over both orders: where the two differ, it is not symmetric."""
    evidence = judging.rated(subject, RatedPairs.of_one(first, second), judging.PROCEDURE.usual | WORDS)
    pair = evidence.items.iloc[0]
    known = [score for score in (pair["forward"], pair["reverse"]) if not math.isnan(score)]
    return Answer(
        row=subject.row,
        scores=(float(np.mean(known)),) if known else (),
        replies=tuple(pair["detail"]["replies"]),
        unit="rating",
        problem="" if known else "Neither of its replies holds a number from 1 to 10",
    )
