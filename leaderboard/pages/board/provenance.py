"""The origin of a cell's score: every source, its digits, its interval, and doubts about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from compute.analysis.intervals import bias_note, interval
from compute.analysis.ranking import Ranking
from compute.importing.snapshot import SOURCE
from compute.types import BadInput
from leaderboard.data import replication
from leaderboard.data.board_table import SUSPECT, TRAINED, BoardTable, SuiteColumn
from leaderboard.data.database import Database
from leaderboard.data.scores import answered
from leaderboard.data.task_doubts import reason
from leaderboard.html.labels import SYNTHETIC_NOTE, is_synthetic, origin_title

ANOTHER = {"computed": "Another run of the same cell; not the one shown."}  # of a score that the board does not show
OTHER_TABLE = "Another table's score for the same cell; not the one shown."
Parts = tuple[list[tuple[str, str]], list[dict[str, Any]], list[str]]  # lines (label, text), sources, notes


def cell(db: Database, table: BoardTable, ranked: Ranking | None, *, row_id: str, key: str) -> dict[str, Any]:
    """Returns the sources behind one cell, ready to show. Raises UnknownKey for a missing row or column."""
    position, column = table.row(row_id), table.by_key.get(key)
    if column is None:
        raise BadInput(f"{table.suite['key']} has no column {key!r}. Reload the page: its columns may have changed")
    row, is_task = table.rows[position], column.kind == "task"
    parts = _task(db, table, position, column) if is_task else _category(db, table, ranked, position, column)
    lines, sources, notes = parts
    found = {
        "title": f"{row.title}{' on' if is_task else ':'} {column.title}",
        "lines": [{"label": label, "text": text} for label, text in lines],
        "sources": sources,
        "notes": notes,
        "model": row.model,
        "task": column.task,
    }
    return found | ({"items": any(source["items"] for source in sources)} if is_task else {})


def _task(db: Database, table: BoardTable, position: int, column: SuiteColumn) -> Parts:
    model, index = table.rows[position].model, table.columns.index(column)
    parts: dict[str, set[str]] = {}
    if table.parts is not None:
        parts = table.parts[table.parts.task == column.task].groupby("source")["subset"].agg(set).to_dict()
    sources = [
        _source(db, score, column)
        for source in sorted(parts or {column.task})
        for score in db.records("cell", model=model, task=source)
        if score["metric"] == column.metric and score["subset"] in parts.get(source, {score["subset"]})
    ]
    notes = db.query("cell_notes", model=model, task=column.task, metric=column.metric)["note"].tolist()
    if table.marks[position, index] & TRAINED:
        notes.insert(0, "The model was trained on this data set, so the score says little about new data.")
    if is_synthetic(table.suite["benchmark"]):
        notes.insert(0, SYNTHETIC_NOTE)
    of_cell = {"model": model, "origin": table.rows[position].origin, "task": column.task, "metric": column.metric}
    doubt = [] if parts else db.records("doubt", **of_cell)
    others = [] if parts else [one for one in replication.others(db, **of_cell) if not one.subsets]
    lines = [
        ("No score" if math.isnan(table.scores.values[position, index]) else "Shown", _shown(table, position, index)),
        ("Metric", f"{column.metric_title}, {'higher' if column.higher else 'lower'} is better"),
        *([] if column.chance is None else [("By chance", column.text(column.chance))]),
        *((f"Looked at: {one['decision']}" if one["decided"] else "Doubtful", reason(column, one)) for one in doubt),
        *((origin_title(other.who), other.sentence) for other in others),
    ]
    return lines, sources, notes


def _category(db: Database, table: BoardTable, ranked: Ranking, position: int, category: SuiteColumn) -> Parts:
    row, code = table.rows[position], table.category_columns.index(category)
    whole = [index for index, column in enumerate(table.columns) if column.group == category.key]
    members = [index for index in whole if ranked.table.chosen[index]]
    have = sum(not math.isnan(table.scores.values[position, index]) for index in members)
    mean = ranked.category_means[position, code]
    printed = table.averages[(table.averages.model == row.model) & (table.averages.category == category.key)]
    own = row.origin == "published" and len(printed) > 0 and len(members) == len(whole)
    if len(members) < len(whole):
        made_of = f"the mean of the tasks that count, {len(members)} of {len(whole)}"
    elif have == len(members):
        made_of = "the mean of all its tasks"
    elif own:
        made_of = "the mean that the paper prints"
    else:
        made_of = "the mean of the available scores" if have else "—"
    lines = [
        ("Shown", "no mean" if math.isnan(mean) else category.text(mean)),
        ("Made of", made_of),
        ("Tasks", f"{have} of {len(members)} have a score; open one for its source"),
        *((table.columns[index].title, _shown(table, position, index)) for index in members),
    ]
    sources = [
        {
            "source": average.source,
            "url": _address(db, average.source),
            "printed": average.printed,
            "value": category.text(average.value),
            "subset": f"mean of {average.tasks} tasks",
            "metric": category.metric_title,
            "n": None,
            "interval": "",
            "origin": "published",
            "note": "",
        }
        for average in (printed.itertuples() if own else ())
    ]
    notes = [
        sentence.format(", ".join(titles))
        for bit, sentence in (
            (TRAINED, "The model was trained on data of {}."),
            (SUSPECT, "Rests on doubtful scores: {}. The page of each task has the remark."),
        )
        if (titles := [table.columns[index].title for index in members if table.marks[position, index] & bit])
    ]
    return lines, sources, notes


def _address(db: Database, source: str, file: str = "", commit: str = "") -> str:
    """Returns the address of a source: a public result file at its commit, or the paper with the table; else empty."""
    if commit:
        return f"{SOURCE}/blob/{commit}/results/{quote(file)}"
    papers = db.query("benchmarks")
    return next((row.url for row in papers.itertuples() if source.lower().startswith(row.key)), "") or ""


def _source(db: Database, score: Mapping[str, Any], column: SuiteColumn) -> dict[str, Any]:
    value, origin = score["value"], score["origin"]
    ends = " to ".join(map(column.text, interval(SimpleNamespace(**score), column) or ()))
    bias = bias_note(value, score["bias"], digits=column.digits, scale=column.scale)
    return {
        "source": score["source"],
        "printed": score["printed"] or "",
        "value": column.text(value, more=0 if score["printed"] else 2),
        "subset": "" if score["subset"] == "default" else score["subset"],
        "metric": column.metric_title,
        "n": score["n"],
        "interval": "; ".join(filter(None, (ends, bias))),
        "origin": origin,
        "run": score["run"] if origin == "computed" else "",
        "items": score["items"],
        "coverage": answered(score, column._asdict()),
        "note": "" if score["main"] else ANOTHER.get(origin, OTHER_TABLE),
        "url": _address(db, score["source"], score["file"], score["commit"]),
    }


def _shown(table: BoardTable, position: int, index: int) -> str:
    """Returns the score of a row in a column, or why there is none."""
    value = table.scores.values[position, index]
    if math.isnan(value):
        return table.scores.reasons[table.scores.missing[position, index]]
    return table.columns[index].text(value)
