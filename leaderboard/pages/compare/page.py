"""Two to six models compared: who is significantly ahead where, by how much, and on which tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from compute.analysis.comparison import Comparison
from compute.analysis.ranks.variance import listed
from compute.analysis.significance import ALPHA
from compute.analysis.table import ALL
from compute.types import BadInput, origins_in
from leaderboard.data.comparison import MOST, ComparedLine, common_ground, compare, rows_of
from leaderboard.data.mean_rule import choice
from leaderboard.data.scope import WHOLE
from leaderboard.data.suite_cache import SuiteCache, ranked_rows
from leaderboard.html.components import mounted
from leaderboard.html.labels import origin_title, suite_choices
from leaderboard.html.templates import render
from leaderboard.page import PAPERS, Canvas, Site, View, controls
from leaderboard.pages.compare.dumbbells import axis, dumbbell
from leaderboard.web.parameters import Text

SENTENCE = (
    "Two to six models on the tasks that they share: who is significantly ahead where, by how much, and on which tasks."
)
# What the address may say of the mean and its scores, as the board's does, and the column to compare by.
RULE = ("by", "w", "coverage", "tasks", "doubtful", "condition", "metric", "language")
SHARED = ("With most shared tasks", "")
READY = ("mieb", "unisim-core", "vidore-v3")  # suites whose leaders are offered
OFFERED = 3
PAIRED = (
    "Differences are paired, task by task: what makes a task hard for both cancels in them. Their intervals say how "
    "far they would move with other tasks of the same kinds. Interval and p are of each pair by itself; what is "
    "significant is decided on the board of the mean or category, among all pairs of its models."
)
OF_TASK = (
    "Of a single task intervals are about other items of it, from the standard errors of both scores, taken as "
    "independent; what is significant holds at 5% over the models compared, by Holm's method."
)
FEW = "An interval in brackets rests on few tasks of a category and covers at least 95%."


def draw(site: Site) -> None:
    """Draws the choice of models, suite and origin, and the result below."""

    def models() -> list[tuple[str, str]]:
        return [(row.title, row.key) for row in site.db.query("listed_models").itertuples()]

    def origins() -> list[str]:
        return origins_in(site.db.query("origins")["origin"])

    canvas, titled = Canvas(site), dict(models())
    with controls():
        chosen = canvas.choose(
            "models",
            models,
            default=(),
            noun="model",
            rule={"most": MOST, "spellings": titled, "suffixes": tuple(origins())},
            multiselect=True,
            max_choices=MOST,
            elem_classes="bc-models",
            label="Models (type a name or hub id; the first is the reference)",
            scale=5,
            min_width=300,
        )
        canvas.choose(
            "suite",
            lambda: [SHARED, *suite_choices(site.db.query("suites"))],
            noun="suite",
            label="Suite",
            scale=2,
            min_width=200,
        )
        canvas.choose(
            "origin",
            lambda: [SHARED, *((origin_title(key), key) for key in origins())],
            noun="origin",
            label="Scores",
            scale=2,
            min_width=200,
        )
    for key in RULE:
        canvas.control(Text(key=key, longest=4000), gr.Textbox("", visible="hidden", label=key))
    canvas.output(chosen)
    answer = canvas.html(js_on_load=mounted(site.assets, "pages/compare/compare.js"))

    def page(*, models: list[str], suite: str, origin: str, **rule: str) -> tuple:
        titles, more = site.db.keyed("models")["title"], []  # rows, which the list of models does not have
        for model, tilde, row_origin in (key.partition("~") for key in models):
            if tilde:
                more.append((f"{titles[model]} · {origin_title(row_origin).lower()}", f"{model}~{row_origin}"))
        choices = gr.update(choices=[*canvas.lists["models"](), *more], value=models) if more else gr.skip()
        return choices, shown(site.suite_cache, models=models, suite=suite, origin=origin, rule=rule)

    canvas.bind(page, instead=lambda **_: {answer: start(site.suite_cache)})


def address(models: Sequence[str], **rest: str) -> str:
    """Returns the address of a comparison."""
    query = {"models": ",".join(models)} | {key: value for key, value in rest.items() if value}
    return f"compare?{urlencode(query, safe='/:~,')}"


def start(suite_cache: SuiteCache, model: str = "") -> Markup:
    """Returns suggested pairs: the leaders of some suites, or a model and leaders of the suite with most of its
    scores.
    """
    pairs, titles = [], suite_cache.db.keyed("models")["title"]
    key = model.partition("~")[0]
    for suite in [common_ground(suite_cache, [model], suite="", origin="")[0]] if model else READY:
        table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
        rows = [] if ranked is None else ranked_rows(table, ranked)
        leaders = [(table.rows[row].model, ranked.rank[row]) for row in rows if table.rows[row].model != key]
        if model:
            found = [((model, leader), f"{rank} in {table.suite['title']}") for leader, rank in leaders[:OFFERED]]
        else:
            found = [(tuple(leader for leader, _ in leaders[:2]), f"the leaders of {table.suite['title']}")]
        pairs += [
            (" and ".join(titles[one.partition("~")[0]] for one in pair), address(pair, suite=suite), note)
            for pair, note in found
            if len(pair) == 2
        ]
    return render("pages/compare/start.html", pairs=pairs, chosen=titles[key] if model else "")


def shown(
    suite_cache: SuiteCache, *, models: Sequence[str], suite: str = "", origin: str = "", rule: dict[str, str]
) -> Markup:
    """Returns the result for some models: keys, followed by `~` and an origin if a specific row is named.

    suite, origin: empty for those in which they share most tasks. rule: the parameters of RULE.
    """
    if len(models) < 2:
        return start(suite_cache, *models)
    wanted = suite
    suite, origin = common_ground(suite_cache, models, suite=suite, origin=origin, by=rule.get("by", ""))
    asked, notes = choice(urlencode({key: value for key, value in rule.items() if value})), []
    try:
        table = suite_cache.chosen_table(suite, asked)
    except BadInput as error:
        asked = asked._replace(scope=WHOLE)
        table = suite_cache.chosen_table(suite, asked)
        notes.append(f"{error}. The whole suite is compared.")
    known = tuple((name, weight) for name, weight in asked.weights if name in table.scores.categories)
    tasks = (asked.tasks or frozenset()) & {column.task for column in table.columns} or None
    if known != asked.weights:
        notes.append(f"{table.suite['title']} has other categories than the weights of the address name.")
    ranked = suite_cache.ranked(suite, asked._replace(weights=known, tasks=tasks))
    found, titles = rows_of(table, models, origin=origin), suite_cache.db.keyed("models")["title"]
    without = [titles[key.partition("~")[0]] for key, row in zip(models, found, strict=True) if row is None]
    rows = list(dict.fromkeys(row for row in found if row is not None))
    origins = list(dict.fromkeys(table.rows[row].origin for row in rows))
    scores = "scores" if origin == ALL else f"scores ({origin_title(origin).lower()})"
    if without:
        notes.append(
            f"{listed(without)} {'has' if len(without) == 1 else 'have'} no {scores} in {table.suite['title']}."
        )
    if len(rows) < 2 and not wanted:
        raise BadInput("These models have no suite in common. Choose another model")
    if len(rows) < 2:
        raise BadInput(" ".join([*notes, "Choose another suite or other scores"]))
    if len(origins) > 1:
        notes.append(
            f"Scores of different origins are compared: {listed([origin_title(one).lower() for one in origins])}."
        )
    ids = [table.rows[row].id for row in rows]
    result = compare(table, ranked, rows, by=rule.get("by", ""))
    groups = result.parts if result.kind == "mean" else (result,)
    categories = [("", group) for group in groups if group.kind == "category"]
    tasks = [
        (result.column.group if task is result else group.column.title, task)
        for group in groups
        for task in group.tasks
    ]
    lines = [sorted(each, key=lambda line: -line[1].widest) for each in (categories, tasks)]
    explained = [PAIRED] * (result.kind != "task") + [OF_TASK] + [FEW] * any(value.few for value in result.values)
    chosen = {"suite": suite, "origin": origin if origin != ALL else "", **{k: v for k, v in rule.items() if k != "by"}}
    return render(
        "pages/compare/page.html",
        line=result,
        charts=[chart for group in groups if (chart := _chart(group, result))],
        lines=[("", result)] * (result.kind == "mean") + lines[0] + lines[1],
        reading=in_words,
        listed=listed,
        explained=" ".join(explained),
        notes=notes,
        suite=table.suite,
        origins=listed([origin_title(one).lower() for one in origins]),
        board=f"board?{urlencode({'suite': suite, 'select': ','.join(ids)}, safe='/:~,')}",
        whole=address(models, **chosen),
    )


def in_words(test: Comparison) -> str:
    """Returns a test's outcome in a cell, with the reason if there is none."""
    if test.reading in ("unknown", "none"):
        return f"{'not comparable' if test.reading == 'none' else 'unknown'}: {test.reason}"
    same = "significant by itself only" if test.p <= ALPHA else "no significant difference"
    notes = [f"only {listed(test.only)} shared"] if test.only else []
    notes += ["on these tasks’ items alone"] if test.about == "items" else []
    return "; ".join([same if test.reading == "same" else test.reading, *notes])


def _chart(group: ComparedLine, found: ComparedLine) -> dict[str, Any] | None:
    """Returns a category's or a task's dumbbells, under its verdict; None if it has no value."""
    lines = (group, *group.parts)
    on = axis(lines)
    if on is None:
        return None
    own = group if group is not found else None
    return {
        "title": group.column.title if group.kind == "category" else group.column.group,
        "key": own.column.key if own else "",
        "verdict": own.sentence() if own else "",
        "dumbbells": [dumbbell(line, on=on) for line in lines],
        "ticks": on.marked(),
        "unit": group.column.unit,
    }


def subject(site: Site, keys: str) -> tuple[str, str] | None:
    """Returns the names of the models compared by an address, and what the page shows about them."""
    titles = site.db.keyed("models")["title"]
    models = list(dict.fromkeys(each.partition("~")[0] for each in keys.split(",")))
    known = 1 < len(models) <= MOST and all(key in titles for key in models)
    return (listed([titles[key] for key in models]), SENTENCE) if known else None


COMPARE = View(
    key="compare",
    title="Compare",
    sentence=SENTENCE,
    cites=PAPERS,
    group="Compare",
    draw=draw,
    about=("models",),
    subject=subject,
)
