"""How the board works: method, sources, definitions, how to add to it, how to cite."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from markupsafe import Markup

from compute import bare_process
from compute.analysis.ranks.variance import FEW
from leaderboard.data.database import shared
from leaderboard.html.components import html
from leaderboard.html.labels import ABBREVIATIONS, is_own
from leaderboard.html.templates import render
from leaderboard.page import Site, View, fill

PACKAGES = ("gradio", "duckdb", "pandas", "numpy", "scipy", "plotly")


def draw(site: Site) -> None:
    """Draws a page of text; its numbers are those of the database at the time it is opened."""
    component = html("<p class='pg-waiting pg-quiet'>Loading …</p>")

    def text() -> Markup:
        if site.data is None:
            return body(site)
        return body(site) + render("pages/about/data_set.html", status=site.data.status)  # which may change by itself

    fill(site, section="The page About", outputs=[component], make=lambda: [text()])


@shared
def body(site: Site) -> Markup:
    """Returns the whole page."""
    sizes = site.db.query("benchmark_sizes")
    metrics = site.db.keyed("metrics")
    return render(
        "pages/about/page.html",
        few=FEW,
        limited=bare_process.enforced(),
        benchmarks=sizes[~sizes["key"].map(is_own)],
        years=site.db.query("years")["year"].tolist(),
        mieb=cells(site, "mieb"),
        facts=site.db.query("differing_facts"),
        origins=site.db.query("origins"),
        abbreviations=ABBREVIATIONS.items(),
        metrics=metrics[~metrics["key"].str.endswith("_rank")],
        bibtex="\n\n".join(filter(None, site.db.query("benchmarks")["bibtex"])),
        fetched=bool(site.data and site.data.path == site.db.path),
        built=datetime.fromtimestamp(site.db.copy.stat().st_mtime, tz=UTC).strftime("%Y-%m-%d %H:%M UTC"),
        counts=site.db.query("counts").iloc[0],
        claims=site.db.records("claim_counts")[0],
        data_version=site.db.data,
        packages=", ".join(f"{name} {version(name)}" for name in PACKAGES),
    )


def cells(site: Site, suite: str) -> dict[str, int] | None:
    """Returns the numbers of models, tasks and cells in a suite's table, and of cells with a score; None without the
    suite.
    """
    if suite not in site.suite_cache.suites():
        return None
    table = site.suite_cache.table(suite)
    ranked = [index for index, column in enumerate(table.columns) if column.ranked]
    values = table.scores.values[table.fullest_rows()][:, ranked]
    models, tasks = values.shape
    return {"models": models, "tasks": tasks, "cells": values.size, "filled": int((~np.isnan(values)).sum())}


ABOUT = View(
    key="about",
    title="About",
    sentence="How the numbers were taken from the papers, how the board ranks and how certain a rank is, what the "
    "words mean, and how to add a model, a task or a result.",
    copied=False,
    group="Docs",
    draw=draw,
)
