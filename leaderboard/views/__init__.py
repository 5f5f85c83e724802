"""One file a page; VIEWS is their order in the navigation."""

from __future__ import annotations

from compute.types import View
from leaderboard.views.about import ABOUT
from leaderboard.views.board import BOARD
from leaderboard.views.claims import CLAIMS
from leaderboard.views.compare import COMPARE
from leaderboard.views.correlations import CORRELATIONS
from leaderboard.views.generators import GENERATORS
from leaderboard.views.map import MAP
from leaderboard.views.model import MODEL
from leaderboard.views.overview import OVERVIEW
from leaderboard.views.task import TASK

VIEWS: tuple[View, ...] = (OVERVIEW, BOARD, COMPARE, CORRELATIONS, MAP, MODEL, TASK, GENERATORS, CLAIMS, ABOUT)
