"""What a view of the metric lens is about: a metric and what it makes of each fault, or pairs of backbones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compute.analysis.generators.sensitivity import REWARDS, SEES, Sensitivity
from compute.engine.generators.backbones import JOIN
from compute.tasks.mini.generators import FAULTS
from leaderboard.data import suite_queries
from leaderboard.data.memo import shared
from leaderboard.html.formatting import blank, number
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.lens import heatmap
from leaderboard.pages.lens.study import study_of, verdict_words


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The metric that the query names on the backbone that it names, else the pairs of backbones; None for neither."""
    metric, pairs = _metric(site, query), query.get("pairs", "")
    title = next((title for title, key in heatmap.choices(site, study_of(site)) if key == pairs), "") if pairs else ""
    if not title:
        return metric
    if metric:
        return replace(metric, query=(*metric.query, ("pairs", pairs)))
    return Described(
        title=f"Pairs of backbones of cFreD: {title}", sentence=_of_pairs(site, pairs), query=(("pairs", pairs),)
    )


@shared
def _of_pairs(site: Site, key: str) -> str:
    grid = heatmap.load(site, study_of(site), key=key)
    if grid is None:
        return "No agreement is defined for these pairs of backbones."
    images, texts = len(grid.images), len(grid.texts)
    return (
        f"{images} image × {texts} text backbone{'s' if texts > 1 else ''}: cFreD follows {grid.order} with a "
        f"correlation of {number(grid.cells.min(), digits=2)} to {number(grid.cells.max(), digits=2)}."
    )


def _metric(site: Site, query: Mapping[str, str]) -> Described | None:
    study = study_of(site)
    metric, backbone = query.get("metric", ""), query.get("backbone", "")
    if metric not in study.subsets:
        return None
    subset = backbone if backbone in study.subsets[metric] else study.subsets[metric][0]
    readings = study.of(metric, subset)
    title = suite_queries.metrics(site.db).loc[metric, "title"]
    shown = sorted(readings, key=lambda fault: readings[fault].verdict == SEES)  # first what it does not see
    seen, rewarded = (
        [FAULTS[fault].title.lower() for fault, reading in readings.items() if reading.verdict == verdict]
        for verdict in (SEES, REWARDS)
    )
    worse = f"it gets worse with {', '.join(seen)}" if seen else "it is not shown to get worse with any of them"
    better = f", and better with {', '.join(rewarded)}" if rewarded else ""
    return Described(
        title=f"{title} sees {len(seen)} of {len(readings)} faults (synthetic)",
        sentence=f"{title} on features of {subset.replace(JOIN, ' and ')}, on drawn generators with one known fault "
        f"each: {worse}{better}.",
        query=(("metric", metric), *((("backbone", backbone),) if backbone == subset else ())),
        rows=tuple(_row(fault, readings[fault]) for fault in shown),
        caption="Spearman with the fault’s strength, −1 to 1, 95% interval",
    )


def _row(fault: str, reading: Sensitivity) -> DescribedRow:
    ends = (reading.spearman, reading.spearman_low, reading.spearman_high)
    value, low, high = (None if end is None or blank(end) else (end + 1) / 2 for end in ends)
    return DescribedRow(
        label=f"{FAULTS[fault].title}: {verdict_words(reading)}",
        text=number(reading.spearman, digits=2, sign=True),
        value=value,
        low=low,
        high=high,
    )
