"""The metrics of a comparison beside what people think of the same generators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from compute.analysis.generators import bradley_terry
from compute.analysis.generators.metric_agreement import (
    Estimate,
    MetricDifference,
    PeopleAgreement,
    agreement,
    differences,
)
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.tables import padded
from compute.tasks.generators.human import HumanTable
from compute.tasks.generators.sets import some
from compute.types import BadInput, Undefined

_ROWS = {metric.key: metric for metric in METRICS}
LISTED = 5  # pairs of metrics that are named


@dataclass(frozen=True, kw_only=True)
class RatedGenerators:
    """People's ratings of the compared generators, higher is better: `ranks` as a table lists them, 1 best, None where
    it lists none; `intervals` are 95% intervals of ratings that were fitted from votes, in Elo points; `warnings` name
    who is left out."""

    metric: str
    names: tuple[str, ...]
    ratings: tuple[float, ...]
    ranks: tuple[float, ...] | None
    intervals: tuple[tuple[float, float], ...]
    warnings: tuple[str, ...]

    @property
    def stored(self) -> dict[str, tuple[str, float]]:
        """What is stored of each generator: the metric's key and its value."""
        return {
            name: (self.metric, -value if self.metric == "human_rank" else value)
            for name, value in zip(self.names, self.ratings, strict=True)
        }


@dataclass(frozen=True, kw_only=True)
class People(RatedGenerators):
    """The ratings with each metric beside them: `agreements` go with `metrics`, pairs of metric and backbone;
    `undefined` says why others have none."""

    metrics: tuple[tuple[str, str], ...]
    agreements: tuple[PeopleAgreement, ...]
    differences: tuple[MetricDifference, ...]
    undefined: tuple[str, ...]


def rated(table: HumanTable, *, generated: Sequence[str]) -> RatedGenerators:
    """The ratings of those of `generated` that the table rates.

    Votes are fitted by Bradley and Terry over all generators that they name. Raises BadInput where fewer than two of
    the compared generators are rated, Undefined for votes that no finite strengths fit.
    """
    warnings = list(table.notes)
    values, intervals = dict(table.values), {}
    if table.wins is not None:
        fitted = bradley_terry.fit(table.wins, names=table.names)
        values = dict(zip(table.names, fitted.elo.tolist(), strict=True))
        spans = zip(fitted.low.tolist(), fitted.high.tolist(), strict=True)
        intervals = {
            name: (low * bradley_terry.ELO, high * bradley_terry.ELO)
            for name, (low, high) in zip(table.names, spans, strict=True)
        }
    names = [name for name in generated if name in values]
    for missing, where in (
        ([name for name in generated if name not in values], f"are not in {table.title}"),
        ([name for name in values if name not in generated], f"of {table.title} are not compared"),
    ):
        if missing:
            warnings.append(f"{some(missing, noun='generator')} {where}: left out of the agreement with people")
    if len(names) < 2:
        raise BadInput(
            f"{table.title} rates {some(values, noun='generator')}, the comparison has "
            f"{some(generated, noun='generator')}: name at least two alike"
        )
    sign = -1 if table.metric == "human_rank" else 1
    return RatedGenerators(
        metric=table.metric,
        names=tuple(names),
        ratings=tuple(float(sign * values[name]) for name in names),
        ranks=None if table.ranks is None else tuple(table.ranks[name] for name in names),
        intervals=tuple(intervals[name] for name in names) if intervals else (),
        warnings=tuple(warnings),
    )


def beside(table: HumanTable, *, figures: Sequence[GeneratorFigure], features: SetFeatures) -> People:
    """Every metric's agreement with people, and which metrics differ significantly. Raises as `rated`."""
    people = rated(table, generated=features.generated)
    names, ratings = people.names, people.ratings
    value = {(row.metric, row.backbone, row.generator): row.value for row in figures}
    metrics, agreements, scores, undefined = [], [], [], []
    for metric, backbone in dict.fromkeys((row.metric, row.backbone) for row in figures):
        own = [value.get((metric, backbone, name)) for name in names]
        try:
            if None in own:
                raise Undefined(f"{names[own.index(None)]} has no value")
            of_metric = agreement(
                scores=own,
                human=ratings,
                higher=_ROWS[metric].higher_is_better,
                human_ranks=people.ranks,
                ranks=_mean_ranks(features, metric, names),
            )
        except Undefined as error:
            undefined.append(f"{_ROWS[metric].title} ({backbone}): {error}")
            continue
        metrics.append((metric, backbone))
        agreements.append(of_metric)
        scores.append(own)
    pairs = differences(scores=scores, higher=[_ROWS[metric].higher_is_better for metric, _ in metrics], human=ratings)
    return People(
        **vars(people),
        metrics=tuple(metrics),
        agreements=tuple(agreements),
        differences=pairs,
        undefined=tuple(undefined),
    )


def _mean_ranks(features: SetFeatures, metric: str, names: Sequence[str]) -> list[float] | None:
    """Ranks by the mean rank of a generator's images among all of their prompt, as the paper lists those of metrics
    that score single images; None for others."""
    if metric not in features.scores or not features.prompts:
        return None
    scores = np.array([features.scores[metric][name] for name in names])
    return rankdata(rankdata(-scores, axis=0).mean(axis=1)).tolist()


def lines(people: People) -> list[str]:
    """The agreement as a Markdown table, then which metrics differ significantly, and warnings."""
    title = {"human_rate": "rate", "elo": "Elo", "human_rank": "rank"}[people.metric]
    rated = []
    for row, (name, value) in enumerate(zip(people.names, people.ratings, strict=True)):
        shown = f"{name} {abs(value) if people.metric == 'human_rank' else value:.4g}"
        if people.intervals:
            low, high = people.intervals[row]
            shown += f" ({low:.4g} to {high:.4g})"
        rated.append(shown)
    text = ["", f"People ({title}): {', '.join(rated)}"]
    head = ["metric", "features", "r", "ρ²", "Spearman", "Kendall", "rank acc. by ranks", "by scores", "p", "way"]
    rows = [head]
    for (metric, backbone), row in zip(people.metrics, people.agreements, strict=True):
        rows.append(
            [
                _ROWS[metric].title,
                backbone.replace("|", " x "),
                *map(_shown, (row.pearson, row.rho_squared, row.spearman, row.kendall)),
                *map(_shown, (row.accuracy_by_ranks, row.accuracy_by_scores)),
                f"{row.p:.2g}",
                "right" if row.right_way else "wrong",
            ]
        )
    if len(rows) > 1:
        first, *drawn = padded(rows)
        text += [f"| {' | '.join(row)} |" for row in (first, ["-" * len(cell) for cell in first], *drawn)]
        text.append("r keeps its sign: below 0 is right for a distance. In brackets: 95% interval over generators.")
    reasons = dict.fromkeys(
        estimate.reason
        for row in people.agreements
        for estimate in (row.pearson, row.spearman, row.kendall, row.accuracy_by_ranks, row.accuracy_by_scores)
        if estimate.reason
    )
    text += [f"No interval: {reason}" for reason in reasons]
    text += _significant(people)
    text += [f"No agreement of {line}" for line in people.undefined]
    return text + [f"Warning: {line}" for line in people.warnings]


def _significant(people: People) -> list[str]:
    if not people.differences:
        return []
    significant = [pair for pair in people.differences if pair.told_apart]
    count, n = len(people.differences), len(people.names)
    if not significant:
        least = people.differences[0].possible
        why = f": so few give no p below {least:.2g}" if least > 0.05 / count else ""
        return [f"Of {count} pairs of metrics no difference is significant with {n} generators{why}"]
    named = [
        f"{_name(people, pair.first)} and {_name(people, pair.second)} (p {pair.p:.2g})"
        for pair in significant[:LISTED]
    ]
    more = f" and {len(significant) - LISTED} more" if len(significant) > LISTED else ""
    return [f"{len(significant)} of {count} pairs of metrics differ significantly: {'; '.join(named)}{more}"]


def _name(people: People, row: int) -> str:
    metric, backbone = people.metrics[row]
    return f"{_ROWS[metric].title} ({backbone})"


def _shown(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "-"
    if math.isnan(estimate.low):
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
