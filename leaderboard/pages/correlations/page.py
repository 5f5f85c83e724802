"""What correlates with what, the models behind each cell, and the smaller suite this allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import quote

import gradio as gr
import numpy as np

from compute.types import ORIGINS
from leaderboard import page as ui
from leaderboard.data import model_queries, suite_queries
from leaderboard.html import abbreviations, marks, synthetic
from leaderboard.html.figure_bridge import figure_bridge
from leaderboard.html.lazy_tables import lazy_tables
from leaderboard.html.markup import lazy_table, link, number, section, span, table, text, to_model, to_task
from leaderboard.page import View
from leaderboard.pages.correlations import figures, relations, routes
from leaderboard.pages.correlations import smaller_suite as lite
from leaderboard.pages.correlations.axes import Axis
from leaderboard.pages.correlations.relations import PRESETS, Asked, Pair, Relation, Relations
from leaderboard.pages.correlations.smaller_suite import Wish
from leaderboard.pages.correlations.smaller_suite import page as report_of
from leaderboard.web import parameters as state

FIGURE = "correlations-figure"
SENTENCE = (
    "Which tasks rank models alike, and which ask something else: every cell is the correlation of two columns "
    "over the models that have both. Click one to see those models."
)
METHODS = {"kendall": "Kendall τ-b", "spearman": "Spearman ρ", "pearson": "Pearson r"}
MEANING = {
    "kendall": "Kendall's τ-b counts the pairs of models that two columns order alike, less those they order otherwise",
    "spearman": "Spearman's ρ is the correlation of the ranks that two columns give",
    "pearson": "Pearson's r is the correlation of the scores themselves",
}
FIGURES = [(name.capitalize(), name) for name in (*ORIGINS, "all")]
RULE = (
    "Tasks that say the same need not all be run. As in MIEB section 6.3, tasks whose mean correlation with the "
    "others is highest are dropped, those above one threshold and then those above a second; where the paper then "
    "picks by hand, tasks are added here one at a time, each category first, always the one that brings the order "
    "of models nearest to the whole suite's."
)
STARTS = (
    ("UniSim-Bench Figure 3a", "unisim-3a"),
    ("UniSim-Bench Figure 3b", "unisim-3b"),
    ("MIEB's ten categories", "mieb-categories"),
    ("MIEB's tasks", "mieb-tasks"),
    ("PairBench's tasks", "pairbench"),
    ("cFreD: metrics and people", "cfred"),
    ("Across benchmarks", "across"),
)


def draw(site: ui.Site) -> None:
    """The matrix and its controls, the opened pair below, then the smaller suite."""
    lists = {
        "suites": lambda: synthetic.listed(suite_queries.suites(site.db)),
        "models": lambda: [(row.title, row.key) for row in model_queries.models(site.db).itertuples() if row.runs],
    }
    suites, models = (lists[name]() for name in ("suites", "models"))
    parameters = relations.parameters(suites=[key for _, key in suites], models=[key for _, key in models])
    made = Relations(site.suite_cache)
    ui.heading(site, title="Correlations", sentence=SENTENCE, cite=ui.citations(site))
    ui.static_html(
        "<nav class='pg-presets' aria-label='Ready-made views'>"
        + "".join(link(f"correlations?preset={key}", title) for title, key in STARTS)
        + "</nav>"
    )
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown(suites, multiselect=True, value=[], label="Suites", scale=3)
        level = gr.Radio(
            [(name.capitalize(), name) for name in relations.LEVELS], value="categories", label="Compare", scale=3
        )
        method = gr.Dropdown([(name, key) for key, name in METHODS.items()], value="spearman", label="Method", scale=1)
        group = gr.Dropdown(
            [
                ("All", "all"),
                ("General-purpose", "general-purpose"),
                ("Specialised", "specialised"),
                ("Multi-task", "multi-task"),
            ],
            value="all",
            label="Models",
            scale=2,
        )
        origin = gr.Dropdown(FIGURES, value="published", label="Figures", scale=1)
    with gr.Accordion("More choices", open=False), gr.Row(elem_classes="pg-controls"):
        order = gr.Radio(
            [("Like beside like", "clustered"), ("As in the paper", "paper")], value="clustered", label="Order", scale=1
        )
        means = gr.Radio(
            [("Mean of the figures", "figures"), ("As the paper prints it", "printed")],
            value="figures",
            label="A category's value",
            scale=1,
        )
        least = gr.Number(4, minimum=3, maximum=50, precision=0, label="Fewest models a cell", scale=1)
        chosen = gr.Dropdown(models, multiselect=True, value=[], label="Only these models (none: all)", scale=3)
    message = ui.message_box()
    caption = gr.HTML("<p class='pg-quiet'>Computing the correlations …</p>", apply_default_css=False)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE)
    bridge = figure_bridge(site.assets, script="pages/correlations/pairs.js", figure=FIGURE)
    behind = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets)
    ui.static_html(
        "<section class='pg-section'><h2 id='pair'>Two beside each other</h2><p class='pg-quiet'>"
        "Click a cell above, or choose two here.</p></section>"
    )
    with gr.Row(elem_classes="pg-controls"):
        first = gr.Dropdown([], value=None, label="Across")
        second = gr.Dropdown([], value=None, label="Up")
    pair = gr.Textbox("", visible="hidden", label="Opened pair")
    opened = gr.HTML("", apply_default_css=False)
    scatter = gr.Plot(show_label=False, container=False, visible=False)
    points = gr.HTML("", apply_default_css=False)

    def whole(asked: Asked, pair: str) -> tuple:
        relation = made.of(asked)
        return (
            note(asked) + words(relation),
            gr.update(value=matrix(relation), visible=True),
            below(parameters, asked),
            *two(site, relation, keys=pair),
        )

    def note(asked: Asked) -> str:
        found = (site.suite_cache.table(suite).suite["benchmark"] for suite in asked.suites)
        return next((synthetic.note(one) for one in found if synthetic.is_synthetic(one)), "")

    def blank(asked: Asked, pair: str) -> tuple:
        return note(asked), gr.update(visible=False), "", *[gr.skip()] * len(shown)

    def part(asked: Asked, pair: str) -> tuple:
        return two(site, made.of(asked), keys=pair)

    shown = [first, second, opened, scatter, points]
    one = ui.PartialRedraw(keys=("pair",), outputs=shown, draw=given_to(part))
    controls = [suite, level, method, group, origin, order, means, least, chosen, pair]
    bound = ui.bind(
        site,
        parameters=parameters,
        controls=controls,
        outputs=[caption, figure, behind, *shown],
        draw=given_to(whole),
        parts=(one,),
        presets=PRESETS,
        message=message,
        blank=given_to(blank),
        lists=lists,
    )
    join = "(first, second) => [first && second && first !== second ? `${first},${second}` : '']"
    for control in (first, second):
        bound.listen(control.input(None, inputs=[first, second], outputs=pair, js=join, queue=False).then, part=one)
    bound.listen(
        bridge.select(clicked, outputs=pair, queue=False, show_progress="hidden", api_visibility="private").then,
        part=one,
    )
    _lite(site)


def given_to(draw: Callable[[Asked, str], tuple]) -> Callable[..., tuple]:
    """A drawing function that takes the page's parameters by name, as `ui.bind` gives them."""

    def named(
        *,
        suites: list[str],
        level: str,
        method: str,
        group: str,
        origin: str,
        order: str,
        means: str,
        minimum: int,
        models: list[str],
        pair: str,
    ) -> tuple:
        return draw(
            Asked(
                suites=tuple(suites),
                level=level,
                method=method,
                group=group,
                origin=origin,
                order=order,
                means=means,
                minimum=minimum,
                models=tuple(models),
            ),
            pair,
        )

    return named


def clicked(event: gr.SelectData) -> str:
    """The pair of a clicked cell; the page itself checks it."""
    return str(event.value)[:400]


def matrix(relation: Relation):
    """The heatmap of a relation."""
    axes, found = relation.scores.axes, relation.matrix
    return figures.heatmap(
        labels=[axis.label for axis in axes],
        keys=[axis.key for axis in axes],
        r=found.r,
        n=found.n,
        low=found.low,
        high=found.high,
        minimum=relation.asked.minimum,
    )


def words(relation: Relation) -> str:
    """What the matrix rests on, its colours, and what was left out."""
    asked, axes = relation.asked, relation.scores.axes
    off = ~np.eye(len(axes), dtype=bool)
    n = relation.matrix.n[off & ~np.isnan(relation.matrix.r)]
    blanks = int((np.isnan(relation.matrix.r) & off).sum() // 2)
    over = f"{n.min()}" if n.min() == n.max() else f"{n.min()} to {n.max()}"
    source = (
        "each model's published figures, else imported, else computed ones"
        if asked.origin == "all"
        else (f"{asked.origin} figures")
    )
    group = "" if asked.group == "all" else f"{asked.group} "
    few = " With so few models a cell says little: look at its interval." if n.min() < 10 else ""
    out = ""
    if relation.left_out:
        names = ", ".join(relation.left_out)
        out = (
            f"<details class='pg-quiet'><summary>{len(relation.left_out)} {asked.level} left out: fewer than "
            f"{asked.minimum} models share a figure with any other</summary><p>{text(names)}</p></details>"
        )
    gaps = f" {blanks} pairs are blank (×): fewer than {asked.minimum} models have both." if blanks else ""
    apart = relations.strangers(relation)
    if apart:
        most = max(n for *_, n in apart)
        gaps += (
            f" Nothing can be said between {len(apart)} pair{'s' if len(apart) > 1 else ''} of suites: they share "
            f"{most} models at most. With “Fewest models a cell” under More choices lowered, cells from 3 models "
            "show; read them as hints at best."
        )
    return (
        "<div class='pg-legend'><span>−1</span><span class='pg-strip-r' aria-hidden='true'></span><span>+1</span>"
        f"<p>{MEANING[asked.method]}: blue where they agree, orange where they disagree. {len(axes)} "
        f"{asked.level}, {len(relation.scores.models)} {group}models, {over} in each cell; {source}.{few}{gaps}</p>"
        f"</div>{out}{_short_names(axes)}"
    )


def _short_names(axes: tuple[Axis, ...]) -> str:
    found = abbreviations.explained(axis.label for axis in axes)
    if not found:
        return ""
    said = "; ".join(f"<b>{text(name)}</b> {text(meaning)}" for name, meaning in found)
    return f"<details class='pg-quiet'><summary>What the short names mean</summary><p>{said}</p></details>"


def below(parameters: tuple[state.Parameter, ...], asked: Asked) -> str:
    """The table behind the matrix, fetched when opened, and its download."""
    query = state.query(parameters, {**asdict(asked), "pair": ""})
    pairs = lazy_table(f"data/relations?{query}", label="The table of correlations")
    file = link(f"export/relations?{query}", "Download as CSV")
    return (
        f"<details><summary>Table</summary>{pairs}</details><p class='pg-quiet'>{file}: every pair with its "
        "interval and number of models.</p>"
    )


def two(site: ui.Site, relation: Relation, *, keys: str) -> tuple:
    """The opened pair: both choices, what it says, the scatter, and its table; closed when none is open."""
    choices = [(axis.label, axis.key) for axis in relation.scores.axes]
    first, _, second = keys.partition(",")
    known = {key for _, key in choices}
    picked = [gr.update(choices=choices, value=key if key in known else None) for key in (first, second)]
    if not {first, second} <= known or first == second:
        note = "<p class='pg-quiet'>The pair in the address is not part of this choice.</p>" if keys else ""
        return *picked, note, gr.update(value=None, visible=False), ""
    found = relations.pair(relation, first, second)
    facts = site.suite_cache.table(relation.asked.suites[0]).models
    names = [facts.loc[model, "title"] for model in found.models]
    if not found.models:
        return *picked, said(relation.asked, found), gr.update(value=None, visible=False), ""
    kinds = [facts.loc[model, "kind"] for model in found.models]
    notes = [_marks(found, place) for place in range(len(names))]
    drawn = figures.scatter(
        names=names,
        kinds=kinds,
        notes=notes,
        x=found.values[:, 0],
        y=found.values[:, 1],
        x_title=_titled(found.x),
        y_title=_titled(found.y),
    )
    return (
        *picked,
        said(relation.asked, found),
        gr.update(value=drawn, visible=True),
        listed(relation.asked, found, names),
    )


def _marks(found: Pair, place: int) -> str:
    """The marks of a model's two figures, one line each; a category or suite: trained on a data set of it."""
    lines = []
    for side, axis in enumerate((found.x, found.y)):
        note = marks.said(found.marks[place, side])
        if note:
            lines.append(f"{axis.label}: {note if axis.task else '† trained on a data set of it'}")
    return "<br>".join(lines)


def said(asked: Asked, found: Pair) -> str:
    """One sentence: the correlation with its interval, or why there is none; and where to read on."""
    name = METHODS[asked.method]
    if found.why:
        result = f"No correlation: {text(found.why)}."
    else:
        interval = (
            "an interval needs more models"
            if np.isnan(found.low)
            else f"95% interval {span(found.low, found.high, digits=2)}"
        )
        result = f"{name} <b>{number(found.r, digits=2)}</b> over {len(found.models)} models, {interval}."
    return f"<p class='pg-lead'>{_linked(found.x)} and {_linked(found.y)}: {result}</p>"


def listed(asked: Asked, found: Pair, names: list[str]) -> str:
    """The models of a pair as a table, best on the first column at the top."""
    order = np.argsort(found.values[:, 0] * (-1 if found.x.higher else 1), kind="stable")
    origin = asked.origin == "all"
    rows = [
        (
            to_model(found.models[place], names[place]),
            *(
                number(found.values[place, side], digits=axis.digits) + marks.marked(found.marks[place, side])
                for side, axis in enumerate((found.x, found.y))
            ),
            *((" and ".join(dict.fromkeys(found.origins[place])),) if origin else ()),
        )
        for place in order
    ]
    heads = ("Model", text(found.x.label), text(found.y.label), *(("Figures",) if origin else ()))
    seen = "".join(f" {sign} {meaning}." for bit, sign, meaning in marks.SIGNS if (found.marks & bit).any())
    legend = f"<p class='pg-quiet'>{seen.strip()}</p>" if seen else ""
    return f"<details><summary>Table</summary>{table(heads, rows, numeric=(1, 2))}{legend}</details>"


def _titled(axis: Axis) -> str:
    facts = [axis.metric] * (axis.metric != axis.label) + ["lower is better"] * (not axis.higher)
    return f"{axis.label} ({', '.join(facts)})" if facts else axis.label


def _linked(axis: Axis) -> str:
    if axis.task:
        return to_task(axis.task, axis.label)
    return link(f"board?suite={quote(axis.suite)}", axis.label)


def _lite(site: ui.Site) -> None:
    """The section that chooses a smaller suite."""

    def choosable() -> list[tuple[str, str]]:
        suites = suite_queries.suites(site.db)
        suites = suites[suites["aggregate"] != "human"]
        return list(zip(suites["title"], suites["key"], strict=True))

    parameters = lite.parameters(suite_queries.suites(site.db))
    builder = lite.Builder(site.db)
    ui.static_html(section("A smaller suite", f"<p class='pg-prose'>{RULE}</p>"))
    with gr.Row(elem_classes="pg-controls"):
        of = gr.Dropdown(choosable(), value="mieb", label="Of")
        origin = gr.Dropdown(FIGURES, value="published", label="Figures")
        by = gr.Dropdown([("Tasks", "tasks"), ("Hours", "hours")], value="tasks", label="Limit by")
        size = gr.Number(lite.SIZE, minimum=1, maximum=200, precision=0, label="Tasks")
        hours = gr.Number(5, minimum=0.01, maximum=1000, label="Hours a model")
        high = gr.Number(0.5, minimum=-1, maximum=1, step=0.05, label="Redundant above")
        low = gr.Number(0.45, minimum=-1, maximum=1, step=0.05, label="Then above")
    message = ui.message_box()
    report = gr.HTML("<p class='pg-quiet'>Choosing tasks …</p>", apply_default_css=False)
    ui.static_html("<h3 class='pg-sub'>How the agreement grows with each task</h3>")
    curve = gr.Plot(show_label=False, container=False)

    def page(*, lite: str, lite_origin: str, by: str, size: int, hours: float, high: float, low: float) -> tuple:
        wish = Wish(suite=lite, origin=lite_origin, by=by, size=size, hours=hours, high=high, low=low)
        body = report_of(builder, wish, models=model_queries.models(site.db))
        result = builder.choose(wish)
        names = [result.scores.titles[place] for place in result.selection.path]
        return body, figures.path(agreement=result.selection.agreement, names=names)

    ui.bind(
        site,
        parameters=parameters,
        controls=[of, origin, by, size, hours, high, low],
        outputs=[report, curve],
        draw=page,
        message=message,
        lists={"lite": choosable},
    )


CORRELATIONS = View(key="correlations", title="Correlations", draw=draw, figures=True, routes=routes.routes)
