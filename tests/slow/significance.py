"""How often a board calls a model better than one that it is not better than, and how many true differences it finds.

`python -m tests.slow.significance` prints the table of docs/significance.md: three rules on made-up boards whose truth
is known, and on boards made from the shipped ones.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis.ranking import Ranking
from compute.analysis.ranks import means, variance
from compute.analysis.significance import decisions, holm
from compute.analysis.table import of_suite
from compute.arrays import Bools, Floats, Ints
from compute.database import store
from compute.database.build import build

SHAPES = {
    "20 models, 8 tasks": (20, (8,)),
    "8 models, 6 tasks": (8, (6,)),
    "46 models, 130 tasks in 8 categories": (46, (3, 5, 7, 10, 22, 45, 8, 30)),
}
CLUSTERS = {f"clusters of {size} at {rho}": (size, rho) for size in (2, 4) for rho in (0.7, 0.9)}
KINDS = ("normal", "heavy tails", "20% missing", "shared factor", "unequal spread", *CLUSTERS)
CLOSE, APART = 0.02, 0.7  # spread of the true means, in that of one score's noise
INTERACTION = 0.5  # how much a category suits a model, which belongs to the truth and sums to 0


@dataclass(frozen=True, kw_only=True)
class Board:
    """Scores of one board and the models' true means."""

    scores: Floats  # [models, tasks], NaN missing
    codes: Ints  # [tasks], category of each
    truth: Floats  # [models]
    clusters: Ints | None = None  # [tasks], equal where noise is correlated


def made(draw: np.random.Generator, *, shape: str, kind: str, spread: float) -> Board:
    """A made-up board: true means, how hard each task is for all, and noise of the named kind."""
    models, sizes = SHAPES[shape]
    codes = np.repeat(np.arange(len(sizes)), sizes)
    noise = draw.normal(size=(models, len(codes)))
    if kind == "heavy tails":
        noise = draw.standard_t(3, size=noise.shape) / np.sqrt(3)
    elif kind == "shared factor":  # every model depends on its category's factor in its own way
        loading = draw.normal(size=(models, len(sizes)))
        noise = 0.6 * noise + 0.8 * loading[:, codes] * draw.normal(size=len(codes))
    elif kind == "unequal spread":
        noise *= np.exp(0.6 * draw.normal(size=(models, 1)))
    clusters = None
    if kind in CLUSTERS:
        size, rho = CLUSTERS[kind]
        within = np.concatenate([np.arange(n) // min(size, -(-n // 2)) for n in sizes])  # two clusters or more
        clusters = np.unique(codes * len(codes) + within, return_inverse=True)[1]
        shared = draw.normal(size=noise.shape)[:, clusters]
        noise = np.sqrt(rho) * shared + np.sqrt(1 - rho) * noise
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


def shipped(folder: Path) -> Iterator[tuple[str, Board]]:
    """The published boards whose variances are known: the models with every score, and the tasks that count."""
    database = build(folder / "likeness.duckdb", results=folder).path
    with store.connect(database) as connection:

        def ask(query: str, values: list) -> pd.DataFrame:
            return connection.execute(query, values).df()

        for suite in ask("SELECT key FROM suites WHERE aggregate <> 'human' ORDER BY key", [])["key"]:
            table = of_suite(store.suite_frames(ask, suite=suite), origin="published")
            table = table.rows(np.flatnonzero(~np.isnan(table.values).any(axis=1)))
            sizes = np.bincount(table.codes, minlength=1)
            if len(table.models) > 4 and sizes[sizes > 0].min() > 1:
                truth = Ranking.of(table).mean
                yield table.name, Board(scores=table.turned, codes=table.codes, truth=truth)


def resampled(draw: np.random.Generator, board: Board, *, equal: bool) -> Board:
    """A shipped board with other tasks of the same kinds, around its own means or equal ones: the deviations of a new
    task are a normal mixture of those of its category's tasks, so that models vary together as they do there."""
    out = np.empty_like(board.scores)
    for code in np.unique(board.codes):
        members = board.codes == code
        x = board.scores[:, members]
        centre = x.mean(axis=1, keepdims=True)
        n = x.shape[1]
        mixed = (x - centre) @ draw.normal(size=(n, n)) / np.sqrt(n - 1)
        out[:, members] = mixed + (0.0 if equal else centre)
    return Board(scores=out, codes=board.codes, truth=np.zeros(len(out)) if equal else board.truth)


def by_row(p: Floats, sign: Bools) -> Bools:
    """The rule before: one-sided tests with Holm's method over each model's comparisons."""
    found = np.zeros(p.shape, bool)
    for row in range(len(p)):
        others = np.arange(len(p)) != row
        found[row, others] = holm(p[row, others])
    return found & sign


def all_pairs(p: Floats, sign: Bools) -> Bools:
    """Two-sided tests with Holm's method over all pairs."""
    first, second = np.triu_indices(len(p), 1)
    found = np.zeros(p.shape, bool)
    found[first, second] = holm(2 * p[first, second])
    return (found | found.T) & sign


def better(board: Board) -> dict[str, Bools]:
    """The matrix of decisions by each rule."""
    blocks = means.blocks(
        categories=board.codes,
        weights=None,
        aggregate=means.CATEGORY_MEAN,
        task_weights=None,
        tasks=len(board.codes),
    )
    parts = variance.by_category(
        scores=board.scores,
        stderr=np.full(board.scores.shape, np.nan),
        categories=board.codes,
        parts=blocks,
        printed=np.zeros((len(board.scores), int(board.codes.max()) + 1), bool),
        clusters=board.clusters,
    )
    mean = means.mean_of_blocks(board.scores, blocks)
    ours, p = decisions(mean=mean, parts=parts, higher=True)
    sign = mean[:, None] > mean
    return {"ours": ours, "per model (before)": by_row(p, sign), "Holm, all pairs": all_pairs(p, sign)}


def simulate(make: Callable[[np.random.Generator], Board], *, trials: int, seed: int) -> dict[str, tuple[float, float]]:
    """By rule: the share of boards with a false decision, and the mean share of true differences found (NaN: none)."""
    draw = np.random.default_rng(seed)
    wrong: dict[str, list[bool]] = {}
    power: dict[str, list[float]] = {}
    for _ in range(trials):
        board = make(draw)
        true = board.truth[:, None] > board.truth
        for rule, found in better(board).items():
            wrong.setdefault(rule, []).append(bool((found & ~true).any()))
            power.setdefault(rule, []).append(float(found[true].mean()) if true.any() else np.nan)
    return {rule: (float(np.mean(wrong[rule])), float(np.mean(power[rule]))) for rule in wrong}


def row(name: str, boards: dict[str, Callable[[np.random.Generator], Board]], *, trials: int, seed: int = 1) -> str:
    """One line of the table: false decisions among equal and nearly equal models, and power where they lie apart."""
    found = {truth: simulate(make, trials=trials, seed=seed) for truth, make in boards.items()}
    cells = [name]
    for truth, results in found.items():
        for wrong, power in results.values():
            cells.append(f"{power:.1%}" if truth == "apart" else f"{wrong:.1%}")
    return f"| {' | '.join(cells)} |"


def rows(trials: int) -> Iterator[str]:
    """The table, line by line."""
    rules = list(better(made(np.random.default_rng(0), shape="8 models, 6 tasks", kind="normal", spread=1.0)))
    yield f"| boards | {' | '.join(f'{what}: {rule}' for what in ('equal', 'close', 'found') for rule in rules)} |"
    yield "| --- |" + " --- |" * 9
    for shape in SHAPES:
        for kind in KINDS:
            boards = {
                truth: lambda draw, spread=spread, shape=shape, kind=kind: made(
                    draw, shape=shape, kind=kind, spread=spread
                )
                for truth, spread in (("equal", 0.0), ("close", CLOSE), ("apart", APART))
            }
            yield row(f"{shape}, {kind}", boards, trials=trials)
    yield from shipped_rows(trials)


def shipped_rows(trials: int) -> Iterator[str]:
    """The lines of the shipped boards, without that of nearly equal models."""
    with tempfile.TemporaryDirectory() as folder:
        for name, board in shipped(Path(folder)):
            boards = {
                truth: lambda draw, board=board, equal=equal: resampled(draw, board, equal=equal)
                for truth, equal in (("equal", True), ("apart", False))
            }
            models, tasks = board.scores.shape
            yield row(f"{name} ({models} models, {tasks} tasks), resampled", boards, trials=trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=500, help="boards for each cell of the table")
    for line in rows(parser.parse_args().trials):
        print(line, flush=True)


if __name__ == "__main__":
    main()
