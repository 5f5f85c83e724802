"""Tables, rankings and payloads of every suite, each made once a database file."""

from __future__ import annotations

from functools import partial

from compute.analysis.ranking import Ranking
from leaderboard.data import board_table, payload, task_doubts
from leaderboard.data.board_table import BoardTable, Estimates
from leaderboard.data.database import Database, shared
from leaderboard.data.languages import MULTILINGUAL
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.web.responses import compress

USUAL = RankChoice()


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

    def chosen_table(self, suite: str, chosen: RankChoice) -> BoardTable:
        """The table of one choice."""
        table = self.table(suite, chosen.scope)
        return table.sound if chosen.sound else table

    @partial(shared, most=256)
    def ranked(self, suite: str, chosen: RankChoice = USUAL) -> Ranking | None:
        """The ranking of a suite's table under one choice. Raises as `table` and `BoardTable.ranked` do."""
        table = self.chosen_table(suite, chosen)
        return table.ranked(weights=dict(chosen.weights), tasks=chosen.tasks, coverage=chosen.coverage)

    @partial(shared, most=256)
    def estimates(self, suite: str, chosen: RankChoice = USUAL, only: int | None = None) -> Estimates | None:
        """`BoardTable.estimates` under one choice; None for a suite that people rank."""
        ranked = self.ranked(suite, chosen)
        return ranked and self.chosen_table(suite, chosen).estimates(ranked, only=only)

    @partial(shared, most=96)
    def board(self, suite: str, scope: Scope = WHOLE) -> bytes:
        """The payload of a table, compressed."""
        ranked = self.ranked(suite, RankChoice(scope=scope))
        return compress(payload.encode(payload.board(self.db, self.table(suite, scope), ranked)))

    @partial(shared, most=256)
    def ranking(self, suite: str, chosen: RankChoice, estimated: bool = False) -> bytes:
        """The ranking under one choice, as the browser gets it; `estimated`: with estimates of incomplete rows."""
        table, ranked = self.chosen_table(suite, chosen), self.ranked(suite, chosen)
        added = self.estimates(suite, chosen) if estimated else None
        # Only other scores and estimates make other means of categories: else the browser has them, with the table.
        with_categories = chosen.tasks is not None or added is not None or chosen.sound
        out = payload.ranking(table, ranked, added, with_categories=with_categories)
        if chosen.sound and ranked is not None:
            out["effect"] = task_doubts.effect(self.table(suite, chosen.scope), chosen)
        return payload.encode(out)
