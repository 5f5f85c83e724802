"""Which judge to trust with "how similar are these two?": PairBench's four metrics, one judge in detail, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import gradio as gr
import pandas as pd

from compute.analysis.ranking import Ranking
from compute.metrics.judge import CONDITIONS
from leaderboard.data import judge_queries, suite_queries
from leaderboard.data.memo import memoised, shared
from leaderboard.data.scope import WHOLE, Scope
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.judges import diagnosis
from leaderboard.pages.judges.comparison import (
    ALL,
    BEST,
    IMAGES,
    KINDS,
    MEANINGS,
    METRICS,
    SPLITS,
    JudgeComparison,
    JudgeRow,
    compare,
)
from leaderboard.web.parameters import Choice

SENTENCE = (
    "Which models can be trusted to rate how similar two items are: whether they agree with the truth, answer the same "
    "in both orders, use the whole scale, and ignore what they are asked to ignore."
)
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
        self.db = db
        self.pairs = memoised(lambda suite: judge_queries.ratings(db, suite=suite), most=4, of=db)
        self.scores = memoised(lambda suite: db.query("judged_scores", suite=suite), most=8, of=db)
        self.compare = memoised(
            lambda suite, splits: compare(
                db,
                suite=suite,
                splits=splits,
                pairs=self.pairs(suite),
                boards=lambda metric, tasks: _board(site, suite, metric, tasks),
            ),
            most=16,
            of=db,
        )
        self.diagnose = memoised(
            lambda suite, model: diagnosis.diagnose(
                db, suite=suite, model=model, pairs=self.pairs(suite), runs=db.query("judged_runs", suite=suite)
            ),
            most=64,
            of=db,
        )


judging_of = shared(Judging)  # of a site


def _board(site: Site, suite: str, metric: str, tasks: frozenset[str]) -> Ranking | None:
    """The ranking by a metric; None where the suite's splits have none."""
    scopes = site.suite_cache.table(suite).choices.metrics or {METRICS[0]: ()}
    if metric not in scopes:
        return None
    return site.suite_cache.ranked(suite, tasks=tasks, scope=Scope(metric=metric) if len(scopes) > 1 else WHOLE)


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
    comparison = judging.compare(suite, splits)
    about = _suite(judging, suite)
    metrics = suite_queries.metrics(judging.db)
    leading = (lead.rows[0].model for lead in comparison.leads if lead.metric == "mmscore")
    model = judge or next(leading, "")
    head = render(
        "pages/judges/head.html",
        comparison=comparison,
        suite=about,
        metrics=metrics,
        panels=[panel(comparison, metric, about=metrics.loc[metric]) for metric in METRICS],
        meanings=MEANINGS,
        best=BEST,
        several_kinds=len({row.kind for row in comparison.rows}) > 1,
        partial=[row for row in comparison.rows if not row.complete],
        recomputed=any(value.recomputed for row in comparison.rows for value in row.values.values()),
        chosen=model,
    )
    return head, _detail(judging, model=model, suite=suite)


def panel(comparison: JudgeComparison, metric: str, *, about: pd.Series) -> dict[str, object]:
    """One metric's small figure: the judges that have it, the best first, those without all splits after the others."""
    rows = [row for row in comparison.rows if metric in row.values]
    rows.sort(key=lambda row: (not row.complete, -row.values[metric].value, row.title))
    return {
        "metric": metric,
        "title": about["title"],
        "digits": int(about["digits"]),
        "scale": float(about["scale"]),
        "axis": axis(metric, [row.values[metric].value for row in rows]),
        "rows": rows,
        "missing": len(comparison.rows) - len(rows),
    }


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
    row = judging.compare(home, ALL).row(model) or judging.compare(home, IMAGES).row(model)
    if row is None:
        return ""
    ratings = judging.diagnose(home, model)
    about = judging.db.query("model", key=model).iloc[0]
    return render(
        "pages/judges/detail.html",
        row=row,
        model=about,
        suite=_suite(judging, home),
        moved=_suite(judging, suite)["title"] if home != suite else "",
        tasks=tasks,
        ratings=ratings,
        reading=diagnosis.reading(ratings) if ratings else [],
        conditions=_conditions(judging.scores(home), row=row, tasks=tasks),
        metrics=suite_queries.metrics(judging.db),
        curve=_curve(ratings) if ratings else {},
        CONDITIONS=CONDITIONS,
        METRICS=METRICS,
        axis=ValueAxis(low=0.0, high=1.0),
    )


def _conditions(
    scores: pd.DataFrame, *, row: JudgeRow, tasks: pd.DataFrame
) -> list[tuple[pd.Series, dict[str, float]]]:
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
