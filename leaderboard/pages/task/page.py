"""One task: how it is run, how models score on it, and its single items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import gradio as gr
import numpy as np
import pandas as pd
from markupsafe import Markup

from compute.analysis.figures.ranked import strip
from leaderboard.data import replication, task_doubts
from leaderboard.data.board_table import BoardTable, SuiteColumn, SuiteRow
from leaderboard.data.languages import code_of, name_of
from leaderboard.html import drawn_examples
from leaderboard.html.components import lazy_tables
from leaderboard.html.formatting import number, span
from leaderboard.html.labels import SUSPECT, TRAINED, choice_title, explained_signs, is_synthetic, origin_title, signs
from leaderboard.html.templates import macro, render
from leaderboard.page import Canvas, Site, View, controls, instead, subject_heading
from leaderboard.pages.task import protocols, routes

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from leaderboard.data.task_doubts import Saturation

DEFAULT = "mieb/stl10"
FEWEST = 8  # models next to the best before a share of them means anything
SHOWN = 20  # rows of the figure


def draw(site: Site) -> None:
    """What the task is and how models do on it, its figure, the control, then its items."""
    listed, canvas = partial(tasks, site), Canvas(site)
    keys = [key for _, key in listed()]
    canvas.output(subject_heading(TASK))
    head = canvas.waiting()
    with controls():
        canvas.choose(
            "task",
            listed,
            default=DEFAULT if DEFAULT in keys else keys[0],
            noun="task",
            label="Task (type to search)",
        )
    canvas.figure()
    canvas.html()
    canvas.html()
    lazy_tables(site.assets, "pages/task/items.js")

    canvas.bind(partial(page, site), instead=lambda **_: {head: instead("task?task=", listed())})


def tasks(site: Site) -> list[tuple[str, str]]:
    """Titles and keys of the tasks to choose from."""
    return [
        (f"{row.title}  ·  {choice_title(row.benchmark, row.key.partition('/')[0])}, {row.category}", row.key)
        for row in site.db.query("listed_tasks").itertuples()
    ]


def page(site: Site, *, task: str) -> tuple:
    """Returns the outputs for one task: heading, who leads, the chart (hidden without a suite), facts and items,
    the rest.
    """
    db = site.db
    about = db.query("task", key=task).iloc[0]
    suites = db.query("suites_of_task", task=task)
    metrics = db.keyed("metrics")
    # A task's own settings, where its notes hold them as JSON
    settings = json.loads(about["notes"]) if str(about["notes"]).startswith("{") else {}
    languages = [name_of(code_of(each)) for each in about["languages"]]
    task_facts = about.to_dict() | {"subsets": list(about["subsets"]), "languages": languages}
    shown: dict[str, Any] = {}
    leader, untrained, trained = None, None, pd.Series(dtype=bool)
    reading: dict[str, Any] = {"saturation": None, "column": None}
    figure = None
    table = None if suites.empty else site.suite_cache.table(str(suites["key"].iloc[0]))
    index = None if table is None else table.headline(task)
    if table is not None and index is not None and not np.isnan(table.scores.values[:, index]).all():
        column = table.columns[index]
        points = ranked_points(table, index)
        figure = best_scores(points.head(SHOWN), column)
        doubtful = points["marks"] & SUSPECT > 0
        best = points[~doubtful].head(10)
        origin, _ = table.scored_rows(index)
        read = task_doubts.reading(table, index)
        reading = {"column": column, "saturation": read, "verdict": verdict(read)}
        leaders = points[~doubtful & (points["origin"] == origin)]
        leader, trained = next(leaders.itertuples(), None), leaders["marks"] & TRAINED > 0
        untrained = next(leaders[~trained].itertuples(), None)
        shown = {
            "best": best,
            "doubtful": int(doubtful.sum()),
            "legend": explained_signs(np.bitwise_or.reduce(best["marks"])) if len(best) else "",
        }
    facts = {"task": task_facts, "suites": suites, **reading}
    head = render(
        "pages/task/head.html",
        **facts,
        example=drawn_examples.markup(about),
        leader=leader,
        untrained=untrained,
        trained=int(trained.cummin().sum()),  # of the first, how many in a row
        unlike=replication.failing(db).get(task),
        doubt=task_doubts.task_doubts(db, table).get(task) if table else None,
    )
    rest = render(
        "pages/task/rest.html",
        **facts,
        **shown,
        metrics=metrics.loc[[key for key in about["metrics"] if not key.endswith("_rank")]].to_dict("records"),
        settings=protocols.settings(settings),
        faults=db.records("task_faults", task=task),
    )
    runs = db.query("computed_runs", task=task, model="")
    if len(runs):
        runs = runs.sort_values("value", ascending=not bool(runs["higher"].iloc[0]), kind="stable")
    has_note = isinstance(about["notes"], str) and not settings and not is_synthetic(about["benchmark"])
    foot = render(
        "pages/task/foot.html",
        task=task_facts,
        address=quote(task, safe="/"),
        runs=runs,
        notes=db.query("task_notes", task=task),
        own_note=about["notes"] if has_note else "",
    )
    badge = macro("badge")(about["benchmark"])
    top = macro("heading")(Markup("{}{}").format(about["title"], badge), described(about), "", True)
    return top, head, gr.update(value=figure, visible=figure is not None), rest, foot


def described(task: Mapping[str, Any]) -> str:
    """Describes how a task is run, in a sentence."""
    return protocols.sentence(task["procedure"], task["benchmark"]) or "Our sources do not describe how it is run."


def ranked_points(table: BoardTable, index: int) -> pd.DataFrame:
    """Returns every row with a score, best first: model, title, origin, marks, value, low, high in shown units."""
    column, rows = table.columns[index], np.flatnonzero(~np.isnan(table.scores.values[:, index]))
    frame = pd.DataFrame([table.rows[row] for row in rows], columns=SuiteRow._fields).assign(
        marks=table.marks[rows, index],
        value=table.scores.values[rows, index] * column.scale,
        low=table.low[rows, index] * column.scale,
        high=table.high[rows, index] * column.scale,
    )
    return frame.sort_values("value", ascending=not column.higher, kind="stable").reset_index(drop=True)


def best_scores(points: pd.DataFrame, column: SuiteColumn) -> go.Figure:
    """Plots rows of `ranked_points` with their 95% intervals, a colour per origin."""
    digits = column.digits
    said = [
        (
            f"{number(row.value, digits=digits)}, 95% {span(row.low, row.high, digits=digits)}",
            explained_signs(row.marks),
        )
        for row in points.itertuples()
    ]
    return strip(
        names=[f"{row.title} {signs(row.marks)}".rstrip() for row in points.itertuples()],
        **{name: points[name].to_numpy(float) for name in ("value", "low", "high")},
        groups=points["origin"].map(origin_title).tolist(),
        notes=["<br>".join(filter(None, words)) for words in said],
        x=f"{column.metric_title}{', %' * bool(column.unit)}",
    )


def verdict(saturation: Saturation) -> str:
    """Describes saturation in one sentence, which only claims what noise, chance or the ceiling shows."""
    if saturation.at_chance:
        return "Too hard to tell models apart: not even the best is clearly better than guessing."
    if saturation.judged >= FEWEST and saturation.within / saturation.judged >= 0.25:
        end = "Too hard to tell the best" if saturation.used < 0.5 else "Close to saturated at the top"
        return f"{end}: a quarter or more of the models lie within the noise of the best."
    if saturation.used >= 0.95:
        return "Close to its ceiling: little room is left above the best model."
    if saturation.judged and saturation.ratio >= 5:
        return "Still separates models: their spread is well above the noise of a score."
    if saturation.judged:
        return "Separates models in part: the spread is only a few times the noise of a score."
    if saturation.used == saturation.used:
        return "There is room above the best, but without a known noise small gaps say little."
    return "Without a ceiling or a known noise, only the spread says how far apart the models are."


TASK = View(
    key="task",
    title="Task",
    sentence="One task: how and on what data it is run, how well it still separates models, which do best and how "
    "certainly, and the single items that a model got right or wrong.",
    group="Board",
    subject=lambda site, key: next(((row["title"], described(row)) for row in site.db.records("task", key=key)), None),
    listed=False,
    draw=draw,
    routes=routes.routes,
)
