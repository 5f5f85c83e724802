"""Which judge to trust with "how similar are these two?": PairBench's four metrics, one judge in detail, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import gradio as gr
import pandas as pd

from compute.metrics.judge import CONDITIONS, METRICS
from leaderboard.data.memo import memoised, shared
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.judges import diagnosis
from leaderboard.pages.judges.boards import Board, agreements, boards
from leaderboard.web.parameters import Choice

SENTENCE = (
    "Which models can be trusted to rate how similar two items are: whether they agree with the truth, answer the same "
    "in both orders, use the whole scale, and ignore what they are asked to ignore."
)
MEANINGS = {
    "mmscore": "agreement with the true similarity",
    "relax_sym": "share of pairs whose two orders differ by at most one point",
    "smoothness": "how many of the ten scores it uses: entropy, in nats",
    "controllability": "how close its MMScores are under the two conditions",
}
BEST = {  # of one judge, and of several that are level
    "mmscore": ("agrees most with the truth", "agree most with the truth"),
    "relax_sym": ("is the most symmetric", "are the most symmetric"),
    "smoothness": ("uses the scale most evenly", "use the scale most evenly"),
    "controllability": (
        "is the most even-handed between conditions",
        "are the most even-handed between conditions",
    ),
}
KINDS = {"mllm": "VLM", "encoder": "encoder", "metric": "distance"}
ALL, IMAGES = "all", "images"
SPLITS = {ALL: "All splits", IMAGES: "Two images"}
LOWEST = -1.0  # of an axis: Controllability has no lower bound


@dataclass(frozen=True, kw_only=True)
class ValueAxis:
    """A horizontal axis in stored units."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Percent of the width; values beyond an end are at the end."""
        share = (value - self.low) / (self.high - self.low)
        return 100 * min(max(share, 0.0), 1.0)


def axis(metric: str, values: Sequence[float]) -> ValueAxis:
    """The axis of a metric's values, over its whole range where it is bounded."""
    if metric == "smoothness":
        return ValueAxis(low=0.0, high=math.log(10))
    return ValueAxis(low=max(LOWEST, min(0.0, math.floor(min(values, default=0.0) * 5) / 5)), high=1.0)


class Judging:
    """What the page shows of a database, each made once a file."""

    def __init__(self, site: Site) -> None:
        db = site.db
        self.db, self.cache = db, site.suite_cache
        self.scores = memoised(lambda suite: db.query("judged_scores", suite=suite), most=8, of=db)
        self.boards = memoised(
            lambda suite, splits: boards(self.cache, suite=suite, images=splits == IMAGES), most=16, of=db
        )
        self.diagnose = memoised(lambda suite, model: diagnosis.diagnose(db, suite=suite, model=model), most=64, of=db)


judging_of = shared(Judging)  # of a site


def draw(site: Site) -> None:
    """The answer, the picture, the controls, then one judge in detail."""
    heading(title="Judges", sentence=SENTENCE, cite=site.db.query("benchmark", key="pairbench").iloc[0]["bibtex"])
    lists = {
        "suite": lambda: suite_choices(site.db.query("judged_suites")),
        "judge": lambda: [
            ("Highest MMScore", ""),
            *(
                (f"{row.title}  ·  {KINDS.get(row.kind, row.kind)}", row.key)
                for row in site.db.query("judges").itertuples()
            ),
        ],
    }
    suites, judges = (lists[name]() for name in ("suite", "judge"))
    keys = tuple(key for _, key in suites)
    parameters = (
        Choice(key="suite", default=keys[0] if keys else "pairbench", choices=keys or ("pairbench",), noun="suite"),
        Choice(key="splits", default=ALL, choices=tuple(SPLITS)),
        Choice(key="judge", default="", choices=tuple(key for _, key in judges), noun="judge"),
    )
    message = message_box()
    head = gr.HTML("<p class='jd-waiting pg-quiet'>Comparing the judges …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown(suites, value=parameters[0].default, label="Suite", scale=2, min_width=200)
        which = gr.Radio(
            [(title, key) for key, title in SPLITS.items()], value=ALL, label="Compare on", scale=2, min_width=240
        )
        judge = gr.Dropdown(judges, value="", label="Judge in detail (type to search)", scale=3, min_width=240)
    detail = gr.HTML("", apply_default_css=False)
    judging = judging_of(site)
    bind(
        site,
        parameters=parameters,
        controls=[suite, which, judge],
        outputs=[head, detail],
        draw=lambda suite, splits, judge: page(judging, suite=suite, splits=splits, judge=judge),
        message=message,
        blank=lambda **_: (every_judge(site), ""),
        lists=lists,
    )


def every_judge(site: Site) -> str:
    """Every judge as a link, kind by kind."""
    listed = site.db.query("judges")
    return macro("index")(
        [
            (
                words[0].upper() + words[1:] + "s",
                [(row.title, f"judges?judge={quote(row.key, safe='/:~')}") for row in rows.itertuples()],
            )
            for kind, words in KINDS.items()
            for rows in [listed[listed["kind"] == kind]]
        ]
    )


def page(judging: Judging, *, suite: str, splits: str, judge: str) -> tuple[str, str]:
    """The two outputs: the answer with its picture, and one judge in detail."""
    found = judging.boards(suite, splits)
    metrics = judging.db.keyed("metrics")
    model = judge or next(iter(found["mmscore"].at(0)["model"]) if "mmscore" in found else iter(()), "")
    pairs = agreements(found)
    together = [
        f"{metrics['title'][first]} and {metrics['title'][second]}"
        for first, second, pair in pairs
        if pair["significant"]
    ]
    head = render(
        "pages/judges/head.html",
        boards=found,
        all_lead=_all_lead(found),
        suite=_suite(judging, suite),
        metrics=metrics,
        axes={metric: axis(metric, board.judges["value"]) for metric, board in found.items()},
        agreements=pairs,
        together=together,
        meanings=MEANINGS,
        best=BEST,
        kinds=KINDS,
        judges=pd.concat([board.judges for board in found.values()] or [pd.DataFrame()]),
        chosen=model,
    )
    return head, _detail(judging, model=model, suite=suite)


def _all_lead(boards: Mapping[str, Board]) -> list[str]:
    """The titles of the judges that lead every metric."""
    if len(boards) < len(METRICS):
        return []
    first, *others = (board.at(0) for board in boards.values())
    return [row.title for row in first.itertuples() if all(row.model in set(lead["model"]) for lead in others)]


def _suite(judging: Judging, suite: str) -> pd.Series:
    return judging.db.query("judged_suites").set_index("key", drop=False).loc[suite]


def _home(judging: Judging, *, model: str, suite: str) -> str:
    """The suite to show a judge in: the chosen one, else the first that has it; empty where none has."""
    others = [key for key in judging.db.query("judged_suites")["key"] if key != suite]
    return next((key for key in (suite, *others) if model in set(judging.scores(key)["model"])), "")


def _detail(judging: Judging, *, model: str, suite: str) -> str:
    home = _home(judging, model=model, suite=suite) if model else ""
    if not home:
        return ""
    tasks = judging.db.query("judged_tasks", suite=home)
    tasks = tasks[tasks["ranked"]].set_index("key", drop=False)
    values = _values(judging, home, model)
    if not values:
        return ""
    ratings = judging.diagnose(home, model)
    row = next(iter(values.values()))
    return render(
        "pages/judges/detail.html",
        row=row,
        values=values,
        kind=KINDS.get(row.kind, row.kind),
        model=judging.db.query("model", key=model).iloc[0],
        suite=_suite(judging, home),
        moved=_suite(judging, suite)["title"] if home != suite else "",
        tasks=tasks,
        ratings=ratings,
        reading=diagnosis.reading(ratings) if ratings else [],
        conditions=_conditions(judging.scores(home), row=row, tasks=tasks),
        metrics=judging.db.keyed("metrics"),
        curve=_curve(ratings) if ratings else {},
        CONDITIONS=CONDITIONS,
        METRICS=METRICS,
        axis=ValueAxis(low=0.0, high=1.0),
    )


def _values(judging: Judging, suite: str, model: str) -> dict[str, Any]:
    """A judge's rows of the boards by metric, on the splits that it has; of the origin with evidence if it has one."""
    for splits in SPLITS:
        found = {metric: board.judges for metric, board in judging.boards(suite, splits).items()}
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
    """Its MMScores by split and condition: the split's row of `tasks`, and condition -> value."""
    own = scores[(scores["model"] == row.model) & (scores["origin"] == row.origin) & (scores["metric"] == "mmscore")]
    own = own[own["subset"].isin(CONDITIONS)].pivot(index="task", columns="subset", values="value")
    own = own.reindex(columns=list(CONDITIONS))
    return [(task, own.loc[key].dropna().to_dict()) for key, task in tasks.iterrows() if key in own.index]


def _curve(ratings: diagnosis.Diagnosis) -> dict[str, str]:
    """RelaxSym over epsilon as lines, with its interval as a band."""
    steps = len(ratings.curve) - 1
    line = [(at / steps, figure.value) for at, figure in enumerate(ratings.curve)]
    known = [(at / steps, figure) for at, figure in enumerate(ratings.curve) if figure.low is not None]
    band = [(x, figure.high) for x, figure in known] + [(x, figure.low) for x, figure in reversed(known)]
    return {
        name: " ".join(f"{100 * x},{100 * (1 - y)}" for x, y in points)
        for name, points in (("line", line), ("band", band))
    }


JUDGES = View(key="judges", title="Judges", sentence=SENTENCE, group="Insights", draw=draw)
