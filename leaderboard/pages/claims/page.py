"""What the papers say beside what their own figures give, claim by claim.

A claim's own address is `claims?claim=<key>`, with `key` of the table `claims` in the database.
"""

from __future__ import annotations

from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.page import Site, View, citations, heading, static_html
from leaderboard.pages.claims.routes import routes

SENTENCE = "Every figure and statement of the four papers that their own tables can check, printed beside recomputed."


def draw(site: Site) -> None:
    """Static words and the table component, which keeps its state in the address itself."""
    heading(title="Claims", sentence=SENTENCE, cite=citations(site))
    mount = "module.mount(target, 'data/claims');"
    scripted(site.assets, script="pages/claims/claims.js", run=mount, css_class="likeness-board lk-claims")
    static_html(render("pages/claims/verdicts.html"))


CLAIMS = View(key="claims", title="Claims", sentence=SENTENCE, group="Claims", draw=draw, routes=routes)
