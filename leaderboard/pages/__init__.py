"""One folder per page. VIEWS is their order in the navigation; MOVED has addresses that redirect."""

from __future__ import annotations

from leaderboard.page import View
from leaderboard.pages.about.page import ABOUT
from leaderboard.pages.board.page import BOARD
from leaderboard.pages.choose.page import CHOOSE
from leaderboard.pages.claims.page import CLAIMS
from leaderboard.pages.compare.page import COMPARE
from leaderboard.pages.correlations.page import CORRELATIONS
from leaderboard.pages.cost.page import COST
from leaderboard.pages.eyes.page import EYES
from leaderboard.pages.generators.page import GENERATORS
from leaderboard.pages.judges.page import JUDGES
from leaderboard.pages.map.page import MAP
from leaderboard.pages.model.page import MODEL
from leaderboard.pages.models.page import MODELS
from leaderboard.pages.moved.page import CHANGED
from leaderboard.pages.overview.page import OVERVIEW
from leaderboard.pages.replication.page import REPLICATION
from leaderboard.pages.smaller_suite.page import SMALLER_SUITE
from leaderboard.pages.sql.page import SQL
from leaderboard.pages.task.page import TASK
from leaderboard.pages.tasks.page import TASKS
from leaderboard.pages.try_it.page import TRY

VIEWS: tuple[View, ...] = (
    OVERVIEW,
    BOARD,
    CHOOSE,
    COMPARE,
    TRY,
    EYES,
    CORRELATIONS,
    MAP,
    SMALLER_SUITE,
    COST,
    JUDGES,
    GENERATORS,
    REPLICATION,
    CLAIMS,
    MODELS,
    MODEL,
    TASKS,
    TASK,
    SQL,
    CHANGED,
    ABOUT,
)

# Addresses that lead to another: with any query, or with one of the parameters that are named.
MOVED: dict[str, tuple[str, tuple[str, ...]]] = {
    "docs": ("docs/quickstart", ()),
    "models.json": ("api/v1/models", ()),
    "lens": ("generators", ()),
    "languages": ("board?suite=mieb", ()),
    "compare": ("try", ("mode", "inputs", "question")),  # the state of Try
}
