"""Generators by people and by every automatic metric, and how far each metric can be trusted on which set."""

from __future__ import annotations

import gradio as gr
import numpy as np
import pandas as pd

from leaderboard import page as ui
from leaderboard.data import suite_queries, task_queries
from leaderboard.data.memo import memoised
from leaderboard.data.suite_table import SUSPECT
from leaderboard.html.marks import marked
from leaderboard.html.markup import facts, number, remarks, section, span, table, text, to_model, to_task
from leaderboard.page import View
from leaderboard.pages.generators import figures
from leaderboard.pages.generators.metrics import JUDGES, Judge, Jury, jury
from leaderboard.web.parameters import Choice

SENTENCE = (
    "Which text-to-image generators people prefer, how nine automatic metrics rank the same generators, "
    "and where such a "
    "metric may stand in for people."
)
SETS = {"hpdv2": "HPDv2", "parti": "Parti-Prompts", "coco": "COCO"}
BUILT_IN = (
    "Part of this agreement is built in: on Parti-Prompts the reference image of each prompt is the "
    "candidates' own most "
    "preferred image, so a generator that people prefer lies nearer to the reference by construction. It "
    "weighs on every "
    "metric that uses reference images: FID, FD-DINOv2, CMMD and cFreD."
)
OVERLAP = (
    "† trained on human preferences or ratings. HPSv2 is trained on preferences of the HPDv2 annotators, "
    "with images of four "
    "of the generators ranked there: its agreement on HPDv2 (‡) says little about other data."
)
METHOD = (
    "r is Pearson's correlation of the listed scores with human preference, sign kept; right means that "
    "better scores go "
    "with preference (for a distance, r is negative). ρ² is its square, which hides the sign. Rank "
    "accuracy is the share of "
    "generator pairs that the metric's listed ranks order as people do; its 95% interval comes from "
    "drawing the generators "
    "again 2,000 times, and is left out below six generators. A metric “follows people” only when fewer "
    "than 5% of all "
    "orders of its scores correlate as strongly, corrected for nine metrics a set (Holm). “Unproven” is "
    "no evidence against a "
    "metric: nine or ten generators seldom prove anything, and four (“too few”) never can."
)


def draw(site: ui.Site) -> None:
    """The overview first, then one set and one metric in detail."""
    ui.heading(
        site,
        title="Generators",
        sentence=SENTENCE,
        cite=suite_queries.benchmark(site.db, key="cfred").iloc[0]["bibtex"],
    )
    metrics = suite_queries.metrics(site.db)
    parameters = (
        Choice(key="set", default="hpdv2", choices=tuple(SETS)),
        Choice(key="metric", default="cfred", choices=tuple(JUDGES)),
    )
    with gr.Row(elem_classes="pg-controls"):
        which = gr.Radio(
            [(title, key) for key, title in SETS.items()],
            value="hpdv2",
            label="Set of generators",
            scale=2,
            min_width=260,
        )
        metric = gr.Dropdown(
            [(metrics.loc[key, "title"], key) for key in JUDGES],
            value="cfred",
            label="Metric beside people",
            scale=1,
            min_width=260,
        )
    head = gr.HTML("<p class='pg-quiet'>Comparing the metrics with people …</p>", apply_default_css=False)
    with gr.Row(elem_classes="lk-figures"):
        slope = gr.Plot(show_label=False, container=False)
        scatter = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    held = memoised(lambda key: jury(site.db, site.suite_cache.table(f"cfred-{key}")), of=site.db)
    ui.bind(
        site,
        parameters=parameters,
        controls=[which, metric],
        outputs=[head, slope, scatter, rest],
        draw=lambda set, metric: page(site, held, chosen=set, metric=metric),
    )


def page(site: ui.Site, held, *, chosen: str, metric: str) -> tuple:
    """The four outputs: the reading of one metric, both figures, and the tables."""
    shown: Jury = held(chosen)
    judge = shown.judge(metric)
    sheet = shown.table
    names = [sheet.models.loc[row.model, "title"] for row in sheet.rows]
    short = [name.replace("Stable Diffusion", "SD") for name in names]
    slope = figures.slope(
        pd.DataFrame({"title": short, "human": shown.human_ranks, "rank": judge.ranks}),
        metric=f"{judge.column.title}{' †' if judge.trained else ''}",
    )
    suspect = suspects(site, shown, metric)
    scatter = figures.scatter(
        pd.DataFrame(
            {
                "title": short,
                "score": judge.scores * judge.column.scale,
                "human": shown.human * shown.people.scale,
                "suspect": suspect,
            }
        ),
        metric=f"{judge.column.title}{' †' if judge.trained else ''}",
        human=shown.people.title,
        higher=judge.column.higher,
    )
    rest = _places(shown, names) + _detail(shown) + _overview(held) + _notes(site, shown)
    return _reading(shown, judge, chosen), slope, scatter, rest


def suspects(site: ui.Site, shown: Jury, metric: str) -> list[bool]:
    """Which generators' figures under a metric are marked as likely misprints."""
    place = next(at for at, column in enumerate(shown.table.columns) if column.metric == metric)
    return [bool(mark & SUSPECT) for mark in shown.table.marks[:, place]]


def _reading(shown: Jury, judge: Judge, chosen: str) -> str:
    found, title = judge.agreement, text(judge.column.title)
    warning = f"<p class='pg-warning'>{BUILT_IN}</p>" if chosen == "parti" else ""
    mark = " †" if judge.trained else ""
    p = "below 0.001" if found.p < 0.001 else number(found.p, digits=3)
    accuracy = f"{number(found.accuracy, digits=1, scale=100)}%"
    interval = (
        ""
        if np.isnan(found.accuracy_low)
        else (f" <span class='pg-quiet'>({span(found.accuracy_low, found.accuracy_high, digits=0, scale=100)}%)</span>")
    )
    said = f"printed {text(judge.printed_accuracy)}" if judge.printed_accuracy else "the paper prints none here"
    lines = facts(
        [
            (
                "r with people",
                f"<strong>{number(found.r, digits=2, sign=True)}</strong> <span class='pg-quiet'>{_way(judge)}; "
                f"{number(found.weakest, digits=2, sign=True)} when one generator is left out that "
                "matters most</span>",
            ),
            (
                "ρ²",
                f"{number(found.rho_squared, digits=2)} <span class='pg-quiet'>printed "
                f"{text(judge.printed_rho)}</span>",
            ),
            (
                "Rank accuracy",
                f"{accuracy}{interval} <span class='pg-quiet'>{said}</span>",
            ),
            (
                "By chance",
                f"<span class='pg-quiet'>p = {p} by permutation of {found.generators} generators, before "
                "correction</span>",
            ),
        ]
    )
    return (
        f"<h2 class='pg-name'>{title}{mark} on {text(shown.table.suite['title'].removeprefix('cFreD: '))}: "
        f"{text(judge.reading)}</h2>{warning}{lines}"
    )


def _way(judge: Judge) -> str:
    better = "higher" if judge.column.higher else "lower"
    way = "the right way" if judge.agreement.right_way else "the wrong way"
    return f"{way}: {better} {judge.column.title} should be better"


def _places(shown: Jury, names: list[str]) -> str:
    heads = [
        "Generator",
        text(shown.people.title),
        "By people",
        *(f"{text(judge.column.title)}{'&nbsp;†' if judge.trained else ''}" for judge in shown.judges),
    ]
    columns = {column.metric: at for at, column in enumerate(shown.table.columns)}
    rows = []
    for at in np.argsort(shown.human_ranks, kind="stable"):
        cells = []
        for judge in shown.judges:
            rank, column = judge.ranks[at], judge.column
            score = number(judge.scores[at], digits=column.digits, scale=column.scale)
            mark = marked(shown.table.marks[at, columns[column.metric]])
            moved = " class='pg-moved'" if abs(rank - shown.human_ranks[at]) >= 2 else ""
            cells.append(f"<span{moved}>{rank:g}</span> <span class='pg-quiet'>{score}{mark}</span>")
        model = shown.table.rows[at].model
        rows.append(
            [
                to_model(model, names[at]),
                number(shown.human[at], digits=shown.people.digits, scale=shown.people.scale)
                + marked(shown.table.marks[at, columns[shown.people.metric]]),
                f"<strong>{shown.human_ranks[at]:g}</strong>",
                *cells,
            ]
        )
    return section(
        "Every metric's order",
        table(heads, rows, numeric=range(1, len(heads))),
        more="Place as printed, with the score beside it; bold colour where a metric's place is two or "
        "more from people's. "
        "Ranks of † metrics (trained on people's preferences) are means of per-image ranks, so they need not follow "
        "the mean scores. ? likely misprint, ‡ another table prints another number: see the remarks.",
    )


def _detail(shown: Jury) -> str:
    rows = []
    for judge in shown.judges:
        found = judge.agreement
        rows.append(
            [
                f"{text(judge.column.title)}{'&nbsp;†' if judge.trained else ''}",
                number(found.r, digits=2, sign=True),
                "right" if found.right_way else "<strong>wrong</strong>",
                text(judge.printed_rho),
                number(found.rho_squared, digits=3),
                text(judge.printed_accuracy),
                number(found.accuracy, digits=1, scale=100),
                span(found.accuracy_low, found.accuracy_high, digits=0, scale=100),
                number(found.weakest, digits=2, sign=True),
                "&lt; 0.001" if found.p < 0.001 else number(found.p, digits=3),
                f"<span class='{'pg-sure' if judge.proven else 'pg-unsure'}'>{text(judge.reading)}</span>",
            ]
        )
    heads = [
        "Metric",
        "r",
        "Way",
        "ρ² printed",
        "recomputed",
        "Rank accuracy printed",
        "recomputed",
        "95% interval",
        "r, one left out",
        "p",
        "Reading",
    ]
    return section(
        f"Printed beside recomputed: {text(shown.table.suite['title'].removeprefix('cFreD: '))}",
        table(heads, rows, numeric=range(1, 10)),
    )


def _overview(held) -> str:
    juries = {key: held(key) for key in SETS}
    rows = []
    for metric in JUDGES:
        cells = [""]
        for shown in juries.values():
            judge = shown.judge(metric)
            cells[0] = f"{text(judge.column.title)}{'&nbsp;†' if judge.trained else ''}"
            found = judge.agreement
            interval = (
                ""
                if np.isnan(found.accuracy_low)
                else (f" ({span(found.accuracy_low, found.accuracy_high, digits=0, scale=100)})")
            )
            short = text(judge.reading).replace(", trained on this set", " ‡").replace(" way,", ",")
            cells += [
                number(found.r, digits=2, sign=True),
                number(found.rho_squared, digits=2),
                f"{number(found.accuracy, digits=0, scale=100)}<span class='pg-quiet'>{interval}</span>",
                f"<span class='{'pg-sure' if judge.proven else 'pg-unsure'}'>{short}</span>",
            ]
        rows.append(cells)
    heads = ["Metric", *["r", "ρ²", "Rank accuracy, %", "Reading"] * len(juries)]
    over = [("", 1), *((f"{SETS[key]}, {len(shown.human)} generators", 4) for key, shown in juries.items())]
    return section(
        "Which metric can be trusted where",
        table(heads, rows, numeric=(1, 2, 3, 5, 6, 7, 9, 10, 11), over=over)
        + f"<p class='pg-quiet'>{METHOD}</p><p class='pg-quiet'>{OVERLAP}</p><p class='pg-quiet'>{BUILT_IN}</p>",
    )


def _notes(site: ui.Site, shown: Jury) -> str:
    return section(
        "Remarks",
        remarks(task_queries.task_notes(site.db, task=shown.people.task)),
        more=f"On this set's figures; the set itself: {to_task(shown.people.task, 'its task page')}.",
    )


GENERATORS = View(key="generators", title="Generators", draw=draw, figures=True)
