"""What the papers say beside what their own figures give, claim by claim."""

from __future__ import annotations

from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.page import Site, View, citations, heading, static_html
from leaderboard.pages.claims.routes import routes

SENTENCE = (
    "Every figure and statement of the four papers that their own tables can check, printed beside recomputed. "
    "Conflicts come first. Click a count to filter, a row to read its claim in full."
)


def draw(site: Site) -> None:
    """Static words and the table component, which keeps its state in the address itself."""
    heading(title="Claims", sentence=SENTENCE, cite=citations(site))
    mount = "module.mount(target, 'data/claims');"
    scripted(site.assets, script="pages/claims/claims.js", run=mount, css_class="likeness-board lk-claims")
    static_html(render("pages/claims/verdicts.html"))


CLAIMS = View(key="claims", title="Claims", draw=draw, routes=routes)
