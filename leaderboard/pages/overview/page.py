"""The first page: where to start, who leads each benchmark and how certain that is, and the newest models."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
from markupsafe import Markup

from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.rounding import rounded
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import shared
from leaderboard.data.suite_cache import leading
from leaderboard.html.components import html, mounted
from leaderboard.html.labels import TRAINED, is_synthetic
from leaderboard.html.templates import render
from leaderboard.page import PAPERS, SITE, Site, View, fill, static_html
from leaderboard.pages.overview import findings as of_benchmarks

SUITES = ("unisim-core", "pairbench", "mieb", "vidore-v3", "cfred-coco", "mini")  # one for each benchmark
LEADERS = 5
NEWEST = 10  # models


def draw(site: Site) -> None:
    """Draws where to start and who leads, then the leaders; parts that need rankings are filled when the page is
    opened.
    """
    static_html(render("pages/overview/starts.html"), js=mounted(site.assets, "pages/overview/compare.js"))
    head = html(
        "<section class='pg-findings'><h2>Who leads</h2><p class='pg-quiet'>Reading the scores …</p></section>",
        elem_id="findings-first",
    )
    body = html("<p class='pg-quiet'>Ranking the models …</p>", elem_id="overview")
    fill(site, section="The leaders", outputs=[head, body], make=lambda: [findings(site), benchmarks(site)])


def shown(site: Site) -> list[str]:
    """Returns the suites of this page that have scores in the database."""
    return [key for key in SUITES if key in site.suite_cache.suites() and site.suite_cache.table(key).rows]


@shared
def findings(site: Site) -> Markup:
    """Returns the leader of each benchmark with real data."""
    return render(
        "pages/overview/findings.html",
        findings=of_benchmarks.findings(site, shown(site)),
        claims=site.db.records("claim_counts")[0],
    )


@shared
def benchmarks(site: Site) -> Markup:
    """Returns the benchmarks with their first rows, then the newest models."""
    return render(
        "pages/overview/page.html",
        suites=[_summary(site, key) for key in shown(site)],
        origins=site.db.query("origins"),
        newest=newest(site),
    )


def newest(site: Site) -> list[dict[str, Any]]:
    """Returns the most recently released ranked models on real data, each with the suite in which its rank is best
    relative to the number of models.
    """
    found = []
    for key, (title, benchmark) in site.suite_cache.suites().items():
        table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
        rows = [] if ranked is None or is_synthetic(benchmark) else leading(table, ranked)
        for row in rows:
            facts = {"suite": key, "suite_title": title, "rank": row["rank"], "range": row["range"], "of": len(rows)}
            found.append((row["rank"] / len(rows), row["model"], facts))
    best: dict[str, dict[str, Any]] = {}
    for _, model, facts in sorted(found, key=lambda one: one[0]):
        best.setdefault(model, facts)
    dated = [row for row in site.db.records("models") if row["key"] in best and row["released"]]
    dated.sort(key=itemgetter("released"), reverse=True)  # ties of one day by key
    return [row | best[row["key"]] for row in dated[:NEWEST]]


def _summary(site: Site, key: str) -> dict[str, Any]:
    """Returns what the template shows of a suite. Cells of its first rows are text in shown units."""
    table, ranked = site.suite_cache.table(key), site.suite_cache.ranked(key)
    benchmark = site.db.query("benchmark", key=table.suite["benchmark"]).iloc[0]
    rows = _generators(table) if ranked is None else _leaders(table, ranked)
    return {"key": key, "about": table.suite, "benchmark_description": benchmark["description"], **rows}


def _leaders(table: BoardTable, ranked: Ranking) -> dict[str, Any]:
    """Returns the models ranked first among those of one origin, and how many models and tasks the ranking has."""
    rows = leading(table, ranked)
    first = [leader["row"] for leader in rows[:LEADERS]]
    column = table.category_columns[0]

    def interval(row: int) -> dict[str, Any] | None:
        """Returns the interval of a mean in shown units, and the positions of its ends and the mean in pixels; None
        without one.
        """
        mean, ends = float(ranked.mean[row]), (float(ranked.mean_low[row]), float(ranked.mean_high[row]))
        if np.isnan(ends).any():
            return None
        lowest, highest = np.nanmin(ranked.mean_low[first]), np.nanmax(ranked.mean_high[first])
        pixels = [3 + 74 * (value - lowest) / ((highest - lowest) or 1) for value in (ends[0], mean, ends[1])]
        return {
            "ends": "–".join(map(column.number, ends)),
            "whisker": [rounded(x, 1) for x in pixels],
            "note": bias_note(mean, float(ranked.excess[row]), digits=column.digits, scale=column.scale),
        }

    return {
        "origin": table.origin,
        "other_origins": sorted({row.origin for row in table.rows} - {table.origin}),
        "ranked_models": len(rows),
        "models": len(table.rows_of(table.origin)),
        "tasks": sum(column.ranked for column in table.columns),
        "leaders": [
            leader
            | {
                "trained": (table.marks[row] & TRAINED).any(),
                "tie_class": ranked.classes[row],
                "few": ranked.few[row],
                "unknown": ranked.unknown[row],
                "interval": interval(row),
            }
            for row, leader in zip(first, rows, strict=False)
        ],
    }


def _generators(table: BoardTable) -> dict[str, Any]:
    """Returns generators in people's order, with the score of the benchmark's own metric."""
    columns = [(at, table.columns[at]) for at in of_benchmarks.human_columns(table)]
    return {
        "origin": "",
        "models": len(table.rows),
        "tasks": sum(column.default for column in table.columns),
        "measures": [column.title for _, column in columns],
        "leaders": [
            leader | {"scores": [column.number(table.scores.values[leader["row"], at]) for at, column in columns]}
            for leader in leading(table, None)[:LEADERS]
        ],
    }


OVERVIEW = View(
    key="",
    title="Overview",
    heading=SITE,
    sentence="One board for the models that judge likeness: image and text encoders, perceptual metrics, vision "
    "language models as judges, and the metrics that rank image generators.",
    cites=PAPERS,
    draw=draw,
)
