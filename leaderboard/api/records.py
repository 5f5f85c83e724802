"""Answers for programs: suites, ranked models, a model's scores, choices, comparisons and search results, as plain
records in shown units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import numpy as np

from compute.analysis.table import USUAL, check_origin
from compute.rounding import rounded
from compute.types import WHOLE, BadInput, fit_of, origins_in, shortened, unknown, words_of
from leaderboard.data import payload, replication
from leaderboard.data.board_table import TRAINED
from leaderboard.data.comparison import ComparedLine, common_ground, compare, rows_of
from leaderboard.data.database import shared
from leaderboard.data.mean_rule import suite_rule
from leaderboard.data.models.model_facts import HUB, facts, hub_id
from leaderboard.data.shortlist import NEEDS, Conditions, Shortlist, ShortlistedModel, shortlist
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.task_doubts import task_doubts
from leaderboard.html import labels
from leaderboard.html.formatting import model_url
from leaderboard.search.index import index

MOST_ROWS = 1000
MOST_SOURCES = 20  # that a row names
LONGEST_QUERY, MOST_WORDS = 200, 12  # characters and words of a search
LEAST_FIT = 0.45  # mean of the words of a search
SIGNIFICANT = {"better": True, "worse": True, "same": False}  # readings of a test; of the others it is unknown
COUNTED = ("origin", "ranked", "fitting", "unknown_size", "unknown_license", "ties")  # of a shortlist
CAUSING = ("data", "a", "b", "task_a", "task_b", "metric_a", "metric_b")  # what causes of differences depend on
Record = dict[str, Any]


class NoSuchKey(BadInput):
    """An unknown key; the message suggests the nearest known one."""

    def __init__(self, noun: str, sentence: str) -> None:
        super().__init__(sentence)
        self.noun = noun


def known(noun: str, key: str, keys: Sequence[str], *, lister: str) -> None:
    """Raises NoSuchKey for an unknown key."""
    if key not in keys:
        raise NoSuchKey(noun, f"{unknown(noun, key, keys)} {lister} names them all")


def check_keys(suite_cache: SuiteCache, **keys: str) -> None:
    """Raises NoSuchKey for a key that the database does not have, by its noun; an empty key is ignored."""
    for noun, key in keys.items():
        if key:
            lister = "list_suites" if noun == "suite" else "search"
            known(noun, key, _keys(suite_cache, noun), lister=lister)


@shared
def _keys(suite_cache: SuiteCache, noun: str) -> list[str]:
    return list(suite_cache.db.query(f"{noun}s")["key"])


def check_limit(limit: int) -> None:
    """Raises BadInput for an invalid number of rows."""
    if not isinstance(limit, int) or not 1 <= limit <= MOST_ROWS:
        raise BadInput(f"limit is {limit!r}; it is a number of rows from 1 to {MOST_ROWS}")


def suites(suite_cache: SuiteCache) -> list[Record]:
    return [
        {
            "key": row.key,
            "title": labels.plain_title(row.title, row.benchmark),
            "benchmark": row.benchmark_title,
            "tasks": int(row.tasks),
            "ranked_by": suite_rule(suite_cache.table(row.key)),
            "description": row.description,
            "paper": row.url or "",
            "synthetic": labels.is_synthetic(row.benchmark),
        }
        for row in suite_cache.db.query("suites").itertuples()
    ]


def catalogue(suite_cache: SuiteCache, wanted: Conditions) -> list[Record]:
    """Returns every model that meets the conditions, with its page, its weights and whether it has scores."""
    rows = [
        {
            **{name: row[name] for name in ("key", "title", "organisation", "kind")},
            "address": model_url(row["key"]),
            "weights": f"{HUB}{id}" if (id := hub_id(row["weights"])) else "",
            "scored": bool(row["runs"]),
        }
        for row in suite_cache.db.records("models")
    ]
    return models(suite_cache, rows, wanted)


def models(suite_cache: SuiteCache, rows: list[Record], wanted: Conditions) -> list[Record]:
    """Returns the rows of models that can be tried and meet the conditions, with their facts. The host's own models
    have no facts and meet no condition.
    """
    wanted.check(suite_cache.db.keyed("models")["license"])
    none = dict.fromkeys(("parameters", "dimension", "open_weights"), None) | {"license": "", "released": ""}
    rows = [{**row, **none, **facts(suite_cache).get(row["key"], {})} for row in rows]
    return [row for row in rows if not wanted.unmet(row)]


# ---- ranks


def leaderboard(
    suite_cache: SuiteCache,
    suite: str,
    *,
    limit: int = MOST_ROWS,
    origin: str = "",
    wanted: Conditions = Conditions(),  # noqa: B008 (frozen)
    filters: Mapping[str, str] | None = None,
) -> list[Record]:
    """Returns the rows of one suite and origin that meet the conditions, best first. Raises BadInput."""
    check_keys(suite_cache, suite=suite)
    check_limit(limit)
    table = suite_cache.table(suite)
    origins = origins_in(row.origin for row in table.rows)
    if origin and origin not in origins:
        raise BadInput(f"{suite} has no rows of origin {origin!r}; it has: {', '.join(origins)}")
    rows = _ranked(suite_cache, suite, origin or USUAL)
    wanted.check(row["license"] for row in rows)
    meets = [not wanted.unmet(row) for row in rows]
    for name, text in (filters or {}).items():
        chosen, present = set(filter(None, map(str.strip, text.split(",")))), {_filtered(name, row) for row in rows}
        if chosen - present:
            raise BadInput(
                f"{suite} has no row with {name} {shortened(min(chosen - present))!r}; it has: "
                f"{', '.join(sorted(present))}"
            )
        meets = [fits and (not chosen or _filtered(name, row) in chosen) for fits, row in zip(meets, rows, strict=True)]
    return [row for row, fits in zip(rows, meets, strict=True) if fits][:limit]


def _filtered(name: str, row: Record) -> str:
    """Returns the values of a row that a filter compares, as on the board."""
    return (row[name][:4] if name == "released" else row[name]) or "unknown"


@shared
def _ranked(suite_cache: SuiteCache, suite: str, origin: str) -> list[Record]:
    """Returns the rows of one origin, or of USUAL, best first."""
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    numbers = payload.plain(payload.standing(table, ranked).drop(columns="excess")).to_dict("records")
    every, _ = payload.cells(table, ranked)
    columns = table.category_columns or [column for column in table.columns if column.default]
    values = every[:, [list(table.by_key).index(column.key) for column in columns]].tolist()
    tasks = sorted({column.task for column in table.columns})
    sources = {(row["model"], row["origin"]): row["sources"] for row in suite_cache.db.records("sources", tasks=tasks)}
    trained = (table.marks & TRAINED) > 0
    out = []
    for at in table.rows_of(origin):
        row = table.rows[at]
        seen = dict.fromkeys(table.columns[index].group for index in np.flatnonzero(trained[at]))
        out.append(
            numbers[at]
            | {
                "model": row.model,
                "title": row.title,
                "kind": table.models["kind"][row.model],
                **facts(suite_cache)[row.model],
                "origin": row.origin,
                "unit": columns[0].unit if columns else "",
                "scores": {
                    column.title: column.rounded(value) for column, value in zip(columns, values[at], strict=True)
                },
                "trained_on": list(seen),
                "trained": table.trained(at),
                "source": _listed(sources.get((row.model, row.origin), []), origin=row.origin),
                "synthetic": labels.is_synthetic(table.suite["benchmark"]),
            }
        )

    def order(record: Record) -> tuple:
        """Returns the rows in the board's default order: by rank, rows without a rank last; then by mean, coverage and
        title.
        """
        rank, mean = record["rank"] or np.inf, np.inf if record["mean"] is None else -record["mean"]
        return rank, mean, -record["coverage"], record["title"].lower()

    return sorted(out, key=order)


def _listed(sources: Sequence[str], *, origin: str) -> str:
    """Returns distinct sources as text, up to MOST_SOURCES by name; folders of runs are counted."""
    names = sorted(set(sources), key=lambda name: (len(name), name))  # Table 9 before Table 10
    if origin == "computed" and len(names) > 1:
        return f"{len(names)} computed runs"
    rest = len(names) - MOST_SOURCES
    return "; ".join(names[:MOST_SOURCES]) + (f" and {rest} more" if rest > 0 else "")


# ---- single scores


def model_scores(suite_cache: SuiteCache, model: str, *, suite: str = "", origin: str = "") -> list[Record]:
    """Returns a model's distinct scores on tasks, as on the boards. Raises BadInput."""
    found: dict[tuple[str, str, str], Record] = {}
    for key in [suite] if suite else suite_cache.suites():
        for row in suite_scores(suite_cache, key, model=model, origin=origin):
            cell = (row["task"], row["metric"], row["origin"])
            found.setdefault(cell, row | {"suite": key} | facts(suite_cache)[model])
    return list(found.values())


def task_scores(suite_cache: SuiteCache, task: str, *, origin: str = "", metric: str = "") -> Record:
    """Returns a task's distinct scores, the best of each metric first, and its doubts and faults. Raises BadInput."""
    check_keys(suite_cache, task=task)
    db, doubt = suite_cache.db, ""
    found: dict[tuple[str, str, str], Record] = {}
    suites = db.query("suites_of_task", task=task)["key"]
    for suite in suites:
        for row in suite_scores(suite_cache, suite, task=task, origin=origin, metric=metric):
            found.setdefault((row["model"], row["metric"], row["origin"]), row)
        of_suite = task_doubts(db, suite_cache.table(suite)).get(task)
        doubt = doubt or (of_suite.words if of_suite else "")
    higher, without = db.keyed("metrics")["higher_is_better"], ""
    if metric and not found:
        tables = [suite_cache.table(suite) for suite in suites]
        here = sorted({column.metric for table in tables for column in table.columns if column.task == task})
        there = [str(table.suite["key"]) for table in tables if metric in {column.metric for column in table.columns}]
        without = f"Nobody has a score of this task by {metric}; there are: {', '.join(here) or 'none'}."
        without += "".join(f" Nearest: suites/{suite}/scores?metric={metric}, of other tasks." for suite in there[:1])
    return {
        "task": task,
        "title": db.keyed("tasks")["title"][task],
        "doubt": doubt,
        "unknown": without,
        "faults": db.records("task_faults", task=task),
        "scores": sorted(
            found.values(), key=lambda row: (row["metric"], -row["value"] if higher[row["metric"]] else row["value"])
        ),
    }


def suite_scores(
    suite_cache: SuiteCache, suite: str, *, model: str = "", task: str = "", origin: str = "", metric: str = ""
) -> list[Record]:
    """Returns the scores of a suite by model, filtered by model, task, origin and metric if given. Raises BadInput."""
    check_keys(suite_cache, suite=suite, model=model, metric=metric)
    if origin:
        check_origin(origin)
    table, out = suite_cache.table(suite), []
    rows = [at for at, row in enumerate(table.rows) if model in ("", row.model) and origin in ("", row.origin)]
    columns = [at for at, each in enumerate(table.columns) if task in ("", each.task) and metric in ("", each.metric)]
    for row_at, column_at in np.argwhere(~np.isnan(table.scores.values[np.ix_(rows, columns)])):
        at, index = rows[row_at], columns[column_at]
        column = table.columns[index]
        out.append(
            {
                "model": table.rows[at].model,
                "task": column.task,
                "title": column.title,
                "category": column.group,
                "metric": column.metric,
                "ranked": column.ranked,
                "value": column.rounded(table.scores.values[at, index]),
                "low": column.rounded(table.low[at, index]),
                "high": column.rounded(table.high[at, index]),
                "unit": column.unit,
                "items": column.n,
                "chance": column.rounded(column.chance),
                "origin": table.rows[at].origin,
                "trained": bool(table.marks[at, index] & TRAINED),
            }
        )
    return out


def replicated(suite_cache: SuiteCache, *, model: str, task: str) -> list[Record]:
    """Returns values of whole tasks that two origins have for the same weights and data, with the causes of
    differences. Raises BadInput.
    """
    check_keys(suite_cache, model=model, task=task)
    found = replication.pairs(suite_cache.db)
    found = found[found["subset"] == WHOLE].drop(columns=["subset", "same"])
    rows = found.round({"value_a": 4, "value_b": 4, "difference": 4}).to_dict("records")
    return [
        row | {"causes": _causes(suite_cache, itemgetter(*CAUSING)(row))}
        for row in rows
        if model in ("", row["model"]) and task in ("", row["task_a"], row["task_b"])
    ]


@shared
def _causes(suite_cache: SuiteCache, about: tuple[str, ...]) -> list[Record]:
    row = SimpleNamespace(**dict(zip(CAUSING, about, strict=True)))
    return [cause._asdict() for cause in replication.causes(suite_cache.db, row)]


# ---- a choice


def choice(suite_cache: SuiteCache, need: str, wanted: Conditions, *, suite: str, smallest: bool) -> Record:
    """Returns the shortlist for a need as a record, with the answer as a sentence. Raises BadInput, UnknownKey."""
    found = shortlist(suite_cache, need=need, conditions=wanted, suite=suite, smallest=smallest)
    models = [_shortlisted(suite_cache, found, each) for each in found.choices]
    return {
        "answer": found.answer(name="key"),
        "need": NEEDS[need].title,
        "suite": found.table.suite["key"],
        "unit": found.table.category_columns[0].unit,
        "tasks": len(found.tasks),
        **{name: getattr(found, name) for name in COUNTED},
        "best": models[0] if models else None,
        "runner_up": found.runner_up and _shortlisted(suite_cache, found, found.runner_up),
        "shortlist": models,
    }


def _shortlisted(suite_cache: SuiteCache, found: Shortlist, model: ShortlistedModel) -> Record:
    test = model.test
    numbers = {"mean": model.mean, **{name: getattr(test, name, np.nan) for name in ("difference", "low", "high")}}
    return {
        "model": model.facts["key"],
        "title": model.facts["title"],
        **facts(suite_cache)[model.facts["key"]],
        "rank": model.rank,
        **{name: _rounded(value, found.digits) for name, value in numbers.items()},
        "shared_tasks": test.n if test else len(found.tasks),
        "significantly_worse": SIGNIFICANT.get(model.reading),
        "trained": model.trained,
        "weakest_language": model.weakest[0],
        "weakest_mean": _rounded(model.weakest[1], found.digits),
    }


def _rounded(value: float, digits: int) -> float | None:
    return None if np.isnan(value) else float(rounded(value, digits))


# ---- search


@shared
def _entries(suite_cache: SuiteCache) -> list[tuple[Record, list[str], list[str], int]]:
    """Returns the record of everything the search knows, with the words of its title, its other words, and whether it
    has scores.
    """
    found = index(suite_cache, pages=())
    out = []
    for kind, title, note, key, others, matters in found["entries"]:
        plural, base = found["kinds"][kind]
        record = {
            "kind": plural.lower(),
            "key": key,
            "title": title,
            "note": note,
            "address": base + (quote(key, safe="/:~") if base else key),
        }
        if plural == "Models":
            record |= facts(suite_cache)[key]
        out.append((record, words_of(f"{title} {key}"), words_of(f"{others} {note}"), matters))
    return out


def search(suite_cache: SuiteCache, query: str, *, kind: str = "", limit: int = 10) -> list[Record]:
    """Returns matches of a query, best first. Ties go to entries with scores, then to the shortest title; claims come
    last. Raises BadInput.
    """
    check_limit(limit)
    entries, found = _entries(suite_cache), []
    if kind:
        known("kind", kind, sorted({record["kind"] for record, *_ in entries}), lister="The description of search")
    asked, fit = words_of(query[:LONGEST_QUERY])[:MOST_WORDS], cache(fit_of)
    for record, title, others, matters in entries:
        if asked and kind in ("", record["kind"]):
            fits = [
                max((*(fit(word, each) for each in title), *(0.8 * fit(word, each) for each in others)), default=0.0)
                for word in asked
            ]
            order = (-float(np.mean(fits)), record["kind"] == "claims", -matters, len(title))
            if -order[0] > LEAST_FIT:
                found.append((order, record))
    return [record for _, record in sorted(found, key=itemgetter(0))[:limit]]


# ---- a comparison


def comparison(suite_cache: SuiteCache, models: Sequence[str], *, suite: str, origin: str, tasks: bool) -> Record:
    """Compares models with the first one, by the mean, the categories and, if requested, the tasks. Raises BadInput."""
    titles = suite_cache.db.keyed("models")["title"]
    for model in models:
        check_keys(suite_cache, model=model, suite=suite)
    suite, origin = common_ground(suite_cache, models, suite=suite, origin=origin)
    table = suite_cache.table(suite)
    rows = rows_of(table, models, origin=origin)
    if without := [model for model, row in zip(models, rows, strict=True) if row is None]:
        raise BadInput(f"{without[0]} has no {origin} scores in {table.suite['title']}. Give another suite or origin")
    found = compare(table, suite_cache.ranked(suite), rows)
    lines = [found, *found.parts, *([line for line in found.tasks if line is not found] if tasks else [])]
    return {
        "answer": " ".join(filter(None, (found.sentence(), found.ahead()))),
        "suite": suite,
        "origin": origin,
        "models": [{"model": model, "title": titles[model], **facts(suite_cache)[model]} for model in models],
        "lines": [_line(line, models) for line in lines],
    }


def _line(line: ComparedLine, models: Sequence[str]) -> Record:
    def shown(value: float) -> float | None:
        return _rounded(value, line.column.digits + 1)

    return {
        "kind": line.kind,
        "key": line.column.key,
        "title": line.column.title,
        "higher_is_better": line.column.higher,
        "unit": line.column.unit,
        "values": [
            {"model": model, **{name: shown(getattr(one, name)) for name in ("value", "low", "high")}}
            for model, one in zip(models, line.values, strict=True)
        ],
        "differences": [
            {
                "model": model,
                **{name: shown(getattr(test, name)) for name in ("difference", "low", "high")},
                "p": test.p,
                "shared_tasks": test.n,
                "significant": SIGNIFICANT.get(test.reading),
                "why": test.reason,
            }
            for model, test in zip(models[1:], line.tests, strict=True)
        ],
    }
