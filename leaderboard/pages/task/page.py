"""One task: how it is run, how its models do, which tasks agree with it, its single items, and a map of its images."""

from __future__ import annotations

import gradio as gr
import numpy as np
import pandas as pd

from leaderboard import page as ui
from leaderboard.data import item_queries, suite_queries, task_queries
from leaderboard.data.memo import memoised
from leaderboard.data.scores import interval
from leaderboard.data.suite_table import SuiteTable
from leaderboard.html import synthetic
from leaderboard.html.figure_bridge import figure_bridge
from leaderboard.html.lazy_tables import lazy_tables
from leaderboard.html.marks import said
from leaderboard.html.markup import link, section, text
from leaderboard.page import View
from leaderboard.pages.task import blocks, figures, routes
from leaderboard.pages.task import image_map as item_maps
from leaderboard.web.parameters import Choice, Text

SENTENCE = (
    "One task: how it is run and on what, how far it still tells models apart, who does best with what certainty, "
    "which other tasks it agrees with, and the single items that a model got right or wrong."
)
MAP = "item-map"
DEFAULT = "mieb/stl10"
FEWEST = 8  # models a correlation is shown for


def draw(site: ui.Site) -> None:
    """The task's control, the figure and the text around it, then its images' map."""
    ui.heading(site, title="Tasks", sentence=SENTENCE)
    listed = tasks(site)
    keys = tuple(key for _, key in listed)
    parameters = (Choice(key="task", default=DEFAULT if DEFAULT in keys else keys[0], choices=keys), Text(key="map"))
    with gr.Row(elem_classes="pg-controls"):
        which = gr.Dropdown(
            listed,
            value=None,
            label="Task (type to search)",
        )
    head = gr.HTML("<p class='pg-quiet'>Gathering what is known …</p>", apply_default_css=False, js_on_load=ui.NAMED)
    figure = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    with gr.Column(visible=False) as around:
        with gr.Row(elem_classes="pg-controls"):
            seen_by = gr.Dropdown([("", "")], value="", label="As this model sees them", visible=False)
        image_map = gr.Plot(show_label=False, container=False, elem_id=MAP)
        figure_bridge(site.assets, script="pages/task/pictures.js", figure=MAP)
        made_with = gr.HTML("", apply_default_css=False)
    foot = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets, "pages/task/items.js")
    mapped = [around, seen_by, image_map, made_with]
    related = memoised(lambda suite: correlations(site.suite_cache.table(suite)), most=16, of=site.db)
    ui.bind(
        site,
        parameters=parameters,
        controls=[which, seen_by],
        outputs=[head, figure, rest, *mapped, foot],
        draw=lambda task, map: whole(site, task=task, model=map, related=related),
        parts=(
            ui.PartialRedraw(keys=("map",), outputs=mapped, draw=lambda task, map: images(site, task=task, model=map)),
        ),
        lists={"task": lambda: tasks(site)},
    )


def tasks(site: ui.Site) -> list[tuple[str, str]]:
    """Titles and keys of the tasks to choose from."""
    return [
        (f"{row.title}  ·  {synthetic.named(row.benchmark, row.key.partition('/')[0])}, {row.category}", row.key)
        for row in task_queries.listed_tasks(site.db).itertuples()
    ]


def whole(site: ui.Site, *, task: str, model: str, related) -> tuple:
    """Every output of the page: what `page` gives, with the map of its images between its second and last."""
    head, figure, rest, foot = page(site, task=task, related=related)
    return head, figure, rest, *images(site, task=task, model=model), foot


def images(site: ui.Site, *, task: str, model: str) -> tuple:
    """The map of the task's images: whether there is one, whose, the figure, and what it was made with."""
    maps = item_queries.item_maps(site.db, task=task)
    key = item_maps.chosen(maps, model=model)
    if not key:
        return gr.update(visible=False), gr.update(choices=[("", "")], value=""), gr.update(value=None), ""
    first, *others = maps["model"]  # the first needs no name in the address
    choices = list(zip(maps["title"], ["", *others], strict=True))
    return (
        gr.update(visible=True),
        gr.update(choices=choices, value="" if key == first else key, visible=len(choices) > 1),
        item_maps.figure(site.db, task=task, model=key),
        item_maps.words(maps, model=key),
    )


def page(site: ui.Site, *, task: str, related) -> tuple:
    """Four outputs for one task: facts and reading, the figure (hidden without a suite), its items, and the rest."""
    about = task_queries.task(site.db, key=task).iloc[0]
    suites = suite_queries.suites_of_task(site.db, task=task)
    metrics = suite_queries.metrics(site.db)
    facts = blocks.known(about, suites, metrics)
    mark, drawn = synthetic.badge(about["benchmark"]), synthetic.note(about["benchmark"])
    head = f"<h2 class='pg-name'>{text(about['title'])}{mark}</h2>{drawn}<div class='pg-two'>{facts}"
    items = blocks.single_items(site.db, about)
    foot = blocks.foot(site.db, about)
    if suites.empty:
        alone = "It is in no suite, so its models are not compared here."
        return (
            f"{head}</div><p class='pg-quiet'>{alone}</p>",
            gr.update(value=None, visible=False),
            items,
            foot,
        )
    suite = str(suites["key"].iloc[0])
    sheet = site.suite_cache.table(suite)
    place = sheet.headline(task)
    if place is None or np.isnan(sheet.values[:, place]).all():
        return (
            f"{head}</div><p class='pg-quiet'>No model has a readable score on it.</p>",
            gr.update(value=None, visible=False),
            items,
            foot,
        )
    column = sheet.columns[place]
    limits = metrics.loc[column.metric]
    points = ranked_points(sheet, place, limits=limits)
    shown = points.drop(columns=["model", "marks"]).assign(note=points["marks"].map(said))
    figure = figures.scores(
        shown,
        metric=f"{column.metric_title}{', %' if column.scale == 100 else ''}",
        digits=column.digits,
        chance=np.nan if column.chance is None else column.chance * column.scale,
    )
    head += f"{blocks.reading(sheet, place, ceiling=limits['upper'])}</div>"
    like = "" if not column.ranked else blocks.related(sheet, place, related(suite), suite)
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
        f"<div class='pg-two'>{blocks.best(points, column)}{like}</div>{items}",
        foot,
    )


def ranked_points(sheet: SuiteTable, place: int, *, limits: pd.Series) -> pd.DataFrame:
    """Every row with a score, best first: model, title, origin, marks, value, low, high in shown units.

    limits: the metric's facts, as `leaderboard.data.scores.interval` takes them.
    """
    column = sheet.columns[place]
    rows = []
    for at, row in enumerate(sheet.rows):
        value, error = sheet.values[at, place], sheet.stderr[at, place]
        if np.isnan(value):
            continue
        low, high = interval(value=value, stderr=error, n=None, limits=limits)
        rows.append(
            {
                "model": row.model,
                "title": sheet.models.loc[row.model, "title"],
                "origin": row.origin,
                "marks": int(sheet.marks[at, place]),
                "value": value * column.scale,
                "low": np.nan if low is None else low * column.scale,
                "high": np.nan if high is None else high * column.scale,
            }
        )
    frame = pd.DataFrame(rows)
    return frame.sort_values("value", ascending=not column.higher, kind="stable").reset_index(drop=True)


def correlations(sheet: SuiteTable) -> tuple[np.ndarray, object]:
    """Spearman correlations of all ranked tasks of a suite, one row a model: the columns' places, and the result."""
    from compute.analysis.correlation import correlate

    places = np.array([at for at, column in enumerate(sheet.columns) if column.ranked], int)
    sign = np.array([1.0 if sheet.columns[at].higher else -1.0 for at in places])
    rows = sheet.fullest_rows()
    return places, correlate(scores=sheet.values[np.ix_(rows, places)] * sign, method="spearman", minimum=FEWEST)


TASK = View(key="task", title="Tasks", draw=draw, figures=True, routes=routes.routes)
