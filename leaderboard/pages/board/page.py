"""The board: one suite as a table to sort, search, filter and weight."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

from markupsafe import Markup

from leaderboard.data import payload, replication
from leaderboard.data.suite_cache import leading
from leaderboard.html.components import scripted
from leaderboard.html.labels import SHORT, origin_title
from leaderboard.html.templates import render
from leaderboard.page import PAPERS, Site, View
from leaderboard.pages.board.routes import routes

HOME = "unisim-core"  # the suite that an address without one shows
MOST_ROWS = 25  # before the table is there
SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Open a score for its source; "
    "tick two to six rows to compare them."
)


def draw(site: Site) -> None:
    """The table component, which keeps its state in the address itself."""
    scripted(
        site.assets,
        script="pages/board/board.js",
        css_class="likeness-board",
        rows=partial(rows, site),
        data=lambda query: f"data/board/{quote(query.get('suite') or HOME, safe='')}",
        run=f"target.dataset.suite = '{HOME}'; module.mount(target, {{ root }});",
    )


def rows(site: Site, query: Mapping[str, str]) -> Markup:
    """Returns the best ranked models of the suite that an address names, or of the one that the board opens on."""
    suites, suite = site.suite_cache.suites(), query.get("suite", "")
    table = site.suite_cache.table(suite if suite in suites else HOME)
    ranked = site.suite_cache.ranked(table.suite["key"])
    listed, (values, _), columns = leading(table, ranked), payload.cells(table, ranked), table.category_columns
    return render(
        "pages/board/rows.html",
        suite=payload.suite_facts(table, replication.sensitivity(site.db, table, ranked)),
        suites=[(title, f"board?suite={key}") for key, (title, *_) in suites.items()],
        categories=[SHORT.get(column.title, column.title) for column in columns],
        origin=origin_title(table.origin) if len({row.origin for row in table.rows}) > 1 else "",
        ranked=len(listed),
        rows=[
            row | {"means": [column.number(mean) for column, mean in zip(columns, values[row["row"]], strict=False)]}
            for row in listed[:MOST_ROWS]
        ],
    )


BOARD = View(
    key="board",
    title="Board",
    sentence=SENTENCE,
    cites=PAPERS,
    copied=False,  # the table has a button of its own: it keeps the state
    inline=True,
    group="Board",
    draw=draw,
    routes=routes,
    about=("suite", "language"),
    subject=lambda site, key: (suites[key][0], SENTENCE) if key in (suites := site.suite_cache.suites()) else None,
)
