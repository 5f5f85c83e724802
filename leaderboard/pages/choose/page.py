"""Guided choice: a few questions, and at most five models with reasons, unknowns, and how to try each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import gradio as gr
import pandas as pd
from markupsafe import Markup

from compute.types import BadInput
from leaderboard.data.languages import NAMES, SPELLINGS
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.models.loading_code import evaluation_command, loading_code
from leaderboard.data.models.model_facts import license_kind
from leaderboard.data.replication import sensitivity, without
from leaderboard.data.scope import MOST_LANGUAGES
from leaderboard.data.shortlist import MANY, MOST, NEEDS, Conditions, shortlist
from leaderboard.data.suite_cache import SuiteCache, by_language
from leaderboard.data.task_doubts import task_doubts
from leaderboard.html.templates import render
from leaderboard.page import Canvas, Site, View, controls, static_html
from leaderboard.web.parameters import Text
from leaderboard.web.responses import csv_bytes

READY = (
    ("Search in many languages, open licence, at most 1 B", "language=many&size=1b&license=permissive"),
    ("Find documents, at most 3 B", "need=documents&size=3b"),
    (
        "French and German documents, open licence, at most 4 B",
        "need=documents&language=fra,deu&size=4b&license=permissive",
    ),
    ("Search in Swahili", "language=swa"),
    ("Classify images on a laptop", "need=classification&hardware=cpu"),
    ("Judge the quality of images", "need=quality"),
)
GENERATORS = "generators"  # a need that has a page of its own
# Upper limits in parameters. For hardware, two bytes a parameter in half precision and about half of the memory left
# for images: a rule of thumb.
SIZES = ("100m", "200m", "500m", "1b", "2b", "3b", "4b", "7b", "10b")
SIZE = re.compile(r"(\d+\.?\d*)\s*([mb])", re.IGNORECASE)
UNITS = {"m": 1e6, "b": 1e9}
SMALLEST = "smallest"
HARDWARE = {
    "cpu": ("Laptop, no GPU (≤ 500 M)", 5e8),
    "gpu8": ("GPU with 8 GB (≤ 2 B)", 2e9),
    "gpu24": ("GPU with 24 GB (≤ 6 B)", 6e9),
    "gpu80": ("GPU with 80 GB (≤ 20 B)", 2e10),
}
CHOICES = {
    "need": [*((need.title, key) for key, need in NEEDS.items()), ("Rank image generators", GENERATORS)],
    "language": [("Many languages", MANY), *((name, code) for code, name in NAMES.items())],
    "size": [("Any", ""), *((f"At most {key[:-1]} {key[-1].upper()}", key) for key in SIZES)],
    "license": [("Any or unknown", ""), ("Open (MIT, …)", "permissive"), ("Any that is stated", "stated")],
    "hardware": [("Any", ""), *((text, key) for key, (text, _) in HARDWARE.items())],
    "order": [("Best first", ""), ("Smallest first", SMALLEST)],
}
LABELS = {
    "need": "What for",
    "language": "Languages",
    "size": "Size (or type: 350 M)",
    "license": "Licence",
    "hardware": "Hardware",
    "order": "Order",
}


def draw(site: Site) -> None:
    """Draws the questions, then the shortlist."""
    static_html(render("pages/choose/ready.html", views=READY))
    canvas = Canvas(site)
    with controls():
        for key, listed in CHOICES.items():
            look = {"label": LABELS[key], "scale": 4, "min_width": 150}
            if key == "size":
                canvas.control(
                    Text(key=key, longest=20), gr.Dropdown(listed, value="", allow_custom_value=True, **look)
                )
            else:
                look |= {"scale": 8, "min_width": 280} if key == "need" else {}
                rule, default = {}, listed[0][1]
                if key == "language":
                    rule, default = {"spellings": SPELLINGS, "most": MOST_LANGUAGES}, ()
                    look |= {"multiselect": True, "max_choices": MOST_LANGUAGES, "label": "Languages (any)"}
                canvas.choose(key, listed, default=default, rule=rule, **look)
        canvas.choose("suite", partial(suites, site), label="By the tasks of", scale=4, min_width=150)
    answer = canvas.html("<p class='pg-waiting'></p>", elem_id="shortlist")
    canvas.bind(
        lambda **answers: [shown(site.suite_cache, **answers)],
        instead=lambda **answers: {answer: shown(site.suite_cache, **answers | {"size": ""})},
    )


def suites(site: Site) -> list[tuple[str, str]]:
    """Returns the suites to choose by, starting with the default one of each need."""
    about = site.suite_cache.db.query("suites")
    ranked = about[about["aggregate"] != "human"]
    return [("Usual suite", ""), *zip(ranked["title"], ranked["key"], strict=True)]


def most_parameters(size: str) -> float:
    """Returns the number of parameters in a text such as `500m` or `1.5 B`. Raises BadInput."""
    read = SIZE.fullmatch(size.strip())
    number = float(read[1]) * UNITS[read[2].lower()] if read else 0
    if number < UNITS["m"]:
        raise BadInput(f"A size is a number of parameters from 1 M, such as 350 M or 1.5 B; got {size!r}")
    return number


def shown(
    suite_cache: SuiteCache,
    *,
    need: str,
    language: Sequence[str] = (),
    size: str = "",
    license: str = "",
    hardware: str = "",
    order: str = "",
    suite: str = "",
) -> Markup:
    """Returns the shortlist for the answers, as markup."""
    if need == GENERATORS:
        return render("pages/choose/generators.html")
    limits = [most_parameters(size)] if size else []
    limits += [HARDWARE[hardware][1]] if hardware else []
    conditions = Conditions(language=",".join(language), max_parameters=min(limits, default=0), license=license)
    result = shortlist(suite_cache, need=need, conditions=conditions, suite=suite, smallest=order == SMALLEST)
    about, scope = result.table.suite, result.table.scope
    ranked = suite_cache.ranked(about["key"], RankChoice(tasks=result.tasks, scope=scope)) if result.choices else None
    doubts = task_doubts(suite_cache.db, result.table)
    saved = [
        {
            "model": each.facts["key"],
            "title": each.facts["title"],
            "rank": each.rank,
            "mean": round(each.mean, 4),
            "compared_with_best": each.reading or "best",  # same: not significantly different
            **each.facts[["parameters_m", "license"]],
        }
        for each in result.fits
    ]
    return render(
        "pages/choose/page.html",
        list=result,
        csv=csv_bytes(pd.DataFrame(saved)).decode(),
        code=loading_code,
        command=partial(evaluation_command, suite=about["key"]),
        license_kind=license_kind,
        languages=by_language(suite_cache, result.choices[0].facts["key"])[:MOST] if result.choices else [],
        many=MANY in language,
        hardware=hardware,
        sensitivity=sensitivity(suite_cache.db, result.table, ranked),
        doubtful=without(result.table, ranked, {task for task, doubt in doubts.items() if doubt.severe}),
        suite=about,
        board=f"board?suite={about['key']}" + (f"&language={scope.language}" if scope.language else ""),
    )


CHOOSE = View(
    key="choose",
    title="Choose a model",
    sentence="Say what you need. The shortlist has at most five models: the best that fits, then models that are not "
    "significantly worse, by their mean. If no code here loads the best one, the best that it loads is added.",
    group="Choose",
    draw=draw,
    about=(*CHOICES, "suite"),
    subject=lambda site, key: (NEEDS[key].title if key in NEEDS else CHOOSE.title, CHOOSE.sentence),
)
