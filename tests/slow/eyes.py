"""How far the answer of "Your eyes" can be trusted: simulated raters, whose truth is known, judge pools of questions.

`python -m tests.slow.eyes` prints the tables of docs/eyes.md. A question of a made-up pool has a latent difficulty that
models and raters share, so that their errors correlate: those of two models by about 0.4.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import NormalDist
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.special import ndtr

from compute.arrays import Floats, Ints
from compute.eyes import asking
from compute.eyes.report import LOOKS as MODELS_COMPARED
from compute.eyes.report import EyesReport, report
from compute.eyes.study import Judgment, Study
from tests.compute.eyes.studies import judgment

QUESTIONS, SIZES = 400, (40, 80, 160)
LOOKS = (*range(24, 121, 2),)  # at a report, until one is wrong
MODELS = (0.9, 0.85, 0.8, 0.75, 0.75, 0.7, 0.6)  # right answers over the pool, exactly
SHARED = 0.7  # of the variance of models' latent errors; of raters' it is half


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """A made-up study, its hidden truth and how hard each question is."""

    study: Study
    truth: Ints
    difficulty: Floats


@dataclass(frozen=True, kw_only=True)
class Rater:
    """A rater who is right with a probability that falls with a question's difficulty, unless `level`.

    `side`: how often what is on the left is chosen unseen. `tired`: accuracy falls to this over 200 questions.
    """

    accuracy: float
    side: float = 0.0
    tired: float | None = None
    level: bool = False
    follows: str = ""  # a model's key instead of the truth

    def second(self, pool: Pool, at: int = 0) -> Floats:
        """The probability of the second alternative, for each question, seen without a side, as the at-th question."""
        fresh = 1 - min(at / 200, 1)
        accuracy = self.accuracy if self.tired is None else self.tired + fresh * (self.accuracy - self.tired)
        right = np.full(len(pool.truth), accuracy)
        if not self.level and not self.follows:
            right = ndtr(np.sqrt(2) * NormalDist().inv_cdf(accuracy) - pool.difficulty)
        target = np.array(pool.study.picks[self.follows]) if self.follows else pool.truth
        return np.where(target == 1, right, 1 - right)

    def sides(self, second: Floats) -> tuple[Floats, Floats]:
        """The same where the second alternative is on the left, and where it is on the right."""
        return (1 - self.side) * second + self.side, (1 - self.side) * second


RATERS = {
    "right in 70%": Rater(accuracy=0.7),
    "right in 85%": Rater(accuracy=0.85),
    "right in 95%": Rater(accuracy=0.95),
    "85%, picks the left unseen in 20%": Rater(accuracy=0.85, side=0.2),
    "90%, falls to 60% over 200 questions": Rater(accuracy=0.9, tired=0.6),
}


def made(draw: np.random.Generator, *, models: Sequence[float] = MODELS) -> Pool:
    difficulty = draw.normal(size=QUESTIONS)
    latent = np.sqrt(SHARED) * difficulty + np.sqrt(1 - SHARED) * draw.normal(size=(len(models), QUESTIONS))
    right = latent.argsort(axis=1).argsort(axis=1) < np.round(np.array(models)[:, None] * QUESTIONS)
    truth = draw.integers(2, size=QUESTIONS)
    picks = np.where(right, truth, 1 - truth)
    keys = [f"m{at}" for at in range(len(models))]
    study = Study(
        kind="quality",
        contents=["a", "b"],
        questions=[(-1, 0, 1)] * QUESTIONS,
        chance=asking.chances(picks).tolist(),
        models=dict(zip(keys, keys, strict=True)),
        picks=dict(zip(keys, picks.tolist(), strict=True)),
    )
    return Pool(study=study, truth=truth, difficulty=difficulty)


def judged(pool: Pool, rater: Rater, draw: np.random.Generator, *, count: int, name: str = "me") -> list[Judgment]:
    """The rater's first `count` judgments, repeats included."""
    seed, out = int(draw.integers(2**32)), []
    for at, each in zip(range(count), asking.order(pool.study, seed=seed), strict=False):
        left, right = rater.sides(rater.second(pool, at)[each.question])
        choice = int(draw.random() < (left if each.left == 1 else right))
        out.append(judgment(each, choice, at=at, seed=seed, rater=name))
    return out


def agreement(pool: Pool, rater: Rater, count: int) -> Floats:
    """Each model's true agreement with the rater over the pool, on average over the first `count` judgments."""
    times = range(count) if rater.tired else (0,)
    second = np.mean([rater.sides(rater.second(pool, at)) for at in times], axis=(0, 1))
    return np.where(np.array([*pool.study.picks.values()]) == 1, second, 1 - second).mean(axis=1)


def headline(seed: int, rater: Rater) -> list[dict[str, float]]:
    """By number of judgments: the error of the agreement in points and the share of intervals that hold it, over the
    models; the rater's consistency and ceiling, estimate and truth."""
    draw = np.random.default_rng([seed, crc32(repr(rater).encode())])  # others for each rater
    pool = made(draw)
    judgments, out = judged(pool, rater, draw, count=max(SIZES)), []
    for size in SIZES:
        found = report(pool.study, judgments[:size])
        shares = {each.key: each.agreement for each in found.models}
        own, truth = [shares[key] for key in pool.study.models], agreement(pool, rater, size)
        sides = np.array([rater.sides(rater.second(pool, at)) for at in range(0, size, 10)])
        out.append(
            {
                "judgments": size,
                "error": 100 * np.mean([each.value for each in own] - truth),
                "holds": np.mean([each.low <= true <= each.high for each, true in zip(own, truth, strict=True)]),
                "same": found.consistency.value,
                "truly": (sides.prod(axis=1) + (1 - sides).prod(axis=1)).mean(),
                "ceiling": found.ceiling,
                "best": np.maximum(sides.mean(axis=(0, 1)), 1 - sides.mean(axis=(0, 1))).mean(),
            }
        )
    return out


def looked(pool: Pool, judgments: Sequence[Judgment], sizes: Sequence[int]) -> Iterator[tuple[int, EyesReport]]:
    """The reports after so many judgments, those alone whose models are compared anew."""
    compared = 0
    for size in sizes:
        new = sum(each.draw != asking.REPEAT for each in judgments[:size])
        if compared < (compared := max((look for look in MODELS_COMPARED if look <= new), default=0)):
            yield size, report(pool.study, judgments[:size])


def mistaken(seed: int) -> dict[int, bool]:
    """By number of judgments: whether any of 7 equal models are called different; 0: at any of LOOKS."""
    draw = np.random.default_rng(seed)
    pool = made(draw, models=(0.75,) * 7)
    judgments = judged(pool, Rater(accuracy=0.85, level=True), draw, count=max(SIZES))

    def differ(found: EyesReport) -> bool:
        return any(pair.is_significant for pair in found.pairs)

    return {size: differ(report(pool.study, judgments[:size])) for size in SIZES} | {
        0: any(differ(found) for _, found in looked(pool, judgments, LOOKS))
    }


def needed(seed: int, rater: Rater, others: Sequence[str]) -> float:
    """After how many judgments m0 is significantly better than the others, and first where these are all; inf: not in
    the whole pool."""
    draw = np.random.default_rng(seed)
    pool = made(draw)
    judgments, titles = judged(pool, rater, draw, count=2 * QUESTIONS), pool.study.models
    beaten = {titles[key] for key in others}
    for size, found in looked(pool, judgments, range(1, len(judgments) + 1)):
        won = {pair.second for pair in found.pairs if pair.first == titles["m0"] and pair.is_significant}
        if won >= beaten and (len(others) == 1 or found.models[0].key == "m0"):
            return size
    return np.inf


def alphas(seed: int, accuracies: Sequence[float]) -> float:
    """Krippendorff's alpha of two raters with 160 judgments each."""
    draw = np.random.default_rng(seed)
    pool, both = made(draw), []
    for accuracy in accuracies:
        both += judged(pool, Rater(accuracy=accuracy, level=True), draw, count=160, name=f"{accuracy:.0%}")
    return report(pool.study, both).alpha


def rows(each: Callable[[Callable], list]) -> Iterator[str]:
    """The tables, line by line; `each` calls a function with the number of every run."""
    yield from table("rater", "judgments", "error, points", "intervals that hold", "consistency", "ceiling")
    for name, rater in RATERS.items():
        runs = pd.DataFrame(sum(each(partial(headline, rater=rater)), []), dtype=float).groupby("judgments")
        for size, (error, holds, same, truly, ceiling, best) in runs.mean().iterrows():
            yield line(
                name,
                int(size),
                f"{error:+.1f} ± {runs.error.sem()[size]:.1f}",
                f"{holds:.1%}",
                f"{same:.0%} (true: {truly:.0%})",
                f"{ceiling:.0%} (true: {best:.0%})",
            )
    yield ""
    yield from table("called different", *(f"{size} judgments" for size in SIZES), f"at any of {len(LOOKS)} looks")
    found = each(mistaken)
    yield line("any two of 7 equal models", *(f"{np.mean([run[size] for run in found]):.1%}" for size in (*SIZES, 0)))
    yield ""
    yield from table("until this is significant", "judgments")
    everyone = [f"m{at}" for at in range(1, 7)]
    for name, rater, others in (
        ("a followed model beats 6 others", Rater(accuracy=1, follows="m0"), everyone),
        ("the same, followed in 95%", Rater(accuracy=0.95, follows="m0"), everyone),
        ("a model right in 90% beats one in 75%, rater right in 85%", Rater(accuracy=0.85), ["m3"]),
    ):
        yield line(name, f"{np.median(each(partial(needed, rater=rater, others=others))):.0f}")
    yield ""
    yield from table("two raters, right in", "Krippendorff's alpha", "truth")
    for pair in ((0.7, 0.85), (0.85, 0.95)):
        one, other = pair
        truth = 2 * (one * other + (1 - one) * (1 - other)) - 1
        alpha = np.mean(each(partial(alphas, accuracies=pair)))
        yield line(f"{one:.0%} and {other:.0%}", f"{alpha:.2f}", f"{truth:.2f}")


def table(*titles: str) -> Iterator[str]:
    yield line(*titles)
    yield "|" + " --- |" * len(titles)


def line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="simulated raters for each row")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with get_context("spawn").Pool(options.workers) as pool:
        for text in rows(lambda work: pool.map(work, range(options.runs), chunksize=5)):
            print(text, flush=True)


if __name__ == "__main__":
    main()
