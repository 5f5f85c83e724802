"""The board: one suite as a table to sort, search, filter and weight."""

from __future__ import annotations

from leaderboard.html.components import scripted
from leaderboard.page import Site, View, citations, heading
from leaderboard.pages.board.routes import routes

SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Open a figure for its source; "
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
        run="target.dataset.suite = 'unisim-core'; module.mount(target, { root });",
    )


BOARD = View(key="board", title="Board", sentence=SENTENCE, group="Board", draw=draw, routes=routes)
