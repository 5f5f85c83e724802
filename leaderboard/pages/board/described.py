"""What a view of the board is about: its suite and who leads it."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.data.leaders import Leader, leaders, ranked_rows
from leaderboard.data.suite_table import SuiteTable
from leaderboard.html.formatting import number
from leaderboard.page import Described, DescribedRow, Site

MOST = 6  # rows of the share picture


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The suite that the query names, its leader and how certain the lead is; None for no suite or an unknown one."""
    key = query.get("suite", "")
    if key not in site.suite_cache.suites():
        return None
    table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
    about = table.suite
    first = [] if ranked is None else leaders(table, ranked, most=MOST)
    sentence = str(about["description"])
    if ranked is not None and first:
        tasks = sum(column.ranked for column in table.columns)
        best = first[0]
        _, rows = ranked_rows(table, ranked)
        sentence = (
            f"{len(rows)} models ranked over {tasks} tasks. {best.title} has the highest mean, "
            f"{_mean(table, best)}{_rank_of(best)}. {sentence}"
        )
    return Described(
        title=f"{about['title']} board",
        sentence=sentence,
        query=(("suite", key),),
        rows=tuple(_rows(table, first)),
        caption="Mean and its 95% interval",
    )


def _rank_of(leader: Leader) -> str:
    if leader.rank_interval is None:
        return "; how certain its rank is, is not known"
    low, high = leader.rank_interval
    return f"; its rank is {low} (95%)" if low == high else f"; its rank is between {low} and {high} (95%)"


def _mean(table: SuiteTable, leader: Leader) -> str:
    column = table.category_columns[0]
    return number(leader.mean, digits=column.digits, scale=column.scale)


def _rows(table: SuiteTable, first: list[Leader]) -> list[DescribedRow]:
    ends = [end for leader in first for end in (leader.mean, *(leader.mean_interval or ()))]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)

    def at(value: float) -> float:
        return (value - low) / ((high - low) or 1.0)

    return [
        DescribedRow(
            label=f"{leader.rank}  {leader.title}",
            text=_mean(table, leader),
            value=at(leader.mean),
            low=at(leader.mean_interval[0]) if leader.mean_interval else None,
            high=at(leader.mean_interval[1]) if leader.mean_interval else None,
        )
        for leader in first
    ]
