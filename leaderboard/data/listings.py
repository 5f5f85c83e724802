"""The long tables behind the pages of a model, a task, and the claims, as rows for the browser."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from compute.analysis.intervals import score_interval
from compute.types import UnknownKey
from leaderboard.data import page_queries, queries
from leaderboard.data.profiles import Field, field, origins_of, suites_of
from leaderboard.html.formatting import blank
from leaderboard.html.labels import is_synthetic

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache

MARKS = {"trained": "† trained on", "suspect": "? suspect", "disputed": "‡ disputed", "synthetic": "synthetic"}
CLAIM_FIELDS = ("paper", "claim", "where", "printed", "recomputed", "verdict", "formula", "note")
FIRST_VERDICTS = ("conflict", "rounding", "cannot be recomputed", "reproduces")


def _value(score: dict[str, Any]) -> list[Any]:
    """Value, printed digits, interval and number of items, as both tables show them."""
    return [_shown(score["value"], score), score["printed"] or "", *interval(score), _whole(score["n"])]


def _value_columns() -> list[dict[str, Any]]:
    """The columns that `_value` fills."""
    return [
        _figure("value", "Score", 2),
        {**_words("printed", "Printed", hint="The source's own digits"), "numeric": True},
        _figure("low", "95% from", 1),
        _figure("high", "to", 1),
        _figure("n", "n", 0, hint="Items of the task"),
    ]


def _origin(score: dict[str, Any]) -> list[str]:
    return [score["origin"], score["source"] + ("" if score["main"] else " (not the one shown on the board)")]


def _origin_columns() -> list[dict[str, Any]]:
    """The columns that `_origin` and `_marks` fill."""
    return [
        _words("origin", "Origin"),
        _words("source", "Source"),
        _words(
            "marks",
            "Marks",
            hint="† trained on this data set, ? suspect figure, ‡ another table prints another number, synthetic: "
            "items drawn by a program",
        ),
    ]


def _marks(score: dict[str, Any], key: str, *, seen: set, suspect: set, disputed: set) -> str:
    """What must be known beside a score; `key` is what the sets hold, model or task."""
    marks = [MARKS["synthetic"]] if is_synthetic(score["benchmark"]) else []
    marks += [MARKS["trained"]] if score[key] in seen else []
    if score["origin"] == "published":
        marks += [MARKS["suspect"]] if {(score[key], ""), (score[key], score["metric"])} & suspect else []
        marks += [MARKS["disputed"]] if score[key] in disputed else []
    return ", ".join(marks)


def model_scores(suite_cache: SuiteCache, *, model: str) -> dict[str, Any]:
    """Every score of one model, whatever its source. Raises UnknownKey."""
    db = suite_cache.db
    frame = page_queries.model_scores(db, model=model)
    if frame.empty:
        raise UnknownKey("model", model, page_queries.listed_models(db)["key"])
    seen = set(page_queries.trained_model(db, model=model)["task"])
    suspect = _figures(page_queries.suspects(db, model=model), "task")
    disputed = _disputed(frame, "task")
    places = _places(suite_cache, model)
    rows = []
    for score in frame.to_dict("records"):
        place, others, share = places.get((score["task"], score["metric"], score["origin"]), (None, None, None))
        if score["subset"] not in ("default", "average") or not score["main"]:
            place = others = share = None
        chance = score["chance"] if score["metric"] == score["headline"] else None
        rows.append(
            [
                score["title"],
                score["category"],
                "" if score["subset"] == "default" else score["subset"],
                score["metric_title"],
                *_value(score),
                place,
                others,
                share,
                _shown(chance, score),
                *_origin(score),
                _marks(score, "task", seen=seen, suspect=suspect, disputed=disputed),
                score["task"],
            ]
        )
    columns = [
        {"key": "task", "title": "Task", "link": {"base": "task?task=", "at": 16}},
        _words("category", "Category"),
        _words("subset", "Subset", hint="Language or split; empty: the whole task"),
        _words("metric", "Metric"),
        *_value_columns(),
        _figure("place", "Rank", 0, hint="Among the models with a score of the same origin"),
        _figure("of", "of", 0),
        _figure("share", "Beats %", 0, hint="Share of the other models that score worse"),
        _figure("chance", "Chance", 1, hint="Score by guessing"),
        *_origin_columns(),
    ]
    return {"columns": columns, "rows": rows, "caption": f"{len(rows)} scores in the units the papers print"}


def _disputed(frame: pd.DataFrame, by: str) -> set[str]:
    """Where another table of the paper prints another number; other ways of running it here dispute nothing."""
    return set(frame.loc[~frame["main"] & (frame["origin"] == "published"), by])


def _figures(suspects: pd.DataFrame, by: str) -> set[tuple[str, str]]:
    return set(zip(suspects[by], suspects["metric"], strict=True))


def _places(suite_cache: SuiteCache, model: str) -> dict[tuple[str, str, str], tuple[int, int, float | None]]:
    """Rank, number of models and share of the others that are worse, by (task, metric, origin)."""
    suites = list(queries.suites(suite_cache.db)["key"])
    found: dict[tuple[str, str, str], tuple[int, int, float | None]] = {}
    for suite in suites_of(suite_cache, model=model, suites=suites):
        for origin in origins_of(suite_cache.table(suite), model=model):
            for key, entry in places_of(field(suite_cache, suite=suite, model=model, origin=origin)).items():
                found.setdefault(key, entry)
    return found


def places_of(shown: Field) -> dict[tuple[str, str, str], tuple[int, int, float | None]]:
    """The same for one suite and one origin."""
    found = {}
    for at, place in enumerate(shown.columns):
        rank = int(shown.standing.place[at])
        if rank > 0:
            column, share = shown.table.columns[place], float(shown.standing.percentile[at])
            found[column.task, column.metric, shown.origin] = (
                rank,
                int(shown.standing.others[at]) + 1,
                None if math.isnan(share) else round(100 * share),
            )
    return found


def task_scores(suite_cache: SuiteCache, *, task: str) -> dict[str, Any]:
    """Every score on one task, best first within the headline metric. Raises UnknownKey."""
    db = suite_cache.db
    frame = page_queries.task_scores(db, task=task)
    about = page_queries.task(db, key=task)
    if frame.empty or about.empty:
        raise UnknownKey("task", task, page_queries.listed_tasks(db)["key"])
    about = about.iloc[0]
    metrics = queries.metrics(db)
    higher = {key: bool(metrics.loc[key, "higher_is_better"]) for key in frame["metric"].unique()}
    suspect = _figures(page_queries.suspects(db, task=task), "model")
    seen = set(page_queries.trained_on_task(db, task=task)["model"])
    order = {metric: at for at, metric in enumerate(about["metrics"])}
    frame = frame.assign(
        turn=[order.get(metric, 99) for metric in frame["metric"]],
        part=[0 if subset in ("default", "average") else 1 for subset in frame["subset"]],
        down=[
            -value if higher[metric] else value for value, metric in zip(frame["value"], frame["metric"], strict=True)
        ],
    )
    frame = frame.sort_values(["turn", "main", "part", "subset", "down"], ascending=[True, False, True, True, True])
    disputed = _disputed(frame, "model")
    rows = []
    for score in frame.to_dict("records"):
        rows.append(
            [
                score["title"],
                score["kind"],
                score["metric_title"],
                "" if score["subset"] == "default" else score["subset"],
                *_value(score),
                *_origin(score),
                _marks(score, "model", seen=seen, suspect=suspect, disputed=disputed),
                score["model"],
            ]
        )
    columns = [
        {"key": "model", "title": "Model", "link": {"base": "model?model=", "at": 12}},
        _words("kind", "Kind"),
        _words("metric", "Metric"),
        _words("subset", "Subset", hint="Language or split; empty: the whole task"),
        *_value_columns(),
        *_origin_columns(),
    ]
    return {"columns": columns, "rows": rows, "caption": f"{len(rows)} scores in the units the papers print"}


def claims(suite_cache: SuiteCache) -> dict[str, Any]:
    """Every claim, conflicts first, and the printed tables behind each place in a paper."""
    frame = queries.claims(suite_cache.db).fillna("")
    frame["turn"] = [FIRST_VERDICTS.index(verdict) for verdict in frame["verdict"]]
    frame = frame.sort_values(["turn", "paper"], kind="stable")
    sources = _sources(suite_cache)
    wheres = frame[["paper", "where"]].drop_duplicates().itertuples(index=False, name=None)
    return {
        "fields": list(CLAIM_FIELDS),
        "rows": frame[list(CLAIM_FIELDS)].to_numpy().tolist(),
        "tables": {
            f"{paper}|{where}": found for paper, where in wheres if (found := tables_of(paper, where, sources=sources))
        },
    }


def tables_of(paper: str, where: str, *, sources: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """The published tables that a place such as `Tables 2 and 6` names. sources: by `MIEB Table 9`."""
    numbers = [
        number
        for group in re.findall(r"Tables? (\d+(?:(?:, | and | to )\d+)*)", where)
        for number in re.findall(r"\d+", group)
    ]
    found = [sources.get(f"{paper} Table {number}") for number in dict.fromkeys(numbers)]
    return [entry for entry in found if entry]


def _sources(suite_cache: SuiteCache) -> dict[str, dict[str, str]]:
    from compute.catalog import published

    tables = published.read_csv(published.PUBLISHED / "tables.csv", columns=("key", "source"))
    suites = page_queries.suites_of_sources(suite_cache.db).set_index("source")["suite"].to_dict()
    return {
        row["source"]: {"key": row["key"], "source": row["source"], "suite": suites.get(row["source"], "")}
        for row in tables.to_dict("records")
    }


def interval(score: dict[str, Any]) -> tuple[float | None, float | None]:
    """A score's 95% interval in shown units, kept within the metric's bounds; nothing where n is not known."""
    if blank(score["stderr"]):
        return None, None
    lower, upper = (None if blank(score[side]) else score[side] for side in ("lower", "upper"))
    low, high = score_interval(
        value=score["value"],
        stderr=score["stderr"],
        lower=lower,
        upper=upper,
        share_of=int(score["n"]) if score["proportion"] and not blank(score["n"]) else None,
    )
    return _shown(low, score), _shown(high, score)


def _shown(value: float | None, score: dict[str, Any]) -> float | None:
    return None if blank(value) else round(float(value) * score["scale"], int(score["digits"]) + 1)


def _whole(value: float | None) -> int | None:
    return None if blank(value) or np.isnan(value) else int(value)


def _words(key: str, title: str, *, hint: str = "") -> dict[str, Any]:
    return {"key": key, "title": title, "hint": hint}


def _figure(key: str, title: str, digits: int, *, hint: str = "") -> dict[str, Any]:
    return {"key": key, "title": title, "hint": hint, "numeric": True, "digits": digits}
