"""Times of compute.analysis beside a plain reference in the same run: python -m tests.bench.bench_analysis

One core: the number of BLAS threads is set to 1 before numpy loads. Every line checks that both gave the same
answer and prints the ratio of the times.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import itertools  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from compute.analysis.correlation import METHODS, correlate, order  # noqa: E402
from compute.analysis.ranking import Ranking  # noqa: E402
from compute.analysis.table import ScoreTable  # noqa: E402

REFERENCE = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}


def median_ms(call: Callable[[], object], *, repeats: int = 5) -> float:
    """Median wall time of `call` in milliseconds, after one call to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


def once_ms(call: Callable[[], object]) -> tuple[float, object]:
    """Wall time of one call in milliseconds, and its result."""
    start = time.perf_counter()
    result = call()
    return (time.perf_counter() - start) * 1e3, result


def report(what: str, ours: float, reference: float, agreement: str) -> None:
    """One line: both times, their ratio, and how far the answers agree."""
    print(f"{what:44s} {ours:9.1f} ms {reference:11.1f} ms {reference / ours:8.0f}x   {agreement}")


def made_up(*, models: int, tasks: int, missing: float, seed: int = 0) -> np.ndarray:
    """A table of random scores with a common factor, ties and gaps."""
    rng = np.random.default_rng(seed)
    scores = 0.5 + 0.1 * rng.normal(size=(models, 1)) + 0.1 * rng.normal(size=(models, tasks))
    scores = np.round(scores, 3)
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores


def ranks_by_loop(*, scores: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same rank intervals one model at a time, each against all others with scipy's t and a sort for Holm."""
    members = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    counts = [(~np.isnan(scores[:, columns])).sum(axis=1) for columns in members]
    deviations = [
        np.nan_to_num(scores[:, columns] - np.nanmean(scores[:, columns], axis=1, keepdims=True))
        / np.sqrt(n * (n - 1))[:, None]
        / len(members)
        for columns, n in zip(members, counts, strict=True)
    ]
    means = np.mean([np.nanmean(scores[:, columns], axis=1) for columns in members], axis=0)
    low, high = np.empty(len(scores)), np.empty(len(scores))
    for model in range(len(scores)):
        others = np.delete(np.arange(len(scores)), model)
        each = np.array([((part[model] - part[others]) ** 2).sum(axis=1) for part in deviations])
        dofs = np.array([np.minimum(n[model], n[others]) - 1 for n in counts])
        upper = each * dofs / stats.chi2.ppf(0.2, dofs)
        dof = upper.sum(axis=0) ** 2 / (upper**2 / dofs).sum(axis=0)
        gap = means[model] - means[others]
        p = stats.t.sf(np.abs(gap) / np.sqrt(each.sum(axis=0)), dof)
        order = np.argsort(p)
        sure = order[np.cumprod(p[order] <= 0.05 / (len(p) - np.arange(len(p)))).astype(bool)]
        low[model], high[model] = 1 + (gap[sure] < 0).sum(), len(scores) - (gap[sure] > 0).sum()
    return low, high


def bench_ranks() -> None:
    """Ranks, intervals and tie classes against a loop over models."""
    for models, missing in ((60, 0.0), (60, 0.1), (700, 0.0), (700, 0.1)):
        scores = made_up(models=models, tasks=140, missing=missing)
        codes = np.arange(140) % 8
        table = ScoreTable(values=scores, codes=codes, categories=tuple(map(str, range(8))), least=0.0)
        ours, found = median_ms(lambda t=table: Ranking.of(t)), Ranking.of(table)
        theirs, (low, high) = once_ms(lambda s=scores, c=codes: ranks_by_loop(scores=s, codes=c))
        apart = int(((found.rank_low != low) | (found.rank_high != high)).sum())
        report(f"ranks and ties {models} x 140, {missing:.0%} missing", ours, theirs, f"{apart} intervals differ")


def correlations_by_loop(*, scores: np.ndarray, method: str) -> np.ndarray:
    """scipy on every pair of columns."""
    tasks = scores.shape[1]
    r = np.eye(tasks)
    for a, b in itertools.combinations(range(tasks), 2):
        both = ~np.isnan(scores[:, a] + scores[:, b])
        r[a, b] = r[b, a] = REFERENCE[method](scores[both, a], scores[both, b])[0]
    return r


def bench_correlations() -> None:
    """All three correlations against scipy's, pair by pair."""
    for missing, method in itertools.product((0.0, 0.1), METHODS):
        scores = made_up(models=47, tasks=130, missing=missing)
        ours = median_ms(lambda s=scores, m=method: correlate(scores=s, method=m))
        theirs, r = once_ms(lambda s=scores, m=method: correlations_by_loop(scores=s, method=m))
        apart = np.abs(correlate(scores=scores, method=method).r - r).max()
        report(f"{method} 47 x 130, {missing:.0%} missing", ours, theirs, f"largest difference {apart:.0e}")
    r = correlate(scores=scores, method="spearman").r
    print(f"{'order of 130 tasks':44s} {median_ms(lambda: order(matrix=r)):9.1f} ms")


def main() -> None:
    """Print every comparison."""
    print(f"{'':44s} {'ours':>12s} {'reference':>14s} {'ratio':>9s}")
    bench_ranks()
    bench_correlations()


if __name__ == "__main__":
    main()
