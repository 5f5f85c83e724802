"""Maps: tasks beside tasks that rank models alike, models beside models with like profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.suite import ALL
from compute.types import ORIGINS, BadInput
from leaderboard.data import model_queries, suite_queries
from leaderboard.html.components import figure_bridge
from leaderboard.html.formatting import blank, number, parameters_text
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macro, macros
from leaderboard.page import Site, View, bind, citations, heading, message_box, typed
from leaderboard.pages.map import atlas as maps
from leaderboard.pages.map import figures
from leaderboard.pages.map.atlas import COLOURS, Atlas, SuiteMap
from leaderboard.web import parameters as state
from leaderboard.web.errors import caught

FIGURE = "map-figure"
SENTENCE = (
    "Tasks near each other rank models alike; models near each other have similar score profiles. Only "
    "neighbourhoods are meaningful, not the distances between groups."
)
TITLES = {
    "cluster": "Cluster",
    "category": "Category",
    "benchmark": "Benchmark",
    "metric": "Metric",
    "procedure": "Procedure",
    "kind": "Kind",
    "family": "Family",
    "organisation": "Organisation",
    "group": "UniSim-Bench group",
    "size": "Parameters (millions)",
    "mean": "Mean of the first suite",
}
UNKNOWN = "Not known"
OUTSIDE = "In no cluster"
HIDDEN, SHOWN = gr.update(visible=False), gr.update(visible=True)


def draw(site: Site) -> None:
    """Controls, what is shown, the figure with its selection, the settings, and the table."""

    def ranked() -> list[tuple[str, str]]:
        suites = suite_queries.suites(site.db)
        return suite_choices(suites[suites["aggregate"] != "human"])

    parameters = maps.parameters(suite_queries.suites(site.db))
    atlas, texts = Atlas(site.db), macros("pages/map/page.html")
    heading(title="Map", sentence=SENTENCE, cite=citations(site))
    with gr.Row(elem_classes="pg-controls"):
        noun = gr.Radio([("Tasks", "tasks"), ("Models", "models")], value="tasks", label="Map of", scale=2)
        suite = gr.Dropdown(ranked(), multiselect=True, value=[], label="Suites", scale=3)
        origin = gr.Dropdown(
            [(name.capitalize(), name) for name in (*ORIGINS, ALL)], value="published", label="Figures", scale=1
        )
        colour = gr.Dropdown(
            [(title, key) for key, title in TITLES.items()], value="cluster", label="Colour by", scale=2
        )
    with gr.Accordion("How the map is made", open=False), gr.Row(elem_classes="pg-controls"):
        near = gr.Number(10, minimum=2, maximum=100, precision=0, label="Neighbours (n_neighbors)")
        distance = gr.Number(0.1, minimum=0, maximum=1, step=0.05, label="Least distance (min_dist)")
        seed = gr.Number(0, minimum=0, maximum=2**31 - 1, precision=0, label="Seed")
    message = message_box()
    with gr.Row(elem_classes="lk-jobs"):
        make = gr.Button("Make this map", visible=False, size="sm", min_width=140, scale=0)
        stop = gr.Button("Stop", visible=False, size="sm", min_width=80, scale=0)
        progress = gr.HTML("", apply_default_css=False)
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Loading the map …</p>", apply_default_css=False)
    figure_bridge(site.assets, script="pages/map/selection.js", figure=FIGURE, silent=False)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE)
    foot = gr.HTML("", apply_default_css=False)
    controls = [noun, suite, origin, colour, near, distance, seed]
    outputs = [colour, make, stop, progress, head, figure, foot]

    def page(*, colour: str, **chosen: Any) -> tuple:
        return picture(maps.recipe_of(**chosen), colour)

    def blank(**_: Any) -> tuple:
        listed = macro("index")([("", [(title, f"map?suites={key}") for title, key in ranked()])])
        return gr.skip(), HIDDEN, HIDDEN, "", listed, gr.update(value=None, visible=False), ""

    def picture(recipe: maps.Recipe, chosen: str) -> tuple:
        made = atlas.find(recipe)
        shown = colour_of(recipe, chosen)
        choices = gr.update(choices=[(TITLES[key], key) for key in COLOURS[recipe.noun]], value=shown)
        if made is None:
            return choices, SHOWN, HIDDEN, "", texts.waiting(), gr.update(value=None, visible=False), ""
        facts = described_points(site, made, noun=recipe.noun, suites=recipe.suites, origin=recipe.origin)
        drawn = gr.update(value=chart(site, made, facts, recipe, shown), visible=True)
        return choices, HIDDEN, HIDDEN, "", "", drawn, settings(made, recipe.noun) + table(facts, recipe.noun)

    def working(note: str, *, running: bool = True) -> list:
        """The outputs while a map is made: which buttons to show, and the progress."""
        changed = [gr.skip(), gr.update(visible=not running), gr.update(visible=running), note]
        return [*changed, *[gr.skip()] * (len(outputs) - len(changed))]

    @caught(lambda sentence: working(macro("message")(sentence), running=False))
    async def work(request: gr.Request, *inputs: Any) -> AsyncIterator[list]:
        values, note = state.parse(bound.parameters(), typed(parameters, inputs))
        if values["suites"] is None:
            raise BadInput(note)
        chosen = values.pop("colour")
        recipe = maps.recipe_of(**values)
        if atlas.find(recipe) is None:
            site.panel.admit(request)
            yield working(texts.progress("starting"))
            async for stage in atlas.make(recipe, visitor=str(request.session_hash)):
                yield working(texts.progress(stage))
        with site.db.snapshot():
            drawn = list(picture(recipe, chosen))
        yield drawn

    def end(request: gr.Request) -> None:
        atlas.stop(str(request.session_hash))

    bound = bind(
        site,
        parameters=parameters,
        controls=controls,
        outputs=outputs,
        draw=page,
        message=message,
        blank=blank,
        lists={"suites": ranked},
    )
    make.click(
        work,
        inputs=controls,
        outputs=outputs,
        preprocess=False,  # as in `bind`
        concurrency_id="projection",
        concurrency_limit=1,
        show_progress="hidden",
        api_visibility="private",
    )
    stop.click(end, queue=False, show_progress="hidden", api_visibility="private")


def colour_of(recipe: maps.Recipe, chosen: str) -> str:
    """The chosen colouring, or by cluster where it does not fit what is shown."""
    return chosen if chosen in COLOURS[recipe.noun] else "cluster"


def described_points(site: Site, made: SuiteMap, *, noun: str, suites: tuple[str, ...], origin: str) -> pd.DataFrame:
    """The map's points with all that they can be coloured by; facts in words, size and mean as numbers."""
    points = made.points.set_index("key", drop=False)
    if noun == "tasks":
        tasks = pd.concat([suite_queries.suite_tasks(site.db, suite=suite) for suite in suites]).drop_duplicates("key")
        facts = tasks.set_index("key")
        metrics = suite_queries.metrics(site.db)["title"]
        points = points.assign(
            name=facts["title"],
            category=facts["category"],
            benchmark=facts["benchmark"],
            procedure=facts["procedure"].str.replace("_", " "),
            metric=facts["metrics"].map(lambda keys: metrics.get(keys[0], "") if len(keys) else ""),
        )
        titles = suite_queries.suites(site.db).drop_duplicates("benchmark").set_index("benchmark")["benchmark_title"]
        points["benchmark"] = points["benchmark"].map(titles)
    else:
        facts = model_queries.models(site.db)
        points = points.assign(
            name=facts["title"],
            size=facts["parameters_m"].astype(float),
            **{name: facts[name] for name in ("kind", "family", "organisation", "group")},
            mean=means(site, suites[0], origin),
        )
    named = points["category" if noun == "tasks" else "kind"]
    points["cluster"] = names_of(points["cluster"], named)
    return points.reset_index(drop=True)


def means(site: Site, suite: str, origin: str) -> pd.Series:
    """Each model's mean on a suite in shown units, of the origin that the map shows."""
    sheet, ranked = site.suite_cache.table(suite), site.suite_cache.ranked(suite)
    scale = sheet.category_columns[0].scale
    means = {sheet.rows[row].model: float(ranked.mean[row]) * scale for row in sheet.rows_of(origin)}
    return pd.Series(means, dtype=float)


def names_of(clusters: pd.Series, facts: pd.Series) -> list[str]:
    """`Cluster 3: mostly Linear Probing`, by what more than half of its points are; outliers apart."""
    names = {}
    for label in sorted(set(clusters)):
        inside = Counter(str(fact) for fact in facts[clusters == label] if not blank(fact))
        ((most, count),) = inside.most_common(1) or [("", 0)]
        mostly = f": mostly {most}" if count * 2 > (clusters == label).sum() else ": mixed"
        names[label] = OUTSIDE if label < 0 else f"Cluster {label + 1}{mostly}"
    return [names[label] for label in clusters]


def chart(site: Site, made: SuiteMap, facts: pd.DataFrame, recipe: maps.Recipe, colour: str):
    """The figure, with what the selection below it needs."""
    x, y, names = facts["x"].to_numpy(float), facts["y"].to_numpy(float), list(facts["name"])
    meta = {
        "keys": list(facts["key"]),
        "noun": recipe.noun,
        "groups": groups(facts, recipe.noun),
        "parts": parts(site, facts, recipe),
    }
    if colour in ("size", "mean") and facts[colour].notna().any():
        log = colour == "size"
        table = site.suite_cache.table(recipe.suites[0])
        title = TITLES[colour] if log else f"Mean of {table.suite['title']}"
        write = parameters_text if log else partial(number, digits=table.category_columns[0].digits)
        values = facts[colour].to_numpy(float)
        return figures.measured(x=x, y=y, names=names, values=values, title=title, log=log, write=write, meta=meta)
    values = [UNKNOWN if blank(value) else str(value) for value in facts[colour]]
    return figures.points(
        x=x, y=y, names=names, values=values, unknown=OUTSIDE if colour == "cluster" else UNKNOWN, meta=meta
    )


def groups(facts: pd.DataFrame, noun: str) -> list[dict[str, Any]]:
    """What can be selected without a mouse: every cluster, then every category or kind."""
    return [
        {"name": value, "places": np.flatnonzero(facts[column] == value).tolist()}
        for column in ("cluster", "category" if noun == "tasks" else "kind")
        for value in sorted(set(facts[column]), key=figures.natural)
    ]


def parts(site: Site, facts: pd.DataFrame, recipe: maps.Recipe) -> list[dict[str, Any]]:
    """For each suite: where the board is, and which points it can show."""
    boards = []
    for suite in recipe.suites:
        sheet = site.suite_cache.table(suite)
        keys = (
            [column.task for column in sheet.columns] if recipe.noun == "tasks" else [row.model for row in sheet.rows]
        )
        boards.append(
            {
                "title": sheet.suite["title"],
                "address": f"board?suite={suite}&{recipe.noun}=",
                "places": np.flatnonzero(facts["key"].isin(keys)).tolist(),
            }
        )
    return boards


def settings(made: SuiteMap, noun: str) -> str:
    """What the map was made of and with, and how far it can be trusted."""
    return macros("pages/map/page.html").settings(how=made.settings, noun=noun)


def table(facts: pd.DataFrame, noun: str) -> str:
    """The points as a table, cluster by cluster."""
    order = [figures.natural(name) for name in facts["cluster"]]
    rows = facts.assign(order=order).sort_values(["order", "name"]).to_dict("records")
    columns = ("category", "metric") if noun == "tasks" else ("kind", "family", "organisation")
    return macros("pages/map/page.html").points(
        rows=rows, noun=noun, columns=[(column, TITLES[column]) for column in columns]
    )


MAP = View(key="map", title="Map", sentence=SENTENCE, group="Insights", draw=draw, figures=True)
