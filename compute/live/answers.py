"""One model's answer to one question about a few inputs: numbers, what it picks, and how the order matters to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from compute.content.items import Column
from compute.live import examples, modes, rating
from compute.live.inputs import Input
from compute.live.models.subject import LiveSubject, columns
from compute.procedures import choice, odd_one_out
from compute.procedures.shared import parsing, prompts
from compute.procedures.shared.similarity import embeds, symmetric
from compute.tasks.data import Choices, OddOneOut
from compute.types import BadInput, CannotDo


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """One question: what it is about, in its order. Of a choice the first input is the reference."""

    mode: str  # a key of modes.MODES
    inputs: tuple[Input, ...]
    question: str = "quality"  # of mode quality: a key of modes.QUESTIONS

    @property
    def name(self) -> tuple:
        """What tells it from other questions: inputs go by their content."""
        return self.mode, self.question if self.mode == "quality" else "", tuple(one.key for one in self.inputs)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(one.modality for one in self.inputs)

    @property
    def options(self) -> tuple[Input, ...]:
        """What can be picked."""
        return self.inputs[1:] if self.mode == "choice" else self.inputs

    def checked(self) -> Asked:
        """Itself. Raises BadInput, as a sentence, for inputs that do not fit the mode."""
        problem = modes.problem(self.mode, self.kinds)
        if problem:
            raise BadInput(f"{modes.MODES[self.mode].title}: {problem[0].lower()}{problem[1:]}")
        if self.mode == "quality" and self.question not in modes.QUESTIONS:
            raise BadInput(f"There is no question {self.question!r}; there are: {', '.join(modes.QUESTIONS)}")
        return self


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a model says. All numbers are its own: higher is nearer or better, and only its own distribution tells what
    one of them means.

    `scores`: one of a pair, else one an option: likeness to the reference, how much more alike the others are without
    it (odd one out), or the quality. `pairs` of odd one out: the likeness of each two. `replies` of a judge: what it
    said, once an order; `picks` what could be read of them, None where nothing.
    """

    model: str
    scores: tuple[float, ...] = ()
    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    pick: int | None = None  # None: a tie, or a judge that is of two minds
    replies: tuple[str, ...] = ()
    picks: tuple[int | None, ...] = ()
    controls: tuple[int, int] | None = None  # of a pair without a distribution: below it, of so many unrelated examples
    unit: str = ""  # what `scores` are: cosine | own | rating (1 to 10) | votes (share of the orders)
    seconds: float = 0.0
    problem: str = ""  # why there is no answer


def answer(subject: LiveSubject, asked: Asked) -> Answer:
    """The model's answer. Raises BadInput for inputs that do not fit or that it refuses, CannotDo as the model."""
    shown = columns(asked.checked().inputs)
    reason = modes.cannot(subject.row, asked.mode, asked.kinds)
    if reason:
        raise CannotDo(reason)
    if _numbers(subject, shown):
        subject.encode(asked.inputs)
    return {"pair": _pair, "choice": _choice, "odd": _odd, "quality": _quality}[asked.mode](subject, asked, shown)


def timed(subject: LiveSubject, *, asked: Asked, controls: bool) -> Answer:
    """The answer with the seconds it took; with `controls`, a pair is held against unrelated examples afterwards."""
    started = time.perf_counter()
    found = answer(subject, asked)
    seconds = time.perf_counter() - started
    return replace(found, seconds=seconds, controls=beside_unrelated(subject, asked) if controls else None)


def beside_unrelated(subject: LiveSubject, asked: Asked) -> tuple[int, int] | None:
    """How many unrelated examples the second of a pair is nearer than, to the first, and how many were tried.

    For want of a distribution: a direction, no measure. None for judges, which would be asked that many times more.
    """
    if asked.mode != "pair" or not _numbers(subject, columns(asked.inputs)):
        return None
    first, second = asked.inputs
    others = [one for one in examples.unrelated(second.modality) if one.key not in (first.key, second.key)]
    subject = replace(subject, inputs={**subject.inputs, **{one.key: one for one in others}})
    subject.encode(others)
    mine, *theirs = (_likeness(subject, *columns((first, one))) for one in (second, *others))
    return sum(score < mine for score in theirs), len(theirs)


def _pair(subject: LiveSubject, asked: Asked, shown: Sequence[Column]) -> Answer:
    if not _numbers(subject, shown):
        values, replies = rating.rated(subject, shown[0], shown[1])
        known = [value for value in values if value is not None]
        return Answer(
            model=subject.row.key,
            scores=(float(np.mean(known)),) if known else (),
            replies=replies,
            unit="rating",
            problem="" if known else "Neither of its replies holds a number from 1 to 10",
        )
    return Answer(model=subject.row.key, scores=(_likeness(subject, shown[0], shown[1]),), unit=_unit(subject, shown))


def _choice(subject: LiveSubject, asked: Asked, shown: Sequence[Column]) -> Answer:
    reference, *options = shown
    if not _numbers(subject, shown):
        data = Choices(
            names=("asked",), alternatives=tuple(options), answer=np.zeros(1, dtype=int), reference=reference
        )
        return _asked_both_ways(subject, data, len(options))
    scores = [_likeness(subject, reference, option) for option in options]
    return Answer(model=subject.row.key, scores=tuple(scores), pick=_best(scores), unit=_unit(subject, shown))


def _odd(subject: LiveSubject, asked: Asked, shown: Sequence[Column]) -> Answer:
    if not _numbers(subject, shown):
        return _asked_both_ways(
            subject, OddOneOut(names=("asked",), members=tuple(shown), odd=np.zeros(1, dtype=int)), len(shown)
        )
    pairs = {(i, j): np.array([_likeness(subject, shown[i], shown[j])]) for i, j in combinations(range(len(shown)), 2)}
    scores = odd_one_out.oddness(pairs, len(shown))[0].tolist()
    return Answer(
        model=subject.row.key,
        scores=tuple(scores),
        pick=_best(scores),
        unit=_unit(subject, shown),
        pairs={pair: float(value[0]) for pair, value in pairs.items()},
    )


def _quality(subject: LiveSubject, asked: Asked, shown: Sequence[Column]) -> Answer:
    if subject.can("choose") and not ({"compare", "embed_text"} & set(subject.row.abilities)):
        data = Choices(
            names=("asked",), alternatives=tuple(shown), answer=np.zeros(1, dtype=int), question=asked.question
        )
        return _asked_both_ways(subject, data, len(shown))
    scores = [float(choice.judged(subject, column, question=asked.question)[0]) for column in shown]
    return Answer(
        model=subject.row.key,
        scores=tuple(scores),
        pick=_best(scores) if len(scores) > 1 else None,
        unit="cosine" if subject.can("embed_text") else "own",
    )


def _numbers(subject: LiveSubject, shown: Sequence[Column]) -> bool:
    return subject.can("compare") or embeds(subject, *shown)


def _unit(subject: LiveSubject, shown: Sequence[Column]) -> str:
    return "cosine" if embeds(subject, *shown) else "own"


def _likeness(subject: LiveSubject, first: Column, second: Column) -> float:
    return float(symmetric(subject, first, second)[0])


def _best(scores: Sequence[float]) -> int | None:
    """The place of the highest score; None where two are equal."""
    best = max(scores)
    places = [place for place, score in enumerate(scores) if score == best]
    return places[0] if len(places) == 1 else None


def _asked_both_ways(subject: LiveSubject, data: Choices | OddOneOut, count: int) -> Answer:
    """A judge asked in words, in the given order and in the reverse one; it picks only what it picks both times."""
    turned = _reversed(data)
    questions = [*prompts.questions(data), *prompts.questions(turned)]
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
        scores=tuple(float(picks.count(place)) / 2 for place in range(count)),
        unit="votes",
    )


def _reversed(data: Choices | OddOneOut) -> Choices | OddOneOut:
    if isinstance(data, OddOneOut):
        return replace(data, members=data.members[::-1])
    return replace(data, alternatives=data.alternatives[::-1])
