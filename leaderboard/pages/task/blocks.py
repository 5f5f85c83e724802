"""The written blocks of a task's page: facts, what it tells apart, the best, tasks like it, remarks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from leaderboard.data import item_queries, task_queries
from leaderboard.data.suite_table import SuiteColumn, SuiteTable
from leaderboard.html import abbreviations, markup, synthetic
from leaderboard.html.marks import SIGNS, marked
from leaderboard.html.markup import (
    NOTHING,
    facts,
    lazy_table,
    link,
    number,
    remarks,
    section,
    table,
    text,
    to_model,
    to_task,
)
from leaderboard.pages.task import image_map, protocols

if TYPE_CHECKING:
    from compute.analysis.correlation import Correlation
    from compute.analysis.saturation import Saturation
    from leaderboard.data.database import Database

LIKE = 8  # correlated tasks shown


def reading(sheet: SuiteTable, place: int, *, ceiling: float) -> str:
    """What the spread of scores says about the task, in words."""
    from compute.analysis.saturation import saturation

    column, rows = sheet.columns[place], sheet.fullest_rows(column=place)
    ceiling = None if pd.isna(ceiling) else float(ceiling)
    found = saturation(
        scores=sheet.values[rows, place],
        stderr=sheet.stderr[rows, place],
        chance=column.chance,
        ceiling=ceiling,
        higher=column.higher,
    )

    def shown(value: float, *, more: int = 0) -> str:
        return number(value, digits=column.digits + more, scale=column.scale)

    lines = [
        ("Models with a score", str(found.models)),
        ("Best, median", f"{shown(found.best)}, {shown(found.median)}"),
        (
            "Spread over models",
            f"{shown(found.spread, more=1)} <span class='pg-quiet'>standard deviation</span>",
        ),
    ]
    if column.chance is not None:
        below = (
            f"; {found.below_chance} of {found.models} do no better"
            if found.below_chance
            else "; every model does better"
        )
        lines.append(("Chance", f"{shown(column.chance)}{below}"))
    if not np.isnan(found.used):
        room = (
            "the room between chance and the ceiling"
            if column.chance is not None
            else "the way to the ceiling (chance is not stated)"
        )
        lines.append(("Used up", f"the best covers {found.used:.0%} of {room}"))
    if found.judged:
        lines += [
            (
                "Noise of a score",
                f"{shown(found.noise, more=1)} <span class='pg-quiet'>median standard error; the spread is "
                f"{found.ratio:.1f} times as large</span>",
            ),
            (
                "Level with the best",
                f"{found.within} of {found.judged} models ({found.within / found.judged:.0%}) lie within the "
                "noise of the best",
            ),
        ]
    else:
        lines.append(
            (
                "Noise of a score",
                "<span class='pg-quiet'>not known: this metric is no share of n independent items, or n "
                "is not printed</span>",
            )
        )
    return section("What it tells apart", facts(lines) + f"<p><strong>{verdict(found)}</strong></p>")


FEWEST = 8  # models beside the best before a share of them says anything


def verdict(found: Saturation) -> str:
    """One sentence on saturation; it only claims what noise or the ceiling shows."""
    if found.judged >= FEWEST and found.within / found.judged >= 0.25:
        return "Close to saturated at the top: a quarter or more of the models cannot be told from the best."
    if found.used >= 0.95:
        return "Close to its ceiling: little room is left above the best model."
    if found.judged and found.ratio >= 5:
        return "Still tells models apart: their spread is well above the noise of a score."
    if found.judged:
        return "Tells models apart in part: the spread is only a few times the noise of a score."
    if found.used == found.used:
        return "There is room above the best, but without a known noise small gaps say little."
    return "Without a ceiling or a known noise, the spread alone says how far the models lie apart."


def related(sheet: SuiteTable, place: int, found: tuple[np.ndarray, Correlation], suite: str) -> str:
    """The tasks that rank models most and least alike, with a link to the scatter of each pair."""
    places, result = found
    own = int(np.flatnonzero(places == place)[0])
    r = result.r[own].copy()
    r[own] = np.nan
    known = [at for at in np.argsort(-np.nan_to_num(r, nan=0.0), kind="stable") if not np.isnan(r[at])]
    if not known:
        return section("Tasks like it", "<p class='pg-quiet'>Too few models share this task with another one.</p>")

    def lines(chosen: list[int]) -> str:
        rows = []
        for at in chosen:
            other = sheet.columns[places[at]]
            pair = quote(f"{sheet.columns[place].task},{other.task}", safe="/,")
            low, high = result.low[own, at], result.high[own, at]
            interval = NOTHING if np.isnan(low) else f"{number(low, digits=2)} to {number(high, digits=2)}"
            rows.append(
                [
                    to_task(other.task, other.title),
                    text(other.group),
                    number(r[at], digits=2),
                    interval,
                    str(result.n[own, at]),
                    link(f"correlations?suites={suite}&level=tasks&pair={pair}", "scatter"),
                ]
            )
        return table(["Task", "Category", "ρ", "95% interval", "Models", ""], rows, numeric=(2, 3, 4))

    least = [at for at in known[::-1] if at not in known[:LIKE]][:LIKE]
    other = "<h3>Least like it</h3>" + lines(least) if least else ""
    return section(
        "Tasks like it",
        lines(known[:LIKE]) + other,
        more=f"Spearman's rank correlation ρ over the models that have both, in {text(sheet.suite['title'])}.",
    )


def best(points: pd.DataFrame, column: SuiteColumn) -> str:
    """The first ten rows with their intervals."""
    rows = []
    for at, row in enumerate(points.head(10).itertuples(), start=1):
        interval = (
            NOTHING
            if np.isnan(row.low)
            else f"{number(row.low, digits=column.digits)} to {number(row.high, digits=column.digits)}"
        )
        rows.append(
            [
                str(at),
                to_model(row.model, row.title),
                number(row.value, digits=column.digits) + marked(row.marks),
                interval,
                text(row.origin),
            ]
        )
    way = "higher is better" if column.higher else "lower is better"
    legend = "".join(f" {sign} {words}." for bit, sign, words in SIGNS if (points["marks"].head(10) & bit).any())
    return section(
        "Best ten",
        table(["", "Model", text(column.metric_title), "95% interval", "Origin"], rows, numeric=(0, 2, 3)),
        more=f"{text(column.metric_title)}, {way}. A model measured by several sources has several rows.{legend}",
    )


def known(about: pd.Series, suites: pd.DataFrame, metrics: pd.DataFrame) -> str:
    """How the task is run and on what, as a list of facts."""
    measured = [metrics.loc[key] for key in about["metrics"] if key in metrics.index and not key.endswith("_rank")]
    first = measured[0] if measured else None
    what = "" if first is None else f"{text(first['title'])}: {text(first['description'])}"
    more = [row["title"] for row in measured[1:]]
    chance = (
        NOTHING
        if first is None or pd.isna(about["chance"])
        else (number(about["chance"], digits=int(first["digits"]), scale=float(first["scale"])))
    )
    parts = [part for part in about["subsets"] if part != "default"]
    languages = list(about["languages"])
    shelf = [link(f"board?suite={row.key}", synthetic.plain(row.title)) for row in suites.itertuples()]
    dataset = text(about["dataset_title"] if not pd.isna(about["dataset_title"]) else about["dataset"])
    if (
        isinstance(about["dataset_url"], str)
        and about["dataset_url"]
        and about["dataset_url"] != about["dataset_title"]
    ):
        dataset += f" <span class='pg-quiet'>{text(about['dataset_url'])}</span>"
    return facts(
        [
            ("Asks", protocols.sentence(str(about["procedure"]), str(about["benchmark"]))),
            *[("Items are", text(about["notes"]))] * synthetic.is_synthetic(about["benchmark"]),
            *[("Settings", line) for line in [protocols.settings(_settings(about["notes"]))] if line],
            (
                "Benchmark",
                f"{synthetic.titled(about['benchmark_title'], about['benchmark'])}, "
                f"{text(about['category'])}{_words(about['category'])}",
            ),
            ("Suites", ", ".join(shelf) or NOTHING),
            (
                "Metric",
                what + (f" <span class='pg-quiet'>Also: {text(', '.join(more))}.</span>" if more else ""),
            ),
            ("Chance", chance),
            ("Items", NOTHING if pd.isna(about["n_items"]) else f"{int(about['n_items']):,}"),
            ("Data set", dataset),
            ("Split", text(about["split"])),
            ("Revision", f"<code>{text(about['revision'])}</code>" if about["revision"] else NOTHING),
            ("Subsets", text(_listed(parts)) if parts else "one"),
            ("Languages", text(_listed(languages))),
            ("Licence", text(about["license"] or about["dataset_license"])),
            ("Key", f"<code>{text(about['key'])}</code>"),
        ],
        more="— stands for what our sources do not state.",
    )


def _words(category: str) -> str:
    said = abbreviations.hint(category)
    return f" <span class='pg-quiet'>{text(said)}</span>" if said else ""


def _listed(names: list[str], *, most: int = 12) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{len(names)}: {', '.join(names[:most])}, …"


def _settings(notes: object) -> dict:
    if not isinstance(notes, str) or not notes.startswith("{"):
        return {}
    try:
        return json.loads(notes)
    except ValueError:
        return {}


def single_items(db: Database, about: pd.Series) -> str:
    """The places of its single items and of the map of its images."""
    return section(
        f"Single items{synthetic.badge(about['benchmark'])}",
        markup.single_items(about["key"]),
        more="What computed runs got right and wrong, item by item.",
    ) + image_map.heading(db, about, item_queries.item_maps(db, task=about["key"]))


def foot(db: Database, about: pd.Series) -> str:
    """Its computed runs, all scores as a table to be loaded, remarks on them, and how to cite."""
    made = item_queries.computed_runs(db, task=about["key"])
    if len(made):
        made = made.sort_values("value", ascending=not bool(made["higher"].iloc[0]), kind="stable")
    runs = (
        section(
            "Computed runs",
            markup.runs(made, of="title"),
            more="Each opens to its settings, versions, device and time.",
        )
        if len(made)
        else ""
    )
    own = about["notes"] if isinstance(about["notes"], str) and not _settings(about["notes"]) else ""
    own = "" if synthetic.is_synthetic(about["benchmark"]) else own  # said among the facts
    listed = remarks(task_queries.task_notes(db, task=about["key"]), first=own)
    cited = (
        f" Data: {text(about['dataset_citation'])}."
        if isinstance(about["dataset_citation"], str) and about["dataset_citation"]
        else ""
    )
    return (
        runs
        + section(
            "All scores",
            lazy_table(f"data/task?task={quote(about['key'], safe='/')}", label="The scores"),
            more="In the units the papers print; † trained on this data set, ? suspect figure, ‡ another "
            "table prints another number.",
        )
        + section("Remarks", listed)
        + section(
            "Cite",
            f"<details class='pg-cite'><summary>How to cite {text(about['benchmark_title'])}</summary>"
            f"<pre tabindex='0'>{text(about['bibtex'])}</pre></details><p class='pg-quiet'>{cited}</p>"
            if about["bibtex"]
            else "<p class='pg-quiet'>It is drawn by this project: there is no paper to cite.</p>",
        )
    )
