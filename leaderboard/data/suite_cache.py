"""Tables, rankings and payloads of every suite, each made once a database file."""

from __future__ import annotations

from compute.analysis.ranking import Ranking
from leaderboard.data import board_table, payload, suite_queries
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database
from leaderboard.data.languages import MULTILINGUAL
from leaderboard.data.memo import memoised
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.web import static
from leaderboard.web.responses import compress


class SuiteCache:
    """Tables, rankings and payloads of a database, each made once a file."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.components = static.version()
        self._suites = memoised(self._listed, of=db)
        self._tables = memoised(lambda suite, scope: board_table.load(db, suite=suite, scope=scope), of=db)
        self.languages = memoised(lambda: board_table.language_rankings(db, suite=MULTILINGUAL), of=db)
        self._rankings = memoised(self._ranked, most=256, of=db)
        self._boards = memoised(self._board, of=db)
        self._ranking_bytes = memoised(self._ranking, most=256, of=db)

    @property
    def version(self) -> str:
        """What identifies a payload: the database file and the scripts that draw it."""
        return f"{self.db.version}-{self.components}"

    def suites(self) -> dict[str, tuple[str, str]]:
        """The title and the benchmark's key of each suite, by the suite's key."""
        return self._suites()

    def table(self, suite: str, scope: Scope = WHOLE) -> BoardTable:
        """A suite's table. Raises as `leaderboard.data.board_table.load` does."""
        return self._tables(suite, scope)

    def ranked(
        self,
        suite: str,
        weights: tuple[tuple[str, float], ...] = (),
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
        *,
        scope: Scope = WHOLE,
    ) -> Ranking | None:
        """The ranking of a suite's table under one choice. Raises as `table` and `BoardTable.ranked` do."""
        return self._rankings(suite, scope, self._changed(suite, scope, weights), tasks, coverage)

    def board(self, suite: str, scope: Scope = WHOLE) -> bytes:
        """The payload of a table, compressed."""
        return self._boards(suite, scope)

    def ranking(self, suite: str, *choice: object, scope: Scope = WHOLE) -> bytes:
        """The ranking under one choice, as the browser gets it."""
        return self._ranking_bytes(suite, scope, *choice)

    def _changed(
        self, suite: str, scope: Scope, weights: tuple[tuple[str, float], ...]
    ) -> tuple[tuple[str, float], ...]:
        """The weights that are not the suite's own, so that equal choices are computed once."""
        own = self.table(suite, scope).weights()
        return tuple((name, weight) for name, weight in weights if own.get(name) != weight)

    def _ranked(
        self,
        suite: str,
        scope: Scope,
        weights: tuple[tuple[str, float], ...],
        tasks: frozenset[str] | None,
        coverage: float | None,
    ) -> Ranking | None:
        return self.table(suite, scope).ranked(weights=dict(weights), tasks=tasks, coverage=coverage)

    def _listed(self) -> dict[str, tuple[str, str]]:
        suites = suite_queries.suites(self.db)
        return {row.key: (row.title, row.benchmark) for row in suites.itertuples()}

    def _board(self, suite: str, scope: Scope) -> bytes:
        return compress(
            payload.encode(payload.board(self.db, self.table(suite, scope), self.ranked(suite, scope=scope)))
        )

    def _ranking(
        self,
        suite: str,
        scope: Scope,
        weights: tuple[tuple[str, float], ...] = (),
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
    ) -> bytes:
        ranked = self.ranked(suite, weights, tasks, coverage, scope=scope)
        # Only other tasks make other means of categories: else the browser has them, with the table.
        return payload.encode(payload.ranking(self.table(suite, scope), ranked, with_categories=tasks is not None))
