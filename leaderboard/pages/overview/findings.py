"""What the board shows on each benchmark: who leads and whether that is proved, what disagrees, which claim fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.analysis.correlation import correlate, extreme_pairs
from compute.analysis.ranking import Ranking
from compute.types import SEVERITIES
from leaderboard.data import suite_queries
from leaderboard.data.board_table import BoardTable
from leaderboard.data.leaders import ranked_rows
from leaderboard.html.labels import TRAINED, is_synthetic
from leaderboard.page import Site

METHOD, MINIMUM = "spearman", 4  # of Correlations, unless told


@dataclass(frozen=True, kw_only=True)
class SuiteLead:
    """The model of the first rank, how many of the others are not proved worse, and how many cannot be tested;
    `unknown` says why none can."""

    model: str
    title: str
    origin: str
    trained: bool  # on a data set of the suite
    tied: int
    untested: int
    others: int
    unknown: str

    @property
    def proof(self) -> str:
        """How far the first rank is proved, and by which figures: goes on from "X leads"."""
        if not self.others:
            proof = ", the only model with a rank"
        elif self.unknown:
            proof = f"; whether that is more than chance is unknown: {self.unknown}"
        elif self.untested == self.others:
            proof = f"; whether that is more than chance is unknown: none of the {self.others} others can be tested"
        elif self.tied:
            proof = f", with no significant difference from {self.tied} of the {self.others} others"
        elif self.untested:
            proof = f", significantly better than {self.others - self.untested} of the {self.others} others"
        else:
            proof = f", significantly better than each of the {self.others} others"
        if not self.unknown and 0 < self.untested < self.others:
            proof += f"; {self.untested} cannot be tested"
        return proof if self.origin == "published" else f"{proof} (by {self.origin} figures)"


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """The two categories of which it is surest that they order models least alike."""

    titles: tuple[str, str]
    pair: str  # their keys, as the page Correlations takes them
    origin: str
    r: float
    low: float
    high: float
    models: int


@dataclass(frozen=True, kw_only=True)
class GeneratorLead:
    """The generator that people prefer, and the benchmark's own metric's rank of it."""

    model: str
    title: str
    metric: str
    rank: int
    of: int


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One benchmark's; None where there is none to tell."""

    suite: str
    about: Any
    lead: SuiteLead | None
    generators: GeneratorLead | None
    disagreement: Disagreement | None
    claim: Any | None  # a row of `suite_queries.claims`
    failing: int  # claims of the benchmark's paper that do not match its figures


def findings(site: Site, suites: tuple[str, ...]) -> list[Finding]:
    """One finding for each of the suites that has real figures: drawn data lead nothing."""
    known = set(suite_queries.suites(site.db)["key"])
    claims = suite_queries.claims(site.db)
    failing = claims[claims["verdict"] == "conflict"]
    failing = failing.assign(weight=failing["severity"].map(SEVERITIES.index)).sort_values("weight", kind="stable")
    out = []
    for key in suites:
        table = site.suite_cache.table(key) if key in known else None
        if table is None or not table.rows or is_synthetic(table.suite["benchmark"]):
            continue
        ranked = site.suite_cache.ranked(key)
        conflicts = failing[failing["paper"] == table.suite["benchmark_title"]]
        out.append(
            Finding(
                suite=key,
                about=table.suite,
                lead=None if ranked is None else lead(table, ranked),
                generators=people_first(table) if ranked is None else None,
                disagreement=None if ranked is None else disagreement(table, ranked),
                claim=conflicts.iloc[0] if len(conflicts) else None,
                failing=suite_queries.claim_counts(site.db, paper=table.suite["benchmark_title"])["conflicts"],
            )
        )
    return out


def lead(table: BoardTable, ranked: Ranking) -> SuiteLead | None:
    """Who leads the origin shown; None where no model has a rank."""
    origin, rows = ranked_rows(table, ranked)
    if not rows:
        return None
    first, *others = rows
    untested = sum(bool(ranked.unknown[at]) for at in others)
    return SuiteLead(
        model=table.rows[first].model,
        title=table.models.loc[table.rows[first].model]["title"],
        origin=origin,
        trained=bool((table.marks[first] & TRAINED).any()),
        tied=int(ranked.rank_high[first]) - 1 - untested,
        untested=untested,
        others=len(others),
        unknown=ranked.unknown[first],
    )


def disagreement(table: BoardTable, ranked: Ranking) -> Disagreement | None:
    """The pair of categories least alike over the models of the origin shown, as Correlations has it.

    None where too few models have two categories.
    """
    origin, _ = ranked_rows(table, ranked)
    columns = table.category_columns
    means, up = ranked.category_means[table.rows_of(origin)], [column.higher for column in columns]
    matrix = correlate(scores=np.where(up, means, -means), method=METHOD, minimum=MINIMUM)
    extremes = extreme_pairs(correlation=matrix, method=METHOD)
    if extremes is None:
        return None
    first, second = extremes.least
    r, n = float(matrix.r[first, second]), int(matrix.n[first, second])
    keys = [f"{table.suite['key']}:{columns[at].key}" for at in (first, second)]
    return Disagreement(
        titles=(columns[first].title, columns[second].title),
        pair=",".join(keys),
        origin=origin,
        r=r,
        low=float(matrix.low[first, second]),
        high=float(matrix.high[first, second]),
        models=n,
    )


def people_first(table: BoardTable) -> GeneratorLead | None:
    """The generator that people prefer and its rank by the benchmark's own metric; None without both columns."""
    people = next((at for at, column in enumerate(table.columns) if column.group == "People"), None)
    metric = next((at for at, column in enumerate(table.columns) if column.metric == "cfred"), None)
    if people is None or metric is None or np.isnan(table.scores.values[:, people]).all():
        return None
    first = int(np.nanargmax(table.scores.values[:, people]))
    values = table.scores.values[:, metric]
    if np.isnan(values[first]):
        return None
    better = values > values[first] if table.columns[metric].higher else values < values[first]
    return GeneratorLead(
        model=table.rows[first].model,
        title=table.models.loc[table.rows[first].model]["title"],
        metric=table.columns[metric].title,
        rank=int(better.sum()) + 1,
        of=int((~np.isnan(values)).sum()),
    )
