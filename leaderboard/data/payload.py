"""A table as bytes for the browser: compact JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.estimates import Estimated
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import rank
from compute.rounding import clean, rounded
from leaderboard.data import replication
from leaderboard.data.board_table import ESTIMATED, SUSPECT, TRAINED, BoardTable, Estimates, SuiteColumn
from leaderboard.data.database import Database
from leaderboard.data.fronts import size_front
from leaderboard.data.languages import name_of
from leaderboard.data.mean_rule import changed_rule, description, suite_rule
from leaderboard.data.models.model_facts import is_usable, own_facts
from leaderboard.data.task_doubts import TaskDoubt, task_doubts
from leaderboard.html import labels
from leaderboard.html.formatting import rank_range

# Of a column, as they are.
COLUMN_FACTS = (
    *("key", "title", "group", "kind", "metric", "metric_title", "higher", "digits", "n", "default", "private"),
)
NO_VOTES = "the paper prints no number of votes"
STANDING = {  # of a row, and as a ranking calls it
    **{name: name for name in ("rank", "rank_low", "rank_high", "why", "excess", "coverage", "covered")},
    **{name: name for name in ("mean", "mean_low", "mean_high")},
    "tie_class": "classes",
    "few_tasks": "few",
    "interval_unknown": "unknown",
}
SHORT = {"rank_low": "low", "rank_high": "high", "tie_class": "tie", "few_tasks": "few", "interval_unknown": "unknown"}
PLACES = {"estimated_rank_low": "rank_low", "estimated_rank_high": "rank_high"}  # and as an estimate calls them
MEANS = {"mean": "mean", "mean_low": "low", "mean_high": "high"}
ESTIMATED_WORDS = (
    "estimated from {tasks} of {of} tasks: {mean} ({low} to {high}); place {place} among {complete} complete models"
)


def board(db: Database, table: BoardTable, ranked: Ranking | None) -> dict[str, Any]:
    """Returns everything that the table component needs to draw, sort and filter one suite. Numbers are in shown
    units.
    """
    columns = (*table.category_columns, *table.columns)
    values, marks = cells(table, ranked)
    shown, of_means = values * [column.scale for column in columns], len(table.category_columns)
    rates_pairs = any(column.metric == "mmscore" for column in table.columns)
    unlike, doubts = replication.failing(db), task_doubts(db, table)
    missing = np.pad(np.isnan(table.scores.values) * table.scores.missing, ((0, 0), (of_means, 0)))
    return {
        "version": db.version,
        "suite": suite_facts(table, replication.sensitivity(db, table, ranked)),
        "origin": table.origin,
        "suites": [
            {
                "key": row.key,
                "title": (title := labels.plain_title(row.title, row.benchmark)),
                "benchmark_title": row.benchmark_title,
                "group": labels.group(row.benchmark, row.benchmark_title),
                "variant": labels.variant(title, row.benchmark_title),
                "synthetic": labels.is_synthetic(row.benchmark),
                "own": labels.is_own(row.benchmark),
            }
            for row in db.query("suites").itertuples()
        ],
        "presets": [
            {"key": name, "title": name[:1].upper() + name[1:], "weights": weights}
            for name, weights in table.presets.items()
        ],
        "categories": list(table.scores.categories),
        "choices": _choices(db, table),
        "columns": [
            _column(column, shown[:, index], unlike.get(column.task), doubts.get(column.task))
            for index, column in enumerate(columns)
        ],
        "rows": _rows(db, table),
        "cells": _cells(shown, columns),
        "marks": _nonzero(marks),
        "reasons": list(table.scores.reasons),
        "missing": _nonzero(missing),
        "ranking": ranking(table, ranked),
        "links": {
            "model": "model?model={model}",
            "judge": f"judges?judge={{model}}&suite={table.suite['key']}" if rates_pairs else "",
            "task": "task?task={task}",
            "items": "task?task={task}&items={model}",
        },
    }


def suite_facts(table: BoardTable, *notes: str) -> dict[str, Any]:
    """Describes a suite, with `notes` after its description, the rule of its mean, and how to cite it."""
    about = table.suite
    return {
        **about[["key", "title", "benchmark", "benchmark_title", "aggregate", "url"]],
        "condition": table.scope.subset,
        "metric": table.scope.metric,
        "language": table.scope.language,
        "description": " ".join([labels.described(description(table), about["benchmark"]), *notes]).strip(),
        "minimum_coverage": float(about["minimum_coverage"]),
        "cite": about["bibtex"],
        "mean_title": suite_rule(table),
        "digits": table.category_columns[0].digits if table.category_columns else 2,
        "synthetic": labels.is_synthetic(about["benchmark"]),
        "people": None if table.people is None else table.columns[table.people].key,
    }


def cells(
    table: BoardTable, ranked: Ranking | None, estimates: Estimates | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns values in stored units and marks [rows, columns of `by_key`]: first category means, with how each was
    computed and the marks of its scores, then tasks.
    """
    shape = len(table.rows), len(table.category_columns)
    means, of_means = np.full(shape, np.nan), np.zeros(shape, int)
    if ranked is not None:
        means, of_means = ranked.category_means.copy(), table.mean_marks(ranked)
        found, lacking = estimates[0] if estimates else {}, np.isnan(table.scores.values) & ranked.table.counted
        for code in range(len(table.scores.categories)):
            for row in filter(lambda row: lacking[row, table.scores.codes == code].any(), found):
                means[row, code], of_means[row, code] = found[row].categories[code, 0], ESTIMATED
            behind = table.marks[:, (table.scores.codes == code) & ranked.table.chosen]
            of_means[:, code] |= np.bitwise_or.reduce(behind & (TRAINED | SUSPECT), axis=1)
    return tuple(np.concatenate(parts, axis=1) for parts in ((means, table.scores.values), (of_means, table.marks)))


def standing(table: BoardTable, ranked: Ranking | None, estimates: Estimates | None = None) -> pd.DataFrame:
    """Returns the standing of each row, in shown units; the columns are STANDING, blank if unknown.

    Of a suite that people rank (`ranked` None) the order they gave, without intervals. `why` says why a row has no
    rank, `interval_unknown` why a ranked row's intervals and class are not known, `few_tasks` that they rest on few
    tasks; `coverage` is the share of the tasks with a score, `covered` that with the tasks for which a printed mean
    stands in. Estimates add means, the PLACES among complete models, and `place`, where the row stands among the ranks.
    """
    rows, known = len(table.rows), ~np.isnan(table.scores.values)
    if ranked is None:
        people = table.people
        scores = np.full(rows, np.nan) if people is None else table.scores.values[:, people]
        scale = 1.0 if people is None else table.columns[people].scale
        share = known.mean(axis=1) if table.columns else np.zeros(rows)
        found = {"rank": rank(scores), "mean": scores, "coverage": share, "covered": share}
        found |= {"few_tasks": False, "interval_unknown": np.where(np.isnan(scores), "", NO_VOTES)}
        found |= dict.fromkeys(("tie_class", "why"), "")
    else:
        scale = table.category_columns[0].scale
        found = {name: getattr(ranked, own) for name, own in STANDING.items()}
        found["excess"] = np.where(np.isnan(ranked.mean), np.nan, ranked.excess)
    frame = pd.DataFrame(found, index=range(rows), columns=list(STANDING))
    for name in ("rank", "rank_low", "rank_high"):
        frame[name] = frame[name].where(frame[name] > 0).astype("Int64")
    for name in ("mean", "mean_low", "mean_high", "excess", "coverage", "covered"):
        unit = scale if name in ("mean", "mean_low", "mean_high", "excess") else 1.0
        frame[name] = [value if math.isnan(value) else clean(value, scale=unit) for value in frame[name]]
    if ranked is None or estimates is None:
        return frame
    found, reasons = estimates
    for row, reason in reasons.items():
        frame.loc[row, "why"] = frame["why"][row].replace(": ", f": no estimate, since {reason}; ", 1)
    for row, one in found.items():
        frame.loc[row, "why"] = f"Not ranked: {ESTIMATED_WORDS.format(**estimate_facts(table, ranked, one))}"
    for name, own in MEANS.items():
        known = {row: clean(getattr(one, own), scale=scale) for row, one in found.items()}
        frame[name] = frame[name].fillna(pd.Series(known, dtype=float))
    for name, own in PLACES.items():
        places = pd.Series({row: getattr(one, own) for row, one in found.items()}, dtype="Int64")
        frame[name] = places.reindex(frame.index)
    turned, origins = (ranked.mean if ranked.higher_is_better else -ranked.mean), np.array(table.scores.origins)
    turned = np.where(ranked.rank > 0, turned, np.nan)
    frame["place"] = np.nan
    for row, one in found.items():
        own = one.mean if ranked.higher_is_better else -one.mean
        frame.loc[row, "place"] = 0.5 + (turned[origins == origins[row]] > own).sum()
    return frame


def estimate_facts(table: BoardTable, ranked: Ranking, one: Estimated) -> dict[str, Any]:
    """Describes an estimate in words and shown units."""
    return {
        "tasks": one.tasks,
        "of": int(ranked.table.counted.sum()),
        **{name: table.category_columns[0].number(getattr(one, name)) for name in ("mean", "low", "high")},
        "place": rank_range(one.rank_low, one.rank_high),
        "complete": one.complete,
    }


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the frame with None in place of blanks, as in JSON."""
    return frame.astype(object).where(frame.notna(), None)


def ranking(
    table: BoardTable, ranked: Ranking | None, estimates: Estimates | None = None, *, with_categories: bool = False
) -> dict[str, Any]:
    """Returns the `standing` as lists with one entry per row, under short names. `with_categories` adds the category
    means, which the table already has if all its tasks count.

    They come as cells with their marks. `fixed` names the categories of one task; `front` lists the rows of known size
    that no model that is no larger significantly beats, `front_untested` for each of them how many that are no larger
    have a higher mean and cannot be tested. `changed` says in words what differs from the suite's own rule; empty:
    nothing.
    """
    out = plain(standing(table, ranked, estimates)).rename(columns=SHORT).to_dict("list")
    front = {} if ranked is None else size_front(table, ranked)
    out |= {"fixed": [], "front": list(front), "front_untested": list(front.values())}
    out["changed"] = changed_rule(table, ranked)
    if ranked is not None:
        out |= {"fixed": list(ranked.fixed), "families": None, "family_marks": None}
    if ranked is not None and with_categories:
        columns = table.category_columns
        means, marks = (every[:, : len(columns)] for every in cells(table, ranked, estimates))
        out |= {
            "families": _cells(means * [column.scale for column in columns], columns),
            "family_marks": marks.tolist(),
        }
    return out


def encode(data: dict[str, Any]) -> bytes:
    """Returns compact JSON. A remaining NaN raises an error here rather than in the browser."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _choices(db: Database, table: BoardTable) -> dict[str, Any]:
    """Returns the scopes of a suite, each in words. A metric lists the conditions with scores."""
    offered, metrics, spoken = table.choices, db.keyed("metrics"), table.scope.language
    return {
        "conditions": [
            {"key": key, "title": key.capitalize(), "hint": labels.CONDITIONS.get(key, "")} for key in offered.subsets
        ],
        "metrics": [
            {
                "key": key,
                "title": metrics.loc[key]["title"],
                "hint": metrics.loc[key]["description"],
                "conditions": [subset for subset in offered.subsets if subset in subsets],
            }
            for key, subsets in offered.metrics.items()
        ],
        "languages": [
            {"key": key, "title": name_of(key), "hint": f"{tasks} tasks"} for key, tasks in offered.languages.items()
        ]
        + [{"key": spoken, "title": name_of(spoken), "hint": "the tasks with scores in each"}] * ("," in spoken),
        "splits": offered.splits,
    }


def _column(
    column: SuiteColumn, shown: np.ndarray, unlike: replication.Unlike | None, doubt: TaskDoubt | None
) -> dict[str, Any]:
    known = shown[~np.isnan(shown)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return {
        **{name: getattr(column, name) for name in COLUMN_FACTS},
        "chance": column.shown(column.chance),
        "hint": "; ".join(filter(None, (labels.hint(column.title), unlike and unlike.sentence, doubt and doubt.words))),
        "unlike": unlike is not None,
        "doubtful": doubt is not None and doubt.severe,
        "short": labels.SHORT.get(column.title, ""),
        "low": clean(low),
        "high": clean(high),
    }


def _rows(db: Database, table: BoardTable) -> list[dict[str, Any]]:
    """Returns what the browser shows and filters for every row."""
    known = {row.pop("key"): row for row in db.records("board_models")}
    return [
        {
            "id": row.id,
            "model": row.model,
            **(facts := known[row.model]),
            "family": labels.FAMILIES.get(facts["family"], facts["family"]),
            "usable": is_usable(facts["open"], facts["license"]),
            "origin": row.origin,
            "own": own_facts(table.models["options"][row.model]) is not None,
            "trained": table.trained(index),
            "untrained": table.untrained(index),
        }
        for index, row in enumerate(table.rows)
    ]


def _cells(shown: np.ndarray, columns: Sequence[SuiteColumn]) -> list[list[int | None]]:
    """Returns values [rows, columns] as integers in units of their last shown digit."""
    return [
        [
            None if math.isnan(value) else int(rounded(value, column.digits).replace(".", ""))
            for value, column in zip(line, columns, strict=True)
        ]
        for line in shown.tolist()
    ]


def _nonzero(cells: np.ndarray) -> dict[str, int]:
    """Returns the nonzero entries of an array [rows, columns], by `row,column`."""
    return {f"{r},{c}": int(cells[r, c]) for r, c in np.argwhere(cells)}
