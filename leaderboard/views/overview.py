"""The first page."""

from __future__ import annotations

from compute.types import View
from leaderboard import ui


def draw(site: ui.Site) -> None:
    ui.heading(site, title="Likeness", sentence="One board for the models that judge likeness.")


OVERVIEW = View(key="", title="Overview", draw=draw)
