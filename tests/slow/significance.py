"""How often a board calls a model better than one that it is not better than, and how many true differences it finds.

`python -m tests.slow.significance` prints the tables of docs/significance.md: on made-up boards whose truth is known,
and on boards made from the shipped ones.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable, of_suite
from compute.arrays import Floats, Ints
from compute.database import store
from compute.database.build import build

SHAPES = {
    "20 models, 8 tasks": (20, (8,)),
    "8 models, 6 tasks": (8, (6,)),
    "20 models, 16 tasks in 4 categories": (20, (4, 4, 4, 4)),
    "46 models, 130 tasks in 8 categories": (46, (3, 5, 7, 10, 22, 45, 8, 30)),
}
CLUSTERS = {f"data sets of {size} tasks at {rho}": (size, rho) for size in (2, 4) for rho in (0.7, 0.9)}
KINDS = ("normal", "heavy tails", "skewed in opposite directions", "20% missing", "shared factor", "unequal spread")
CLOSE, APART = 0.02, 0.7  # spread of the true means, in that of one score's noise
INTERACTION = 0.5  # how much a category suits a model, which belongs to the truth and sums to 0
SHIPPED = {"pairbench": "published", "unisim-core": "published", "unisim-ood": "published"}
SHIPPED |= dict.fromkeys(("mieb-lite", "mieb", "vidore-v3"), "imported")


class Board(NamedTuple):
    """Scores of one board and the models' true means."""

    scores: Floats  # [models, tasks], NaN missing
    codes: Ints  # [tasks], category of each
    truth: Floats  # [models]
    clusters: Ints | None = None  # [tasks], equal where noise is correlated
    least: float = 0.0  # share of the tasks that a model needs for a rank

    @property
    def table(self):
        names = tuple(map(str, range(int(self.codes.max()) + 1)))
        given = {"clusters": self.clusters, "least": self.least}
        return ScoreTable(values=self.scores, codes=self.codes, categories=names, **given)


def made(draw, *, shape, kind, spread):
    """A made-up board: true means, how hard each task is for all, and noise of the named kind."""
    models, sizes = SHAPES[shape]
    codes = np.repeat(np.arange(len(sizes)), sizes)
    noise = draw.normal(size=(models, len(codes)))
    if kind == "heavy tails":
        noise = draw.standard_t(3, size=noise.shape) / np.sqrt(3)
    elif kind == "skewed in opposite directions":  # a skewness of 1, to the left for every second model
        noise = (draw.gamma(4, size=noise.shape) - 4) / 2 * np.where(np.arange(models) % 2, 1, -1)[:, None]
    elif kind == "shared factor":  # every model depends on its category's factor in its own way
        loading = draw.normal(size=(models, len(sizes)))
        noise = 0.6 * noise + 0.8 * loading[:, codes] * draw.normal(size=len(codes))
    elif kind == "unequal spread":
        noise *= np.exp(0.6 * draw.normal(size=(models, 1)))
    clusters = None
    if kind in CLUSTERS:
        size, rho = CLUSTERS[kind]
        clusters = np.arange(len(codes)) // size
        noise = np.sqrt(rho) * draw.normal(size=noise.shape)[:, clusters] + np.sqrt(1 - rho) * noise
    truth = spread * draw.normal(size=models) / (2 if len(sizes) > 1 else 1)
    suits = INTERACTION * draw.normal(size=(models, len(sizes)))
    scores = (
        truth[:, None] + (suits - suits.mean(axis=1, keepdims=True))[:, codes] + draw.normal(size=len(codes)) + noise
    )
    if kind == "20% missing":
        lost = draw.random(scores.shape) < 0.2
        for code in range(len(sizes)):  # two scores of every category stay
            lost[:, draw.choice(np.flatnonzero(codes == code), 2, replace=False)] = False
        scores[lost] = np.nan
    return Board(scores=scores, codes=codes, truth=truth, clusters=clusters)


def equal(scores, sizes, **more):
    """A board of models with equal means."""
    return Board(scores, np.repeat(np.arange(len(sizes)), sizes), np.zeros(len(scores)), **more)


def noise(draw, *, sizes, models=15, unequal=True):
    """Pure noise, or such that differs by factors between models and is three times as large in the first category."""
    scores = draw.normal(size=(models, sum(sizes)))
    if unequal:
        scores[:, : sizes[0]] *= 3.0
        scores *= np.exp(0.7 * draw.normal(size=(models, 1)))
    return equal(scores, sizes)


def shared_data(draw, *, models=40, sets=19):
    """Two categories: each of 19 data sets has a task in both, whose residuals correlate at 0.52, as MIEB's do; 3 and 5
    further tasks are of a data set of their own."""
    clusters = np.array([*range(sets), *range(sets, sets + 3), *range(sets), *range(sets + 3, sets + 8)])
    common, own = draw.normal(size=(models, sets + 8)), draw.normal(size=(models, len(clusters)))
    scores = np.sqrt(0.52) * common[:, clusters] + np.sqrt(0.48) * own
    return equal(scores, (sets + 3, sets + 5), clusters=clusters)


def omitted(draw, *, models=15, tasks=16):
    """A third of the models lacks the hardest 30% of the tasks, whose difficulty spreads over 40 points."""
    scores = 60 + np.linspace(-20, 20, tasks) + 1.5 * draw.normal(size=(models, tasks))
    scores[: models // 3, : int(0.3 * tasks)] = np.nan
    return equal(scores, (tasks,), least=0.6)


EQUAL = {
    "two categories on the same 19 data sets, 40 models": shared_data,
    "2 + 30 tasks, 4 models": partial(noise, sizes=(2, 30), models=4, unequal=False),
    "2 + 30 tasks, 15 models, unequal noise": partial(noise, sizes=(2, 30)),
    "3 + 30 tasks, 15 models, unequal noise": partial(noise, sizes=(3, 30)),
    "2 + 10 + 10 tasks, 15 models, unequal noise": partial(noise, sizes=(2, 10, 10)),
    "8 categories of 2 tasks, 15 models, unequal noise": partial(noise, sizes=(2,) * 8),
    "5 of 15 models lack the hardest of 16 tasks": omitted,
}


def shipped(folder):
    """The shipped boards: the models with every score, and the tasks that count."""
    database = build(folder / "likeness.duckdb", results=folder).path
    with store.connect(database) as connection:

        def ask(query, values):
            return connection.execute(query, values).df()

        for suite, origin in SHIPPED.items():
            table = of_suite(store.suite_frames(ask, suite=suite), origin=origin)
            table = table.rows(np.flatnonzero(~np.isnan(table.values).any(axis=1)))
            yield suite, Board(table.turned, table.codes, Ranking.of(table).mean, table.clusters)


def resampled(draw, board, *, apart):
    """A shipped board with other tasks of the same kinds, around its own means or equal ones: the deviations of a new
    task are a normal mixture of those of its category's tasks, so that models vary together as they do there."""
    out = np.empty_like(board.scores)
    for code in np.unique(board.codes):
        members = board.codes == code
        x = board.scores[:, members]
        centre, n = x.mean(axis=1, keepdims=True), x.shape[1]
        mixed = (x - centre) @ draw.normal(size=(n, n)) / np.sqrt(max(n - 1, 1))
        out[:, members] = mixed + (centre if apart else 0.0)
    return Board(out, board.codes, board.truth if apart else np.zeros(len(out)))


class Shares(NamedTuple):
    """Shares of boards, or of pairs over boards."""

    wrong: float  # boards with a model called better than one that it is not better than
    found: float  # of the true differences; NaN where there are none
    holds: float  # intervals of the difference of two models that hold it
    small: float  # p of two models, one pair a board, below 0.001
    spread: float  # of `found` between boards: its standard deviation


def simulate(make, *, trials, seed=1):
    """What the rule says of boards whose truth is known."""
    draw, rows = np.random.default_rng(seed), []
    for _ in range(trials):
        board = make(draw)
        better, true = Ranking.of(board.table).better, board.truth[:, None] > board.truth
        pair, gap = compared(board.table, 0, 1), board.truth[0] - board.truth[1]
        found = better[true].mean() if true.any() else np.nan
        holds = np.nan if np.isnan(pair.low) else pair.low <= gap <= pair.high  # of too few shared tasks there is none
        rows.append(((better & ~true).any(), found, holds, pair.p < 0.001))
    frame = pd.DataFrame(np.array(rows, float))  # whose mean and deviation leave NaN out
    return Shares(*map(float, frame.mean()), spread=float(frame[1].std(ddof=0)))


def rows(trials):
    """The tables, line by line."""
    yield "| equal models | false | interval holds | p < 0.001 |\n| --- | --- | --- | --- |"
    for name, make in EQUAL.items():
        shares = simulate(make, trials=5 * trials)
        yield f"| {name} | {shares.wrong:.1%} | {shares.holds:.1%} | {shares.small:.2%} |"
    yield f"\n| boards | equal: false | close: false | apart: found | apart: interval holds |\n| --- |{' --- |' * 4}"
    for shape in SHAPES:
        for kind in (*KINDS, *(CLUSTERS if sum(SHAPES[shape][1]) > 100 else ())):
            same, close, apart = (
                simulate(partial(made, shape=shape, kind=kind, spread=spread), trials=trials)
                for spread in (0.0, CLOSE, APART)
            )
            yield f"| {shape}, {kind} | {same.wrong:.1%} | {close.wrong:.1%} | {apart.found:.1%} | {apart.holds:.1%} |"
    yield f"\n| shipped boards | pairs found | equal: false | apart: false | apart: found |\n| --- |{' --- |' * 4}"
    with tempfile.TemporaryDirectory() as folder:
        for name, board in shipped(Path(folder)):
            same, apart = (
                simulate(partial(resampled, board=board, apart=apart), trials=(1 if apart else 2) * trials)
                for apart in (False, True)
            )
            title = f"{name} ({board.scores.shape[0]} models, {board.scores.shape[1]} tasks)"
            pairs = int(Ranking.of(board.table).better.sum())
            yield f"| {title} | {pairs} | {same.wrong:.1%} | {apart.wrong:.1%} | {apart.found:.1%} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400, help="boards for each cell of the second table")
    for line in rows(parser.parse_args().trials):
        print(line, flush=True)


if __name__ == "__main__":
    main()
