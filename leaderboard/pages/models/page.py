"""Every model in one list: search, filters, ranks and category means, with a link to each model's own page."""

from __future__ import annotations

from markupsafe import Markup

from leaderboard.data.memo import shared
from leaderboard.html.templates import render
from leaderboard.page import Site, View, catalogue
from leaderboard.pages.models.listing import summary
from leaderboard.pages.models.routes import routes

SENTENCE = (
    "Every model with what it takes, its size and licence, and its rank and category means in a suite. Click a name "
    "for the model's own page."
)


@shared
def answer(site: Site) -> Markup:
    """The first sentence, with links to what it counts."""
    return render("pages/models/answer.html", **summary(site.db))


def draw(site: Site) -> None:
    """The answer, then the list."""
    catalogue(
        site,
        title="Models",
        sentence=SENTENCE,
        answer=answer,
        script="pages/models/models.js",
        source="data/models",
    )


MODELS = View(
    key="models",
    title="Models",
    sentence=SENTENCE,
    group="Models & tasks",
    draw=draw,
    routes=routes,
)
