"""Maps: tasks near tasks that rank models similarly, models near models with similar profiles, and neighbours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.maps.suites import Neighbour, neighbours
from compute.analysis.table import USUAL, of_suite
from compute.database import store
from compute.rounding import rounded
from compute.types import BadInput
from leaderboard.data import suite_queries
from leaderboard.data.memo import memoised
from leaderboard.html.components import figure_bridge
from leaderboard.html.formatting import blank, number, parameters_text
from leaderboard.html.labels import ORIGIN_CHOICES, suite_choices
from leaderboard.html.templates import macro, macros
from leaderboard.page import Site, View, bind, citations, heading, message_box, typed
from leaderboard.pages.map import atlas as maps
from leaderboard.pages.map import figures
from leaderboard.pages.map.atlas import COLOURS, Atlas, SuiteMap
from leaderboard.pages.map.points import OUTSIDE, described_points
from leaderboard.web import parameters as state
from leaderboard.web.errors import caught

FIGURE = "map-figure"
SENTENCE = (
    "Tasks near each other rank models similarly; models near each other have similar score profiles. Only "
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
    "license": "Licence",
    "released": "Year of release",
    "size": "Parameters (millions)",
    "dimension": "Embedding dimension",
    "mean": "Mean of the first suite",
}
UNKNOWN = "Not known"
MEASURED = ("size", "dimension", "mean")  # colours that are numbers
HIDDEN, SHOWN = gr.update(visible=False), gr.update(visible=True)


def draw(site: Site) -> None:
    """What the clusters are, the figure with what was picked in it, the controls, the settings, and the table."""

    def ranked() -> list[tuple[str, str]]:
        suites = suite_queries.suites(site.db)
        return suite_choices(suites[suites["aggregate"] != "human"])

    parameters = maps.parameters(suite_queries.suites(site.db))
    atlas, texts = Atlas(site.db), macros("pages/map/page.html")
    heading(title="Map", sentence=SENTENCE, cite=citations(site))
    message = message_box()
    with gr.Row(elem_classes="lk-jobs"):
        make = gr.Button("Make this map", visible=False, size="sm", min_width=140, scale=0)
        stop = gr.Button("Stop", visible=False, size="sm", min_width=80, scale=0)
        progress = gr.HTML("", apply_default_css=False)
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Loading the map …</p>", apply_default_css=False)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE)
    figure_bridge(site.assets, script="pages/map/selection.js", figure=FIGURE, silent=False)
    with gr.Row(elem_classes="pg-controls"):
        noun = gr.Radio([("Tasks", "tasks"), ("Models", "models")], value="tasks", label="Map of", scale=2)
        suite = gr.Dropdown(ranked(), multiselect=True, value=[], label="Suites", scale=3)
        origin = gr.Dropdown(ORIGIN_CHOICES, value=USUAL, label="Scores", scale=1)
        colour = gr.Dropdown(
            [(title, key) for key, title in TITLES.items()], value="cluster", label="Colour by", scale=2
        )
    with gr.Accordion("How the map is made", open=False), gr.Row(elem_classes="pg-controls"):
        near = gr.Number(10, minimum=2, maximum=100, precision=0, label="Neighbours (n_neighbors)")
        distance = gr.Number(0.1, minimum=0, maximum=1, step=0.05, label="Least distance (min_dist)")
        seed = gr.Number(0, minimum=0, maximum=2**31 - 1, precision=0, label="Seed")
    foot = gr.HTML("", apply_default_css=False)
    near_of = memoised(lambda recipe, keys: nearest(site, recipe, keys), most=16, of=site.db)
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
        drawn = gr.update(
            value=chart(site, made, facts, recipe, shown, near_of(recipe, frozenset(facts["key"]))), visible=True
        )
        return (
            choices,
            HIDDEN,
            HIDDEN,
            "",
            finding(made, facts, recipe.noun),
            drawn,
            settings(made, recipe.noun) + table(facts, recipe.noun),
        )

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
            site.live.admit(request)
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


def nearest(site: Site, recipe: maps.Recipe, keys: frozenset[str]) -> dict[str, list[Neighbour]]:
    """For each point of the map its nearest others in the data."""
    parts = [of_suite(store.suite_frames(site.db.ask, suite=suite), origin=recipe.origin) for suite in recipe.suites]
    return neighbours(parts, recipe, among=keys)


def finding(made: SuiteMap, facts: pd.DataFrame, noun: str) -> str:
    """What the clusters are, the largest first."""
    sizes = facts[facts["cluster"] != OUTSIDE].groupby("cluster", sort=False).size().sort_values(ascending=False)
    return macros("pages/map/page.html").finding(
        noun=noun,
        points=len(facts),
        largest=list(sizes.head(3).items()),
        clusters=len(sizes),
        outside=int((facts["cluster"] == OUTSIDE).sum()),
        trust=made.settings["trustworthiness"],
        of=made.settings["trust_neighbors"],
    )


def chart(
    site: Site,
    made: SuiteMap,
    facts: pd.DataFrame,
    recipe: maps.Recipe,
    colour: str,
    near: Mapping[str, Sequence[Neighbour]],
):
    """The figure, with what the selection below it needs; `near`: the nearest of each point in the data."""
    x, y, names = facts["x"].to_numpy(float), facts["y"].to_numpy(float), list(facts["name"])
    at = {key: index for index, key in enumerate(facts["key"])}
    meta = {
        "keys": list(facts["key"]),
        "names": names,
        "noun": recipe.noun,
        "groups": groups(facts, recipe.noun),
        "parts": parts(site, facts, recipe),
        "near": [
            [
                [
                    at[other.key],
                    float(rounded(other.distance, 2)),
                    None if np.isnan(other.r) else float(rounded(other.r, 2)),
                ]
                for other in near[key]
            ]
            for key in facts["key"]
        ],
    }
    if colour in MEASURED and facts[colour].notna().any():
        log = colour != "mean"
        table = site.suite_cache.table(recipe.suites[0])
        title = TITLES[colour] if log else f"Mean of {table.suite['title']}"
        write = {"size": parameters_text, "mean": partial(number, digits=table.category_columns[0].digits)}.get(
            colour, partial(number, digits=0)
        )
        values = facts[colour].to_numpy(float)
        figure = figures.measured(x=x, y=y, names=names, values=values, title=title, log=log, write=write, meta=meta)
    else:
        values = [UNKNOWN if blank(value) else str(value) for value in facts[colour]]
        figure = figures.points(
            x=x, y=y, names=names, values=values, unknown=OUTSIDE if colour == "cluster" else UNKNOWN, meta=meta
        )
    figures.name_points(figure, names=names, x=x, y=y, regions=regions(facts, colour))
    return figure


def regions(facts: pd.DataFrame, colour: str) -> list[figures.Region]:
    """The outlined groups: the clusters, or the points of one category within a cluster."""
    by = ["cluster", "category"] if colour == "category" else ["cluster"]
    inside = facts[facts["number"] >= 0]
    return [
        figures.Region(name=str(names[-1]), indices=rows.index.tolist())
        for names, rows in inside.groupby(by, sort=False)
        if len(rows) >= figures.FEWEST
    ]


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
