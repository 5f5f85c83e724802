"""Tables, rankings and payloads of every suite, each made once a database file."""

from __future__ import annotations

from leaderboard.data import payload, ranked, suite_table
from leaderboard.data.database import Database
from leaderboard.data.memo import memoised
from leaderboard.web.responses import compress
from leaderboard.web.sending import static


class SuiteCache:
    """Tables, rankings and payloads of a database, each made once a file."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.components = static.version()
        self.table = memoised(lambda suite: suite_table.load(db, suite=suite), of=db)
        self.ranked = memoised(self._ranked, most=256, of=db)
        self.board = memoised(self._board, of=db)
        self.ranking = memoised(self._ranking, most=256, of=db)

    @property
    def version(self) -> str:
        """What identifies a payload: the database file and the scripts that draw it."""
        return f"{self.db.version}-{self.components}"

    def _ranked(
        self,
        suite: str,
        weights: tuple[tuple[str, float], ...] = (),
        tasks: frozenset[str] | None = None,
        coverage: float | None = None,
    ) -> ranked.Ranked | None:
        return ranked.rank(self.table(suite), weights=dict(weights), tasks=tasks, coverage=coverage)

    def _board(self, suite: str) -> bytes:
        return compress(payload.encode(payload.board(self.db, self.table(suite), self.ranked(suite))))

    def _ranking(self, suite: str, *choice: object) -> bytes:
        return payload.encode(payload.ranking(self.table(suite), self.ranked(suite, *choice), with_categories=True))
