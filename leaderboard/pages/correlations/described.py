"""What a view of the correlations is about: its suites, the pair that is open, the most and the least alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from compute.analysis.correlation import extreme_pairs
from compute.types import BadInput
from leaderboard.data import suite_queries
from leaderboard.html.formatting import blank, number, span
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.correlations import query as correlation_query
from leaderboard.pages.correlations.axes import with_origin
from leaderboard.pages.correlations.matrix import AxisPair, CorrelationMatrix, MatrixCache, pair
from leaderboard.pages.correlations.query import METHODS, PRESETS, CorrelationQuery
from leaderboard.web.parameters import Parameter

MOST_SUITES = 4  # that a description names


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The choice that the query names, and its opened pair; None for more suites than can be named.

    Single models, the least number of models and the order are not part of it. Raises BadInput for an unknown
    suite and for a choice without a correlation.
    """
    suites = suite_queries.suites(site.db)
    known = correlation_query.parameters(suites=suites["key"], models=[])
    usual = CorrelationQuery()
    spelt_out = {key: text for key, text in correlation_query.spelt_out(query).items() if key != "models"}
    if len(correlation_query.read(known, spelt_out).suites) > MOST_SUITES:  # before any table of theirs is read
        return None
    whole = correlation_query.read(known, with_origin(site.suite_cache, spelt_out))
    chosen = replace(whole, order=usual.order)
    if query.get("preset") not in PRESETS:
        chosen = replace(chosen, minimum=usual.minimum, means=usual.means)
    matrix = MatrixCache(site.suite_cache).get(chosen)
    titles = {row.key: choice_title(row.title, row.benchmark) for row in suites.itertuples()}
    named = ", ".join(titles[suite] for suite in chosen.suites)
    opened = _opened(matrix, query.get("pair", ""))
    most_least = _extremes(matrix)
    rows = [_row(each) for each in ([opened] if opened is not None else []) + most_least]
    first = f"{_words(opened, matrix)}. " if opened is not None else ""
    alike = [
        f"{label} alike are {_words(each, matrix)}." for label, each in zip(("Most", "Least"), most_least, strict=False)
    ]
    written = _written(known, chosen, query)
    if not written and opened is None:
        return Described(
            title="Correlations",
            sentence=" ".join([*alike, f"{chosen.level.capitalize()} of {named}."]),
            rows=tuple(rows),
            caption=_caption(matrix),
        )
    return Described(
        title=f"{opened.x.label} and {opened.y.label}"
        if opened is not None
        else f"Correlations: {chosen.level} of {named}",
        sentence=" ".join([first + f"{chosen.level.capitalize()} of {named}, {chosen.origin} figures.", *alike]),
        query=(*written, *((("pair", f"{opened.x.key},{opened.y.key}"),) if opened is not None else ())),
        rows=tuple(rows),
        caption=_caption(matrix, opened=opened is not None),
    )


def _written(
    known: tuple[Parameter, ...], chosen: CorrelationQuery, query: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """What of the choice its canonical address has: the preset, else all that is not a default."""
    if query.get("preset") in PRESETS:
        return (("preset", query["preset"]),)
    values = asdict(chosen)
    return tuple(
        (each.key, each.write(values[each.key]))
        for each in known
        if each.key in values and each.write(values[each.key]) != each.write(each.default)
    )


def _opened(matrix: CorrelationMatrix, keys: str) -> AxisPair | None:
    first, _, second = keys.partition(",")
    if first == second:
        return None
    try:
        found = pair(matrix, first, second)
    except BadInput:
        return None
    return None if found.why else found


def _extremes(matrix: CorrelationMatrix) -> list[AxisPair]:
    """The pairs of which it is surest that they are most and least alike; none where that cannot be told."""
    extremes = extreme_pairs(correlation=matrix.correlation, method=matrix.query.method)
    if extremes is None:
        return []
    keys = [axis.key for axis in matrix.scores.axes]
    return [pair(matrix, keys[first], keys[second]) for first, second in (extremes.most, extremes.least)]


def _words(each: AxisPair, matrix: CorrelationMatrix) -> str:
    interval = "no interval" if blank(each.low) else f"95% interval {span(each.low, each.high, digits=2)}"
    return (
        f"{each.x.label} and {each.y.label} ({METHODS[matrix.query.method]} {number(each.r, digits=2)}, {interval}, "
        f"{len(each.models)} models)"
    )


def _row(each: AxisPair) -> DescribedRow:
    value, low, high = (None if blank(end) else (end + 1) / 2 for end in (each.r, each.low, each.high))
    return DescribedRow(
        label=f"{each.x.label}, {each.y.label}", text=number(each.r, digits=2), value=value, low=low, high=high
    )


def _caption(matrix: CorrelationMatrix, *, opened: bool = False) -> str:
    shown = "This pair, then the most and least alike" if opened else "Most and least alike"
    return f"{shown}: {METHODS[matrix.query.method]}, −1 to 1, 95% interval"
