"""The board: one suite as a table to sort, search, filter, weight and compare."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from leaderboard.html.components import scripted
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, citations, heading, payload_of
from leaderboard.pages.board import verdicts
from leaderboard.pages.board.comparison import MOST, ComparedCategory, ComparedRows, compare, names_of
from leaderboard.pages.board.dumbbells import axis, dumbbell
from leaderboard.pages.board.routes import choice, cut_of, routes
from leaderboard.web.errors import caught

SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Open a figure for its source; "
    "tick two to six rows to compare them."
)
PAIRED = (
    "Differences are paired, task by task: what makes a task hard for both cancels in them. Their intervals say how "
    "far they would move with other tasks of the same kinds; a task's own interval follows from the number of its "
    "items, where that is known."
)
EXPLAINED = {
    "mean": PAIRED,
    "category": PAIRED,
    "task": "Intervals follow from the standard errors of both scores, taken as independent.",
}
SORTING = {
    "mean": "Sort the table by a category or a task to compare that.",
    "category": "The table is sorted by it. Sort by Rank to compare the mean.",
    "task": "The table is sorted by it. Sort by another column to compare that.",
}
SEVERAL = "Readings hold at 5% over all rows of this table, by Holm's method; the p values are each test's own."


def draw(site: Site) -> None:
    """The table component, which keeps its state in the address itself, and the comparison below it."""
    # The table has a button of its own that copies the address: it keeps the state.
    heading(title="Board", sentence=SENTENCE, cite=citations(site), copy=False, inline=True)
    # Its event carries ids, suite and query of the rows to compare.
    table = scripted(
        site.assets,
        script="pages/board/board.js",
        css_class="likeness-board",
        events=("compare",),
        run="target.dataset.suite = 'unisim-core'; module.mount(target, { trigger: fire, root });",
    )
    panel = gr.HTML("", visible=False, elem_id="comparison", apply_default_css=False)

    @caught(lambda sentence: gr.update(value=macro("message")(sentence), visible=True))
    def show(event: gr.EventData) -> Any:
        selection = payload_of(event)
        if not (selection.get("ids") or selection.get("hidden")):
            return gr.update(value="", visible=False)
        with site.db.snapshot():
            return gr.update(value=comparison(site, selection), visible=True)

    table.compare(
        show,
        outputs=[panel],
        queue=False,
        show_progress="hidden",
        trigger_mode="always_last",  # while weights move: of the changes that wait, the last one counts
        api_visibility="private",
    )


def comparison(site: Site, selection: dict[str, Any]) -> Markup:
    """The selected rows compared by what the table is sorted by.

    selection: `ids` and `hidden`, the rows in view and those that the filters hide; `suite`; `query`, the parameters of
    its ranking; `by`, the key of the sorted column; `turn`, a number that the page knows the answer by.
    """
    query = str(selection.get("query", "")).removeprefix("?")
    table = site.suite_cache.table(str(selection.get("suite", "")), cut_of(query))
    weights, tasks, coverage = choice(query)
    ranked = site.suite_cache.ranked(table.suite["key"], weights, tasks, coverage, cut=table.cut)
    rows, hidden = ([str(row) for row in selection.get(key) or []][: MOST + 1] for key in ("ids", "hidden"))
    left_out = names_of(table, [table.row(row) for row in hidden])
    turn = str(selection.get("turn", ""))[:20]
    if len(rows) < 2:
        return render("pages/board/too_few.html", hidden=verdicts.listed(left_out), turn=turn)
    found = compare(table, ranked, rows=rows, by=str(selection.get("by", "")))
    explained = [EXPLAINED[found.line.kind], SEVERAL if len(found.names) > 2 else "", verdicts.notes(found.line)]
    return render(
        "pages/board/comparison.html",
        comparison=found,
        charts=[chart for category in found.categories if (chart := _chart(category, found))],
        words=verdicts,
        explained=" ".join(filter(None, explained)),
        sorting=SORTING[found.line.kind],
        hidden=left_out,
        benchmark=table.suite["benchmark"],
        turn=turn,
    )


def _chart(category: ComparedCategory, found: ComparedRows) -> dict[str, Any] | None:
    """A category's dumbbells under its verdict; None where it has no value."""
    lines = [line for line in (category.line, *category.tasks) if line is not None]
    on = axis(lines)
    if on is None:
        return None
    own = category.line if category.line is not None and category.line.key != found.line.key else None
    return {
        "title": category.title,
        "verdict": verdicts.verdict(own, found.names) if own else "",
        "dumbbells": [dumbbell(line, found.names, on=on) for line in lines],
        "ticks": on.marked(),
        "unit": "%" if lines[0].percent else "",
    }


BOARD = View(key="board", title="Board", sentence=SENTENCE, group="Board", draw=draw, routes=routes)
