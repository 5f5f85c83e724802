"""What the page of languages is about under a query: a language and its best models, or a model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leaderboard.data import model_queries
from leaderboard.data.language_evidence import LanguageRanking
from leaderboard.data.languages import code_of
from leaderboard.html.formatting import number
from leaderboard.page import Described, DescribedRow, Site

MOST = 6  # rows of the share picture


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The language or the model that the query names; None for neither, or an unknown one."""
    evidence = site.suite_cache.languages()
    code = _code(query.get("language", ""), evidence.names)
    if code:
        return _language(code, evidence.names[code], evidence.ranking(code))
    model = query.get("model", "")
    scored = {one.model for ranking in evidence.rankings.values() for one in ranking.models}
    if model not in scored:
        return None
    title = str(model_queries.models(site.db)["title"][model])
    count = len(
        {code for (code, _), each in evidence.rankings.items() if any(one.model == model for one in each.models)}
    )
    return Described(
        title=f"{title} by language",
        sentence=f"The scores of {title} in {count} {'language' if count == 1 else 'languages'}, each of one alone.",
        query=(("model", model),),
    )


def _code(text: str, names: Mapping[str, str]) -> str:
    """The code of the language that a text names, empty for none."""
    code = code_of(text) if text else ""
    by_name = {name.lower(): code for code, name in names.items()}
    return code if code in names else by_name.get(text.lower(), "")


def _language(code: str, name: str, ranking: LanguageRanking | None) -> Described:
    query = (("language", code),)
    if ranking is None or len(ranking.ranked) < 2:
        known = "No score" if ranking is None else f"Only {ranking.first.title} has a score"
        return Described(
            title=f"Models for {name}",
            sentence=f"{known} of {name} alone{' is known' if ranking is None else ''}, so nothing says which is best.",
            query=query,
        )
    score, first = ranking.counted[0], ranking.first
    mean = number(first.mean, digits=score.digits, scale=score.scale)
    values = np.array([[each.mean, each.low, each.high] for each in ranking.ranked[:MOST]])
    least, most = np.nanmin(values), np.nanmax(values)
    share = (values - least) / ((most - least) or 1.0)
    strips = [[None if np.isnan(end) else float(end) for end in ends] for ends in share]
    return Described(
        title=f"Best for {name}",
        sentence=f"{first.title} has the highest mean, {mean}, of "
        f"{len(ranking.ranked)} models with all of {len(ranking.counted)} {ranking.origin} "
        f"{'score' if len(ranking.counted) == 1 else 'scores'} of {name} alone.",
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
