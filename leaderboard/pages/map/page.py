"""Maps: tasks near tasks that rank models similarly, models near models with similar profiles, and neighbours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.maps import SHIPPED, Neighbour, Recipe, neighbours
from compute.analysis.table import of_suite
from compute.database import store
from compute.rounding import rounded
from leaderboard.data.database import shared
from leaderboard.html.components import figure_bridge
from leaderboard.html.formatting import blank, number, parameters_text
from leaderboard.html.labels import MAP_COLOURS
from leaderboard.html.templates import macros
from leaderboard.page import PAPERS, Canvas, Site, View, controls, instead
from leaderboard.pages.map import figures
from leaderboard.pages.map.points import OUTSIDE, described_points

FIGURE = "map-figure"
COLOURS = {
    "tasks": ("cluster", "category", "benchmark", "metric", "procedure"),
    "models": (
        *("cluster", "kind", "family", "organisation", "group", "license", "released"),
        *("size", "dimension", "mean"),
    ),
}
UNKNOWN = "Not known"
MEASURED = ("size", "dimension", "mean")  # colours that are numbers


def draw(site: Site) -> None:
    """Draws the clusters, the controls, the chart with the selection, the settings, and the table."""
    titles = site.db.keyed("suites")["benchmark_title"]
    offered = [(titles[suites[0]], ",".join(suites)) for suites in SHIPPED.values()]
    usual = Recipe()
    canvas = Canvas(site)
    texts = macros("pages/map/page.html")
    head = canvas.waiting("Loading the map")
    with controls():
        nouns = [("Tasks", "tasks"), ("Models", "models")]
        canvas.choose("of", nouns, default=usual.noun, kind=gr.Radio, label="Map of", scale=2)
        benchmarks = {"default": ",".join(usual.suites), "noun": "map"}
        canvas.choose("suites", offered, **benchmarks, label="Benchmark", scale=2)
        titled = [(title, key) for key, title in MAP_COLOURS.items()]
        canvas.output(canvas.choose("colour", titled, default="cluster", label="Colour by", scale=2))
    figure_bridge(site.assets, script="pages/map/selection.js", figure=FIGURE, silent=False)
    canvas.figure(elem_id=FIGURE)
    canvas.html()

    def page(*, of: str, suites: str, colour: str) -> tuple:
        recipe = Recipe(noun=of, suites=tuple(suites.split(",")))
        stored = site.db.query("projection", kind=recipe.kind)
        made = json.loads(stored["settings"].iloc[0])  # of what and with what
        facts = described_points(site, stored.drop(columns="settings"), recipe)
        shown = colour if colour in COLOURS[of] else "cluster"  # a colouring that does not fit what is shown
        near = nearest(site, recipe, frozenset(facts["key"]))
        clusters = facts[facts["cluster"] != OUTSIDE].groupby("cluster", sort=False).size().sort_values(ascending=False)
        columns = ("category", "metric") if of == "tasks" else ("kind", "family", "organisation")
        rows = facts.assign(order=facts["cluster"].map(figures.natural)).sort_values(["order", "name"])
        return (
            texts.finding(
                noun=of,
                points=len(facts),
                largest=list(clusters.head(3).items()),
                clusters=len(clusters),
                outside=int((facts["cluster"] == OUTSIDE).sum()),
                trust=made["trustworthiness"],
                of=made["trust_neighbors"],
            ),
            gr.update(choices=[(MAP_COLOURS[key], key) for key in COLOURS[of]], value=shown),
            gr.update(value=chart(site, facts, recipe, shown, near), visible=True),
            texts.settings(how=made, noun=of)
            + texts.points(
                rows=rows.to_dict("records"), noun=of, columns=[(column, MAP_COLOURS[column]) for column in columns]
            ),
        )

    canvas.bind(page, instead=lambda **_: {head: instead("map?suites=", offered)})


@partial(shared, most=16)
def nearest(site: Site, recipe: Recipe, keys: frozenset[str]) -> dict[str, list[Neighbour]]:
    """Returns each point's nearest others in the data."""
    parts = [of_suite(store.suite_frames(site.db.ask, suite=suite), origin=recipe.origin) for suite in recipe.suites]
    return neighbours(parts, recipe, among=keys)


def chart(
    site: Site,
    facts: pd.DataFrame,
    recipe: Recipe,
    colour: str,
    near: Mapping[str, Sequence[Neighbour]],
):
    """Returns the chart, with the data for the selection below it; `near`: the nearest points of each in the data."""
    at = {key: index for index, key in enumerate(facts["key"])}
    meta = {
        "keys": list(facts["key"]),
        "names": list(facts["name"]),
        "noun": recipe.noun,
        "groups": groups(facts, recipe.noun),
        "parts": parts(site, facts, recipe),
        "near": [
            [
                [at[o.key], *(None if np.isnan(each) else float(rounded(each, 2)) for each in (o.distance, o.r))]
                for o in near.get(key, ())  # none of a model whose scores the data no longer rank
            ]
            for key in facts["key"]
        ],
    }
    if colour in MEASURED and facts[colour].notna().any():
        log = colour != "mean"
        table = site.suite_cache.table(recipe.suites[0])
        title = MAP_COLOURS[colour] if log else f"Mean of {table.suite['title']}"
        write = {"size": parameters_text, "mean": partial(number, digits=table.category_columns[0].digits)}.get(
            colour, partial(number, digits=0)
        )
        figure = figures.measured(
            facts, values=facts[colour].astype(float), title=title, log=log, write=write, meta=meta
        )
    else:
        values = facts[colour].map(lambda value: UNKNOWN if blank(value) else str(value))
        figure = figures.points(facts, values=values, unknown=OUTSIDE if colour == "cluster" else UNKNOWN, meta=meta)
    figures.name_points(figure, facts)
    return figure


def groups(facts: pd.DataFrame, noun: str) -> list[dict[str, Any]]:
    """Returns what can be selected without a mouse: every cluster, then every category or kind."""
    return [
        {"name": value, "places": np.flatnonzero(facts[column] == value).tolist()}
        for column in ("cluster", "category" if noun == "tasks" else "kind")
        for value in sorted(set(facts[column]), key=figures.natural)
    ]


def parts(site: Site, facts: pd.DataFrame, recipe: Recipe) -> list[dict[str, Any]]:
    """Returns for each suite its board's address and which points the board can show."""
    return [
        {
            "title": sheet.suite["title"],
            "address": f"board?suite={suite}&{recipe.noun}=",
            "places": np.flatnonzero(
                facts["key"].isin(
                    {column.task for column in sheet.columns} if recipe.noun == "tasks" else sheet.scores.models
                )
            ).tolist(),
        }
        for suite in recipe.suites
        for sheet in [site.suite_cache.table(suite)]
    ]


MAP = View(
    key="map",
    title="Map",
    sentence="Tasks near each other rank models similarly; models near each other have similar score profiles. Only "
    "neighbourhoods are meaningful, not the distances between groups.",
    cites=PAPERS,
    group="Insights",
    draw=draw,
)
