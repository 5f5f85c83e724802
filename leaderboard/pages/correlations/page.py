"""Correlations of suites and tasks, and the models behind each cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go

from compute.analysis.correlation import ENOUGH, extreme_pairs
from compute.analysis.figures.heatmap import WIDTHS, WRITTEN, group_colours, heatmap
from compute.analysis.figures.style import PALETTE, SYMBOLS, at_sides, label_sides, plain
from compute.types import unknown
from leaderboard.data.task_doubts import task_doubts
from leaderboard.html.components import figure_bridge, lazy_tables
from leaderboard.html.formatting import number
from leaderboard.html.labels import SIGNS, explained, explained_signs, is_synthetic, suite_choices
from leaderboard.html.templates import macro, macros
from leaderboard.page import (
    HIDDEN,
    PAPERS,
    QUIET,
    Canvas,
    PartialRedraw,
    Site,
    View,
    controls,
    instead,
    payload_of,
    static_html,
)
from leaderboard.pages.correlations import routes
from leaderboard.pages.correlations.axes import Axis
from leaderboard.pages.correlations.matrix import AxisPair, CorrelationMatrix, matrix_of, pair
from leaderboard.pages.correlations.query import (
    CHOICES,
    METHODS,
    PRESETS,
    CorrelationQuery,
    parameters,
    query_of,
)
from leaderboard.web import parameters as address
from leaderboard.web.parameters import Parameter

texts = macros("pages/correlations/page.html")
FIGURE = "correlations-figure"
LOOKS = {  # of the controls: kind, label, share of the width
    "level": (gr.Radio, "Compare", 3),
    "method": (gr.Dropdown, "Method", 1),
    "group": (gr.Dropdown, "Models", 2),
    "origin": (gr.Dropdown, "Scores", 2),
    "order": (gr.Radio, "Order", 1),
    "means": (gr.Radio, "A category's value", 1),
}
LABELLED = 16  # models of a pair named in the figure
MEANING = {
    "kendall": "Kendall's τ-b counts the pairs of models that two columns order the same, minus those they do not",
    "spearman": "Spearman's ρ is the correlation of the ranks that two columns give",
    "pearson": "Pearson's r is the correlation of the scores themselves",
}
STARTS = (
    ("UniSim-Bench's tasks, general models (Figure 3a)", "unisim-3a"),
    ("UniSim-Bench's tasks, specialised models (Figure 3b)", "unisim-3b"),
    ("MIEB's ten categories", "mieb-categories"),
    ("MIEB's tasks", "mieb-tasks"),
    ("PairBench's tasks", "pairbench"),
    ("cFreD: metrics and people", "cfred"),
    ("Across benchmarks", "across"),
)


def draw(site: Site) -> None:
    """Draws the most and least similar pairs, the matrix, its controls, and the opened pair below."""

    def listed() -> list[tuple[str, str]]:
        return suite_choices(site.db.query("suites"))

    canvas, offered = Canvas(site), listed()
    known = parameters(suites=[key for _, key in offered])
    suites, *choices, minimum, pair_of = known
    answer = canvas.waiting("Computing the correlations")
    canvas.html(texts.presets(STARTS, ""))
    canvas.lists["suites"] = listed

    def choose(parameter: Parameter) -> None:
        kind, label, scale = LOOKS[parameter.key]
        look = {"value": parameter.default, "label": label, "scale": scale}
        canvas.control(parameter, kind(CHOICES[parameter.key], **look))

    with controls():
        own = list(suites.default)
        canvas.control(suites, gr.Dropdown(offered, multiselect=True, value=own, label="Suites", scale=3))
        for each in choices[:4]:
            choose(each)
    with gr.Accordion("More choices", open=False), controls():
        for each in choices[4:]:
            choose(each)
        look = {"minimum": minimum.low, "maximum": minimum.high, "precision": 0, "scale": 1}
        canvas.control(minimum, gr.Number(minimum.default, label="Minimum models per cell", **look))
    canvas.figure(elem_id=FIGURE)
    canvas.html()
    bridge = figure_bridge(site.assets, script="pages/correlations/pairs.js", figure=FIGURE)
    canvas.html()
    lazy_tables(site.assets)
    static_html(
        "<section class='pg-section'><h2 id='pair'>Two side by side</h2><p class='pg-quiet'>"
        "Click a cell above, or choose two here.</p></section>"
    )
    with controls():
        first = canvas.output(gr.Dropdown([], value=None, label="Across"))
        second = canvas.output(gr.Dropdown([], value=None, label="Up"))
    opened_keys = canvas.control(pair_of, gr.Textbox("", visible="hidden", label="Opened pair"))
    canvas.html()
    canvas.figure(visible=False)
    canvas.html()

    def blank(*, suites: list[str] | None, **_: Any) -> dict[Any, Any]:
        # The note if the choice exists but cannot be drawn, else what can be chosen instead.
        others = instead("correlations?suites=", listed()) if suites is None else ""
        return {answer: note(site, suites or ()) + others}

    def part(*, pair: str, **values: Any) -> tuple:
        return opened_pair(site, matrix_of(site.suite_cache, query_of(values)), keys=pair)

    of_pair = PartialRedraw(("pair",), canvas.outputs[-5:], part)
    listen = canvas.bind(partial(page, site, known), parts=[of_pair], presets=PRESETS, instead=blank)
    join = "(first, second) => [first && second && first !== second ? `${first},${second}` : '']"
    for control in (first, second):
        joined = control.input(None, inputs=[first, second], outputs=opened_keys, js=join, queue=False)
        listen(joined.then, part=of_pair)
    listen(bridge.select(clicked, outputs=opened_keys, queue=False, **QUIET).then, part=of_pair)


def page(site: Site, known: Sequence[Parameter], *, pair: str, **values: Any) -> tuple:
    """Returns the outputs for a choice: the findings, the ready-made views, the matrix with its legend and table, and
    the opened pair.
    """
    matrix = matrix_of(site.suite_cache, query := query_of(values))
    choice = address.query(known, {**query._asdict(), "pair": ""})
    axes = matrix.table.axes
    figure = heatmap(
        labels=[axis.title for axis in axes],
        keys=[axis.key for axis in axes],
        groups=[axis.group for axis in axes],
        correlation=matrix.correlation,
        minimum=query.minimum,
    )
    return (
        note(site, query.suites) + finding(matrix, choice=choice),
        texts.presets(STARTS, preset_of(query, known)),
        gr.update(value=figure, visible=True),
        legend(site, matrix),
        texts.below(choice),
        *opened_pair(site, matrix, keys=pair),
    )


def note(site: Site, suites: Iterable[str]) -> str:
    """Returns a remark about drawn items, if a suite has some."""
    benchmarks = (site.suite_cache.table(suite).suite["benchmark"] for suite in suites)
    return macro("note")(next(filter(is_synthetic, benchmarks), ""))


def clicked(event: gr.EventData) -> str:
    """Returns the pair of a clicked cell; the page itself checks it."""
    return str(payload_of(event).get("value", ""))[:400]


def preset_of(query: CorrelationQuery, known: Sequence[Parameter]) -> str:
    """Returns the ready-made view that equals a choice, empty if there is none."""
    *of_query, _ = known  # the last is the opened pair
    written = {each.key: each.write(getattr(query, each.key)) for each in of_query}
    usual = {each.key: each.write(each.default) for each in of_query}
    return next((key for _, key in STARTS if {**usual, **PRESETS[key]} == written), "")


def finding(matrix: CorrelationMatrix, *, choice: str) -> str:
    """Returns the most and least similar pairs, each a link that opens it; `choice` is the page's query string."""
    extremes = extreme_pairs(correlation=matrix.correlation, method=matrix.query.method)
    pairs = () if extremes is None else (extremes.most, extremes.least)
    axes = matrix.table.axes
    return texts.finding(
        query=matrix.query,
        method=METHODS[matrix.query.method],
        choice=choice,
        extremes=extremes,
        enough=ENOUGH,
        pairs=[pair(matrix, axes[first].key, axes[second].key) for first, second in pairs],
    )


def legend(site: Site, matrix: CorrelationMatrix) -> str:
    """Describes what the matrix is computed from, its colours, what was excluded, and its doubtful tasks."""
    tables = map(site.suite_cache.table, matrix.query.suites)
    doubts = {task: doubt for table in tables for task, doubt in task_doubts(site.db, table).items() if doubt.severe}
    axes, correlation = matrix.table.axes, matrix.correlation
    others, blank = ~np.eye(len(axes), dtype=bool), np.isnan(correlation.r)
    return texts.legend(
        query=matrix.query,
        meaning=MEANING[matrix.query.method],
        axes=len(axes),
        models=len(matrix.table.scores.models),
        counts=correlation.n[others & ~blank],
        blanks=int((blank & others).sum() // 2),
        left_out=matrix.left_out,
        doubtful=[(axis.title, doubts[axis.task].words) for axis in axes if axis.task in doubts],
        short_names=explained(axis.title for axis in axes),
        groups=group_colours([axis.group for axis in axes]) if len(axes) > WRITTEN else {},
        widths=WIDTHS,
        origins=matrix.table.shown_origins,
    )


def opened_pair(site: Site, matrix: CorrelationMatrix, *, keys: str) -> tuple:
    """Draws both choices, what the pair shows, the scatter plot, and its table; collapsed if no pair is open."""
    choices = [(axis.title, axis.key) for axis in matrix.table.axes]
    known = {key for _, key in choices}
    first, _, second = keys.partition(",")
    selects = [gr.update(choices=choices, value=key if key in known else None) for key in (first, second)]
    if not {first, second} <= known or first == second:
        why = [unknown("column", key, known) for key in keys.split(",")[:2] if key and key not in known]
        why.append("Click a cell above, or choose two columns.")
        return *selects, macro("message")(" ".join(why)) if keys else "", HIDDEN, ""
    opened = pair(matrix, first, second)
    sentence = texts.pair_sentence(opened, METHODS[matrix.query.method])
    if not opened.models:
        return *selects, sentence, HIDDEN, ""
    facts = site.suite_cache.table(matrix.query.suites[0]).models.loc[list(opened.models)]
    names = facts["title"].tolist()
    table = texts.pair_models(
        pair=opened,
        names=names,
        order=np.argsort(opened.values[:, 0] * (-1 if opened.x.higher else 1), kind="stable"),  # best first
        with_origins=len(matrix.table.shown_origins) > 1,
        signs=[(sign, meaning) for bit, sign, meaning in SIGNS if (opened.marks & bit).any()],
    )
    return (
        *selects,
        sentence,
        gr.update(value=_scatter(opened, names=names, kinds=facts["kind"].tolist()), visible=True),
        table,
    )


def _scatter(opened: AxisPair, *, names: Sequence[str], kinds: Sequence[str]) -> go.Figure:
    """Plots two columns against each other, one mark per model, with a colour and a shape per kind."""
    figure, (x, y) = go.Figure(), opened.values.T
    sides = label_sides(names, x, y) if len(names) <= LABELLED else [""] * len(names)
    for at, kind in enumerate(dict.fromkeys(kinds)):
        members = [index for index, other in enumerate(kinds) if other == kind]
        figure.add_scatter(
            x=x[members],
            y=y[members],
            mode="markers+text",
            hovertext=[names[index] for index in members],
            name=kind,
            customdata=[
                "<br>".join([f"{number(x[index], digits=2)}, {number(y[index], digits=2)}", *_marks(opened, index)])
                for index in members
            ],
            **at_sides([names[index] for index in members], [sides[index] for index in members]),
            marker={"size": 8, "color": PALETTE[at % len(PALETTE)], "symbol": SYMBOLS[at % len(SYMBOLS)]},
            hovertemplate="%{hovertext}<br>%{customdata}<extra></extra>",
        )
    plain(figure, height=420, x=_axis_title(opened.x), y=_axis_title(opened.y), legend=len(set(kinds)) > 1)
    figure.update_xaxes(showgrid=True, gridwidth=1)
    figure.update_layout(hovermode="closest")
    return figure


def _marks(opened: AxisPair, index: int) -> list[str]:
    """Returns the marks of a model's two scores, one line each; a category or suite: trained on a data set of it."""
    return [
        f"{axis.title}: {note if axis.task else '† trained on a data set of it'}"
        for marks, axis in zip(opened.marks[index], (opened.x, opened.y), strict=True)
        if (note := explained_signs(marks))
    ]


def _axis_title(axis: Axis) -> str:
    facts = [axis.metric_title] * (axis.metric_title != axis.title) + ["lower is better"] * (not axis.higher)
    return f"{axis.title} ({', '.join(facts)})" if facts else axis.title


CORRELATIONS = View(
    key="correlations",
    title="Correlations",
    sentence="Which tasks rank models similarly, and which measure something else: each cell is the correlation of two "
    "columns over the models that have both. Click one to see those models.",
    cites=PAPERS,
    group="Insights",
    draw=draw,
    routes=routes.routes,
)
