"""Which judge to trust with "how similar are these two?": PairBench's four metrics, one judge in detail, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr
import pandas as pd

from compute.analysis.pair_votes import judged
from compute.metrics.judge import CONDITIONS, METRICS
from leaderboard.data.database import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.components import html
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import render
from leaderboard.page import Canvas, Site, View, controls, fill, instead
from leaderboard.pages.judges.boards import Board, agreements, boards
from leaderboard.pages.judges.diagnosis import diagnose, reading

WORDS = {  # what a metric means, and what is said of its best judge, and of several that are level
    "mmscore": (
        "agreement with the true similarity",
        "agrees most with the truth",
        "agree most with the truth",
    ),
    "relax_sym": (
        "share of pairs whose two orders differ by at most one point",
        "is the most symmetric",
        "are the most symmetric",
    ),
    "smoothness": (
        "entropy of its scores: 0 for one alone, ln 10 = 2.30 for all ten equally often",
        "uses the scale most evenly",
        "use the scale most evenly",
    ),
    "controllability": (
        "how close its MMScores are under the two conditions",
        "is the most even-handed between conditions",
        "are the most even-handed between conditions",
    ),
}
KINDS = {"mllm": "VLM", "encoder": "encoder", "metric": "distance"}
ALL, IMAGES = "all", "images"
SPLITS = (("All splits", ALL), ("Two images", IMAGES))
LOWEST = -1.0  # of an axis: Controllability has no lower bound


def axis(metric: str, values: Sequence[float]) -> tuple[float, float]:
    """Returns the ends of the axis of a metric's values in stored units: its whole range if it is bounded."""
    if metric == "smoothness":
        return 0.0, math.log(10)
    return max(LOWEST, min(0.0, math.floor(min(values, default=0.0) * 5) / 5)), 1.0


def draw(site: Site) -> None:
    """Draws the answer, the chart, the controls, then one judge in detail, and the judges of pairs of images."""

    def judges() -> list[tuple[str, str]]:
        rows = site.db.query("judges").itertuples()
        return [
            ("Highest MMScore", ""),
            *((f"{row.title}  ·  {KINDS.get(row.kind, row.kind)}", row.key) for row in rows),
        ]

    canvas = Canvas(site)
    head = canvas.html("<p class='jd-waiting pg-quiet'>Comparing the judges …</p>")
    with controls():
        canvas.choose(
            "suite",
            lambda: suite_choices(site.db.query("judged_suites")),
            default="pairbench",
            noun="suite",
            label="Suite",
            scale=2,
            min_width=200,
        )
        canvas.choose("splits", SPLITS, default=ALL, kind=gr.Radio, label="Compare on", scale=2, min_width=240)
        canvas.choose("judge", judges, noun="judge", label="Judge in detail (type to search)", scale=3, min_width=240)
    canvas.html()
    canvas.bind(partial(page, site.suite_cache), instead=lambda **_: {head: instead("judges?judge=", judges()[1:])})
    of_pairs = html()
    fill(site, section="Judges of pairs of images", outputs=[of_pairs], make=lambda: [pairs(site.suite_cache)])


@shared
def pairs(cache: SuiteCache) -> str:
    """Returns the judges that say which of two images is better, next to people's votes."""
    votes = cache.db.query("votes")
    tasks = [(origin, task, judged(own)) for (origin, task), own in votes.groupby(["origin", "task"], sort=False)]
    return render("pages/judges/pairs.html", tasks=sorted(tasks, key=lambda one: -one[2].first.n))


def page(cache: SuiteCache, *, suite: str, splits: str, judge: str) -> tuple[str, str]:
    """Returns the two outputs: the answer with its picture, and one judge in detail."""
    found, metrics = boards(cache, suite, splits == IMAGES), cache.db.keyed("metrics")
    model = judge or next(iter(found["mmscore"].at(0)["model"]) if "mmscore" in found else iter(()), "")
    pairs = agreements(found)
    head = render(
        "pages/judges/head.html",
        boards=found,
        all_lead=_all_lead(found),
        suite=cache.db.keyed("judged_suites").loc[suite],
        metrics=metrics,
        axes={metric: axis(metric, board.judges["value"]) for metric, board in found.items()},
        agreements=pairs,
        words=WORDS,
        kinds=KINDS,
        judges=pd.concat([board.judges for board in found.values()] or [pd.DataFrame()]),
        chosen=model,
    )
    return head, _detail(cache, model=model, suite=suite)


def _all_lead(boards: Mapping[str, Board]) -> str:
    """Returns the title of the judge that leads every metric, alone or with others; empty if there is none."""
    leads = [board.at(0) for board in boards.values() if (board.judges["place"] > 0).sum() > 1]
    titles = {title for lead in leads for title in lead["title"]}
    return titles.pop() if len(leads) == len(METRICS) and len(titles) == 1 else ""


def _detail(cache: SuiteCache, *, model: str, suite: str) -> str:
    """Returns the judge in the chosen suite, else in the first that has it; empty if none does."""
    suites = cache.db.keyed("judged_suites")
    asked = dict.fromkeys((suite, *suites.index)) if model else ()
    home = next((key for key in asked if model in set(cache.db.query("judged_scores", suite=key)["model"])), "")
    values = _values(cache, home, model) if home else {}
    if not values:
        return ""
    tasks = cache.db.keyed("judged_tasks", suite=home)
    tasks = tasks[tasks["ranked"]]
    ratings = diagnose(cache, home, model)
    row = next(iter(values.values()))
    return render(
        "pages/judges/detail.html",
        row=row,
        values=values,
        kind=KINDS.get(row.kind, row.kind),
        model=cache.db.query("model", key=model).iloc[0],
        suite=suites.loc[home],
        moved=suites["title"][suite] if home != suite else "",
        tasks=tasks,
        ratings=ratings,
        reading=reading(ratings) if ratings else [],
        conditions=_conditions(cache.db.query("judged_scores", suite=home), row=row, tasks=tasks),
        metrics=cache.db.keyed("metrics"),
        CONDITIONS=CONDITIONS,
        METRICS=METRICS,
    )


def _values(cache: SuiteCache, suite: str, model: str) -> dict[str, Any]:
    """Returns a judge's rows of the boards by metric, on its splits; from the origin with evidence, if there is one."""
    for _, splits in SPLITS:
        found = {metric: board.judges for metric, board in boards(cache, suite, splits == IMAGES).items()}
        own = {metric: judges[judges["model"] == model] for metric, judges in found.items()}
        origin = min(
            (origin for rows in own.values() for origin in rows["origin"]),
            key=lambda own: (own != "computed", own),
            default="",
        )
        if origin:
            rows = ((metric, rows[rows["origin"] == origin]) for metric, rows in own.items())
            return {metric: next(row.itertuples()) for metric, row in rows if len(row)}
    return {}


def _conditions(scores: pd.DataFrame, *, row: Any, tasks: pd.DataFrame) -> list[tuple[pd.Series, dict[str, float]]]:
    """Returns its MMScores by split and condition: the split's row of `tasks`, and condition -> value."""
    own = scores[(scores["model"] == row.model) & (scores["origin"] == row.origin) & (scores["metric"] == "mmscore")]
    own = own[own["subset"].isin(CONDITIONS)].pivot(index="task", columns="subset", values="value")
    own = own.reindex(columns=list(CONDITIONS))
    return [(task, own.loc[key].dropna().to_dict()) for key, task in tasks.iterrows() if key in own.index]


JUDGES = View(
    key="judges",
    title="Judges",
    sentence="Which models can be trusted to rate how similar two items are: whether they agree with the truth, answer "
    "the same in both orders, use the whole scale, and ignore what they are asked to ignore.",
    cites="pairbench",
    group="Insights",
    draw=draw,
)
