"""What the first page is about: the model of the first rank of every benchmark, and whether that is proved."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.html.labels import is_synthetic
from leaderboard.page import SITE, Described, DescribedRow, Site
from leaderboard.pages.overview.findings import SuiteLead, lead


def describe(site: Site, query: Mapping[str, str], *, suites: tuple[str, ...]) -> Described | None:
    """The leaders of those of the suites that have real figures and a ranking; None where none has."""
    rows = []
    for key in suites:
        if key not in site.suite_cache.suites():
            continue
        table = site.suite_cache.table(key)
        ranked = site.suite_cache.ranked(key)
        first = None if ranked is None or is_synthetic(table.suite["benchmark"]) else lead(table, ranked)
        if first:
            rows.append(DescribedRow(label=f"{table.suite['title']}: {first.title}", text=proof(first)))
    if not rows:
        return None
    sentence = "; ".join(f"{row.label} ({row.text})" for row in rows)
    return Described(
        title=SITE,
        sentence=f"Ranked first: {sentence}.",
        rows=tuple(rows),
        caption="The model ranked first, and whether others differ significantly from it",
    )


def proof(first: SuiteLead) -> str:
    """How far the first rank is proved, in a few words."""
    if not first.others:
        return "the only model with a rank"
    if first.unknown or first.untested == first.others:
        return "whether that is chance is unknown"
    if first.tied:
        return f"no significant difference from {first.tied} of {first.others} others"
    return f"significantly better than {first.others - first.untested} of {first.others} others"
