"""Tables, rankings and payloads of every suite, each made once a database file."""

from __future__ import annotations

from functools import partial

from compute.analysis.ranking import Ranking
from leaderboard.data import board_table, payload
from leaderboard.data.board_table import BoardTable, Estimates
from leaderboard.data.database import Database
from leaderboard.data.languages import MULTILINGUAL
from leaderboard.data.memo import shared
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.web.responses import compress

Weights = tuple[tuple[str, float], ...]  # by category, sorted


class SuiteCache:
    """Tables, rankings and payloads of a database, each made once a file."""

    def __init__(self, db: Database) -> None:
        self.db = db

    @shared
    def suites(self) -> dict[str, tuple[str, str]]:
        """The title and the benchmark's key of each suite, by the suite's key."""
        return {row.key: (row.title, row.benchmark) for row in self.db.query("suites").itertuples()}

    @shared
    def languages(self) -> dict[str, Ranking]:
        """The rankings of MULTILINGUAL by each language alone."""
        return board_table.language_rankings(self.db, suite=MULTILINGUAL)

    @partial(shared, most=96)
    def table(self, suite: str, scope: Scope = WHOLE) -> BoardTable:
        """A suite's table. Raises as `leaderboard.data.board_table.load` does."""
        return board_table.load(self.db, suite=suite, scope=scope)

    @partial(shared, most=256)
    def ranked(
        self,
        suite: str,
        weights: Weights = (),
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
        scope: Scope = WHOLE,
    ) -> Ranking | None:
        """The ranking of a suite's table under one choice. Raises as `table` and `BoardTable.ranked` do."""
        return self.table(suite, scope).ranked(weights=dict(weights), tasks=tasks, coverage=coverage)

    @partial(shared, most=256)
    def estimates(
        self,
        suite: str,
        weights: Weights = (),
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
        scope: Scope = WHOLE,
        only: int | None = None,
    ) -> Estimates | None:
        """`BoardTable.estimates` under one choice; None for a suite that people rank."""
        ranked = self.ranked(suite, weights, tasks, coverage, scope)
        return ranked and self.table(suite, scope).estimates(ranked, only=only)

    @partial(shared, most=96)
    def board(self, suite: str, scope: Scope = WHOLE) -> bytes:
        """The payload of a table, compressed."""
        ranked = self.ranked(suite, scope=scope)
        return compress(payload.encode(payload.board(self.db, self.table(suite, scope), ranked)))

    @partial(shared, most=256)
    def ranking(
        self,
        suite: str,
        weights: Weights,
        tasks: frozenset[str] | None,
        coverage: float | None,
        scope: Scope,
        estimated: bool = False,
    ) -> bytes:
        """The ranking under one choice, as the browser gets it; `estimated`: with estimates of incomplete rows."""
        key = (suite, weights, tasks, coverage, scope)
        table, ranked, added = self.table(suite, scope), self.ranked(*key), self.estimates(*key) if estimated else None
        # Only other tasks and estimates make other means of categories: else the browser has them, with the table.
        with_categories = tasks is not None or added is not None
        return payload.encode(payload.ranking(table, ranked, added, with_categories=with_categories))
