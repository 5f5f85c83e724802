"""Every score of one model as a table for the browser."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Any

from compute.rounding import rounded
from compute.types import UnknownKey
from leaderboard.data.scores import ORIGINS, SUBSET, VALUES, ScoreColumn, listing, shown
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.model.field import Field, field, suites_of

Rank = tuple[int, int, int | None]  # rank, number of models, percent of the others that are worse
EMPTY = "No score yet. The page About says how scores of a model are computed."
UNRANKED = (None, None, None)
COLUMNS = (
    ScoreColumn("task", "Task", of=itemgetter("title"), link="task?task="),
    ScoreColumn("category", "Category"),
    SUBSET,
    ScoreColumn("metric", "Metric", of=itemgetter("metric_title")),
    *VALUES,
    ScoreColumn("place", "Rank", 0, "Among the models with a score of the same origin"),
    ScoreColumn("of", "of", 0),
    ScoreColumn("share", "Beats %", 0, "Share of the other models that score worse"),
    ScoreColumn("chance", "Chance", 1, "Score by guessing"),
    *ORIGINS,
)


def model_scores(suite_cache: SuiteCache, *, model: str) -> dict[str, Any]:
    """Returns every score of one model, from all sources. Raises UnknownKey."""
    db = suite_cache.db
    rows = db.records("model_scores", model=model)
    if not rows and db.query("model", key=model).empty:
        raise UnknownKey("model", model, db.query("listed_models")["key"])
    ranks = _ranks(suite_cache, model)
    for score in rows:
        whole = score["subset"] in ("default", "average") and score["main"]
        rank = ranks.get((score["task"], score["metric"], score["origin"]), UNRANKED) if whole else UNRANKED
        score |= dict(zip(("place", "of", "share"), rank, strict=True))
        score["chance"] = shown(score["chance"] if score["metric"] == score["headline"] else None, score)
    return listing(COLUMNS, rows, empty=EMPTY)


def _ranks(suite_cache: SuiteCache, model: str) -> dict[tuple[str, str, str], Rank]:
    """Returns the model's ranks by (task, metric, origin), each from the first suite that has it."""
    ranks: dict[tuple[str, str, str], Rank] = {}
    for suite in suites_of(suite_cache, model):
        table = suite_cache.table(suite)
        for row in table.rows_of_model(model):
            own = field(suite_cache, suite=suite, model=model, origin=table.rows[row].origin)
            ranks = ranks_of(own) | ranks
    return ranks


def ranks_of(field: Field) -> dict[tuple[str, str, str], Rank]:
    """Returns the same for one suite and one origin."""
    ranks = {}
    for at, index in enumerate(field.columns):
        rank = int(field.standing.place[at])
        if rank > 0:
            column, share = field.table.columns[index], float(field.standing.percentile[at])
            percent = None if math.isnan(share) else int(rounded(share, 0, scale=100))
            ranks[column.task, column.metric, field.origin] = rank, int(field.standing.others[at]) + 1, percent
    return ranks
