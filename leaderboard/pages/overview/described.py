"""What the first page is about: the model of the first rank of every benchmark, and whether that is proved."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.html.labels import is_synthetic
from leaderboard.page import SITE, Described, DescribedRow, Site
from leaderboard.pages.overview.findings import lead


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
            trained = ", trained on some of these data sets" if first.trained else ""
            text = f"leads{trained}{first.proof}"
            rows.append(DescribedRow(label=f"{table.suite['title']}: {first.title}", text=text))
    if not rows:
        return None
    sentence = " ".join(f"{row.label} {row.text}." for row in rows)
    return Described(
        title=SITE,
        sentence=sentence,
        rows=tuple(rows),
        caption="The model ranked first, and whether others differ significantly from it",
    )
