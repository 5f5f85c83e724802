"""Where the score of a cell comes from: every source, its digits, its interval, and doubts about it."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote

import pandas as pd

from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.importing.snapshot import SOURCE
from compute.rounding import rounded
from compute.types import BadInput
from leaderboard.data.board_table import SUSPECT, TRAINED, BoardTable, SuiteColumn
from leaderboard.data.database import Database
from leaderboard.data.scores import answered, interval
from leaderboard.html.labels import SYNTHETIC_NOTE, is_synthetic


def cell(db: Database, table: BoardTable, ranked: Ranking | None, *, row_id: str, key: str) -> dict[str, Any]:
    """The sources behind one cell, ready to show. Raises UnknownKey for a row or column that is not there."""
    position = table.row(row_id)
    row = table.rows[position]
    title = table.models.loc[row.model]["title"]
    column = table.by_key.get(key)
    if column is None:
        raise BadInput(f"{table.suite['key']} has no column {key!r}. Reload the page: its columns may have changed")
    if column.kind == "family":
        return _category(db, table, ranked, position, column, title)
    index = table.columns.index(column)
    limits = db.keyed("metrics").loc[column.metric]
    parts = (
        {} if table.parts is None else table.parts[table.parts.task == column.task].groupby("source")["subset"].agg(set)
    )
    sources = [
        {**_source(score, column, limits=limits), "url": _address(db, score.source, score.file, score.commit)}
        for source in sorted(parts.keys() or {column.task})
        for score in db.query("cell", model=row.model, task=source).itertuples()
        if score.metric == column.metric and score.subset in parts.get(source, {score.subset})
    ]
    notes = db.query("cell_notes", model=row.model, task=column.task, metric=column.metric)["note"].tolist()
    if table.marks[position, index] & TRAINED:
        notes.insert(0, "The model was trained on this data set, so the score says little about new data.")
    label = "No score" if math.isnan(table.scores.values[position, index]) else "Shown"
    lines = [
        {"label": label, "text": _shown(table, position, index)},
        {"label": "Metric", "text": f"{column.metric_title}, {'higher' if column.higher else 'lower'} is better"},
    ]
    if column.chance is not None:
        lines.append({"label": "By chance", "text": _number(column.chance, column)})
    if is_synthetic(table.suite["benchmark"]):
        notes.insert(0, SYNTHETIC_NOTE)
    return {
        "title": f"{title} on {column.title}",
        "lines": lines,
        "sources": sources,
        "notes": notes,
        "model": row.model,
        "task": column.task,
        "items": any(source["items"] for source in sources),
    }


def _category(
    db: Database, table: BoardTable, ranked: Ranking, position: int, category: SuiteColumn, title: str
) -> dict[str, Any]:
    row = table.rows[position]
    code = table.category_columns.index(category)
    whole = [index for index, column in enumerate(table.columns) if column.group == category.key]
    members = [index for index in whole if ranked.table.chosen[index]]
    have = [index for index in members if not math.isnan(table.scores.values[position, index])]
    mean = ranked.category_means[position, code]
    printed = table.averages[(table.averages.model == row.model) & (table.averages.category == category.key)]
    own = row.origin == "published" and len(printed) > 0 and len(members) == len(whole)
    if len(members) < len(whole):
        made_of = f"the mean of the tasks that count, {len(members)} of {len(whole)}"
    elif len(have) == len(members):
        made_of = "the mean of all its tasks"
    elif own:
        made_of = "the mean that the paper prints"
    else:
        made_of = "the mean of the available scores" if have else "—"
    lines = [
        {"label": "Shown", "text": "no mean" if math.isnan(mean) else _number(mean, category)},
        {"label": "Made of", "text": made_of},
        {"label": "Tasks", "text": f"{len(have)} of {len(members)} have a readable score"},
        *({"label": table.columns[index].title, "text": _shown(table, position, index)} for index in members),
    ]
    sources = [
        {
            "source": average.source,
            "url": _address(db, average.source),
            "printed": average.printed,
            "value": _number(average.value, category),
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
    return {
        "title": f"{title}: {category.title}",
        "lines": lines,
        "sources": sources,
        "notes": notes,
        "model": row.model,
        "task": "",
    }


def _address(db: Database, source: str, file: str = "", commit: str = "") -> str:
    """Where a source can be read: a public result file at its commit, or the paper with the table; else empty."""
    if commit:
        return f"{SOURCE}/blob/{commit}/results/{quote(file)}"
    papers = db.query("benchmarks")
    return next((row.url for row in papers.itertuples() if source.lower().startswith(row.key)), "") or ""


def _source(score: Any, column: SuiteColumn, *, limits: pd.Series) -> dict[str, Any]:
    low, high = interval(value=score.value, stderr=score.stderr, n=score.n, limits=limits, own=(score.low, score.high))
    return {
        "source": score.source,
        "printed": score.printed or "",
        "value": _number(score.value, column, more=0 if score.printed else 2),
        "subset": "" if score.subset == "default" else score.subset,
        "metric": column.metric_title,
        "n": None if pd.isna(score.n) else int(score.n),
        "interval": "; ".join(
            filter(
                None,
                (
                    "" if low is None or high is None else f"{_number(low, column)} to {_number(high, column)}",
                    bias_note(score.value, score.bias, digits=column.digits, scale=column.scale),
                ),
            )
        ),
        "origin": score.origin,
        "run": score.run if score.origin == "computed" else "",
        "items": bool(score.items),
        "coverage": answered(score._asdict(), {"scale": column.scale, "digits": column.digits}),
        "note": ""
        if score.main
        else "Another run of the same cell; not the one shown."
        if score.origin == "computed"
        else "Another table's score for the same cell; not the one shown.",
    }


def _shown(table: BoardTable, position: int, index: int) -> str:
    """The score of a row in a column, or why there is none."""
    value = table.scores.values[position, index]
    return (
        table.scores.reasons[table.scores.missing[position, index]]
        if math.isnan(value)
        else _number(value, table.columns[index])
    )


def _number(value: float, column: SuiteColumn, *, more: int = 0) -> str:
    return f"{rounded(value, column.digits + more, scale=column.scale)}{'%' if column.scale == 100 else ''}"
