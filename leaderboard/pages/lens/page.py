"""Metric lens: what a metric of generators sees, tested on generators whose fault is known."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr
import pandas as pd

from compute.analysis.sensitivity import BLIND, MIXED, REWARDS, SEES, Sensitivity
from compute.engine.generators.backbones import JOIN
from compute.tasks.mini.generators import FAULTS
from leaderboard.data import model_queries, suite_queries
from leaderboard.data.memo import memoised
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.lens import study as studies
from leaderboard.pages.lens.study import SizeCurve, Study
from leaderboard.web.parameters import Choice

SENTENCE = (
    "What a metric of image generators sees: every metric on drawn generators that have one known fault each, "
    "from none to strong."
)
WORDS = {SEES: "sees it", REWARDS: "rewards it", BLIND: "no difference", MIXED: "unclear"}
WIDTH, HEIGHT, EDGE = 200, 96, 8  # of a small figure, in its own units


@dataclass(frozen=True, kw_only=True)
class FaultPanel:
    """One fault's small figure: points, whiskers and the line of no change, in the figure's units."""

    title: str
    what: str
    grades: tuple[str, ...]
    reading: Sensitivity
    words: str
    zero: float
    line: str
    whiskers: tuple[tuple[float, float, float], ...]  # x, from y, to y
    points: tuple[tuple[float, float], ...]


def draw(site: Site) -> None:
    """The answer and its picture, the controls, then the number of prompts and the backbones."""
    heading(
        title="Metric lens", sentence=SENTENCE, cite=suite_queries.benchmark(site.db, key="cfred").iloc[0]["bibtex"]
    )
    lens = memoised(lambda: studies.load(site.db), of=site.db)

    def metrics() -> list[tuple[str, str]]:
        titles = suite_queries.metrics(site.db)["title"]
        return [(titles[key], key) for key in lens().metrics]

    def backbones() -> list[tuple[str, str]]:
        every = dict.fromkeys(subset for subsets in lens().subsets.values() for subset in subsets)
        return [("As shown first", ""), *((subset.replace(JOIN, " and "), subset) for subset in every)]

    lists = {"metric": metrics, "backbone": backbones}
    listed, features = metrics(), backbones()
    keys = tuple(key for _, key in listed) or ("cfred",)
    parameters = (
        Choice(key="metric", default=keys[0], choices=keys, noun="metric"),
        Choice(key="backbone", default="", choices=tuple(key for _, key in features), noun="backbone"),
    )
    message = message_box()
    head = gr.HTML("<p class='ln-waiting pg-quiet'>Reading the study …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        metric = gr.Dropdown(listed or [("cFreD", "cfred")], value=keys[0], label="Metric", scale=1, min_width=200)
        backbone = gr.Dropdown(features, value="", label="Features of", scale=1, min_width=200)
    rest = gr.HTML("", apply_default_css=False)
    bind(
        site,
        parameters=parameters,
        controls=[metric, backbone],
        outputs=[head, rest],
        draw=lambda metric, backbone: page(site, lens(), metric=metric, backbone=backbone),
        message=message,
        blank=lambda **_: (macro("index")([("", [(title, f"lens?metric={key}") for title, key in metrics()])]), ""),
        lists=lists,
    )


def page(site: Site, study: Study, *, metric: str, backbone: str) -> tuple[str, str]:
    """The two outputs: the answer with the curves, and what else decides the value."""
    if not study.sensitivities:
        return render("pages/lens/none.html"), ""
    subsets = study.subsets[metric]
    subset = backbone if backbone in subsets else subsets[0]
    readings = study.of(metric, subset)
    about = suite_queries.metrics(site.db).loc[metric]
    curves = study.curves(metric=metric, subset=subset)
    head = render(
        "pages/lens/head.html",
        metric=about,
        subset=subset.replace(JOIN, " and "),
        moved=backbone.replace(JOIN, " and ") if backbone and backbone != subset else "",
        verdicts=studies.summary(readings),
        panels=[panel(fault, reading) for fault, reading in readings.items()],
        strengths=next(iter(readings.values())).strengths,
        prompts=curves[0].sizes[-1] if curves else None,
        box=(WIDTH, HEIGHT),
    )
    titles = suite_queries.metrics(site.db)["title"]
    rest = render(
        "pages/lens/rest.html",
        metric=about,
        subset=subset.replace(JOIN, " and "),
        curves=curves,
        growth=growth(curves),
        faults=[(fault, FAULTS[fault].title) for fault in study.faults],
        backbones=[(each.replace(JOIN, " and "), study.of(metric, each)) for each in subsets],
        features=features(site, subsets),
        every=[
            (key, titles[key], study.subsets[key][0], study.of(key, study.subsets[key][0])) for key in study.metrics
        ],
        words=WORDS,
    )
    return head, rest


def panel(fault: str, reading: Sensitivity) -> FaultPanel:
    """The small figure of a fault: the change from no fault by strength, up is worse."""
    low, high = min(0.0, *reading.change_low), max(0.0, *reading.change_high)
    span = (high - low) or 1.0

    def y(value: float) -> float:
        return round(EDGE + (high - value) / span * (HEIGHT - 2 * EDGE), 2)

    last = reading.strengths[-1]
    xs = [round(EDGE + strength / last * (WIDTH - 2 * EDGE), 2) for strength in reading.strengths]
    points = tuple((x, y(value)) for x, value in zip(xs, reading.change, strict=True))
    seen = f" from strength {reading.seen_from:g} on" if reading.seen_from is not None else ""
    return FaultPanel(
        title=FAULTS[fault].title,
        what=FAULTS[fault].what,
        grades=FAULTS[fault].grades,
        reading=reading,
        words=f"{WORDS[reading.verdict]}{seen}",
        zero=y(0.0),
        line=" ".join(f"{x},{value}" for x, value in points),
        whiskers=tuple(
            (x, y(most), y(least)) for x, most, least in zip(xs, reading.change_high, reading.change_low, strict=True)
        ),
        points=points,
    )


def growth(curves: list[SizeCurve]) -> tuple[int, int, float] | None:
    """The fewest and the most prompts, and how many times the value of all prompts the one of few is, without a fault.

    None where the value of all prompts is not above 0.
    """
    if not curves or curves[0].values[-1] <= 0:
        return None
    first = curves[0]
    return first.sizes[0], first.sizes[-1], first.values[0] / first.values[-1]


def features(site: Site, subsets: tuple[str, ...]) -> pd.DataFrame:
    """The catalogue's rows of the backbones: key, title, parameters_m, embed_dim, image_size, trained_on."""
    keys = dict.fromkeys(key for subset in subsets for key in subset.split(JOIN))
    models = model_queries.models(site.db)
    return models.loc[[key for key in keys if key in models.index]]


LENS = View(key="lens", title="Metric lens", group="Insights", draw=draw)
