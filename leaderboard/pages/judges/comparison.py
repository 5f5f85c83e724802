"""The judges of a suite by PairBench's four metrics: who leads which, how sure that is, and how the metrics agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from compute.analysis.correlation import Correlation, correlate
from compute.analysis.intervals import Z95, bias_note
from compute.analysis.ranking import Ranking
from compute.metrics import judge, registry
from compute.metrics.judge import CONDITIONS, METRICS
from compute.types import Undefined
from leaderboard.data.database import Database

TITLES = {metric.key: metric.title for metric in registry.METRICS if metric.key in METRICS}
MEANINGS = {
    "mmscore": "agreement with the true similarity",
    "relax_sym": "share of pairs whose two orders differ by at most one point",
    "smoothness": "how many of the ten scores it uses: entropy, in nats",
    "controllability": "how close its MMScores are under the two conditions",
}
BEST = {  # of one judge, and of several that are level
    "mmscore": ("agrees most with the truth", "agree most with the truth"),
    "relax_sym": ("is the most symmetric", "are the most symmetric"),
    "smoothness": ("uses the scale most evenly", "use the scale most evenly"),
    "controllability": (
        "is the most even-handed between conditions",
        "are the most even-handed between conditions",
    ),
}
NAMED = 3  # rivals of a leader
KINDS = {"mllm": "VLM", "encoder": "encoder", "metric": "distance"}
ALL, IMAGES = "all", "images"
SPLITS = {ALL: "All splits", IMAGES: "Two images"}
SIGNIFICANT, NOT_SIGNIFICANT, UNKNOWN = "significant", "not significant", "unknown"
Evidence = Mapping[str, Mapping[str, pd.DataFrame]]  # split -> condition -> pairs
Boards = Callable[[str, frozenset[str]], Ranking | None]  # the ranking by a metric on some tasks


@dataclass(frozen=True, kw_only=True)
class Value:
    """A judge's figure, in stored units. `low` and `high` are its 95% interval, None where it is not known."""

    value: float
    low: float | None = None
    high: float | None = None
    bias: float | None = None  # of the value in finite samples: the interval is of the value without it
    recomputed: bool = False  # the mean of printed scores, which the paper does not print itself

    def note(self, digits: int, scale: float) -> str:
        """What it is without its bias; empty where it has none."""
        return bias_note(self.value, self.bias, digits=digits, scale=scale)


@dataclass(frozen=True, kw_only=True)
class JudgeRow:
    """A judge as one origin measured it, by the metrics that are known of it."""

    model: str
    title: str
    kind: str
    origin: str
    splits: int  # that it has both conditions' MMScores of
    of: int  # splits that are compared
    values: Mapping[str, Value]
    why: Mapping[str, str]  # metric -> why it has no value

    @property
    def complete(self) -> bool:
        """Whether its means are over all splits."""
        return self.splits == self.of

    @property
    def kind_title(self) -> str:
        """What it is, in a word."""
        return KINDS.get(self.kind, self.kind)


@dataclass(frozen=True, kw_only=True)
class Lead:
    """Who leads a metric: several where they are level."""

    metric: str
    rows: tuple[JudgeRow, ...]
    value: float
    of: int  # judges with the metric
    verdict: str  # SIGNIFICANT: better than every other judge on the board of the metric; UNKNOWN: it does not say
    rivals: tuple[str, ...] = ()  # titles of judges that may be as good
    why: str = ""  # the board does not say
    next: tuple[JudgeRow, ...] = ()  # of the same origin, the best below the lead

    @property
    def reading(self) -> str:
        """How sure the lead is, in words."""
        if len(self.rows) > 1:
            return "They are level."
        if self.of == 1:
            return "No other judge to compare with."
        if self.verdict == SIGNIFICANT:
            return "Significantly better than every other judge."
        if self.verdict == NOT_SIGNIFICANT:
            more = f" and {len(self.rivals) - NAMED} more" if len(self.rivals) > NAMED else ""
            return f"Not significant: {', '.join(self.rivals[:NAMED])}{more} may be as good."
        return f"Unknown whether significant: {self.why}."


@dataclass(frozen=True, kw_only=True)
class JudgeComparison:
    """The judges of a suite on some of its splits."""

    tasks: tuple[str, ...]
    rows: tuple[JudgeRow, ...]
    leads: tuple[Lead, ...]  # of complete rows
    correlation: Correlation  # Spearman, of METRICS over complete rows

    def row(self, model: str) -> JudgeRow | None:
        """The judge's row, one that was computed first: it has evidence. None without one."""
        own = [row for row in self.rows if row.model == model]
        return min(own, key=lambda row: (row.origin != "computed", row.origin), default=None)

    @property
    def agreements(self) -> list[tuple[str, str, dict[str, float]]]:
        """Every two metrics that enough judges have, by their titles, and r over n judges with its 95% interval, low
        and high; NaN: not known. It is significant where 0 lies outside."""
        names = ("r", "low", "high", "n")
        return [
            (
                TITLES[METRICS[at[0]]],
                TITLES[METRICS[at[1]]],
                pair | {"significant": pair["low"] > 0 or pair["high"] < 0},
            )
            for at in combinations(range(len(METRICS)), 2)
            if not np.isnan((pair := {name: getattr(self.correlation, name)[at].item() for name in names})["r"])
        ]

    @property
    def agreement(self) -> str:
        """Which metrics are significantly correlated, as a sentence."""
        significant = [f"{first} and {second}" for first, second, pair in self.agreements if pair["significant"]]
        if not significant:
            return "No two metrics are significantly correlated, so a good score in one says nothing about another."
        return f"Significantly correlated, each pair by itself: {'; '.join(significant)}."

    @property
    def untestable(self) -> str:
        """The reading of leads where intervals are missing, to state it once; else empty."""
        reasons = {lead.reading for lead in self.leads if lead.verdict == UNKNOWN and len(lead.rows) == 1 < lead.of}
        return reasons.pop() if len(reasons) == 1 else ""

    @property
    def all_lead(self) -> tuple[JudgeRow, ...]:
        """The judges that lead every metric."""
        if len(self.leads) < len(METRICS):
            return ()
        return tuple(row for row in self.leads[0].rows if all(row in lead.rows for lead in self.leads[1:]))


def compare(db: Database, *, suite: str, splits: str, pairs: pd.DataFrame, boards: Boards) -> JudgeComparison:
    """All judges of a suite on its splits; `pairs` is the suite's stored evidence.

    A metric of a judge is the mean over the splits, as Table 1 has it and the board shows, or the printed mean where
    the splits are not printed. Rows of another origin than the fullest are shown but no lead is between origins.
    """
    tasks = db.query("judged_tasks", suite=suite)
    compared = tasks[tasks["ranked"]]
    if splits == IMAGES:
        compared = compared[compared["images"]]
    scores = db.query("judged_scores", suite=suite)
    keys = tuple(compared["key"])
    aggregate = set(tasks["key"][~tasks["ranked"]]) if splits == ALL else set()
    runs = db.query("judged_runs", suite=suite)
    whole = set(runs["model"][runs["stored"] == runs["total"]]) - set(runs["model"][runs["stored"] != runs["total"]])
    judged = pairs[pairs["task"].isin(keys)].groupby("model", sort=False, observed=True)
    evidence = {str(model): by_split(own) for model, own in judged}
    rows = [
        _row(
            own,
            tasks=keys,
            aggregate=aggregate,
            # Only stored pairs that are all that the judge rated
            evidence=evidence.get(model, {}) if origin == "computed" and model in whole else {},
        )
        for (model, origin), own in scores.groupby(["model", "origin"], sort=False)
    ]
    rows = [row for row in rows if row is not None]
    complete = [row for row in rows if row.complete]
    table = np.array(
        [[row.values[metric].value if metric in row.values else np.nan for metric in METRICS] for row in complete]
    ).reshape(len(complete), len(METRICS))
    return JudgeComparison(
        tasks=keys,
        rows=tuple(rows),
        leads=tuple(
            filter(
                None,
                (lead(complete, metric=metric, board=boards(metric, frozenset(keys))) for metric in METRICS if keys),
            )
        ),
        correlation=correlate(scores=table, method="spearman"),
    )


def by_split(frame: pd.DataFrame) -> Evidence:
    """One judge's pairs by split and condition; only splits with both conditions."""
    parts = {
        str(task): {str(condition): pairs for condition, pairs in rows.groupby("condition", sort=False, observed=True)}
        for task, rows in frame.groupby("task", sort=False, observed=True)
    }
    return {task: conditions for task, conditions in parts.items() if set(CONDITIONS) <= set(conditions)}


def _row(scores: pd.DataFrame, *, tasks: Sequence[str], aggregate: set[str], evidence: Evidence) -> JudgeRow | None:
    """One judge's means over splits; None where it has no figure on any of them.

    Intervals are those of `table_1` where there is evidence. Else they run between the means of the splits' own ends,
    or by the mean of their errors: wider than need be, however much the splits depend on one another.
    """
    first = scores.iloc[0]
    own = scores[scores["task"].isin(tasks)]
    conditions = own[own["subset"].isin(CONDITIONS)].pivot_table(
        index="task", columns=["metric", "subset"], values="value"
    )
    noise = own[own["subset"] == "default"].groupby("metric")[["low", "high", "stderr", "bias"]]
    noise = noise.agg(lambda part: part.mean(skipna=False)).reindex(METRICS)
    both = [("mmscore", condition) for condition in CONDITIONS]
    splits = len(conditions.dropna(subset=both)) if set(both) <= set(conditions.columns) else 0
    values: dict[str, Value] = {}
    why: dict[str, str] = {}
    for metric in METRICS:
        printed = scores[scores["task"].isin(aggregate) & (scores["metric"] == metric)]
        of_splits = printed.empty or (metric == METRICS[0] and splits == len(tasks))  # the board's mean
        figure = _mean(conditions, own, metric=metric, splits=splits) if of_splits else None
        if figure is None and len(printed):
            values[metric] = Value(value=float(printed["value"].iloc[0]))
        elif figure is None:
            why[metric] = "has no figure on every split"
        else:
            low, high, error, bias = noise.loc[metric].astype(float)
            if np.isnan(low):
                low, high = figure - Z95 * error, figure + Z95 * error
            values[metric] = Value(
                value=figure,
                low=None if np.isnan(low) else float(low),
                high=None if np.isnan(high) else float(high),
                bias=None if np.isnan(bias) else float(bias),
                recomputed=first["origin"] == "published",
            )
    if evidence and len(evidence) == splits:
        for metric, result in judge.table_1(evidence).items():
            if isinstance(result, Undefined):
                values.pop(metric, None)
                why[metric] = str(result)
            elif metric in values:
                values[metric] = replace(values[metric], low=result.low, high=result.high, bias=result.bias)
    if not values:
        return None
    # The paper may print a mean of a judge without every split that it is of.
    return JudgeRow(
        model=str(first["model"]),
        title=str(first["title"]),
        kind=str(first["kind"]),
        origin=str(first["origin"]),
        splits=len(tasks) if len(scores[scores["task"].isin(aggregate)]) else splits,
        of=len(tasks),
        values=values,
        why=why,
    )


def _mean(conditions: pd.DataFrame, own: pd.DataFrame, *, metric: str, splits: int) -> float | None:
    """The plain mean over the splits and, but for Controllability, both conditions; None where one has no figure."""
    if not splits:
        return None
    if metric != "controllability":
        if any((metric, condition) not in conditions.columns for condition in CONDITIONS):
            return None
        table = conditions[[(metric, condition) for condition in CONDITIONS]].dropna()
        return float(table.to_numpy().mean()) if len(table) == splits else None
    figures = own[(own["metric"] == metric) & (own["subset"] == "default")]["value"].to_numpy(float)
    if not len(figures):
        sensitive, invariant = (conditions[("mmscore", condition)].to_numpy(float) for condition in CONDITIONS)
        figures = judge.evenness(sensitive=sensitive, invariant=invariant)
        figures = figures[~np.isnan(figures)]
    return float(np.mean(figures)) if len(figures) == splits else None


def lead(rows: Sequence[JudgeRow], *, metric: str, board: Ranking | None) -> Lead | None:
    """Returns who leads a metric among rows of one origin, the one with most of them, and how sure it is; None without
    rows. `board`, the ranking by the metric, decides which judges differ significantly."""
    known = [row for row in rows if metric in row.values]
    if not known:
        return None
    origins = [row.origin for row in known]
    origin = max(dict.fromkeys(origins), key=origins.count)
    known = [row for row in known if row.origin == origin]
    fair = all(row.values[metric].bias is not None for row in known)

    def corrected(row: JudgeRow) -> float:
        return row.values[metric].value - (row.values[metric].bias or 0.0 if fair else 0.0)

    best = max(map(corrected, known))
    leaders = [row for row in known if corrected(row) >= best - 1e-12]
    others = [row for row in known if row not in leaders]
    pairs = [] if board is None else zip(board.table.models, board.table.origins, strict=True)
    at = {pair: row for row, pair in enumerate(pairs)}
    first, *rest = (at.get((row.model, row.origin)) for row in (leaders[0], *others))
    verdict, rivals, why = UNKNOWN, [], "only means over the splits are printed"
    if rest and first is not None and None not in rest:
        if board.decided[first, rest].all():
            rivals = [other.title for other, row in zip(others, rest, strict=True) if not board.better[first, row]]
            verdict = NOT_SIGNIFICANT if rivals or len(leaders) > 1 else SIGNIFICANT
        else:
            why = next(filter(None, (board.unknown[row] or board.why[row] for row in (first, *rest))), why)
    second = max(map(corrected, others), default=None)
    return Lead(
        metric=metric,
        rows=tuple(leaders),
        value=leaders[0].values[metric].value,
        of=len(known),
        verdict=verdict,
        rivals=tuple(rivals),
        why=why,
        next=tuple(row for row in others if corrected(row) == second),
    )
