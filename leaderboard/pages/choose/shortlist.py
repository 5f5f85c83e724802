"""At most five models for a need: those not significantly worse than the best that fits, open and small ones first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.types import BadInput
from leaderboard.data.board_table import BoardTable
from leaderboard.data.cut import WHOLE, Cut
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.model_queries import PERMISSIVE
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import blank
from leaderboard.html.labels import SUSPECT, TRAINED
from leaderboard.pages.choose.needs import HARDWARE, MANY, SIZES, ModelUse, limit

MOST = 5
FEWEST = 3  # tasks that two models share before a difference between them is tested


@dataclass(frozen=True, kw_only=True)
class ShortlistedModel:
    """A model of the shortlist. Means and differences are in shown units; NaN where they are not known."""

    key: str
    title: str
    row: str  # its id on the board
    rank: int
    mean: float
    difference: float  # from the best that fits, over the tasks that both have; NaN for the best itself
    low: float
    high: float
    shared: int  # tasks behind the difference
    parameters: float | None  # millions
    license: str
    permissive: bool
    released: str
    adapter: bool  # whether this software can run it
    best: bool
    trained: bool  # on the data of a task behind its mean


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The models, and what the evidence behind them cannot say."""

    choices: tuple[ShortlistedModel, ...]
    origin: str  # of the figures
    tasks: int
    ranked: int  # models with a rank on these tasks
    fitting: int  # of these, the ones that meet every condition
    unknown_size: int  # left out because their size is not stated, though nothing else keeps them out
    unknown_license: int
    ties: int  # fitting models not significantly worse than the best, itself among them
    untested: int  # fitting models with too few figures in common with the best
    suspect: int  # figures of the shortlist in doubt
    digits: int
    table: BoardTable | None


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a model must meet; empty: anything."""

    language: str = ""  # MANY, or the code of one
    size: str = ""
    license: str = ""
    hardware: str = ""

    @property
    def most(self) -> float | None:
        """The largest size in millions of parameters, None for any."""
        limits = (limit(SIZES, self.size), limit(HARDWARE, self.hardware))
        known = [one for one in limits if one is not None]
        return min(known) if known else None

    def license_fits(self, license: str) -> bool:
        """Whether a licence is as required; one that is not stated meets no condition."""
        return {"": True, "stated": bool(license), "permissive": license in PERMISSIVE}[self.license]

    def size_fits(self, parameters: float | None) -> bool:
        """Whether a size in millions is as required; an unknown one meets no limit."""
        return self.most is None or (parameters is not None and parameters <= self.most)


def shortlist(suite_cache: SuiteCache, *, need: ModelUse, conditions: Conditions) -> Shortlist:
    """The models for a need under conditions.

    The best is the fitting model with the highest mean. Those that are not significantly worse, as the ranking of all
    models on these tasks has it, follow by their rank, at the same rank by licence and size; then, as far as there is
    room, those that cannot be compared, by their mean. The difference of each from the best is tested by itself, which
    decides where the ranking does not know.
    """
    table, cut = suite_cache.table(need.suite), WHOLE
    if conditions.language not in ("", MANY):
        if conditions.language not in table.choices.languages:
            return _empty(table, frozenset())
        cut = Cut(language=conditions.language)
        table = suite_cache.table(need.suite, cut)
    keys = need.tasks(table, language=conditions.language)
    if not keys:
        return _empty(table, keys)
    try:
        ranked = suite_cache.ranked(need.suite, (), keys, cut=cut)
    except BadInput:
        return _empty(table, keys)
    if ranked is None or not (ranked.rank > 0).any():
        return _empty(table, keys)
    origin, rows = ranked_rows(table, ranked)
    facts = {index: _facts(table, index) for index in rows}
    fits_license = {index: conditions.license_fits(facts[index][1]) for index in rows}
    fits_size = {index: conditions.size_fits(facts[index][0]) for index in rows}
    fitting = [index for index in rows if fits_license[index] and fits_size[index]]
    compared = [_difference(table, ranked, index, fitting[0]) for index in fitting[1:]]
    tested = [index for index, one in zip(fitting[1:], compared, strict=True) if not np.isnan(one[2])]
    results = dict(zip(fitting[1:], compared, strict=True))
    ties = [index for index in tested if not _is_worse(ranked, index, fitting[0], high=results[index][2])]
    # By the mean first: over few tasks a model far behind is not significantly worse either.
    ties.sort(key=lambda index: (ranked.rank[index], *_openness(*facts[index])))
    untested = [index for index in fitting[1:] if index not in tested]
    scale = table.category_columns[0].scale
    picked = [*fitting[:1], *ties, *untested][:MOST]
    counted = np.array([column.task in keys for column in table.columns])
    return Shortlist(
        choices=tuple(
            _choice(
                table,
                ranked,
                index,
                results.get(index, (np.nan, np.nan, np.nan, 0)),
                scale=scale,
                best=index == fitting[0],
            )
            for index in picked
        ),
        origin=origin,
        tasks=len(keys),
        ranked=len(rows),
        fitting=len(fitting),
        unknown_size=sum(facts[i][0] is None and fits_license[i] and not fits_size[i] for i in rows),
        unknown_license=sum(not facts[i][1] and fits_size[i] and not fits_license[i] for i in rows),
        ties=len(ties) + len(fitting[:1]),
        untested=len(untested),
        suspect=int((table.marks[np.ix_(picked, counted)] & SUSPECT > 0).sum()) if picked else 0,
        digits=table.category_columns[0].digits,
        table=table,
    )


def _empty(table: BoardTable, keys: frozenset[str]) -> Shortlist:
    """No model, because there is no task or no rank."""
    return Shortlist(
        choices=(),
        origin="",
        tasks=len(keys),
        ranked=0,
        fitting=0,
        unknown_size=0,
        unknown_license=0,
        ties=0,
        untested=0,
        suspect=0,
        digits=1,
        table=table,
    )


def _is_worse(ranked: Ranking, row: int, best: int, *, high: float) -> bool:
    """Whether a row is significantly worse than the best; high: the upper end of their difference's interval."""
    return high < 0 if np.isnan(ranked.p[best, row]) else bool(ranked.better[best, row])


def _facts(table: BoardTable, index: int) -> tuple[float | None, str]:
    """A row's number of parameters in millions and its licence; None and empty where they are not stated."""
    model = table.models.loc[table.rows[index].model]
    size = model["parameters_m"]
    return None if blank(size) else float(size), "" if blank(model["license"]) else str(model["license"])


def _openness(parameters: float | None, license: str) -> tuple[int, float]:
    """What models are ordered by: permissive licences first, unstated last; then the small ones, unknown sizes last."""
    return (0 if license in PERMISSIVE else 1 if license else 2), np.inf if parameters is None else parameters


def _difference(table: BoardTable, ranked: Ranking, row: int, best: int) -> tuple[float, float, float, int]:
    """A row minus the best, in stored units: mean, its 95% interval, and the tasks behind it.

    These are the tasks that both have a figure of, in categories where there are two or more. NaN where there are too
    few, or the error of the difference is not known.
    """
    shared = ranked.table.chosen & ~np.isnan(table.scores.values[row]) & ~np.isnan(table.scores.values[best])
    shared &= np.bincount(table.scores.codes[shared], minlength=table.scores.codes.max() + 1)[table.scores.codes] > 1
    if shared.sum() < FEWEST:
        return np.nan, np.nan, np.nan, int(shared.sum())
    pair = replace(table.scores, task_weights=shared.astype(float)).rows([row, best])
    result = compared(pair, 0, 1)
    return result.difference, result.low, result.high, result.n


def _choice(
    table: BoardTable, ranked: Ranking, index: int, result: tuple[float, float, float, int], *, scale: float, best: bool
) -> ShortlistedModel:
    parameters, license = _facts(table, index)
    model = table.models.loc[table.rows[index].model]
    return ShortlistedModel(
        key=table.rows[index].model,
        title=model["title"],
        row=table.rows[index].id,
        rank=int(ranked.rank[index]),
        mean=float(ranked.mean[index]) * scale,
        difference=result[0] * scale,
        low=result[1] * scale,
        high=result[2] * scale,
        shared=result[3],
        parameters=parameters,
        license=license,
        permissive=license in PERMISSIVE,
        released="" if blank(model["released"]) else str(model["released"]),
        adapter=bool(model["adapter"]),
        best=best,
        trained=bool((table.marks[index, ranked.table.chosen] & TRAINED).any()),
    )
