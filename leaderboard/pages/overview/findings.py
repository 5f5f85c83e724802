"""What each benchmark's scores show: who leads, by how much and whether significantly, and which claims fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.types import SEVERITIES
from leaderboard.data.board_table import BoardTable, SuiteColumn
from leaderboard.data.payload import NO_VOTES, estimate_facts
from leaderboard.data.suite_cache import ranked_rows
from leaderboard.html.labels import TRAINED, is_synthetic
from leaderboard.page import Site

Facts = dict[str, Any]  # what the template shows; values are texts in the unit of the board


def findings(site: Site, suites: Sequence[str]) -> list[Facts]:
    """Returns one finding per suite of real data."""
    failing = [row for row in site.db.records("claims") if row["verdict"] == "conflict"]
    failing.sort(key=lambda row: SEVERITIES.index(row["severity"]))
    out = []
    for key in suites:
        table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
        ahead = ranked and unranked_ahead(table, ranked)
        if ahead:
            one = site.suite_cache.estimates(key, only=ahead["row"])[0].get(ahead["row"])
            ahead["estimate"] = one and estimate_facts(table, ranked, one)
        if not is_synthetic(table.suite["benchmark"]):
            out.append(
                {
                    "suite": key,
                    "about": table.suite,
                    "origin": table.origin,
                    "by_people": ranked is None,
                    "lead": people_first(table) if ranked is None else lead(table, ranked),
                    "unranked": ahead,
                    "claims": [row for row in failing if row["paper"] == table.suite["benchmark_title"]],
                }
            )
    return out


def lead(table: BoardTable, ranked: Ranking) -> Facts | None:
    """Returns the first of the ranked models, its lead over the second and whether it is significant (None: `unknown`
    says why), and over how many of the others that can be tested; None if no model has a rank.
    """
    rows = ranked_rows(table, ranked)
    if not rows:
        return None
    first, second = (*rows, *rows)[:2]
    tested = [row for row in rows[1:] if ranked.decided[first, row]]
    return {
        **_pair(table, table.category_columns[0], rows, ranked.mean - ranked.excess),
        "value": table.category_columns[0].number(ranked.mean[first]),
        "significant": bool(ranked.better[first, second]) if second in tested else None,
        "unknown": ranked.unknown[first] or ranked.unknown[second],
        "trained": bool((table.marks[first] & TRAINED).any()),
        "behind": int(ranked.better[first, tested].sum()),
        "others": len(tested),
    }


def unranked_ahead(table: BoardTable, ranked: Ranking) -> Facts | None:
    """Returns the model without a rank that is furthest ahead of the leader, if the difference of the two is
    significant by itself; None if there is none. The two must share tasks of every category, because the model
    otherwise answers fewer questions.
    """
    rows = ranked_rows(table, ranked)
    if not rows:
        return None
    scores, counted = ranked.table, ranked.table.counted
    known, every = ~np.isnan(scores.values), set(scores.codes[counted].tolist())
    shared = {row: counted & known[row] & known[rows[0]] for row in table.rows_of(table.origin) if ranked.rank[row] < 1}
    tests = [(row, compared(scores, row, rows[0])) for row, both in shared.items() if set(scores.codes[both]) == every]
    ahead = [(abs(test.difference), row) for row, test in tests if test.better == test.a]
    if not ahead:
        return None
    gap, row = max(ahead)
    return {
        "row": row,
        "model": table.models.loc[table.rows[row].model],
        "gap": table.category_columns[0].number(gap),
        "shared": int(shared[row].sum()),
        "missing": int((counted & ~known[row]).sum()),
        "more": len(ahead) - 1,
    }


def people_first(table: BoardTable) -> Facts | None:
    """Returns the generator that people prefer, and its rank by the benchmark's own metric; None without both."""
    columns = human_columns(table)
    if columns is None:
        return None
    people, metric = columns
    votes, values = table.scores.values[:, people], table.scores.values[:, metric]
    order = [int(row) for row in np.argsort(-votes, kind="stable") if not np.isnan(votes[row] + values[row])]
    if len(order) < 2:
        return None
    better = values > values[order[0]] if table.columns[metric].higher else values < values[order[0]]
    return {
        **_pair(table, table.columns[people], order, votes),
        "significant": None,
        "unknown": NO_VOTES,
        "metric": table.columns[metric].title,
        "rank": int(better.sum()) + 1,
        "of": int((~np.isnan(values)).sum()),
    }


def human_columns(table: BoardTable) -> tuple[int, int] | None:
    """Returns the indices of people's votes and of the benchmark's own metric; None without both."""
    metric = next((at for at, column in enumerate(table.columns) if column.metric == "cfred"), None)
    return None if table.people is None or metric is None else (table.people, metric)


def _pair(table: BoardTable, column: SuiteColumn, rows: list[int], values: np.ndarray) -> Facts:
    """Returns the first two of some rows, and how far apart they are."""
    models = [table.models.loc[table.rows[row].model] for row in rows[:2]]
    gap = abs(values[rows[0]] - values[rows[1]]) if len(rows) > 1 else np.nan
    return {"first": models[0], "second": models[1] if len(rows) > 1 else None, "gap": column.number(gap)}
