"""Tables, rankings and payloads of every suite, each made once per database file; and their rows, best first."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from compute.analysis.ranking import Ranking
from leaderboard.data import board_table, payload, task_doubts
from leaderboard.data.board_table import BoardTable, Estimates
from leaderboard.data.database import Database, shared
from leaderboard.data.languages import MULTILINGUAL, name_of
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.html.formatting import number, rank_range
from leaderboard.web.responses import compress

USUAL = RankChoice()


class SuiteCache:
    """Tables, rankings and payloads of a database, each made once per file."""

    def __init__(self, db: Database) -> None:
        self.db = db

    @shared
    def suites(self) -> dict[str, tuple[str, str]]:
        """Returns the title and the benchmark's key of each suite, by the suite's key."""
        return {row.key: (row.title, row.benchmark) for row in self.db.query("suites").itertuples()}

    @shared
    def languages(self) -> dict[str, Ranking]:
        """Returns the rankings of MULTILINGUAL by each language alone."""
        return board_table.language_rankings(self.db, suite=MULTILINGUAL)

    @partial(shared, most=96)
    def table(self, suite: str, scope: Scope = WHOLE) -> BoardTable:
        """Returns a suite's table. Raises as `leaderboard.data.board_table.load`."""
        return board_table.load(self.db, suite=suite, scope=scope)

    def chosen_table(self, suite: str, chosen: RankChoice) -> BoardTable:
        """Returns the table of one choice."""
        table = self.table(suite, chosen.scope)
        return table.sound if chosen.sound else table

    @partial(shared, most=256)
    def ranked(self, suite: str, chosen: RankChoice = USUAL) -> Ranking | None:
        """Returns the ranking of a suite's table under one choice. Raises as `table` and `BoardTable.ranked`."""
        return _ranked(self.chosen_table(suite, chosen), chosen)

    @partial(shared, most=256)
    def estimates(self, suite: str, chosen: RankChoice = USUAL, only: int | None = None) -> Estimates | None:
        """Returns `BoardTable.estimates` under one choice; None for a suite ranked by people."""
        ranked = self.ranked(suite, chosen)
        return ranked and self.chosen_table(suite, chosen).estimates(ranked, only=only)

    @partial(shared, most=96)
    def board(self, suite: str, scope: Scope = WHOLE) -> bytes:
        """Returns the compressed payload of a table."""
        ranked = self.ranked(suite, RankChoice(scope=scope))
        return compress(payload.encode(payload.board(self.db, self.table(suite, scope), ranked)))

    @partial(shared, most=256)
    def ranking(self, suite: str, chosen: RankChoice, estimated: bool = False) -> bytes:
        """Returns the ranking under one choice for the browser; `estimated` adds estimates of incomplete rows."""
        table, ranked = self.chosen_table(suite, chosen), self.ranked(suite, chosen)
        added = self.estimates(suite, chosen) if estimated else None
        # Only other scores and estimates make other means of categories: else the browser has them, with the table.
        with_categories = chosen.tasks is not None or added is not None or chosen.sound
        out = payload.ranking(table, ranked, added, with_categories=with_categories)
        if chosen.sound and ranked is not None:
            whole = self.table(suite, chosen.scope)
            usual, likely = self.ranked(suite, chosen._replace(sound=False)), _ranked(whole.likely, chosen)
            assert usual and likely
            out["effect"] = task_doubts.effect(whole, usual=usual, likely=likely, sound=ranked)
        return payload.encode(out)


def _ranked(table: BoardTable, chosen: RankChoice) -> Ranking | None:
    return table.ranked(weights=dict(chosen.weights), tasks=chosen.tasks, coverage=chosen.coverage)


def ranked_rows(table: BoardTable, ranked: Ranking) -> list[int]:
    """Returns the ranked rows of the table's origin, best first."""
    rows = [index for index in table.rows_of(table.origin) if ranked.rank[index] > 0]
    return sorted(rows, key=lambda index: (ranked.rank[index], -ranked.mean[index]))


def leading(table: BoardTable, ranked: Ranking | None) -> list[dict[str, Any]]:
    """Returns the ranked rows of the table's origin, best first: row, rank, range of ranks (empty: unknown), mean,
    model and title. A suite ranked by people (`ranked` None) is in their order.
    """
    standing, digits = payload.plain(payload.standing(table, ranked)), payload.suite_facts(table)["digits"]
    known = standing.loc[table.rows_of(table.origin)].dropna(subset="rank")
    return [
        {
            "row": row.Index,
            "rank": row.rank,
            "range": rank_range(row.rank_low, row.rank_high),
            "mean": number(row.mean, digits=digits),
            "model": table.rows[row.Index].model,
            "title": table.rows[row.Index].title,
        }
        for row in known.sort_index().sort_values("rank", kind="stable").itertuples()
    ]


def by_language(suite_cache: SuiteCache, model: str) -> list[dict[str, Any]]:
    """Returns its rank by the scores of each language alone, best first: title, address, rank, of, origin."""
    rows = []
    for code, ranking in suite_cache.languages().items():
        at = ranking.table.models.index(model) if model in ranking.table.models else None
        if at is not None and ranking.rank[at] > 0:
            origin = ranking.table.origins[at]
            selected = quote(f"{model}~{origin}", safe="/:~")
            address = f"board?suite={MULTILINGUAL}&language={code}&select={selected}"
            facts = {"rank": int(ranking.rank[at]), "of": int((ranking.rank > 0).sum()), "origin": origin}
            rows.append({"title": name_of(code), "address": address, **facts})
    return sorted(rows, key=lambda row: (row["rank"], row["title"]))
