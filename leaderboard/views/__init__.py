"""One file a page; VIEWS is their order in the navigation."""

from __future__ import annotations

from compute.types import View
from leaderboard.views.board import BOARD
from leaderboard.views.overview import OVERVIEW

VIEWS: tuple[View, ...] = (OVERVIEW, BOARD)
