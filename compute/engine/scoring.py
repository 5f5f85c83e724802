"""Computes a run's scores from its evidence, for every metric of the task and every subset, and detects doubtful
results.

A doubtful score is stored unchanged. Weak but valid models repeat an answer often and give a few items equal vectors (a
colour histogram of a rotated image, a bag of words of a reordered sentence), so the thresholds are far above that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from compute.analysis.intervals import score_interval
from compute.arrays import Floats, mean_if_known
from compute.content.items import Column
from compute.engine.plan import Job
from compute.features.subject import Subject
from compute.metrics.figures import Figure
from compute.metrics.registry import METRICS
from compute.procedures.evidence import Evidence
from compute.procedures.shared.similarity import embeds
from compute.types import WHOLE, BadInput, Metric, Task, Undefined

FEWEST, SAME, VARIED = 20, 0.99, 0.9  # items; share of one answer that is odd, below this share of one label
EQUAL, FEW = 0.01, 3  # share of items, and their number, above which one vector for all of them is odd
SAMPLE = 5000  # items per column whose vectors are read
FEATURES = "features that are all equal"
ONE_SIDE = "vectors that are all equal, or a judge that prefers one option whatever it is shown"
LIKELY = {  # likely causes of a constant answer, by procedure; other procedures repeat answers in valid runs too
    "probe": f"{FEATURES}, a classifier that did not converge, training labels that are sorted or shifted",
    "zero_shot": f"{FEATURES}, prompts that are all equal",
    "neighbours": FEATURES,
    "clustering": FEATURES,
    "choice": ONE_SIDE,
    "odd_one_out": ONE_SIDE,
    "multiple_choice": ONE_SIDE,
    "judging": ONE_SIDE,
}


def scored(
    task: Task, evidence: Mapping[str, pd.DataFrame]
) -> tuple[list[tuple[str, str, Figure]], dict[str, dict[str, str]]]:
    """Returns every metric of the task on every subset and, if the task has a whole, on that as `default`.

    Returns rows of metric, subset and score, and by metric and subset why others are undefined. Raises Undefined if the
    headline, the task's first metric, is undefined. Another metric that is undefined on a subset is also undefined on
    the whole.
    """
    rows, undefined = [], {}
    for metric in task.metrics:
        row = row_of(metric)
        whole = None if row is None else row.whole
        parts: dict[str, Figure] = {}
        reasons: dict[str, Undefined] = {}
        for subset, frame in evidence.items() if whole is None or row.compute is not None else ():
            try:
                parts[subset] = summarise(metric, frame)
            except Undefined as error:
                reasons[subset] = error
        if not reasons and WHOLE not in parts and (len(evidence) > 1 or (evidence and not parts)):
            try:
                shared = task.subsets == (WHOLE,)
                parts[WHOLE] = whole(evidence) if whole else _mean(metric, parts, evidence, shared=shared)
            except Undefined as error:
                reasons[WHOLE] = error
        if reasons and metric == task.metrics[0]:
            raise next(iter(reasons.values()))
        if reasons:
            undefined[metric] = {subset: str(error) for subset, error in reasons.items()}
        rows.extend((metric, subset, part) for subset, part in parts.items())
    return rows, undefined


def summarise(metric: str, items: pd.DataFrame) -> Figure:
    """Returns the metric with this key over evidence, one row per item.

    A metric with its own column is the mean over rows with a value; a row without one was not answered. Its standard
    error is sd / sqrt(n), or sqrt(p (1 - p) / n) if every value is 0 or 1. Its `lower_bound` counts every row without a
    value as the metric's lowest. Any other metric is computed by the function in METRICS from its columns. Raises
    Undefined for an undefined score, BadInput if a column is missing.
    """
    row = row_of(metric)
    if metric in items.columns:
        return _mean_of_items(metric, items[metric].to_numpy(dtype=float), row=row)
    if row is None or row.compute is None:
        raise BadInput(
            f"The evidence has no column {metric!r} and METRICS has no function of that key: the columns are "
            f"{', '.join(map(str, items.columns))}"
        )
    missing = [column for column in row.inputs if column not in items.columns]
    if missing:
        raise BadInput(f"{metric} needs the column {missing[0]!r}, which the evidence does not have")
    return row.compute(*(items[column] for column in row.inputs))


def row_of(metric: str) -> Metric | None:
    """Returns the row of METRICS with this key; None for a procedure's own column."""
    return next((row for row in METRICS if row.key == metric), None)


def _mean_of_items(metric: str, values: Floats, *, row: Metric | None) -> Figure:
    asked, values = len(values), values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        raise Undefined(f"{metric}: no item was answered, so there is nothing to average")
    value = float(values.mean())
    if np.isin(values, (0.0, 1.0)).all():
        error: float | None = float(np.sqrt(value * (1 - value) / n))
    else:
        error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    # Without bounds, or if lower is better, a wrong answer has no worst value below.
    lowest = row.lower if row is not None and row.higher_is_better else None
    bound = None if n == asked or lowest is None else float((values.sum() + (asked - n) * lowest) / asked)
    return Figure(value=value, n=n, stderr=error, answered=n / asked, lower_bound=bound)


def _mean(metric: str, parts: Mapping[str, Figure], evidence: Mapping[str, pd.DataFrame], *, shared: bool) -> Figure:
    """Returns the mean of the subsets' scores; protocols that share their items each count once.

    If the metric is not a mean over items, its error is the mean of the subsets' errors, which is never less than the
    true one under any dependence of the subsets.
    """
    counts, error = [part.n for part in parts.values()], _joint_error(metric, evidence)
    if error is None:
        error = mean_if_known([part.stderr for part in parts.values()])
    asked = [part.n / part.answered for part in parts.values()]
    missing = any(part.answered < 1 for part in parts.values())
    bounds = [part.value if part.answered == 1 else part.lower_bound for part in parts.values()]
    value, bias = (
        float(np.mean([part.value for part in parts.values()])),
        mean_if_known([p.bias for p in parts.values()]),
    )
    low = high = None
    if bias is not None and error is not None and (row := row_of(metric)) is not None:
        low, high = score_interval(value=value - bias, stderr=error, lower=row.lower, upper=row.upper)
        low, high = min(low, row.upper), max(high, row.lower)
    return Figure(
        value=value,
        bias=bias,
        low=low,
        high=high,
        stderr=error,
        n=max(counts) if shared else sum(counts),
        answered=sum(counts) / sum(asked) if missing else 1.0,
        lower_bound=float(np.mean(bounds)) if missing and None not in bounds else None,
    )


def _joint_error(metric: str, evidence: Mapping[str, pd.DataFrame]) -> float | None:
    """Returns the standard error of the mean of the subsets' means; None for a metric that is not a mean over items.

    Items with the same name in several subsets form a cluster: the result is the variance of a mean of clusters.
    """
    if any(metric not in frame for frame in evidence.values()):
        return None
    shares = []
    for frame in evidence.values():
        values = pd.Series(frame[metric].to_numpy(dtype=float), index=frame["item"].to_numpy()).dropna()
        shares.append((values - values.mean()) / (len(values) * len(evidence)))
    together = pd.concat(shares).groupby(level=0).sum()
    count = len(together)
    return float(np.sqrt((together**2).sum() * count / (count - 1))) if count > 1 else None


def tied(evidence: Mapping[str, Evidence]) -> float | None:
    """Returns the share of items decided by an exact tie; None if the procedure does not count them."""
    counts = [part.settings["tied"] for part in evidence.values() if "tied" in part.settings]
    items = sum(len(part.items) for part in evidence.values())
    return sum(counts) / items if counts and items else None


def answered(evidence: Mapping[str, pd.DataFrame], metric: str) -> float:
    """Returns the share of items with a value in the metric's column; 1 without such a column."""
    known = [frame[metric].notna().to_numpy() for frame in evidence.values() if metric in frame.columns]
    return float(np.concatenate(known).mean()) if known else 1.0


def doubts(job: Job, subject: Subject, columns: Sequence[Column], evidence: Mapping[str, Evidence]) -> list[str]:
    """Returns a sentence, with likely causes, for each rule by which a run on these prepared columns is doubtful.

    It describes the first affected subset or column, and counts the others.
    """
    found = [list(_one_answer(job, evidence)), list(_one_vector(job, subject, columns))]
    return [f"{first}{f' ({len(others)} more alike)' if others else ''}" for first, *others in filter(None, found)]


def _one_answer(job: Job, evidence: Mapping[str, Evidence]) -> Iterator[str]:
    key = job.task.procedure
    if key not in LIKELY or (key == "judging" and job.way != "choose"):  # numeric scores are rounded to few values
        return
    for subset, part in evidence.items():
        n, labels = len(part.items), part.items["expected"].value_counts()
        if n < FEWEST or labels.iloc[0] >= VARIED * n:
            continue
        ((answer, count),) = Counter(part.items["answer"]).most_common(1)
        if answer and count >= SAME * n:  # an empty answer means several labels, none of which is likely
            where = f"{subset}: " if len(evidence) > 1 else ""
            said = f"{count:,} of {n:,} answers are {answer!r}, where {len(labels):,} different ones are right"
            yield f"{where}{said}. Likely causes: {LIKELY[key]}"


def _one_vector(job: Job, subject: Subject, columns: Sequence[Column]) -> Iterator[str]:
    if job.way != "embed" or subject.row.late_interaction:
        return
    for column in columns:
        some = column.take(np.arange(0, len(column), 1 + len(column) // SAMPLE))
        some = some.take(np.unique(some.keys, return_index=True)[1])
        if len(some) >= FEWEST and embeds(subject, column):
            count = max(Counter(vector.tobytes() for vector in subject.embed(some)).values())
            if count > max(FEW, EQUAL * len(some)):
                kind, loaded = column.modality, ", weights that were not loaded" if count == len(some) else ""
                yield (
                    f"{count:,} of {len(some):,} different {kind}s have the same vector. Likely causes: preprocessing "
                    f"that makes {kind}s the same, pooling that reads a constant token{loaded}"
                )
