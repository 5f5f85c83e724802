"""The first page: the four benchmarks, who leads each with what certainty, what is new, and where to start."""

from __future__ import annotations

import html

import gradio as gr
import numpy as np

from leaderboard import page as ui
from leaderboard.data import model_queries, suite_queries
from leaderboard.data.memo import memoised
from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import TRAINED, SuiteTable, displayed_origin
from leaderboard.html import synthetic
from leaderboard.page import View

SENTENCE = (
    "One board for the models that judge likeness: image and text encoders, perceptual metrics, vision language "
    "models as judges, and the metrics that rank image generators."
)
STARTS = (
    (
        "Pick a model",
        "board?suite=mieb",
        "Rank {models} models by what matters to you: weigh the categories, filter by "
        "size or licence, and see which ranks the evidence can tell apart.",
    ),
    (
        "Hold two against each other",
        "board?suite=unisim-core&select=unisim-vit-l-14~published,"
        "openai/clip-vit-large-patch14-336~published&compare=1",
        "Tick two to six rows of the board: paired differences with intervals, task by task.",
    ),
    (
        "Try your own",
        "compare",
        "Drop two images, or an image and a text, and see what each model makes of them, on its own scale.",
    ),
    (
        "Check a claim",
        "claims",
        "{claims} statements of the papers recomputed from their own figures; {conflicts} do not hold as printed.",
    ),
)
# The suite that speaks for each benchmark here.
SHOWN = ("unisim-core", "pairbench", "mieb", "cfred-coco", "mini")
LEADERS = 5


def draw(site: ui.Site) -> None:
    """Static text at once; the leaders, which need the rankings, when the page is opened."""
    ui.heading(site, title="Likeness", sentence=SENTENCE, cite=ui.citations(site))
    first = gr.HTML(starts(site), apply_default_css=False)
    body = gr.HTML("<p class='pg-quiet'>Ranking the models …</p>", apply_default_css=False, elem_id="overview")
    whole = memoised(lambda: (starts(site), benchmarks(site) + news(site)), of=site.db)
    site.blocks.load(
        lambda: list(whole()), outputs=[first, body], queue=False, show_progress="hidden", api_visibility="private"
    )


def starts(site: ui.Site) -> str:
    """Where to start, with how much there is."""
    counts = suite_queries.counts(site.db).iloc[0]
    numbers = {"models": counts.models, "claims": f"{counts.claims:,}", "conflicts": counts.conflicts}
    return (
        "<nav class='pg-starts' aria-label='Where to start'>"
        + "".join(
            f"<a href='{html.escape(link)}'><strong>{title}</strong>"
            f"<span>{html.escape(text.format(**numbers))}</span></a>"
            for title, link, text in STARTS
        )
        + "</nav>"
    )


def benchmarks(site: ui.Site) -> str:
    """One section a benchmark: what it asks, how much there is, and its first rows."""
    sections = []
    known = set(suite_queries.suites(site.db)["key"])
    for suite in SHOWN:
        if suite not in known or not site.suite_cache.table(suite).rows:
            continue
        table, ranked = site.suite_cache.table(suite), site.suite_cache.ranked(suite)
        about = table.suite
        size, title = _size(table, ranked), _text(synthetic.plain(about["title"]))
        bench = suite_queries.benchmark(site.db, key=about["benchmark"]).iloc[0]
        sections.append(
            f"<section><h2>{synthetic.titled(about['benchmark_title'], about['benchmark'])}</h2>"
            f"<p>{_text(synthetic.described(bench['description'], about['benchmark']))}</p>"
            f"<p class='pg-quiet'>{title}: {size}. {_text(about['description'])}</p>"
            f"{_people(table) if ranked is None else _leaders(table, ranked)}"
            f"<p><a href='board?suite={_text(suite)}'>All of {title}</a></p></section>"
        )
    return "<div class='pg-benchmarks'>" + "".join(sections) + "</div>"


def _size(table: SuiteTable, ranked: Ranked | None) -> str:
    """How much of the suite the rows below come from."""
    if ranked is None:
        return f"{len(table.rows)} generators, {sum(column.default for column in table.columns)} measures"
    shown = _origin(table, ranked)
    rows = [place for place, row in enumerate(table.rows) if row.origin == shown]
    others = sorted({row.origin for row in table.rows} - {shown})
    more = f"; {' and '.join(others)} figures are on the board" if others else ""
    return (
        f"{sum(ranked.rank[place] > 0 for place in rows)} of {len(rows)} models ranked on "
        f"{sum(column.ranked for column in table.columns)} tasks by {shown} figures{more}"
    )


def _origin(table: SuiteTable, ranked: Ranked) -> str:
    """Ranks hold within one origin: the paper's own where it ranks anything, else the first that does, or has rows."""
    found = [row.origin for place, row in enumerate(table.rows) if ranked.rank[place] > 0]
    return displayed_origin(found or [row.origin for row in table.rows])


def _leaders(table: SuiteTable, ranked: Ranked) -> str:
    scale = table.category_columns[0].scale
    shown = _origin(table, ranked)
    places = [place for place, row in enumerate(table.rows) if ranked.rank[place] > 0 and row.origin == shown]
    order = sorted(places, key=lambda place: (ranked.rank[place], -ranked.mean[place]))[:LEADERS]
    if not order:
        return "<p>No model has all the scores that a rank needs.</p>"
    low = float(np.nanmin(ranked.mean_low[order])) * scale
    high = float(np.nanmax(ranked.mean_high[order])) * scale
    seen = (table.marks & TRAINED).any(axis=1)
    lines = []
    for place in order:
        row = table.rows[place]
        mean, left, right = (
            float(values[place]) * scale for values in (ranked.mean, ranked.mean_low, ranked.mean_high)
        )
        origin = "" if row.origin == "published" else f" <span class='pg-origin'>{row.origin}</span>"
        trained = " <abbr title='trained on some of these data sets'>†</abbr>" if seen[place] else ""
        title = _text(table.models.loc[row.model]["title"])
        lines.append(
            f"<tr><td class='pg-num'>{ranked.rank[place]}<span class='pg-quiet'> {_span(ranked, place)}</span></td>"
            f"<th scope='row'><a href='model?model={_text(row.model)}'>{title}</a>{origin}{trained}</th>"
            f"<td class='pg-num'>{mean:.1f}</td><td class='pg-interval'>{_whisker(mean, left, right, low, high)}"
            f"<span class='pg-quiet pg-num'>{left:.1f}–{right:.1f}</span></td><td>{ranked.ties[place]}</td></tr>"
        )
    return (
        "<table class='pg-table'><thead><tr><th scope='col'>Rank <span class='pg-quiet'>95 %</span></th>"
        "<th scope='col'>Model</th><th scope='col' class='pg-num'>Mean</th><th scope='col'>95 % interval</th>"
        "<th scope='col'><abbr title='Models with the same letter cannot be told apart from the first of them'>"
        "Class</abbr></th></tr></thead><tbody>"
        + "".join(lines)
        + "</tbody></table>"
        + ("<p class='pg-quiet'>† trained on some of these data sets</p>" if seen[order].any() else "")
    )


def _people(table: SuiteTable) -> str:
    """Generators in people's order, with what the benchmark's own metric says."""
    people = next(place for place, column in enumerate(table.columns) if column.group == "People")
    metric = next(place for place, column in enumerate(table.columns) if column.metric == "cfred")
    order = np.argsort(-table.values[:, people], kind="stable")[:LEADERS]
    asked, named = table.columns[people], table.columns[metric]
    lines = "".join(
        f"<tr><td class='pg-num'>{rank}</td><th scope='row'><a href='model?model={_text(table.rows[place].model)}'>"
        f"{_text(table.models.loc[table.rows[place].model]['title'])}</a></th>"
        f"<td class='pg-num'>{table.values[place, people] * asked.scale:.{asked.digits}f}</td>"
        f"<td class='pg-num'>{table.values[place, metric] * named.scale:.{named.digits}f}</td></tr>"
        for rank, place in enumerate(order, start=1)
    )
    return (
        "<table class='pg-table'><thead><tr><th scope='col'>Rank</th><th scope='col'>Generator</th>"
        f"<th scope='col' class='pg-num'>{_text(asked.title)}</th>"
        f"<th scope='col' class='pg-num'>{_text(named.title)}, lower is better</th></tr></thead>"
        f"<tbody>{lines}</tbody></table><p class='pg-quiet'>The paper prints no number of votes, so people's order "
        "comes without an interval. <a href='generators'>Which metrics agree with people</a></p>"
    )


def news(site: ui.Site) -> str:
    """The models released last among those with scores, and where the scores come from."""
    lines = "".join(
        f"<li><time datetime='{_text(model.released)}'>{_text(model.released)}</time> "
        f"<a href='model?model={_text(model.key)}'>{_text(model.title)}</a> <span class='pg-quiet'>"
        f"{_text(model.organisation)}</span></li>"
        for model in model_queries.newest(site.db, most=6).itertuples()
    )
    origins = ", ".join(f"{row.scores:,} {row.origin}" for row in suite_queries.origins(site.db).itertuples())
    return (
        f"<section class='pg-news'><h2>What is new</h2><p class='pg-quiet'>Scores: {origins}. Models with scores, by "
        f"date of release where it is known:</p><ul>{lines}</ul></section>"
    )


def _whisker(mean: float, left: float, right: float, low: float, high: float) -> str:
    """The interval as a line and the mean as a dot, on the scale of the rows shown."""

    def at(value: float) -> float:
        return 3 + 74 * (value - low) / ((high - low) or 1)

    return (
        f"<svg class='pg-whisker' width='80' height='12' aria-hidden='true'><line x1='{at(left):.1f}' "
        f"x2='{at(right):.1f}' y1='6' y2='6'/><circle cx='{at(mean):.1f}' cy='6' r='3'/></svg>"
    )


def _span(ranked: Ranked, place: int) -> str:
    low, high = ranked.rank_low[place], ranked.rank_high[place]
    return "" if low < 1 or low == high else f"{low}–{high}"


def _text(value: object) -> str:
    return html.escape(str(value or ""))


OVERVIEW = View(key="", title="Overview", draw=draw)
