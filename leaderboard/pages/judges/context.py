"""How the four metrics go with other benchmarks, and how many source items the ranking of judges takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.correlation import correlate, interval
from compute.metrics import judge_ranking
from compute.metrics.judge_ranking import SubsampledRanking
from compute.types import BadInput, Undefined
from leaderboard.data import judge_queries
from leaderboard.data.database import Database
from leaderboard.pages.judges import evidence as stored
from leaderboard.pages.judges.comparison import METRICS, Correlated, JudgeComparison, correlated

PRINTED_MODELS = 23  # that Table 2 correlates
SHARED = 5  # judges below which no correlation is shown
SIZES = (5, *judge_ranking.SIZES)


@dataclass(frozen=True, kw_only=True)
class OtherBenchmark:
    """One other benchmark against the four metrics, in their order; None without a score."""

    title: str
    origin: str
    cells: tuple[Correlated | None, ...]


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How well fewer source items agree with the ranking of all, of some judges."""

    judges: tuple[str, ...]
    sources: int
    points: tuple[SubsampledRanking, ...]


def printed(db: Database, *, titles: Mapping[str, str]) -> list[OtherBenchmark]:
    """PairBench Table 2, with the intervals that 23 models allow. `titles`: metric -> its title."""
    frame = judge_queries.printed_correlations(db)
    out = []
    for benchmark, rows in frame.groupby("benchmark", sort=True):
        values = {row.metric: float(row.printed.removesuffix("%")) / 100 for row in rows.itertuples()}
        cells: list[Correlated | None] = []
        for metric in METRICS:
            r = values.get(titles[metric])
            if r is None:
                cells.append(None)
                continue
            low, high = interval(r=r, n=PRINTED_MODELS, method="spearman")
            cells.append(Correlated(r=r, low=float(low), high=float(high), n=PRINTED_MODELS))
        out.append(OtherBenchmark(title=str(benchmark), origin="published", cells=tuple(cells)))
    return out


def joined(db: Database, comparison: JudgeComparison) -> list[OtherBenchmark]:
    """Every other task with scores of SHARED or more of these judges, joined by model; one origin at a time."""
    rows = {row.model: row for row in comparison.rows if row.complete}
    scores = judge_queries.other_scores(db, models=list(rows)) if rows else pd.DataFrame()
    if scores.empty:
        return []
    out = []
    for (benchmark, title, origin), part in scores.groupby(["benchmark", "title", "origin"], sort=False):
        part = part[part["model"].isin(rows)]
        if len(part) < SHARED:
            continue
        table = np.array(
            [
                [
                    value,
                    *(
                        rows[model].values[metric].value if metric in rows[model].values else np.nan
                        for metric in METRICS
                    ),
                ]
                for model, value in zip(part["model"], part["value"], strict=True)
            ]
        )
        result = correlate(scores=table, method="spearman", minimum=SHARED)
        cells = tuple(correlated(result, 0, at) for at in range(1, 1 + len(METRICS)))
        if any(cells):
            out.append(OtherBenchmark(title=f"{benchmark}: {title}", origin=str(origin), cells=cells))
    return out


def stability(comparison: JudgeComparison, *, pairs: pd.DataFrame) -> Stability | str:
    """The stability of the ranking by MMScore of the judges with stored ratings; in words why there is none."""
    titles = {row.model: row.title for row in comparison.rows if row.complete and row.origin == "computed"}
    judges = {
        model: stored.flat(evidence)
        for model, evidence in stored.by_judge(pairs, tasks=comparison.tasks).items()
        if model in titles
    }
    try:
        points = judge_ranking.ranking_stability(judges, sizes=SIZES)
    except (BadInput, Undefined) as error:
        return str(error)
    sources = {source for frame in next(iter(judges.values())).values() for source in frame["source"]}
    return Stability(judges=tuple(titles[model] for model in judges), sources=len(sources), points=points)
