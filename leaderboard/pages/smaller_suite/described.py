"""What a view of the smaller suite is about: the suite that it is of."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.data import suite_queries
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, Site


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The suite that the query names; None for no suite or one that has no smaller one."""
    suites = suite_queries.suites(site.db)
    found = suites[(suites["aggregate"] != "human") & (suites["key"] == query.get("suite", ""))]
    if found.empty:
        return None
    about = found.iloc[0]
    title = choice_title(about["title"], about["benchmark"])
    tasks = sum(column.ranked for column in site.suite_cache.table(about["key"]).columns)
    return Described(
        title=f"A smaller {title}",
        sentence=f"Which few of the {tasks} tasks of {title} order models as all of them do, what is lost with the "
        "others, and what it saves.",
        query=(("suite", about["key"]),),
    )
