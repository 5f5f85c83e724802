"""What the page About found: how many figures the board has, of which version and age, and what was recomputed."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.data import suite_queries
from leaderboard.page import Described, Site


def describe(site: Site, query: Mapping[str, str]) -> Described:
    """The counts that the page itself shows."""
    counts = suite_queries.counts(site.db).iloc[0]
    version, years = suite_queries.data_version(site.db), suite_queries.years(site.db)
    facts = [
        f"{counts.models:,} models with scores, {counts.tasks:,} tasks, {counts.scores:,} scores",
        f"{counts.recomputed:,} claims recomputed, of which {counts.conflicts:,} conflict with what is printed",
        *([f"version {version} of the figures"] if version else []),
        *([f"papers of {' to '.join(map(str, dict.fromkeys((years[0], years[-1]))))}"] if years else []),
    ]
    return Described(title="About", sentence=f"{'; '.join(facts)}. How they are taken, ranked and tested.")
