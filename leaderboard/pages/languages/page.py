"""Models by language: the best for one, what a model does in each, and where nothing can be told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from compute.types import ORIGINS
from leaderboard.data import model_queries, suite_queries, task_queries
from leaderboard.data.language_evidence import (
    BENCHMARK,
    LanguageEvidence,
    LanguageModels,
    ModelInLanguage,
)
from leaderboard.data.languages import NAMES, SPELLINGS
from leaderboard.html.components import figure_bridge
from leaderboard.html.templates import macro, macros
from leaderboard.page import Site, View, bind, heading, message_box, waiting
from leaderboard.pages.languages import figures
from leaderboard.web.parameters import Choice

SENTENCE = (
    "Which model is best for a language, and what a model does in each: by MIEB's scores of that language alone, never "
    "by a mean over several."
)
FIGURE = "language-figure"
MOST_COLUMNS = 6  # single scores that a table shows; of more it shows the categories
ALL, ANY = ("All languages", ""), ("Any", "")


@dataclass(frozen=True, kw_only=True)
class RowOfModel:
    """One language in the table of a model."""

    ranking: LanguageModels
    own: ModelInLanguage


def draw(site: Site) -> None:
    """The answer, its figure, the controls, then the table."""
    heading(
        title="Languages",
        sentence=SENTENCE,
        cite=suite_queries.benchmark(site.db, key=BENCHMARK).iloc[0]["bibtex"],
    )
    evidence = site.suite_cache.languages

    def languages() -> list[tuple[str, str]]:
        return [ALL, *((name, code) for code, name in evidence().names.items())]

    def models() -> list[tuple[str, str]]:
        titles = {one.model: one.title for each in evidence().rankings.values() for one in each.models}
        return [
            ANY,
            *sorted(((title, key) for key, title in titles.items()), key=lambda one: one[0].casefold()),
        ]

    spellings = SPELLINGS | {name.lower(): code for code, name in NAMES.items()}
    parameters = (  # of which languages and models there are, nothing is known before the page is opened
        Choice(key="language", default="", choices=("",), noun="language", spellings=spellings),
        Choice(key="model", default="", choices=("",), noun="model"),
        Choice(key="origin", default="", choices=("", *ORIGINS)),
    )
    message = message_box()
    answer = waiting(css_class="pg-answer")
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE, elem_classes="pg-names")
    figure_bridge(site.assets, script="js/named_points.js", figure=FIGURE)
    with gr.Row(elem_classes="pg-controls"):
        language = gr.Dropdown([ALL], value="", label="Language (type to search)")
        model = gr.Dropdown([ANY], value="", label="Model (type to search)")
        origins = [("Published first", ""), *((name.capitalize(), name) for name in ORIGINS)]
        origin = gr.Dropdown(origins, value="", label="Figures")
    rest = gr.HTML("", apply_default_css=False)

    def blank(**_: Any) -> tuple:
        links = [(name, f"languages?language={code}") for code, name in evidence().names.items()]
        return macro("index")([("", links)]), gr.update(value=None, visible=False), ""

    bind(
        site,
        parameters=parameters,
        controls=[language, model, origin],
        outputs=[answer, figure, rest],
        draw=lambda **values: page(site, evidence(), **values),
        message=message,
        blank=blank,
        lists={"language": languages, "model": models},
        lists_at_start=False,
    )


def page(site: Site, evidence: LanguageEvidence, *, language: str, model: str, origin: str) -> tuple:
    """The answer, the figure (hidden where there is none) and the table: of a language, of a model, or of all."""
    if language:
        answer, figure, rest = of_language(site, evidence, code=language, model=model, origin=origin)
    elif model:
        answer, figure, rest = of_model(site, evidence, model=model, origin=origin)
    else:
        answer, figure, rest = of_all(evidence, origin=origin)
    return answer, gr.update(value=figure, visible=figure is not None), rest


def of_language(site: Site, evidence: LanguageEvidence, *, code: str, model: str, origin: str) -> tuple:
    """The models for one language."""
    name, texts = evidence.names[code], _texts()
    ranking = evidence.ranking(code, origin)
    shown = ranking.origin if ranking else origin
    missing = texts.missing(
        name,
        shown,
        evidence.without_score(code, ranking),
        evidence.pairs.get(code, 0),
        evidence.unreadable.get(code) if shown == "published" else None,
    )
    if ranking is None:
        return texts.no_scores(name, origin), None, texts.notes([missing, texts.own_notes()])
    origins = evidence.origins(code)
    answer = texts.language(ranking, [other for other in origins if other != shown])
    if model:
        chosen = next((each for each in ranking.models if each.model == model), None)
        answer += texts.standing(ranking, chosen, model_queries.models(site.db)["title"][model], model)
    wide = len(ranking.scores) > MOST_COLUMNS
    rest = texts.language_table(ranking, wide, missing, remarks(site, ranking) if shown == "published" else ())
    return answer, figures.models(ranking) if len(ranking.ranked) > 1 else None, rest


def remarks(site: Site, ranking: LanguageModels) -> pd.DataFrame:
    """Remarks on the tasks of several languages behind a ranking."""
    keys = dict.fromkeys(score.task for score in ranking.scores if score.subset)
    frames = [task_queries.task_notes(site.db, task=key) for key in keys]
    return pd.concat(frames) if frames else pd.DataFrame()


def of_model(site: Site, evidence: LanguageEvidence, *, model: str, origin: str) -> tuple:
    """One model in every language."""
    rows = rows_of(evidence, model=model, origin=origin)
    title = str(model_queries.models(site.db)["title"][model])
    first_in = [row for row in rows if row.own.rank == 1 and len(row.ranking.ranked) > 1]
    points = [
        (score.title, row.ranking.name, score.scale * value)
        for row in rows
        if len(row.ranking.scores) <= MOST_COLUMNS
        for score, value in zip(row.ranking.scores, row.own.values, strict=True)
        if not np.isnan(value)
    ]
    digits = max((score.digits for row in rows for score in row.ranking.scores), default=0)
    figure = figures.one_model(points, digits=digits) if len(points) > 1 else None
    return _texts().model(model, title, rows, first_in), figure, _texts().model_table(rows)


def rows_of(evidence: LanguageEvidence, *, model: str, origin: str) -> list[RowOfModel]:
    """The languages that a model has scores in, by name; of each the origin shown, or the first that it has."""
    rows = []
    for code in evidence.names:
        for each in [origin] if origin else evidence.origins(code):
            ranking = evidence.ranking(code, each)
            own = next((one for one in ranking.models if one.model == model), None) if ranking else None
            if ranking and own:
                rows.append(RowOfModel(ranking=ranking, own=own))
                break
    return rows


def of_all(evidence: LanguageEvidence, *, origin: str) -> tuple:
    """Every language: who leads in how many, and where nothing can be told."""
    rankings = (evidence.ranking(code, origin) for code in evidence.names)  # of the first origin, where none is chosen
    rows = [ranking for ranking in rankings if ranking is not None]
    several = [row for row in rows if len(row.ranked) > 1]
    origins = Counter(ranking.origin for ranking in several)
    # Of the origin that most have: what is counted together must not mix origins.
    alike = [ranking for ranking in several if ranking.origin == origins.most_common(1)[0][0]]
    leaders = Counter((each.model, each.title) for row in alike for each in row.leaders)
    leads = [
        {"model": key, "title": title, "languages": count, "of": len(alike), "origin": alike[0].origin}
        for (key, title), count in leaders.most_common()
    ]
    one = [row for row in rows if len(row.models) == 1]
    short = [row for row in rows if len(row.ranked) < 2 and len(row.models) > 1]
    scored = {row.code for row in rows}
    nothing = [(code, name) for code, name in evidence.names.items() if code not in scored]
    in_means = [each for each in nothing if evidence.has_mean(each[0], origin)]
    bare = [each for each in nothing if each not in in_means]
    answer = _texts().overview(evidence.names, several, leads, one, short, bare, in_means, origin)
    return answer, widest(alike), _texts().overview_table(rows)


def widest(rankings: list[LanguageModels]) -> Any:
    """The figure of the task that most languages have, in rankings of one origin; None where none is in several."""
    languages = Counter(score.task for ranking in rankings for score in ranking.scores if score.subset)
    if not languages or max(languages.values()) < 2:
        return None
    task = languages.most_common(1)[0][0]
    names, best, leaders, median, facts = [], [], [], [], None
    for ranking in rankings:
        at = next((at for at, score in enumerate(ranking.scores) if score.task == task and score.counts), None)
        if at is None:
            continue
        score = ranking.scores[at]
        values = np.array([each.values[at] for each in ranking.models])
        first = int(np.nanargmax(values if score.higher else -values))
        names.append(ranking.name)
        best.append(values[first] * score.scale)
        leaders.append(ranking.models[first].title)
        median.append(float(np.nanmedian(values)) * score.scale)
        facts = score
    if facts is None or len(names) < 2:
        return None
    return figures.one_task(
        facts,
        origin=rankings[0].origin,
        languages=names,
        best=np.array(best),
        leaders=leaders,
        median=np.array(median),
    )


def _texts() -> Any:
    return macros("pages/languages/page.html")


LANGUAGES = View(
    key="languages",
    title="Languages",
    sentence=SENTENCE,
    group="Models & tasks",
    draw=draw,
    figures=True,
)
