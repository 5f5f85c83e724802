"""Selects which questions a rater is asked, in which order, and with which probability.

Two draws without replacement alternate. One is uniform, and only it determines the headline agreement. The other walks
through a shuffled pool and accepts a question with the probability `Study.chance`, because questions on which models
disagree are the most informative. A question that the other draw has already asked counts for both and is not repeated.
Until the models have picked, all questions come from the uniform draw and are recorded as EARLY.

After nine questions, one of the uniform draw is repeated with its sides swapped; repeats of the other draw would
underestimate a rater's consistency, because models disagree on those questions. Everything follows from the seed and
the number of early questions, by digests, so it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from compute.arrays import Bools, Floats
from compute.eyes.study import Judgment, Study

BLOCK, FIRST = 9, 4  # new questions before a repeat; number of the first of them that it is chosen from
UNIFORM, DISAGREEMENT, REPEAT, GIVEN, EARLY = "uniform", "disagreement", "repeat", "given", "early"


class AskedQuestion(NamedTuple):
    """One question of a rater's order. `uniform` and `walked`: how much of each shuffled pool has been used."""

    question: int
    draw: str
    left: int  # which alternative is on the left
    uniform: int
    walked: int


def chances(picks: Floats) -> Floats:
    """Returns the share of model pairs that pick differently [questions], relative to the highest share.

    picks [models, questions]: 0, 1 or -1; a model without a pick differs from none. All 0 if no two models differ.
    """
    first, second = (picks == 0).sum(axis=0), (picks == 1).sum(axis=0)
    pairs = first * second
    return pairs / max(int(pairs.max(initial=0)), 1)


def early(study: Study, judgments: Iterable[Judgment] = ()) -> int:
    """Returns how many of a rater's questions were drawn before the models had picked; all, if they have not yet."""
    if not study.chance:
        return len(study.questions)
    return len({each.order for each in judgments if each.draw == EARLY})


def order(study: Study, *, seed: int, early: int = 0) -> Iterator[AskedQuestion]:
    """Yields a rater's questions until the pool is used up; the first `early` new ones are all from
    the uniform draw.
    """
    count = len(study.questions)
    uniform, walk = (shuffled(count, seed, draw) for draw in (UNIFORM, DISAGREEMENT))
    chance = study.chance or [0.0] * count
    accepted = [share(seed, "accept", question) < chance[question] for question in range(count)]
    used = {UNIFORM: 0, DISAGREEMENT: 0}
    asked: dict[int, int] = {}  # question -> which alternative was on the left
    block: list[tuple[int, str]] = []

    def following(draw: str) -> int | None:
        of = DISAGREEMENT if draw == DISAGREEMENT else UNIFORM
        while used[of] < count:
            question = (walk if of == DISAGREEMENT else uniform)[used[of]]
            used[of] += 1
            if question not in asked and (of == UNIFORM or accepted[question]):
                return question
        return None

    def placed(question: int, draw: str, left: int) -> AskedQuestion:
        return AskedQuestion(question, draw, left, uniform=used[UNIFORM], walked=used[DISAGREEMENT])

    turn = 0
    while True:
        draws = (UNIFORM, DISAGREEMENT)[:: -1 if turn % 2 else 1] if len(asked) >= early else (EARLY,)
        turn += len(asked) >= early
        for draw in draws:
            if (question := following(draw)) is not None:
                break
        else:
            return
        asked[question] = int(share(seed, "left", question) < 0.5)
        yield placed(question, draw, asked[question])
        block.append((question, draw))
        if len(block) == BLOCK:
            first = [question for question, draw in block[:FIRST] if draw != DISAGREEMENT]
            again = first[int(share(seed, "repeat", len(asked)) * len(first))]
            yield placed(again, REPEAT, 1 - asked[again])
            block = []


def drawn(study: Study, asked: Iterable[AskedQuestion], *, seed: int, answered: set[int]) -> tuple[Bools, Floats]:
    """Returns the sampling of a rater's questions up to the last of the `answered` ones in `asked`, the order of the
    seed.

    The result is which questions belong to the uniform draw, and each question's probability of being asked
    [questions]. If `asked` is empty, the answers come from elsewhere and are treated as a uniform draw from the pool.
    """
    count, missing, last = len(study.questions), set(answered), None
    for each in asked:
        if each.question in missing:
            missing.discard(each.question)
            last = each
            if not missing:
                break
    if last is None:
        uniform = np.isin(np.arange(count), list(answered))
        return uniform, np.full(count, max(len(answered), 1) / max(count, 1))
    uniform = np.zeros(count, bool)
    uniform[list(shuffled(count, seed, UNIFORM)[: last.uniform])] = True
    left = (1 - last.uniform / count) * (1 - last.walked / count * np.asarray(study.chance or [0.0] * count))
    return uniform, 1 - left


@lru_cache(128)
def shuffled(count: int, seed: int, draw: str) -> tuple[int, ...]:
    """Returns the numbers below `count`, shuffled by seed and draw."""
    return tuple(sorted(range(count), key=lambda question: share(seed, draw, question)))


def share(*of: object) -> float:
    """Returns a number in [0, 1) that is determined by the arguments."""
    return int.from_bytes(blake2b(repr(of).encode(), digest_size=7).digest()) / 2**56
