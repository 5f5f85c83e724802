"""The board: one suite as a table to sort, search, filter, weigh and compare."""

from __future__ import annotations


from compute.types import View
from leaderboard import ui
from leaderboard.board.board import board

SENTENCE = ("Every model of a benchmark, ranked with the uncertainty of its rank. Sort, filter, weigh the categories; "
            "open a figure to see where it comes from; tick two to six rows to compare them.")


def draw(site: ui.Site) -> None:
    """The table component, which keeps its state in the address itself, and the comparison below it."""
    ui.heading(site, title="Board", sentence=SENTENCE)
    board(site.assets)


BOARD = View(key="board", title="Board", draw=draw)
