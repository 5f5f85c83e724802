"""A page on which visitors query the database in SQL: `sql?query=<text>` fills in a query, and only Run sends it."""

from __future__ import annotations

from leaderboard.html.components import scripted
from leaderboard.page import Site, View, citations, heading
from leaderboard.pages.sql.routes import routes

SENTENCE = (
    "Read the whole database with one SELECT: every score, run, model, task and claim. "
    "Start from an example or write your own; the address holds the query."
)


def draw(site: Site) -> None:
    """Static words and the component, which keeps the query in the address itself."""
    heading(title="SQL", sentence=SENTENCE, cite=citations(site))
    mount = "module.mount(target, {description: 'data/sql', answer: 'data/sql'});"
    scripted(site.assets, script="pages/sql/sql.js", run=mount, css_class="likeness-board lk-sql")


SQL = View(key="sql", title="SQL", sentence=SENTENCE, group="Models & tasks", draw=draw, routes=routes)
