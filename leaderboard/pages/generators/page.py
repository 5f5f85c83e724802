"""Generators by people and by every automatic metric, and how reliable each metric is on which set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from markupsafe import Markup

from compute.analysis.figures.ranked import strip
from compute.analysis.figures.style import PALETTE, label_sides, plain, unmarked
from compute.types import unknown
from leaderboard.html.formatting import blank, number, span
from leaderboard.html.labels import SUSPECT, choice_title, plain_title
from leaderboard.html.templates import macro, render
from leaderboard.page import HIDDEN, Canvas, Site, View, controls
from leaderboard.pages.generators import backbones
from leaderboard.pages.generators.sets import METRIC_MODELS, SETS, GeneratorSet, MetricColumn, paper_set, sets_of
from leaderboard.web.parameters import Text

SENTENCE = (
    "Which text-to-image generators people prefer, how nine automatic metrics rank the same generators, "
    "and which metric you can trust in place of people."
)
MOST_BUTTONS = 6  # sets above which they are chosen from a list
FIGURE = 300  # pixels below which one figure is below the other
METRIC = "Metric to compare with people"
SHOWN_FIRST = ("As shown first", "")  # the choice of features that is none
LEAST = 360  # pixels, which the page reserves
UNTESTED = "an interval needs 30 prompts and a value for two generators"


def draw(site: Site) -> None:
    """Draws which metric is reliable where, the controls, one metric on one set as charts, then the details."""
    listed = _named(site, METRIC_MODELS)

    def sets() -> list[tuple[str, str]]:
        own = site.db.query("generator_sets").itertuples()  # the sets themselves are slow to load
        titles = [(choice_title(plain_title(one.title, one.benchmark), one.benchmark), one.suite) for one in own]
        return [*((title, key) for key, title in SETS.items()), *titles]

    def metrics() -> list[tuple[str, str]]:
        return _named(site, dict.fromkeys((*METRIC_MODELS, *site.db.query("generator_sets")["scored"].explode())))

    canvas = Canvas(site)
    head = canvas.waiting("Comparing the metrics with people")
    with controls():
        pick = gr.Radio if len(sets()) <= MOST_BUTTONS else gr.Dropdown
        facts = {"kind": pick, "label": "Set of generators", "scale": 2, "min_width": 260}
        canvas.choose("set", sets, default="coco", noun="set", **facts)
        metric = canvas.choose("metric", metrics, default="cfred", noun="metric", label=METRIC, scale=1, min_width=260)
        backbone = gr.Dropdown([SHOWN_FIRST], value="", label="Features of", visible=False, scale=1, min_width=200)
        canvas.control(Text(key="backbone"), backbone)
    with gr.Row(elem_classes="lk-figures", elem_id="generators-figures"):
        canvas.figure(min_width=FIGURE)
        canvas.figure(min_width=FIGURE)
    canvas.html()
    canvas.outputs += [metric, backbone]

    def every_metric(**_: Any) -> dict[Any, Any]:
        links = [
            (title, [(name, f"generators?set={key}&metric={metric}") for name, metric in listed])
            for key, title in SETS.items()
        ]
        return {head: macro("index")(links)}

    def shown_set(set: str, metric: str, backbone: str) -> tuple:
        chosen = paper_set(site, set) if set in SETS else sets_of(site)[set]
        return page(site, chosen, metric=metric, backbone=backbone)

    canvas.bind(shown_set, instead=every_metric)
    backbones.draw(site)


def page(site: Site, chosen: GeneratorSet, *, metric: str, backbone: str = "") -> tuple:
    """Returns the reading of one metric on a set, both charts, the tables, and the controls with this set's choices."""
    of_paper, moved = chosen.key in SETS, ""
    if of_paper:
        column = chosen.column(metric)
    else:
        titles = site.db.keyed("metrics")["title"]
        column, moved = shown(chosen, metric=metric, backbone=backbone, titles=titles)
    readings = chosen.readings(backbone=backbone) if backbone else chosen.usual
    facts = {
        "chosen": chosen,
        "column": column,
        "columns": chosen.every_column(backbone=backbone),
        "readings": readings,
        "reading": next((each for each in readings if each.column.metric == column.metric), None),
        "people": chosen.people,
    }
    if of_paper:
        papers = partial(paper_set, site)
        pairs = render("pages/generators/pairs.html", judges=site.db.records("image_judges"))
        reading = render("pages/generators/reading.html", **facts, on_parti=chosen.key == "parti")
        head = answer(papers) + pairs + reading
        notes = site.db.query("task_notes", task=chosen.task)
        tables = render("pages/generators/page.html", **facts, sets=[papers(key) for key in SETS], notes=notes)
    else:
        head = render("pages/generators/computed_head.html", **facts, moved=moved, untested=UNTESTED)
        order = [*column.order, *np.flatnonzero(column.ranks < 0)]
        tables = render("pages/generators/computed.html", **facts, order=order)
    return (
        head,
        gr.update(value=interval_figure(chosen, column), visible=True),
        _beside_people(chosen, column),
        tables,
        gr.update(
            choices=_named(site, chosen.columns),
            value=column.metric,
            label=METRIC if of_paper else "Metric",
        ),
        gr.update(
            choices=[SHOWN_FIRST, *((subset.replace("|", " and "), subset) for subset in chosen.subsets)],
            value=backbone if backbone in chosen.subsets else "",
            visible=not of_paper,
        ),
    )


def answer(paper: Callable[[str], GeneratorSet]) -> Markup:
    """Describes which metric is reliable where, in a sentence and a line per set."""
    sets = [paper(key) for key in SETS]
    agree = Counter(reading.column.marked for each in sets for reading in each.agreeing)
    return render(
        "pages/generators/answer.html",
        sets=sets,
        everywhere=[title for title, count in agree.items() if count == len(sets)],
        several=[title for title, count in agree.items() if count > 1],
    )


def shown(computed: GeneratorSet, *, metric: str, backbone: str, titles: pd.Series) -> tuple[MetricColumn, str]:
    """Returns the scores selected by the address, and a sentence if they differ from those it names."""
    moved = ""
    if metric not in computed.columns:
        first = next(iter(computed.columns))
        moved = f"{titles.get(metric, metric)} is not computed for this set: {titles[first]} is shown instead."
        metric = first
    column = computed.column(metric, backbone=backbone)
    if backbone and backbone not in computed.subsets:
        moved += f" {unknown('features of', backbone, computed.subsets)}"
    elif backbone and column.subset != backbone:
        moved += f" {column.title} does not rest on {backbone.replace('|', ' and ')}: here it is on {column.features}."
    return column, moved.strip()


def interval_figure(chosen: GeneratorSet, column: MetricColumn) -> object:
    """Plots every generator with its interval, best on top."""
    rows, tested = column.order, column.differences is not None
    first, rest = "First, or not significantly worse", "Significantly worse than the first"
    if not tested:
        first, rest = "First", "Others; no difference is tested"
    low, high = column.interval
    figure = strip(
        names=[chosen.titles[row] for row in rows],
        value=column.values[rows] * column.scale,
        low=low[rows] * column.scale,
        high=high[rows] * column.scale,
        groups=[first if int(row) in column.first else rest for row in rows],
        notes=[_words(column, row) for row in rows],
        x=f"{column.title} ({'higher' if column.higher else 'lower'} is better)",
        grey=rest,
    )
    return figure.update_layout(height=max(LEAST, figure.layout.height))


def _words(column: MetricColumn, row: int) -> str:
    facts = {"digits": column.digits, "scale": column.scale}
    words = f"{column.marked} {number(column.values[row], **facts)}"
    low, high = (end[row] for end in column.interval)
    if not blank(low):
        words += f" ({span(low, high, **facts)})"
    if column.differences is not None:
        low, high = column.differences.rank_low[row], column.differences.rank_high[row]
        words += f"<br>rank {column.ranks[row]}, 95% interval {low} to {high}"
    return words


def _beside_people(chosen: GeneratorSet, column: MetricColumn) -> Any:
    """Plots the scores against people's ratings, if at least two generators have both."""
    people = chosen.people
    rows = np.flatnonzero(np.isfinite(column.values) & np.isfinite(people.values)) if people else ()
    if len(rows) < 2:
        return HIDDEN
    words = [_words(column, row) for row in rows]
    if chosen.key in SETS:
        words = [f"{each}<br>{_words(people, row)}" for each, row in zip(words, rows, strict=True)]
    points = pd.DataFrame(
        {
            "title": np.array([title.replace("Stable Diffusion", "SD") for title in chosen.titles], object)[rows],
            "score": column.values[rows] * column.scale,
            "human": people.values[rows] * people.scale,
            "suspect": (np.broadcast_to(column.marks, column.values.shape)[rows] & SUSPECT) > 0,
            "words": words,
        }
    )
    plot = _scatter(points, metric=column.marked, human=people.title, higher=column.higher)
    return gr.update(value=plot, visible=True)


def _scatter(points: pd.DataFrame, *, metric: str, human: str, higher: bool) -> go.Figure:
    """Plots preference over the metric's score, one point per generator. points: title, score, human, suspect (bool),
    words.
    """
    figure = go.Figure()
    height = max(LEAST, 90 + 30 * len(points))
    sides = label_sides(points["title"], points["score"], points["human"], width=560, height=height - 70)
    points = points.assign(side=[side or "top center" for side in sides])
    for suspect, part in points.groupby("suspect"):
        colour = PALETTE[3 if suspect else 0]
        figure.add_scatter(
            x=part["score"],
            y=part["human"],
            mode="markers+text",
            text=[unmarked(title) for title in part["title"]],
            textposition=part["side"],
            textfont={"size": 11},
            name="Likely misprint" if suspect else "Generator",
            marker={
                "size": 9,
                "symbol": "circle-open" if suspect else "circle",
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            customdata=part["words"],
            hovertemplate="%{text}<br>%{customdata}<extra></extra>",
        )
    better = "higher is better" if higher else "lower is better"
    plain(
        figure,
        height=height,
        x=f"{metric} ({better})",
        y=human,
        legend=bool(points["suspect"].any()),
    )
    span = float(np.ptp(points["score"])) or 1.0
    return figure.update_xaxes(range=[points["score"].min() - 0.22 * span, points["score"].max() + 0.22 * span])


def _named(site: Site, metrics: Iterable[str]) -> list[tuple[str, str]]:
    """Metrics to choose from."""
    titles = site.db.keyed("metrics")["title"]
    return [(titles[key], key) for key in metrics]


GENERATORS = View(
    key="generators",
    title="Generators",
    sentence=SENTENCE,
    cites="cfred",
    group="Insights",
    draw=draw,
)
