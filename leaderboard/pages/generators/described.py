"""What a view of the generators is about: one metric on every set, every metric on one set, or a computed set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leaderboard.html.formatting import blank, number, span
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.generators.computed import ComputedSet, MetricColumn, sets_of
from leaderboard.pages.generators.metrics import METRIC_MODELS, SETS, GeneratorMetric, MetricComparison, comparison_of

CAPTION = "Pairs of generators ordered as people do, 95% interval"
MOST = 6  # rows of the share picture
USUAL = "hpdv2"


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The set and the metric that the query names; None where it names neither."""
    key, metric = query.get("set", ""), query.get("metric", "")
    computed = sets_of(site).get(key)
    if computed is not None:
        return _computed(computed, metric=metric if metric in computed.columns else "")
    named = tuple(
        (name, value)
        for name, value, known in (("set", key, SETS), ("metric", metric, METRIC_MODELS))
        if value in known
    )
    if not named or (key and key not in SETS):
        return None
    comparison = comparison_of(site, key or USUAL)
    if metric in METRIC_MODELS:
        return _metric(site, comparison, metric=metric, query=named)
    metrics = sorted(comparison.metrics, key=lambda each: -each.agreement.accuracy)
    return Described(
        title=f"Which metrics follow people on {comparison.title}",
        sentence=_proved(comparison),
        query=named,
        rows=tuple(_row(each.title, each) for each in metrics[:MOST]),
        caption=CAPTION,
    )


def _metric(site: Site, comparison: MetricComparison, *, metric: str, query: tuple[tuple[str, str], ...]) -> Described:
    shown = comparison.metric(metric)
    rows = []
    for key, title in SETS.items():
        other = comparison_of(site, key)
        rows.append(_row(f"{title} ({len(other.human)}): {other.metric(metric).reading}", other.metric(metric)))
    agreement = shown.agreement
    interval = span(agreement.accuracy_low, agreement.accuracy_high, digits=0, scale=100)
    known = f" (95% interval {interval})" if not blank(agreement.accuracy_low) else ", with no interval"
    return Described(
        title=f"{shown.title} on {comparison.title}: {shown.reading}",
        sentence=f"{shown.column.title} orders {number(agreement.accuracy, digits=0, scale=100)}% of the pairs of "
        f"{agreement.generators} generators as people do{known}. {_proved(comparison)}",
        query=query,
        rows=tuple(rows),
        caption=CAPTION,
    )


def _proved(comparison: MetricComparison) -> str:
    trust = comparison.trust
    if trust.too_few:
        return f"{comparison.title} has {trust.generators} generators: too few to prove anything about any metric."
    where = f"on the {trust.generators} generators of {comparison.title}"
    if not trust.proven:
        return (
            f"None of the {len(comparison.metrics)} metrics is proved to follow people {where}, or to go against them."
        )
    follows, trained = len(trust.follows), len(trust.trained_on_set)
    own = f", and {trained} more that {'was' if trained == 1 else 'were'} trained on this set" if trained else ""
    against = f"; {len(trust.against)} to go against them" if trust.against else ""
    return (
        f"Of {len(comparison.metrics)} metrics {follows} {'is' if follows == 1 else 'are'} proved to follow people "
        f"{where}{own}{against}."
    )


def _row(label: str, metric: GeneratorMetric) -> DescribedRow:
    agreement = metric.agreement
    return DescribedRow(
        label=label,
        text=f"{number(agreement.accuracy, digits=0, scale=100)}%",
        value=agreement.accuracy,
        low=None if blank(agreement.accuracy_low) else agreement.accuracy_low,
        high=None if blank(agreement.accuracy_high) else agreement.accuracy_high,
    )


def _computed(computed: ComputedSet, *, metric: str) -> Described:
    column = computed.column(metric or next(iter(computed.columns)))
    title = choice_title(computed.title, computed.benchmark)
    best = computed.generators[column.order[0]].title if len(column.order) else ""
    shared = len(column.first) - 1
    sentence = f"{best} is first of {len(column.order)} generators by {column.title} on features of {column.features}"
    if column.differences is None:
        rest = "no difference can be tested"
    else:
        rest = (
            f"{shared} {'more is' if shared == 1 else 'more are'} not proven worse"
            if shared
            else "all others are proven worse"
        )
    return Described(
        title=f"{title} by {column.title}",
        sentence=f"{sentence}; {rest}." if best else title,
        query=(("set", computed.key), *((("metric", metric),) if metric else ())),
        rows=_generators(computed, column),
        caption=f"{column.title}, {'higher' if column.higher else 'lower'} is better, and its 95% interval",
    )


def _generators(computed: ComputedSet, column: MetricColumn) -> tuple[DescribedRow, ...]:
    rows = column.order[:MOST]
    values = np.array([column.values[rows], column.low[rows], column.high[rows]])
    least, most = (np.nanmin(values), np.nanmax(values)) if len(rows) else (0.0, 1.0)

    def at(value: float) -> float | None:
        return None if blank(value) else float((value - least) / ((most - least) or 1.0))

    return tuple(
        DescribedRow(
            label=computed.generators[row].title,
            text=number(column.values[row], digits=column.decimals, scale=column.scale),
            value=at(column.values[row]),
            low=at(column.low[row]),
            high=at(column.high[row]),
        )
        for row in rows
    )
