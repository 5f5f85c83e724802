"""How often intervals of judges' means hold the truth: of judges that answer at random, middling and perfect ones.

    python -m tests.slow.unrelated_judge

makes the table of `docs/significance.md`: 200 suites of seven tasks a row, each of 30 source items with three pairs,
asked in both orders under both conditions, ranked as the suite `mini-pairs` is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from compute.metrics import judge
from compute.rounding import rounded
from tests.compute.metrics import judges

Answers = Callable[[np.random.Generator, np.ndarray], Sequence[np.ndarray]]  # expected -> both orders
TASKS, SOURCES = 7, 30


def of_source(draw: np.random.Generator, expected: np.ndarray) -> np.ndarray:
    """A score of the source item's own for all of its pairs, give or take one."""
    own = np.repeat(draw.integers(1, 11, len(expected) // 3), 3)
    return np.clip(own + draw.integers(-1, 2, (2, len(expected))), 1, 10)


def middling(draw: np.random.Generator, expected: np.ndarray) -> np.ndarray:
    """The true score with an error of two points or so, more where pairs are transformed."""
    return np.clip(np.rint(expected - 1 + 2 * draw.normal(size=(2, len(expected)))), 1, 10)


JUDGES: dict[str, Answers] = {
    "random": lambda draw, expected: draw.integers(1, 11, (2, len(expected))),
    "random, the same in both orders": lambda draw, expected: [draw.integers(1, 11, len(expected))] * 2,
    "random by source item": of_source,
    "middling": middling,
    "perfect": lambda draw, expected: [expected] * 2,
}


def ratings(draw: np.random.Generator, answers: Answers, *, sources: int) -> list[judge.Ratings]:
    """Of one task under both conditions."""
    found = []
    for condition in judge.CONDITIONS:
        expected = judges.expected(condition, sources)
        forward, reverse = answers(draw, expected)
        found.append(judge.Ratings.of_frame(judges.frame(expected=expected, forward=forward, reverse=reverse)))
    return found


def ranked(draw: np.random.Generator, answers: Answers, *, tasks: int = TASKS, sources: int = SOURCES) -> Ranking:
    """The suite of one judge, as a board of computed scores has it."""
    figures = [  # of one task no interval is taken
        judge.mean_of(judge.resampled(judge.MMSCORE, ratings(draw, answers, sources=sources), draws=2))
        for _ in range(tasks)
    ]
    values, bias = (np.array([[getattr(figure, name) for figure in figures]]) for name in ("whole", "bias"))
    return Ranking.of(ScoreTable(values=values, bias=bias, lower=np.zeros(tasks), upper=np.ones(tasks)))


def truth(answers: Answers) -> float:
    """The MMScore on endless sources."""
    parts = ratings(np.random.default_rng(0), answers, sources=50_000)
    cells = [judge.MMSCORE.cells(part) for part in parts]
    counts = [np.bincount(cell, minlength=width).astype(float) for cell, _, width in cells]
    return float(np.mean([judge.MMSCORE.value(each) for each in counts]))


def rows(trials: int, **sizes: int) -> Iterator[tuple[str, float, float, float, float]]:
    """By judge: its true MMScore, the mean of the plain and of the corrected suite means, and the share of suites whose
    interval holds the truth."""
    for name, answers in JUDGES.items():
        true, draw = truth(answers), np.random.default_rng(1)
        suites = [ranked(draw, answers, **sizes) for _ in range(trials)]
        plain = np.array([suite.mean[0] for suite in suites])
        excess = np.array([suite.excess[0] for suite in suites])
        ends = np.array([(suite.mean_low[0], suite.mean_high[0]) for suite in suites])
        # Tasks without any spread, as a perfect judge's, have no interval: there the corrected mean itself is held
        low, high = np.where(np.isnan(ends), (plain - excess)[:, None], ends).T
        holds = (low - 1e-9 <= true) & (true <= high + 1e-9)
        yield name, true, float(plain.mean()), float((plain - excess).mean()), float(holds.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200, help="suites of each judge")
    print("| judge | true MMScore | mean as defined | without the bias | intervals that hold the truth |")
    print("| --- | --- | --- | --- | --- |")
    for name, *shares, holds in rows(parser.parse_args().trials):
        print(f"| {name} | {' | '.join(rounded(share, 1, scale=100) for share in shares)} | {holds:.1%} |", flush=True)


if __name__ == "__main__":
    main()
