"""Everything known about one model: facts, ranks, its scores relative to others, similar models, remarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import gradio as gr
import numpy as np

from compute.analysis.maps import SHIPPED
from compute.types import CannotDo
from leaderboard.data.database import shared
from leaderboard.data.languages import code_of, name_of
from leaderboard.data.models.loading_code import commands, evaluation_command, loading_code
from leaderboard.data.models.model_facts import own_facts
from leaderboard.data.payload import plain, standing
from leaderboard.data.suite_cache import SuiteCache, by_language
from leaderboard.html.components import lazy_tables
from leaderboard.html.formatting import NOTHING, blank, number, or_dash, parameters_text, rank_range, span
from leaderboard.html.labels import KIND_NOTES, SUSPECT, model_kind, plain_title, suite_choices
from leaderboard.html.templates import macro, render
from leaderboard.page import Canvas, Site, View, controls, instead, subject_heading
from leaderboard.pages.model.field import Field, against_field, field, nearest, suites_of
from leaderboard.pages.model.listing import model_scores

LEADS = "mieb"  # the default model leads this suite
OUTSTANDING = 6  # strengths and weaknesses that are listed
NEAREST = 8
EARLIER = 6  # versions of the data
UNKNOWN = "unknown"
ANYWHERE = "mini"  # the suite that a model without scores can be run on with nothing to fetch
NO_SCORE = "no score yet"


def draw(site: Site) -> None:
    """Draws what the model is and where it ranks, its chart, the controls, and the rest."""

    def listed() -> list[tuple[str, str]]:
        rows = site.db.query("catalogue").itertuples()
        facts = (
            (
                row.key,
                (row.title, model_kind(row.kind) if row.kind != "encoder" else "", "" if row.scored else NO_SCORE),
            )
            for row in rows
        )
        return [("  ·  ".join(filter(None, words)), key) for key, words in facts]

    # The highest printed means in the suite that leads: no ranking is made at start for a default.
    highest = site.db.query("highest_printed", suite=LEADS)["model"].tolist()
    canvas = Canvas(site)
    canvas.output(subject_heading(MODEL))
    head = canvas.waiting()
    with controls():
        canvas.choose(
            "model",
            listed,
            default=next(iter(highest), listed()[0][1]),
            noun="model",
            label="Model (type to search)",
            scale=3,
            min_width=260,
        )
        canvas.choose(
            "suite",
            lambda: [("Its fullest suite", ""), *suite_choices(site.db.query("suites"))],
            label="Against the field of",
            scale=2,
            min_width=260,
        )
        lines = [("Categories", "category"), ("Tasks", "task")]
        canvas.choose("by", lines, default="category", kind=gr.Radio, label="A line is", scale=2, min_width=240)
    canvas.figure()
    canvas.html()
    lazy_tables(site.assets)
    canvas.bind(partial(page, site), instead=lambda **_: {head: instead("model?model=", listed())})


def page(site: Site, *, model: str, suite: str, by: str) -> tuple:
    """Returns the outputs for one model: heading, where it ranks, the strip chart (hidden without a suite), and the
    rest.
    """
    db, suite_cache = site.db, site.suite_cache
    every = db.keyed("suites")
    suites = suites_of(suite_cache, model)
    about = db.query("model", key=model).iloc[0]
    chosen = suite if suite in suites else _fullest(suite_cache, model, suites) if suites else ""
    shown = field(suite_cache, suite=chosen, model=model) if chosen else None
    datasets = db.keyed("datasets")["title"]
    address = quote(model, safe="/:~")
    computed = db.query("computed_suites", model=model)["suite"].tolist()
    outstanding = {} if shown is None else _outstanding(shown)
    facts = {
        "model": about.to_dict() | {"languages": [name_of(code_of(each)) for each in about["languages"]]},
        "own": own_facts(about["options"]),
        "on_try": model in {row.key for row in site.live.own},
        "tried": "images and texts" if "text" in about["modalities"] else "images",
        "computed": bool(computed),
        "address": address,
        "field": shown,
        "ranks": ranks(suite_cache, model, suites),
    }
    head = render(
        "pages/model/head.html",
        **facts,
        best=next(iter(outstanding.get("best", ())), None),
        worst=next(iter(outstanding.get("worst", ())), None),
        missing=every.loc[suite, "title"] if suite and suite != chosen else "",
    )
    rest = render(
        "pages/model/rest.html",
        **facts,
        **outstanding,
        **earlier_ranks(suite_cache, model),
        next=run_next(suite_cache, model),
        commands=commands(about["options"], title=about["title"], suites=computed or [ANYWHERE]),
        kind_note=KIND_NOTES.get(about["kind"], ""),
        aliases=db.query("aliases", model=model),
        trained_on=[datasets.get(key, key) for key in about["trained_on"]],
        judges=model in db.keyed("judges").index,
        languages=by_language(suite_cache, model),
        code=loading_code(about),
        runs=db.query("computed_runs", task="", model=model),
        notes=db.query("model_notes", model=model),
        papers=db.query("benchmarks_of", model=model),
    )
    figure = None if shown is None else against_field(shown, ranked=suite_cache.ranked(chosen), by=by)
    top = macro("heading")(about["title"], described(about), "", True)
    return top, head, gr.update(value=figure, visible=figure is not None), rest


def described(model: Mapping[str, Any]) -> str:
    """Describes a model in a sentence: its kind, who made it, its size, licence and age."""
    sizes = {"{} parameters": parameters_text(model["parameters_m"]), "{:.0f} dimensions": model["embed_dim"]}
    facts = sizes | {"{}": model["license"], "released {}": model["released"]}
    stated = [words.format(fact) for words, fact in facts.items() if or_dash(fact) != NOTHING]
    kind = model_kind(model["kind"])
    by = "" if blank(model["organisation"]) else f" by {model['organisation']}"
    return f"{kind[0].upper()}{kind[1:]}{by}: {', '.join(stated) or 'our sources state neither size nor licence'}."


def ranks(suite_cache: SuiteCache, model: str, suites: Iterable[str]) -> list[dict[str, Any]]:
    """Describes its rank, interval, tie class and mean in each of its suites, by origin; next to a row with an
    interval, rows without one are a remark.
    """
    out = []
    for suite in suites:
        rows = [_rank(suite_cache, suite, index) for index in suite_cache.table(suite).rows_of_model(model)]
        if known := [row for row in rows if row["rank_interval"] not in (UNKNOWN, NOTHING)]:
            unknown = [row for row in rows if row["rank_interval"] == UNKNOWN]
            known[0]["also"] = ", ".join(f"{row['rank']} by {row['origin']} scores" for row in unknown)
            rows = [row for row in rows if row not in unknown]
        out += rows
    return out


def _rank(suite_cache: SuiteCache, suite: str, index: int) -> dict[str, Any]:
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    row, about, every = table.rows[index], table.suite, standing(table, ranked)
    found = None if ranked is None or ranked.rank[index] > 0 else suite_cache.estimates(suite, only=index)
    if estimated := found is not None and index in found[0]:
        every = standing(table, ranked, found)
    own, by_people = plain(every).iloc[index], ranked is None
    out = {
        "suite": suite,
        "title": about["title"],
        "benchmark": about["benchmark"],
        "address": quote(row.id, safe="/:~"),
        "origin": row.origin,
        "by_people": by_people and own["rank"] is not None,
        "unknown": "",
        "few": False,
        "why": own["why"],
        "also": "",
        "estimated": estimated,
        **dict.fromkeys(("rank", "rank_interval", "tie", "mean", "mean_interval"), NOTHING),
    }
    if own["rank"] is None and not estimated:
        return out
    rivals = every["rank"] if by_people else every["rank"].iloc[table.rows_of(row.origin)]
    digits = (table.columns[table.people] if by_people else table.category_columns[0]).digits
    sign = "≈" if estimated else ""
    place = rank_range(own["estimated_rank_low"], own["estimated_rank_high"]) if estimated else own["rank"]
    out["rank"] = f"{sign}{place} of {rivals.notna().sum()}{' by people' * by_people}"
    out["mean"] = sign + number(own["mean"], digits=digits)
    if ranked is not None:
        mean_interval = span(own["mean_low"], own["mean_high"], digits=digits)
        out |= {
            "rank_interval": UNKNOWN if own["rank_low"] is None else f"{own['rank_low']} to {own['rank_high']}",
            "tie": own["tie_class"] or UNKNOWN,
            "unknown": own["interval_unknown"],
            "few": own["few_tasks"],
            "mean_interval": UNKNOWN if mean_interval == NOTHING else mean_interval,
        }
    return out


def earlier_ranks(suite_cache: SuiteCache, model: str) -> dict[str, Any]:
    """Returns the newest stored `versions`, and by suite the model's `past` ranks in them with their ranges."""
    found = suite_cache.db.query("past_ranks", model=model)
    versions = list(found["version"].unique())[:EARLIER]
    ranges = map(rank_range, found["rank_low"], found["rank_high"])
    texts = [f"{rank} ({each})" if each else str(rank) for rank, each in zip(found["rank"], ranges, strict=True)]
    wide = found.assign(text=texts).pivot(index="suite", columns="version", values="text").reindex(columns=versions)
    titles = {key: plain_title(*about) for key, about in suite_cache.suites().items()}
    past = [[titles.get(suite, suite), *row.fillna(NOTHING)] for suite, row in wide.iterrows()]
    return {"versions": versions, "past": past}


@partial(shared, most=256)
def run_next(suite_cache: SuiteCache, model: str) -> dict[str, Any] | None:
    """Returns the most informative tasks for an hour and what they would show, in the first suite with a known order of
    tasks that does not rank the model; None if there is none.
    """
    for suite in suites_of(suite_cache, model):
        table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
        own = table.rows_of_model(model)
        if ranked is None or (ranked.rank[own] > 0).any():
            continue
        row = table.fullest_row(own)
        try:
            order = table.next_tasks(ranked, row)
        except CannotDo:
            continue
        half = order.halves([len(order.tasks)])[0]
        if not order.tasks or np.isnan(half):
            continue
        one = suite_cache.estimates(suite, only=row)[0].get(row)
        titles = np.array(ranked.table.titles)[ranked.table.counted][order.tasks].tolist()
        return {
            "table": table,
            "tasks": titles,
            "hours": order.hours[order.tasks].sum(),
            "half": half,
            "now": one and (one.high - one.low) / 2,
            "places": one and 1 + int((abs(order.of.means - order.of.sign * one.mean) <= half).sum()),
            "command": evaluation_command(table.models.loc[model], suite=suite, tasks=titles),
        }
    return None


def _outstanding(shown: Field) -> dict[str, Any]:
    """Returns where it differs most from the other rows, and the nearest rows; None for rows ranked by people."""
    z = shown.standing.z
    doubtful = shown.table.marks[shown.row, shown.columns] & SUSPECT > 0
    order = [at for at in np.argsort(-np.nan_to_num(z, nan=0.0)) if not (np.isnan(z[at]) or doubtful[at])]

    def facts(at: int) -> dict[str, Any]:
        index = shown.columns[at]
        return {
            "column": table.columns[index],
            "value": table.scores.values[shown.row, index],
            "marks": int(table.marks[shown.row, index]),
            "sd": z[at],
            "rank": f"{shown.standing.place[at]} of {shown.standing.others[at] + 1}",
        }

    table, near = shown.table, nearest(shown)
    own, suite = table.rows[shown.row], table.suite["key"]
    suites = next((",".join(suites) for suites in SHIPPED.values() if suite in suites), "")
    query = urlencode({"of": "models", "suites": suites, "point": own.model}, safe="/:~,")
    rows = []
    for at in np.argsort(near.distance)[:NEAREST]:
        row = table.rows[shown.rows[at]]
        pair = urlencode({"models": f"{own.model},{row.model}", "suite": suite, "origin": own.origin}, safe="/:~,")
        if not np.isnan(near.distance[at]):
            rows.append(
                {
                    "model": row.model,
                    "title": row.title,
                    "distance": near.distance[at],
                    "r": near.correlation[at],
                    "shared": near.shared[at],
                    "address": f"compare?{pair}",
                }
            )
    return {
        "map": f"map?{query}" if suites else "",
        "best": [facts(at) for at in order if z[at] > 0][:OUTSTANDING],
        "worst": [facts(at) for at in order[::-1] if z[at] < 0][:OUTSTANDING],
        "nearest": None if table.suite["aggregate"] == "human" else rows,
    }


def _fullest(suite_cache: SuiteCache, model: str, suites: list[str]) -> str:
    """Returns the suite with most of the model's scores; ties go to the earlier one."""

    def scores(suite: str) -> int:
        table = suite_cache.table(suite)
        return int((~np.isnan(table.scores.values[table.rows_of_model(model)])).sum(axis=1).max())

    return max(suites, key=scores)


MODEL = View(
    key="model",
    title="Model",
    sentence="One model: what it is, where it ranks and how certain that is, on which tasks it stands out, which "
    "models are similar, and every score with its source.",
    group="Board",
    subject=lambda site, key: next(((row["title"], described(row)) for row in site.db.records("model", key=key)), None),
    listed=False,
    draw=draw,
    routes=lambda site: [site.table("model", lambda model: model_scores(site.suite_cache, model=model), key="model")],
)
