"""The rows of a suite that are shown where only one origin can be, best first; and the languages a model is best in."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from compute.analysis.ranking import Ranking
from leaderboard.data import payload
from leaderboard.data.board_table import BoardTable
from leaderboard.data.languages import MULTILINGUAL, name_of
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number, rank_range


def ranked_rows(table: BoardTable, ranked: Ranking) -> list[int]:
    """The rows of the table's origin with a rank, best first."""
    rows = [index for index in table.rows_of(table.origin) if ranked.rank[index] > 0]
    return sorted(rows, key=lambda index: (ranked.rank[index], -ranked.mean[index]))


def leading(table: BoardTable, ranked: Ranking | None) -> list[dict[str, Any]]:
    """The rows of the table's origin with a rank, best first: row, rank, range of ranks (empty: not known), mean, model
    and title; of a suite that people rank (`ranked` None) in their order."""
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
    """Its rank by the scores of each language alone, the best first: title, address, rank, of, origin."""
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
