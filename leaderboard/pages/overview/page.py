"""The first page: the benchmarks, who leads each with what certainty, what is new, and where to start."""

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
from leaderboard.html.labels import TRAINED
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site, View, citations, fill, heading
from leaderboard.pages.overview import findings as of_benchmarks

SENTENCE = (
    "One board for the models that judge likeness: image and text encoders, perceptual metrics, vision language "
    "models as judges, and the metrics that rank image generators."
)
SUITES = ("unisim-core", "pairbench", "mieb", "vidore-v3", "cfred-coco", "mini")  # one for each benchmark
LEADERS = 5


def draw(site: Site) -> None:
    """What the figures say, where to start, then the leaders; what needs rankings comes when the page is opened."""
    heading(title=SITE, sentence=SENTENCE, cite=citations(site))
    head = gr.HTML(
        "<p class='pg-findings pg-quiet'>Reading the figures …</p>", apply_default_css=False, elem_id="findings-first"
    )
    first = gr.HTML(starts(site), apply_default_css=False)
    body = gr.HTML("<p class='pg-quiet'>Ranking the models …</p>", apply_default_css=False, elem_id="overview")
    whole = memoised(lambda: (findings(site), starts(site), benchmarks(site)), of=site.db)
    fill(
        site,
        section="The findings and the leaders",
        outputs=[head, first, body],
        make=lambda: list(whole()),
        rendered=[first],
    )


def findings(site: Site) -> Markup:
    """What the figures say on each benchmark of real data."""
    return render("pages/overview/findings.html", findings=of_benchmarks.findings(site, SUITES))


def starts(site: Site) -> Markup:
    """Where to start, with the number of models and claims."""
    return render(
        "pages/overview/starts.html",
        counts=suite_queries.counts(site.db).iloc[0],
        claims=suite_queries.claim_counts(site.db),
    )


def benchmarks(site: Site) -> Markup:
    """The benchmarks with their first rows, then the newest models."""
    known = set(suite_queries.suites(site.db)["key"])
    return render(
        "pages/overview/page.html",
        suites=[_summary(site, key) for key in SUITES if key in known and site.suite_cache.table(key).rows],
        origins=suite_queries.origins(site.db),
        newest=model_queries.newest(site.db, most=6),
    )


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
    unit = {"digits": table.category_columns[0].digits, "scale": table.category_columns[0].scale}
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
                **_mean(ranked, index, among=order, **unit),
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
    people = next(index for index, column in enumerate(table.columns) if column.group == "People")
    metric = next(index for index, column in enumerate(table.columns) if column.metric == "cfred")
    measures = [table.columns[people], table.columns[metric]]
    return {
        "origin": "",
        "models": len(table.rows),
        "tasks": sum(column.default for column in table.columns),
        "measures": [column.title for column in measures],
        "leaders": [
            {
                "model": table.rows[index].model,
                "title": _title(table, index),
                "scores": [
                    number(table.scores.values[index, at], digits=column.digits, scale=column.scale)
                    for at, column in zip((people, metric), measures, strict=True)
                ],
            }
            for index in np.argsort(-table.scores.values[:, people], kind="stable")[:LEADERS]
        ],
    }


def _title(table: BoardTable, index: int) -> str:
    return table.models.loc[table.rows[index].model]["title"]


OVERVIEW = View(key="", title="Overview", sentence=SENTENCE, draw=draw)
