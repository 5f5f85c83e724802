"""The board: one suite as a table to sort, search, filter and weight."""

from __future__ import annotations

from markupsafe import Markup

from leaderboard.data import payload
from leaderboard.data.leaders import leading
from leaderboard.html.components import scripted
from leaderboard.html.labels import ORIGIN_TITLES
from leaderboard.html.templates import render
from leaderboard.page import Site, View, citations, heading
from leaderboard.pages.board.routes import routes

HOME = "unisim-core"  # the suite that an address without one shows
MOST_PLAIN = 50  # rows
SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Open a score for its source; "
    "tick two to six rows to compare them."
)


def draw(site: Site) -> None:
    """The table component, which keeps its state in the address itself."""
    # The table has a button of its own that copies the address: it keeps the state.
    heading(title="Board", sentence=SENTENCE, cite=citations(site), copy=False, inline=True)
    scripted(
        site.assets,
        script="pages/board/board.js",
        css_class="likeness-board",
        run=f"target.dataset.suite = '{HOME}'; module.mount(target, {{ root }});",
    )


def plain(site: Site, suite: str) -> Markup:
    """The best ranked models of a suite, or of the one that the board opens on, for readers without scripts."""
    suites = {row.key: row for row in site.db.query("suites").itertuples()}
    table = site.suite_cache.table(suite if suite in suites else HOME)
    rows = leading(table, site.suite_cache.ranked(table.suite["key"]))
    return render(
        "pages/board/plain.html",
        suite=payload.suite_facts(table),
        origin=ORIGIN_TITLES[table.origin] if len({row.origin for row in table.rows}) > 1 else "",
        ranked=len(rows),
        suites=[(row.title, f"board?suite={row.key}") for row in suites.values()],
        rows=rows[:MOST_PLAIN],
    )


BOARD = View(
    key="board",
    title="Board",
    sentence=SENTENCE,
    group="Board",
    draw=draw,
    routes=routes,
    about="suite",
    name_of=lambda site, key: site.suite_cache.suites().get(key, ("",))[0],
    plain=plain,
)
