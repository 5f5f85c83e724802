"""The first page: where to start, who leads each benchmark with what certainty, and the newest models."""

from __future__ import annotations

from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.rounding import rounded
from leaderboard.data import model_queries, suite_queries
from leaderboard.data.board_table import BoardTable
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.memo import memoised
from leaderboard.html.formatting import number
from leaderboard.html.labels import TRAINED, is_synthetic
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site, View, citations, fill, heading, static_html
from leaderboard.pages.overview import findings as of_benchmarks

SENTENCE = (
    "One board for the models that judge likeness: image and text encoders, perceptual metrics, vision language "
    "models as judges, and the metrics that rank image generators."
)
SUITES = ("unisim-core", "pairbench", "mieb", "vidore-v3", "cfred-coco", "mini")  # one for each benchmark
LEADERS = 5
NEWEST = 10  # models


def draw(site: Site) -> None:
    """Where to start, who leads, then the leaders; what needs rankings comes when the page is opened."""
    heading(title=SITE, sentence=SENTENCE, cite=citations(site))
    script = f"new URL('{site.assets}pages/overview/compare.js', document.baseURI)"
    static_html(render("pages/overview/starts.html"), js=f"import({script}).then((module) => module.mount(element));")
    head = gr.HTML(
        "<section class='pg-findings'><h2>Who leads</h2><p class='pg-quiet'>Reading the scores …</p></section>",
        apply_default_css=False,
        elem_id="findings-first",
    )
    body = gr.HTML("<p class='pg-quiet'>Ranking the models …</p>", apply_default_css=False, elem_id="overview")
    whole = memoised(lambda: (findings(site), benchmarks(site)), of=site.db)
    fill(site, section="The leaders", outputs=[head, body], make=lambda: list(whole()))


def shown(site: Site) -> list[str]:
    """The suites of this page that have scores in the database."""
    return [key for key in SUITES if key in site.suite_cache.suites() and site.suite_cache.table(key).rows]


def findings(site: Site) -> Markup:
    """Who leads each benchmark of real data."""
    return render(
        "pages/overview/findings.html",
        findings=of_benchmarks.findings(site, shown(site)),
        claims=suite_queries.claim_counts(site.db),
    )


def benchmarks(site: Site) -> Markup:
    """The benchmarks with their first rows, then the newest models."""
    return render(
        "pages/overview/page.html",
        suites=[_summary(site, key) for key in shown(site)],
        origins=suite_queries.origins(site.db),
        newest=newest(site),
    )


def newest(site: Site) -> list[dict[str, Any]]:
    """The ranked models on real data that were released last, each with the suite where its rank is best for the number
    of models."""
    found = []
    for key, (title, benchmark) in site.suite_cache.suites().items():
        table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
        rows = [] if ranked is None or is_synthetic(benchmark) else ranked_rows(table, ranked)[1]
        for row in rows:
            rank = int(ranked.rank[row])
            span = _rank_interval(ranked, row)
            facts = {"suite": key, "suite_title": title, "rank": rank, "range": span, "of": len(rows)}
            found.append((rank / len(rows), table.rows[row].model, facts))
    best: dict[str, dict[str, Any]] = {}
    for _, model, facts in sorted(found, key=lambda one: one[0]):
        best.setdefault(model, facts)
    models = model_queries.models(site.db).loc[list(best)].reset_index(drop=True)
    models = models.fillna({"released": "", "organisation": ""})
    dated = models[models["released"] != ""].sort_values(["released", "key"], ascending=[False, True])[:NEWEST]
    return [{**row, **best[row["key"]]} for row in dated.to_dict("records")]


def _summary(site: Site, key: str) -> dict[str, Any]:
    """What the template shows of a suite. Cells of its first rows are text in shown units."""
    table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
    benchmark = suite_queries.benchmark(site.db, key=table.suite["benchmark"]).iloc[0]
    rows = _generators(table) if ranked is None else _leaders(table, ranked)
    return {"key": key, "about": table.suite, "benchmark_description": benchmark["description"], **rows}


def _leaders(table: BoardTable, ranked: Ranking) -> dict[str, Any]:
    """The models ranked first among those of one origin, and how many models and tasks the ranking has."""
    origins = {row.origin for row in table.rows}
    origin, with_rank = ranked_rows(table, ranked)
    order = with_rank[:LEADERS]
    trained = (table.marks & TRAINED).any(axis=1)
    return {
        "origin": origin,
        "other_origins": sorted(origins - {origin}),
        "ranked_models": len(with_rank),
        "models": len(table.rows_of(origin)),
        "tasks": sum(column.ranked for column in table.columns),
        "leaders": [
            {
                "rank": ranked.rank[index],
                "rank_interval": _rank_interval(ranked, index),
                "model": table.rows[index].model,
                "title": _title(table, index),
                "trained": trained[index],
                "tie_class": ranked.classes[index],
                "few": ranked.few[index],
                "unknown": ranked.unknown[index],
                **_mean(ranked, index, among=order, **of_benchmarks.unit(table.category_columns[0])),
            }
            for index in order
        ],
    }


def _mean(ranked: Ranking, index: int, *, among: list[int], scale: float, digits: int) -> dict[str, Any]:
    """A row's mean with its interval in shown units, and where they lie in pixels on the scale of some rows.

    Without an interval `whisker` is empty.
    """
    values = [float(array[index]) for array in (ranked.mean_low, ranked.mean, ranked.mean_high)]
    low, mean, high = (number(value, digits=digits, scale=scale) for value in values)
    note = bias_note(values[1], float(ranked.excess[index]), digits=digits, scale=scale)
    if np.isnan(values).any():
        return {"low": low, "mean": mean, "high": high, "whisker": [], "note": ""}
    lowest, highest = float(np.nanmin(ranked.mean_low[among])), float(np.nanmax(ranked.mean_high[among]))
    pixels = [3 + 74 * (value - lowest) / ((highest - lowest) or 1) for value in values]
    return {"low": low, "mean": mean, "high": high, "whisker": [rounded(x, 1) for x in pixels], "note": note}


def _rank_interval(ranked: Ranking, index: int) -> str:
    low, high = ranked.rank_low[index], ranked.rank_high[index]
    return "" if low < 1 or low == high else f"{low}–{high}"


def _generators(table: BoardTable) -> dict[str, Any]:
    """Generators in people's order, with the score of the benchmark's own metric."""
    measures = of_benchmarks.human_columns(table)
    columns = [table.columns[at] for at in measures]
    return {
        "origin": "",
        "models": len(table.rows),
        "tasks": sum(column.default for column in table.columns),
        "measures": [column.title for column in columns],
        "leaders": [
            {
                "model": table.rows[index].model,
                "title": _title(table, index),
                "scores": [
                    number(table.scores.values[index, at], **of_benchmarks.unit(column))
                    for at, column in zip(measures, columns, strict=True)
                ],
            }
            for index in np.argsort(-table.scores.values[:, measures[0]], kind="stable")[:LEADERS]
        ],
    }


def _title(table: BoardTable, index: int) -> str:
    return table.models.loc[table.rows[index].model]["title"]


OVERVIEW = View(key="", title="Overview", sentence=SENTENCE, draw=draw)
