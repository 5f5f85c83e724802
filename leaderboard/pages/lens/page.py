"""Metric lens: what a metric of generators sees, tested on generators whose fault is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import gradio as gr
import pandas as pd

from compute.analysis.generators.sensitivity import Sensitivity
from compute.engine.generators.backbones import JOIN, UNBIASED
from compute.tasks.mini.generators import FAULTS
from leaderboard.data import model_queries, suite_queries
from leaderboard.html.components import lazy_tables
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.lens import charts, errors, heatmap
from leaderboard.pages.lens import study as studies
from leaderboard.pages.lens.charts import Chart
from leaderboard.pages.lens.routes import routes
from leaderboard.pages.lens.study import SizeCurve, Study
from leaderboard.web.parameters import Choice

SENTENCE = (
    "What a metric of image generators sees: every metric on drawn generators that have one known fault each, "
    "from none to strong."
)
NO_LAW, UNBIASED_LAW, INVERSE = "none", "unbiased", "inverse"  # how a metric depends on the number of prompts


@dataclass(frozen=True, kw_only=True)
class FaultPanel:
    """One fault's small figure."""

    title: str
    what: str
    grades: tuple[str, ...]
    reading: Sensitivity
    words: str
    digits: int  # of the values
    chart: Chart


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a metric of the generator without a fault depends on the number of prompts."""

    law: str  # INVERSE: extrapolated by a line in 1 / N; UNBIASED_LAW; NO_LAW
    fewest: int
    most: int
    times: float | None  # the value of the fewest prompts over that of all; None where that is not above 0
    curve: SizeCurve
    digits: int  # of the values
    chart: Chart


def draw(site: Site) -> None:
    """The answer and its picture, the controls, then the number of prompts and the backbones."""
    heading(
        title="Metric lens", sentence=SENTENCE, cite=suite_queries.benchmark(site.db, key="cfred").iloc[0]["bibtex"]
    )
    lens = partial(studies.study_of, site)

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
    head = gr.HTML("<p class='pg-waiting ln-waiting pg-quiet'>Reading the study …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        metric = gr.Dropdown(listed or [("cFreD", "cfred")], value=keys[0], label="Metric", scale=1, min_width=200)
        backbone = gr.Dropdown(features, value="", label="Features of", scale=1, min_width=200)
    rest = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets)
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
    heatmap.draw(site, lens)


def page(site: Site, study: Study, *, metric: str, backbone: str) -> tuple[str, str]:
    """The two outputs: the answer with the curves, and what else decides the value."""
    if not study.sensitivities:
        return render("pages/lens/none.html"), ""
    subsets = study.subsets[metric]
    subset = backbone if backbone in subsets else subsets[0]
    readings = study.of(metric, subset)
    about = suite_queries.metrics(site.db).loc[metric]
    curves = study.curves(metric=metric, subset=subset)
    titles = suite_queries.metrics(site.db)["title"]
    models = model_queries.models(site.db)
    head = render(
        "pages/lens/head.html",
        metric=about,
        about=metric if metric in models.index else "",
        subset=subset.replace(JOIN, " and "),
        moved=backbone.replace(JOIN, " and ") if backbone and backbone != subset else "",
        verdicts=studies.summary(readings),
        panels=[panel(fault, reading, scale=about["scale"]) for fault, reading in readings.items()],
        strengths=next(iter(readings.values())).strengths,
        comparisons=sum(len(reading.strengths) - 1 for reading in readings.values()),
        prompts=curves[0].sizes[-1] if curves else None,
    )
    rest = render(
        "pages/lens/rest.html",
        metric=about,
        subset=subset.replace(JOIN, " and "),
        sightings=study.sightings(titles),
        false=errors.stored(),
        curves=curves,
        growth=growth(metric, curves, scale=about["scale"]),
        faults=[(fault, FAULTS[fault].title) for fault in study.faults],
        backbones=[(each.replace(JOIN, " and "), study.of(metric, each)) for each in subsets],
        features=features(site, subsets),
        not_run=[
            (models.loc[needs], [titles[key] for key, model in study.not_run.items() if model == needs])
            for needs in dict.fromkeys(study.not_run.values())
            if needs in models.index
        ],
        words=studies.WORDS,
    )
    return head, rest


def panel(fault: str, reading: Sensitivity, *, scale: float = 1.0) -> FaultPanel:
    """A fault with its figure and the verdict in words."""
    return FaultPanel(
        title=FAULTS[fault].title,
        what=FAULTS[fault].what,
        grades=FAULTS[fault].grades,
        reading=reading,
        words=studies.verdict_words(reading),
        digits=charts.decimals(*reading.values, scale=scale),
        chart=charts.of_fault(reading, scale=scale),
    )


def growth(metric: str, curves: list[SizeCurve], *, scale: float = 1.0) -> Growth | None:
    """How the metric without a fault depends on the number of prompts; None where the study has all prompts only."""
    if not curves:
        return None
    curve = curves[0]
    fewest, most = curve.sizes[0], curve.sizes[-1]
    few, whole = curve.points[fewest], curve.points[most]
    above = (few.low or 0) > 0 and (whole.low or 0) > 0  # a ratio of values that may be 0 says nothing
    return Growth(
        law=INVERSE if curve.limit else UNBIASED_LAW if metric in UNBIASED else NO_LAW,
        fewest=fewest,
        most=most,
        times=few.value / whole.value if above else None,
        curve=curve,
        digits=charts.decimals(*(point.value for point in curve.points.values()), scale=scale),
        chart=charts.of_sizes(curve, scale=scale),
    )


def features(site: Site, subsets: tuple[str, ...]) -> pd.DataFrame:
    """The catalogue's rows of the backbones: key, title, parameters_m, embed_dim, image_size, trained_on."""
    keys = dict.fromkeys(key for subset in subsets for key in subset.split(JOIN))
    models = model_queries.models(site.db)
    return models.loc[[key for key in keys if key in models.index]]


LENS = View(key="lens", title="Metric lens", sentence=SENTENCE, group="Insights", draw=draw, routes=routes)
