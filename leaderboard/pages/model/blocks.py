"""The written blocks of a model's page: facts, ranks, what sets it apart, remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from leaderboard.data import item_queries, model_queries, suite_queries
from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import SuiteTable
from leaderboard.html import markup, synthetic
from leaderboard.html.marks import marked
from leaderboard.html.markup import (
    NOTHING,
    blank,
    facts,
    lazy_table,
    link,
    number,
    section,
    span,
    table,
    text,
    to_model,
    to_task,
)
from leaderboard.pages.model import field as fields

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache

KINDS = {
    "encoder": "encoder (image or image-text embeddings)",
    "metric": "perceptual or preference metric",
    "mllm": "multimodal language model",
    "generator": "text-to-image generator",
    "distribution": "distribution metric (rates generators by sets of images)",
}
SHIPPED = "assets/"  # weights that lie in the repository itself
SHOWN = 6  # strengths, weaknesses
NEAR = 8
MOST_RUNS = 40  # of one benchmark that are listed without scrolling


def known(suite_cache: SuiteCache, about: pd.Series) -> str:
    """What the model is, as a list of facts; a guessed alias is marked."""
    sets = suite_queries.datasets(suite_cache.db)
    trained = [text(sets.loc[key, "title"] if key in sets.index else key) for key in about["trained_on"]]
    size = (
        NOTHING
        if blank(about["parameters_m"])
        else (
            f"{about['parameters_m'] / 1000:.3g} billion"
            if about["parameters_m"] >= 1000
            else f"{about['parameters_m']:.3g} million"
        )
    )
    openness = {True: "open weights", False: "closed: reached through a service only"}
    is_open = None if blank(about["open_weights"]) else bool(about["open_weights"])
    spelled = model_queries.aliases(suite_cache.db, model=about["key"])
    names = "<br>".join(
        f"{text(row.printed)} <span class='pg-quiet'>in {text(row.benchmark_title)}</span>"
        + (
            f" <strong class='pg-guess'>guess</strong>{': ' + text(row.note) if row.note else ''}"
            if row.certainty == "guess"
            else ""
        )
        for row in spelled.itertuples()
    )
    hub = NOTHING
    if str(about["weights"]).startswith(SHIPPED):
        hub = f"<code>{text(about['weights'])}</code> <span class='pg-quiet'>in this repository</span>"
    elif about["weights"]:
        address = f"https://huggingface.co/{quote(about['weights'], safe='/')}"
        hub = f"<a href='{address}' rel='noreferrer'>{text(about['weights'])}</a>"
        hub += f" <span class='pg-quiet'>at {text(about['revision'][:12])}</span>" if about["revision"] else ""
    return facts(
        [
            ("Kind", text(KINDS.get(about["kind"], about["kind"]))),
            ("Organisation", text(about["organisation"])),
            ("Family", text(about["family"])),
            ("Parameters", size),
            ("Embedding", _unit(about["embed_dim"], "dimensions")),
            ("Image size", _unit(about["image_size"], "pixels")),
            ("Takes", text(", ".join(about["modalities"]))),
            ("Availability", text(openness.get(is_open))),
            ("Licence", text(about["license"])),
            ("Released", text(about["released"])),
            ("Weights", hub),
            ("Trained on", ", ".join(trained) or "<span class='pg-quiet'>not stated by our sources</span>"),
            ("Key", f"<code>{text(about['key'])}</code>"),
            (
                "Live",
                link(f"compare?models={quote(about['key'], safe='/:~')}", "Try it on your own images and texts")
                if about["adapter"]
                else "<span class='pg-quiet'>nothing here loads it</span>",
            ),
            ("Printed as", names or NOTHING),
        ],
        more="— stands for what our sources do not state.",
    )


def _unit(value: float, unit: str) -> str:
    return NOTHING if blank(value) or pd.isna(value) else f"{int(value)} {unit}"


def ranks(suite_cache: SuiteCache, model: str, suites: list[str]) -> str:
    """Its rank, interval, tie class and mean in every suite it is in, by origin."""
    rows = []
    for suite in suites:
        sheet, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
        for at, row in enumerate(sheet.rows):
            if row.model != model:
                continue
            about = sheet.suite
            name = link(f"board?suite={suite}&select={quote(row.id, safe='/:~')}", synthetic.plain(about["title"]))
            name += synthetic.badge(about["benchmark"])
            if ranked is not None and ranked.why[at]:
                name += f"<br><span class='pg-quiet'>{text(ranked.why[at])}</span>"
            rows.append([name, text(row.origin), *_rank_cells(sheet, ranked, at)])
    heads = ["Suite", "Origin", "Rank", "95% interval", "Tie class", "Mean", "95% interval"]
    legend = (
        "<p class='pg-quiet'>Ranks hold among rows of the same origin. The interval says how far the rank "
        "moves when the "
        "tasks of each category are drawn again and the scores move by their noise. Models of one tie "
        "class cannot be told "
        "from the leader of their class.</p>"
    )
    return f"<div>{table(heads, rows, numeric=(2, 3, 5, 6), empty='It is in no suite.')}{legend if rows else ''}</div>"


def _rank_cells(sheet: SuiteTable, ranked: Ranked | None, at: int) -> list[str]:
    if ranked is None:
        people = next((c for c, column in enumerate(sheet.columns) if column.group == "People"), None)
        values = sheet.values[:, people] if people is not None else np.full(len(sheet.rows), np.nan)
        if np.isnan(values[at]):
            return [NOTHING] * 5
        column = sheet.columns[people]
        place = int((values > values[at]).sum()) + 1
        return [
            f"{place} of {int((~np.isnan(values)).sum())} by people",
            "<span class='pg-quiet'>votes not printed</span>",
            NOTHING,
            number(values[at], digits=column.digits, scale=column.scale),
            NOTHING,
        ]
    if ranked.rank[at] <= 0:
        return [NOTHING] * 5
    digits, scale = sheet.category_columns[0].digits, sheet.category_columns[0].scale
    same = [row.origin == sheet.rows[at].origin for row in sheet.rows]
    of = int(((ranked.rank > 0) & np.array(same)).sum())
    interval = NOTHING if ranked.rank_low[at] <= 0 else f"{ranked.rank_low[at]} to {ranked.rank_high[at]}"
    return [
        f"{ranked.rank[at]} of {of}",
        interval,
        text(ranked.ties[at]),
        number(ranked.mean[at], digits=digits, scale=scale),
        span(ranked.mean_low[at], ranked.mean_high[at], digits=digits, scale=scale),
    ]


def strip_title(shown: fields.Field) -> str:
    """The heading of the figure, with what its marks are."""
    about = shown.table.suite
    return (
        "<section class='pg-section'><h2>Against the field: "
        f"{synthetic.titled(about['title'], about['benchmark'])}</h2>{synthetic.note(about['benchmark'])}<p "
        "class='pg-quiet'>Each "
        f"line holds the {len(shown.rows) - 1} other rows of the same origin ({text(shown.origin)} "
        "figures) as ticks and this "
        "model as a diamond; where guessing has a known score, it is a blue bar. † in the words on pointing at a mark: "
        "trained on that data set, of a category on one of them.</p></section>"
    )


def apart(shown: fields.Field) -> str:
    """Where it differs most from the field, and which rows are nearest."""
    sheet, z = shown.table, shown.standing.z
    order = [at for at in np.argsort(-np.nan_to_num(z, nan=0.0)) if not np.isnan(z[at])]
    best, worst = [at for at in order if z[at] > 0][:SHOWN], [at for at in order[::-1] if z[at] < 0][:SHOWN]

    def lines(places: list[int]) -> str:
        rows = []
        for at in places:
            place = shown.columns[at]
            column, marks = sheet.columns[place], sheet.marks[shown.row, place]
            rows.append(
                [
                    to_task(column.task, column.title),
                    number(sheet.values[shown.row, place], digits=column.digits, scale=column.scale) + marked(marks),
                    f"{number(z[at], digits=2, sign=True)}",
                    f"{shown.standing.place[at]} of {shown.standing.others[at] + 1}",
                ]
            )
        return table(
            ["Task", "Score", "SD", "Place"],
            rows,
            numeric=(1, 2, 3),
            empty="None: no task stands out this way.",
        )

    if sheet.suite["aggregate"] == "human":
        nearest = (
            "<p>Metrics of a few generators are no profile to compare. <a "
            "href='generators'>Generators</a> sets each metric "
            "beside people.</p>"
        )
    else:
        nearest = _nearest(shown)
    return (
        "<div class='pg-three'>"
        + section(
            "Stands out above",
            lines(best),
            more="Score minus the mean of the others, in their standard deviations (SD).",
        )
        + section("Stands out below", lines(worst), more="The same, where it is weakest against the field.")
        + section("Nearest models", nearest)
        + "</div>"
    )


def _nearest(shown: fields.Field) -> str:
    sheet, near = shown.table, fields.nearest(shown)
    rows = []
    for at in np.argsort(near.distance)[:NEAR]:
        if np.isnan(near.distance[at]):
            continue
        row = sheet.rows[shown.rows[at]]
        pair = quote(f"{sheet.rows[shown.row].id},{row.id}", safe="/:~,")
        rows.append(
            [
                to_model(row.model, sheet.models.loc[row.model, "title"]),
                number(near.distance[at], digits=2),
                number(near.correlation[at], digits=2),
                str(near.shared[at]),
                link(f"board?suite={sheet.suite['key']}&select={pair}&compare=1", "compare"),
            ]
        )
    said = (
        "<p class='pg-quiet'>Root mean square difference over the tasks both have, each task in standard "
        "deviations over all "
        "models; r is their correlation on that scale.</p>"
    )
    return said + table(
        ["Model", "Distance", "r", "Tasks", ""],
        rows,
        numeric=(1, 2, 3),
        empty="Too few shared tasks with any other model.",
    )


def rest(suite_cache: SuiteCache, about: pd.Series) -> str:
    """All scores as a table to be loaded, remarks on them, and how to cite their papers."""
    notes = model_queries.model_notes(suite_cache.db, model=about["key"])
    lines = []
    for note in notes.itertuples():
        titles = list(note.tasks)
        rest = f" and {len(titles) - 6} more" if len(titles) > 6 else ""
        where = f" <span class='pg-quiet'>({text(', '.join(titles[:6]))}{rest})</span>"
        lines.append(f"<li>{text(note.note)}{where if titles else ''}</li>")
    remarks = (
        f"<ul class='pg-list'>{''.join(lines)}</ul>" if lines else "<p class='pg-quiet'>No remark on its figures.</p>"
    )
    papers = model_queries.benchmarks_of(suite_cache.db, model=about["key"])
    cites = "".join(
        f"<details class='pg-cite'><summary>How to cite {text(row.title)}</summary><pre "
        f"tabindex='0'>{text(row.bibtex)}"
        "</pre></details>"
        for row in papers.itertuples()
        if row.bibtex
    )
    return (
        _computed(suite_cache, about)
        + section(
            "All scores",
            lazy_table(f"data/model?model={quote(about['key'], safe='/')}", label="Its scores"),
            more="In the units the papers print, with 95% intervals where the number of items is known. "
            "† trained on this data set, ? suspect figure, ‡ another table prints another number. — means "
            "that the source "
            "gives no such figure.",
        )
        + section("Remarks", remarks)
        + section("Cite", f"{cites}<p class='pg-quiet'>Cite the paper whose figures you use.</p>")
    )


def _computed(suite_cache: SuiteCache, about: pd.Series) -> str:
    """Its computed runs, benchmark by benchmark; empty where there is none."""
    made, parts = item_queries.computed_runs(suite_cache.db, model=about["key"]), []
    if made.empty:
        return ""
    for benchmark, runs in made.groupby("benchmark", sort=False):
        shelf = markup.runs(runs, of="task_title")
        if len(runs) > MOST_RUNS:
            shelf = f"<div class='pg-scroll' tabindex='0' role='group' aria-label='Runs'>{shelf}</div>"
        parts.append(f"<h3>{synthetic.titled(runs['benchmark_title'].iloc[0], benchmark)}</h3>{shelf}")
    more = "Each opens to its settings, versions, device and time; the task's page has its single items."
    return section("Computed runs", "".join(parts), more=more)
