"""The board: one suite as a table to sort, search, filter, weigh and compare."""

from __future__ import annotations

import html
import math
from typing import Any

import gradio as gr

from compute.types import LikenessError
from leaderboard import page as ui
from leaderboard.html import synthetic
from leaderboard.page import View
from leaderboard.pages.board import figures, routes
from leaderboard.pages.board.comparison import Comparison, compare
from leaderboard.pages.board.component import board
from leaderboard.pages.board.routes import choice

SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Sort, filter, weigh the categories; "
    "open a figure to see where it comes from; tick two to six rows to compare them."
)
EXPLAINED = (
    "Each row is held against the first one ticked. A task's interval follows from the number of its items, "
    "where that is known; the interval of the mean from drawing the tasks of each category anew."
)

UNCORRECTED = " The p values are not corrected for several comparisons."


def draw(site: ui.Site) -> None:
    """The table component, which keeps its state in the address itself, and the comparison below it."""
    # The table has a button of its own that copies the address: it keeps the state.
    ui.heading(site, title="Board", sentence=SENTENCE, cite=ui.citations(site), copy=False)
    table = board(site.assets)
    with gr.Column(visible=False, elem_id="comparison") as panel:
        summary = gr.HTML(apply_default_css=False)
        with gr.Row():
            bars, radar = (
                gr.Plot(show_label=False, container=False, label=name, visible=False)
                for name in ("Means by category", "The same means as a radar")
            )
        said = gr.HTML(apply_default_css=False)
        gaps = gr.Plot(show_label=False, container=False, label="Differences task by task")
        numbers = gr.HTML(apply_default_css=False)

    def show(event: gr.EventData) -> list[Any]:
        try:
            with site.db.snapshot():
                return _shown(site, event._data or {})
        except LikenessError as error:
            return [
                gr.update(visible=True),
                f"<p class='pg-message'>{html.escape(str(error))}</p>",
                gr.update(visible=False),
                gr.update(visible=False),
                "",
                gr.update(visible=False),
                "",
            ]

    table.compare(
        show,
        outputs=[panel, summary, bars, radar, said, gaps, numbers],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )


def _shown(site: ui.Site, asked: dict[str, Any]) -> list[Any]:
    rows = [str(row) for row in asked.get("ids") or []]
    if not rows:
        return [
            gr.update(visible=False),
            "",
            gr.update(value=None, visible=False),
            gr.update(value=None, visible=False),
            "",
            gr.update(value=None, visible=False),
            "",
        ]
    suite = str(asked.get("suite", ""))
    weights, tasks, coverage = choice(str(asked.get("query", "")).removeprefix("?"))
    found = compare(
        site.suite_cache.table(suite),
        site.suite_cache.ranked(suite, weights, tasks, coverage),
        rows=rows,
        weights=dict(weights),
        tasks=tasks,
    )
    means = len(found.families) > 0
    wide = means and found.families["category"].nunique() > 2
    return [
        gr.update(visible=True),
        _summary(found, drawn=synthetic.note(site.suite_cache.table(suite).suite["benchmark"])),
        gr.update(value=figures.bars(found.families, names=found.names) if means else None, visible=means),
        gr.update(value=figures.radar(found.families, names=found.names) if wide else None, visible=wide),
        f"<p class='pg-quiet'>{figures.kept(found.tasks)}</p>" if means else "",
        # Without a common scale one axis cannot hold all differences: the table has them.
        gr.update(
            value=figures.differences(found.tasks, names=found.names) if means and len(found.tasks) else None,
            visible=means and len(found.tasks) > 0,
        ),
        _numbers(found),
    ]


def _summary(found: Comparison, *, drawn: str) -> str:
    """The comparison in a table; `drawn` is what is said where the items are synthetic."""
    lines = "".join(
        f"<tr><th scope='row'>{html.escape(row['name'])}</th><td class='pg-num'>{_signed(row['difference'])}</td>"
        f"<td class='pg-num'>{_interval(row['low'], row['high'])}</td><td class='pg-num'>{_probability(row['p'])}</td>"
        f"<td class='pg-num'>{row['tasks']}</td><td>{html.escape(_verdict(row))}</td></tr>"
        for row in found.overall.to_dict("records")
    )
    head = "".join(
        f"<th scope='col'{style}>{name}</th>"
        for name, style in (
            ("Compared", ""),
            ("Mean difference", " class='pg-num'"),
            ("95 % interval", " class='pg-num'"),
            ("p", " class='pg-num'"),
            ("Shared tasks", " class='pg-num'"),
            ("Reading", ""),
        )
    )
    table = (
        (
            f"<div class='pg-wide' tabindex='0'><table class='pg-table'><thead><tr>{head}</tr></thead>"
            f"<tbody>{lines}</tbody></table></div>"
        )
        if lines
        else (
            "<p>The measures of this suite have no common scale, so there is no mean; the table below has every "
            "difference."
            "</p>"
        )
    )
    explained = EXPLAINED + (UNCORRECTED if lines else "")
    return (
        f"<h2 class='pg-h2' tabindex='-1'>Compared with {html.escape(found.names[0])}</h2>"
        f"{drawn}<p class='pg-quiet'>{explained}</p>{table}"
    )


def _verdict(row: dict[str, Any]) -> str:
    if row["reason"]:
        return row["reason"]
    if math.isnan(row["p"]):
        return "nothing is known of the noise"
    if row["p"] >= 0.05:
        return "cannot be told apart"
    return "better" if row["difference"] > 0 else "worse"


def _numbers(found: Comparison) -> str:
    lines = "".join(
        f"<tr><th scope='row'>{html.escape(row['task'])}</th><td>{html.escape(row['group'])}</td>"
        f"<td>{html.escape(row['name'])}</td><td class='pg-num'>{row['value']:.{row['digits']}f}</td>"
        f"<td class='pg-num'>{row['reference']:.{row['digits']}f}</td>"
        f"<td class='pg-num'>{row['difference']:+.{row['digits']}f}</td>"
        f"<td class='pg-num'>{_interval(row['low'], row['high'])}</td></tr>"
        for row in found.tasks.to_dict("records")
    )
    return (
        "<details class='pg-more'><summary>Every difference as a table</summary><div class='pg-scroll' tabindex='0'>"
        "<table class='pg-table'><thead><tr><th scope='col'>Task</th><th scope='col'>Category</th>"
        "<th scope='col'>Model</th><th scope='col' class='pg-num'>Its score</th>"
        f"<th scope='col' class='pg-num'>{html.escape(found.names[0])}</th>"
        "<th scope='col' class='pg-num'>Difference</th><th scope='col' class='pg-num'>95 % interval</th></tr></thead>"
        f"<tbody>{lines}</tbody></table></div></details>"
    )


def _signed(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:+.2f}".replace("-", "−")


def _interval(low: float, high: float) -> str:
    return "—" if math.isnan(low) or math.isnan(high) else f"{_signed(low)} to {_signed(high)}"


def _probability(p: float) -> str:
    return "—" if math.isnan(p) else "&lt; 0.001" if p < 0.001 else f"{p:.3f}"


BOARD = View(key="board", title="Board", draw=draw, routes=routes.routes)
