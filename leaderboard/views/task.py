"""One task: how it is run, how its models do, what it still tells apart, and which tasks agree with it."""

from __future__ import annotations

from functools import lru_cache

import gradio as gr
import numpy as np
import pandas as pd

from compute.types import View
from leaderboard import profiles, queries, queries_pages, task_blocks, ui
from leaderboard.board.data import lazy_tables
from leaderboard.board.table import Table
from leaderboard.figures import task as figures
from leaderboard.marks import said
from leaderboard.markup import (
    link,
    section,
    text,
)
from leaderboard.state import Choice

SENTENCE = (
    "One task: how it is run and on what, how far it still tells models apart, who does best with what certainty, "
    "and which other tasks it agrees with."
)
DEFAULT = "mieb/stl10"
HALF = 1.96  # standard errors in half a 95% interval
FEWEST = 8  # models a correlation is shown for


def draw(site: ui.Site) -> None:
    """One control, the figure, and two blocks of text around it."""
    ui.heading(site, title="Tasks", sentence=SENTENCE)
    listed = queries_pages.listed_tasks(site.db)
    keys = tuple(listed["key"])
    parameters = (Choice(key="task", default=DEFAULT if DEFAULT in keys else keys[0], choices=keys),)
    with gr.Row(elem_classes="pg-controls"):
        which = gr.Dropdown(
            [(f"{row.title}  ·  {row.benchmark}, {row.category}", row.key) for row in listed.itertuples()],
            value=None,
            label="Task (type to search)",
        )
    head = gr.HTML("<p class='pg-quiet'>Gathering what is known …</p>", apply_default_css=False,
                   js_on_load=ui.NAMED)
    figure = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets)
    related = lru_cache(maxsize=16)(lambda suite: correlations(site.boards.table(suite)))
    ui.bind(
        site,
        parameters=parameters,
        controls=[which],
        outputs=[head, figure, rest],
        draw=lambda task: page(site, task=task, related=related),
    )


def page(site: ui.Site, *, task: str, related) -> tuple:
    """The three outputs for one task: facts and reading, the figure (hidden without a suite), and the rest."""
    about = queries_pages.task(site.db, key=task).iloc[0]
    suites = queries_pages.suites_of_task(site.db, task=task)
    metrics = queries.metrics(site.db)
    facts = task_blocks.known(about, suites, metrics)
    head = f"<h2 class='pg-name'>{text(about['title'])}</h2><div class='pg-two'>{facts}"
    foot = task_blocks.foot(site.db, about)
    if suites.empty:
        alone = "It is in no suite, so its models are not compared here."
        return (
            f"{head}</div><p class='pg-quiet'>{alone}</p>",
            gr.update(value=None, visible=False),
            foot,
        )
    suite = str(suites["key"].iloc[0])
    sheet = site.boards.table(suite)
    place = profiles.column_of(sheet, task=task)
    if place is None or np.isnan(sheet.values[:, place]).all():
        return (
            f"{head}</div><p class='pg-quiet'>No model has a readable score on it.</p>",
            gr.update(value=None, visible=False),
            foot,
        )
    column = sheet.columns[place]
    points = ranked_points(sheet, place)
    shown = points.drop(columns=["model", "marks"]).assign(note=points["marks"].map(said))
    figure = figures.scores(
        shown,
        metric=f"{column.metric_title}{', %' if column.scale == 100 else ''}",
        digits=column.digits,
        chance=np.nan if column.chance is None else column.chance * column.scale,
    )
    limits = metrics.loc[column.metric]
    head += f"{task_blocks.reading(sheet, place, ceiling=limits['upper'])}</div>"
    like = "" if not column.ranked else task_blocks.related(sheet, place, related(suite), suite)
    if str(about["procedure"]) == "frechet":
        like = section(
            "Metrics of these generators",
            "<p>How each automatic metric agrees with people here stands on the page "
            + link("generators", "Generators")
            + ".</p>",
        )
    return (
        head,
        gr.update(value=figure, visible=True),
        f"<div class='pg-two'>{task_blocks.best(points, column)}{like}</div>{foot}",
    )


def ranked_points(sheet: Table, place: int) -> pd.DataFrame:
    """Every row with a score, best first: model, title, origin, marks, value, low, high in shown units."""
    column = sheet.columns[place]
    rows = []
    for at, row in enumerate(sheet.rows):
        value, error = sheet.values[at, place], sheet.stderr[at, place]
        if np.isnan(value):
            continue
        low, high = value - HALF * error, value + HALF * error
        rows.append(
            {
                "model": row.model,
                "title": sheet.models.loc[row.model, "title"],
                "origin": row.origin,
                "marks": int(sheet.marks[at, place]),
                "value": value * column.scale,
                "low": max(low, 0) * column.scale if error == error else np.nan,
                "high": min(high, 1) * column.scale if error == error else np.nan,
            }
        )
    frame = pd.DataFrame(rows)
    return frame.sort_values("value", ascending=not column.higher, kind="stable").reset_index(drop=True)


def correlations(sheet: Table) -> tuple[np.ndarray, object]:
    """Spearman correlations of all ranked tasks of a suite, one row a model: the columns' places, and the result."""
    from compute.analysis.correlation import correlate

    places = np.array([at for at, column in enumerate(sheet.columns) if column.ranked], int)
    sign = np.array([1.0 if sheet.columns[at].higher else -1.0 for at in places])
    rows = profiles.one_row_a_model(sheet)
    return places, correlate(
        scores=sheet.values[np.ix_(rows, places)] * sign, method="spearman", minimum=FEWEST
    )


TASK = View(key="task", title="Tasks", draw=draw, figures=True)
