"""What the page of languages is about under a query: a language and its best models, or a model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compute.types import ORIGINS
from leaderboard.data import model_queries
from leaderboard.data.language_evidence import LanguageRanking
from leaderboard.data.languages import code_of
from leaderboard.html.formatting import number
from leaderboard.html.templates import macros
from leaderboard.page import Described, DescribedRow, Site

MOST = 6  # rows of the share picture


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The language or the model that the query names; None for neither, or an unknown one."""
    evidence = site.suite_cache.languages()
    origin = query.get("origin", "") if query.get("origin") in ORIGINS else ""
    code = _code(query.get("language", ""), evidence.names)
    if code:
        return _language(code, evidence.names[code], evidence.ranking(code, origin), origin=origin)
    model = query.get("model", "")
    scored = {one.model for ranking in evidence.rankings.values() for one in ranking.models}
    if model not in scored:
        return None
    title = str(model_queries.models(site.db)["title"][model])
    count = len(
        {
            code
            for (code, own), each in evidence.rankings.items()
            if own == (origin or own) and any(one.model == model for one in each.models)
        }
    )
    return Described(
        title=f"{title} by language",
        sentence=f"The {origin + ' ' if origin else ''}scores of {title} in {count} "
        f"{'language' if count == 1 else 'languages'}, each of one alone.",
        query=(("model", model), *_also(origin)),
    )


def _also(origin: str) -> tuple[tuple[str, str], ...]:
    return (("origin", origin),) if origin else ()


def _code(text: str, names: Mapping[str, str]) -> str:
    """The code of the language that a text names, empty for none."""
    code = code_of(text) if text else ""
    by_name = {name.lower(): code for code, name in names.items()}
    return code if code in names else by_name.get(text.lower(), "")


def _language(code: str, name: str, ranking: LanguageRanking | None, *, origin: str) -> Described:
    texts = macros("pages/languages/page.html")
    answer = texts.no_scores(name, origin) if ranking is None else texts.language(ranking, [])
    query = (("language", code), *_also(origin))
    title, sentence = f"Models for {name}", answer.striptags()
    if ranking is None or len(ranking.ranked) < 2:
        return Described(title=title, sentence=sentence, query=query)
    score = ranking.counted[0]
    values = np.array([[each.mean, each.low, each.high] for each in ranking.ranked[:MOST]])
    least, most = np.nanmin(values), np.nanmax(values)
    share = (values - least) / ((most - least) or 1.0)
    strips = [[None if np.isnan(end) else float(end) for end in ends] for ends in share]
    return Described(
        title=title,
        sentence=sentence,
        query=query,
        caption=f"{score.metric if len(ranking.counted) == 1 else 'Mean'} in {name}",
        rows=tuple(
            DescribedRow(
                label=each.title,
                text=number(each.mean, digits=score.digits, scale=score.scale),
                value=strip[0],
                low=strip[1],
                high=strip[2],
            )
            for each, strip in zip(ranking.ranked[:MOST], strips, strict=True)
        ),
    )
