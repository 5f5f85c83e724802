"""The board: one suite as a table to sort, search, filter, weight and compare."""

from __future__ import annotations

from typing import Any

import gradio as gr

from leaderboard.html.components import scripted
from leaderboard.html.templates import macro, macros
from leaderboard.page import Site, View, citations, heading
from leaderboard.pages.board import figures
from leaderboard.pages.board.comparison import compare
from leaderboard.pages.board.routes import choice, routes
from leaderboard.web.errors import caught

SENTENCE = (
    "Every model of a benchmark, ranked with the uncertainty of its rank. Sort, filter, weight the categories; "
    "open a figure to see where it comes from; tick two to six rows to compare them."
)
HIDDEN = gr.update(value=None, visible=False)


def draw(site: Site) -> None:
    """The table component, which keeps its state in the address itself, and the comparison below it."""
    # The table has a button of its own that copies the address: it keeps the state.
    heading(title="Board", sentence=SENTENCE, cite=citations(site), copy=False)
    # Its event carries ids, suite and query of the rows to compare.
    table = scripted(
        site.assets,
        script="pages/board/board.js",
        css_class="likeness-board",
        events=("compare",),
        run="target.dataset.suite = 'unisim-core'; module.mount(target, { trigger: fire, root });",
    )
    with gr.Column(visible=False, elem_id="comparison") as panel:
        summary = gr.HTML(apply_default_css=False)
        with gr.Row():
            bars, radar = (
                gr.Plot(show_label=False, container=False, label=name, visible=False)
                for name in ("Means by category", "The same means as a radar")
            )
        note = gr.HTML(apply_default_css=False)
        differences = gr.Plot(show_label=False, container=False, label="Differences task by task")
        numbers = gr.HTML(apply_default_css=False)

    @caught(lambda sentence: [gr.update(visible=True), macro("message")(sentence), HIDDEN, HIDDEN, "", HIDDEN, ""])
    def show(event: gr.EventData) -> list[Any]:
        with site.db.snapshot():
            return _comparison(site, event._data or {})

    table.compare(
        show,
        outputs=[panel, summary, bars, radar, note, differences, numbers],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )


def _comparison(site: Site, selection: dict[str, Any]) -> list[Any]:
    """The outputs for the selected rows; no rows close the comparison."""
    rows = [str(row) for row in selection.get("ids") or []]
    if not rows:
        return [gr.update(visible=False), "", HIDDEN, HIDDEN, "", HIDDEN, ""]
    table = site.suite_cache.table(str(selection.get("suite", "")))
    weights, tasks, coverage = choice(str(selection.get("query", "")).removeprefix("?"))
    ranked = site.suite_cache.ranked(table.suite["key"], weights, tasks, coverage)
    comparison = compare(table, ranked, rows=rows, weights=dict(weights), tasks=tasks)
    names, means, differences = comparison.names, comparison.families, comparison.tasks
    texts = macros("pages/board/page.html")

    def figure(make: Any, frame: Any, shown: bool) -> Any:
        return gr.update(value=make(frame, names=names), visible=True) if shown else HIDDEN

    has_means = len(means) > 0
    return [
        gr.update(visible=True),
        texts.summary(names[0], comparison.overall.to_dict("records"), table.suite["benchmark"]),
        figure(figures.bars, means, has_means),
        figure(figures.radar, means, has_means and means["category"].nunique() > 2),
        f"<p class='pg-quiet'>{figures.cut_note(differences)}</p>" if has_means else "",
        # Without a common scale one axis cannot show all differences: the table has them.
        figure(figures.differences, differences, has_means and len(differences) > 0),
        texts.differences(names[0], differences.to_dict("records")),
    ]


BOARD = View(key="board", title="Board", draw=draw, routes=routes)
