"""Everything known about one model: facts, ranks, its scores against the field, models like it, remarks."""

from __future__ import annotations

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.field import standardised
from leaderboard import page as ui
from leaderboard.data import model_queries, suite_queries
from leaderboard.data.suite_table import TRAINED
from leaderboard.html import synthetic
from leaderboard.html.lazy_tables import lazy_tables
from leaderboard.html.marks import said, signs
from leaderboard.html.markup import text
from leaderboard.page import View
from leaderboard.pages.model import blocks as model_blocks
from leaderboard.pages.model import field as fields
from leaderboard.pages.model import figures
from leaderboard.pages.model.routes import routes
from leaderboard.web.parameters import Choice

SENTENCE = (
    "One model: what it is, where it ranks and how surely, on which tasks it stands out from the others, which "
    "models are like it, and every score with its source."
)
LEADS = "mieb"  # the default model leads this suite


def draw(site: ui.Site) -> None:
    """Controls, the figure, and two blocks of text around it."""
    ui.heading(site, title="Models", sentence=SENTENCE)
    lists = {
        "model": lambda: [(_label(row), row.key) for row in model_queries.listed_models(site.db).itertuples()],
        "suite": lambda: [("Its fullest suite", ""), *synthetic.listed(suite_queries.suites(site.db))],
    }
    models, suites = (lists[name]() for name in ("model", "suite"))
    parameters = (
        Choice(key="model", default=_leader(site, models), choices=tuple(key for _, key in models)),
        Choice(key="suite", default="", choices=tuple(key for _, key in suites)),
        Choice(key="by", default="category", choices=("category", "task")),
    )
    with gr.Row(elem_classes="pg-controls"):
        which = gr.Dropdown(
            models,
            value=None,
            label="Model (type to search)",
            scale=3,
            min_width=260,
        )
        suite = gr.Dropdown(
            suites,
            value="",
            label="Against the field of",
            scale=2,
            min_width=260,
        )
        by = gr.Radio(
            [("Categories", "category"), ("Tasks", "task")],
            value="category",
            label="A line is",
            scale=2,
            min_width=240,
        )
    head = gr.HTML("<p class='pg-quiet'>Gathering what is known …</p>", apply_default_css=False, js_on_load=ui.NAMED)
    figure = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    lazy_tables(site.assets)
    ui.bind(
        site,
        parameters=parameters,
        controls=[which, suite, by],
        outputs=[head, figure, rest],
        draw=lambda model, suite, by: page(site, model=model, suite=suite, by=by),
        lists=lists,
    )


def page(site: ui.Site, *, model: str, suite: str, by: str) -> tuple:
    """The three outputs for one model: facts and ranks, the strip figure (hidden without a suite), and the rest."""
    every = suite_queries.suites(site.db)
    known = fields.suites_of(site.suite_cache, model=model, suites=list(every["key"]))
    about = model_queries.model(site.db, key=model).iloc[0]
    blocks = f"{model_blocks.known(site.suite_cache, about)}{model_blocks.ranks(site.suite_cache, model, known)}"
    head = f"<h2 class='pg-name'>{text(about['title'])}</h2><div class='pg-two'>{blocks}</div>"
    foot = model_blocks.rest(site.suite_cache, about)
    if not known:
        where = (
            "This model judges generators; how far it agrees with people stands on the page "
            "<a href='generators'>Generators</a>."
            if about["kind"] in ("distribution", "metric")
            else "No suite has a row of this model."
        )
        return head + f"<p class='pg-quiet'>{where}</p>", gr.update(value=None, visible=False), foot
    note = ""
    if suite and suite not in known:
        title = text(every.set_index("key").loc[suite, "title"])
        note = f"<p class='pg-quiet'>It has no score in {title}; shown is another suite.</p>"
    chosen = suite if suite in known else _fullest(site, model, known)
    shown = fields.field(site.suite_cache, suite=chosen, model=model)
    figure = gr.update(value=strip(shown, ranked=site.suite_cache.ranked(chosen), by=by), visible=True)
    return head + note + model_blocks.strip_title(shown), figure, model_blocks.apart(shown) + foot


def strip(shown: fields.Field, *, ranked, by: str):
    """The strip figure of categories or tasks; a suite without categories shows what it measures, in field units."""
    sheet, own = shown.table, shown.row
    mixed = len({sheet.columns[column].scale for column in shown.columns}) > 1 or not sheet.categories
    lines: list[dict] = []
    names = [sheet.models.loc[sheet.rows[row].model, "title"] for row in shown.rows]
    if by == "category" and sheet.categories and len(sheet.categories) > 1 and ranked is not None:
        for at, column in enumerate(sheet.category_columns):
            values = ranked.category_means[shown.rows, at] * column.scale
            members = sheet.codes == at
            marks = np.bitwise_or.reduce(sheet.marks[np.ix_(shown.rows, members)] & TRAINED, axis=1)
            lines += _line(
                column.title, names, values, marks, own=shown.rows == own, chance=column.chance, scale=column.scale
            )
    else:
        stored = sheet.values[np.ix_(shown.rows, shown.columns)]
        higher = np.array([sheet.columns[place].higher for place in shown.columns])
        standard = standardised(scores=stored, higher=higher) if mixed else None
        for at, place in enumerate(shown.columns):
            column = sheet.columns[place]
            values = stored[:, at] * column.scale if standard is None else standard[:, at]
            note = "" if np.isnan(shown.standing.z[at]) else f"{shown.standing.z[at]:+.2f} SD from the others"
            lines += _line(
                column.title,
                names,
                values,
                sheet.marks[shown.rows, place],
                own=shown.rows == own,
                note=note,
                scale=column.scale,
                chance=None if mixed else column.chance,
            )
    points = pd.DataFrame(lines)
    digits = sheet.columns[shown.columns[0]].digits
    x = "Standard deviations from the mean of all rows, right is better" if mixed else "Score, %"
    return figures.strip(points, name=names[int(np.flatnonzero(shown.rows == own)[0])], x=x, digits=digits)


def _line(
    title: str,
    names: list[str],
    values: np.ndarray,
    marks: np.ndarray,
    *,
    own: np.ndarray,
    chance: float | None,
    scale: float,
    note: str = "",
) -> list[dict]:
    have = ~np.isnan(values)
    if not (have & own).any():
        return []
    place = int((values[have & ~own] > values[own][0]).sum()) + 1
    return [
        {
            "line": title,
            "title": f"{names[at]} {signs(marks[at])}".rstrip(),
            "value": float(values[at]),
            "own": bool(own[at]),
            "chance": np.nan if chance is None else chance * scale,
            "note": "; ".join(filter(None, (f"place {place} of {int(have.sum())}", note, said(marks[at])))),
        }
        for at in np.flatnonzero(have)
    ]


def _leader(site: ui.Site, listed: list[tuple[str, str]]) -> str:
    """The model with the highest printed means in the suite that leads: no ranking is made at start for a default."""
    found = suite_queries.highest_printed(site.db, suite=LEADS)["model"]
    return str(found.iloc[0] if len(found) else listed[0][1])


def _label(row) -> str:
    return f"{row.title}  ·  {row.kind}" if row.kind != "encoder" else row.title


def _fullest(site: ui.Site, model: str, known: list[str]) -> str:
    """The suite with most of the model's scores; the earlier of equals."""

    def have(suite: str) -> int:
        sheet = site.suite_cache.table(suite)
        return max(int((~np.isnan(sheet.values[at])).sum()) for at, row in enumerate(sheet.rows) if row.model == model)

    return max(known, key=have)


MODEL = View(key="model", title="Models", draw=draw, figures=True, routes=routes)
