"""Every task in one list: search, filters, how its models score, with a link to each task's own page."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from leaderboard.data.memo import shared
from leaderboard.html.templates import render
from leaderboard.page import Described, Site, View, catalogue
from leaderboard.pages.tasks.listing import summary
from leaderboard.pages.tasks.routes import routes

SENTENCE = (
    "Every task with its benchmark, category, metric and languages, and how the models score on it. Click a name for "
    "the task's own page."
)


@shared
def answer(site: Site) -> Markup:
    """The first sentence, with links to what it counts."""
    return render("pages/tasks/answer.html", **summary(site.db))


def describe(site: Site, query: Mapping[str, str]) -> Described:
    """What the first sentence counts, whatever the list is filtered by."""
    return Described(title="Tasks", sentence=answer(site).striptags())


def draw(site: Site) -> None:
    """The answer, then the list."""
    catalogue(
        site,
        title="Tasks",
        sentence=SENTENCE,
        answer=answer,
        script="pages/tasks/tasks.js",
        source="data/tasks",
    )


TASKS = View(
    key="tasks",
    title="Tasks",
    sentence=SENTENCE,
    describe=describe,
    group="Models & tasks",
    draw=draw,
    routes=routes,
)
