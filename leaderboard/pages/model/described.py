"""What the page of a model is about: the model and its ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.data import model_queries
from leaderboard.data.suite_table import displayed_origin
from leaderboard.html.formatting import parameters_text
from leaderboard.html.labels import is_own, is_synthetic, model_kind
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.model.field import origins_of

MOST = 5  # ranks that the share picture shows; the sentence has the first two


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The model that the query names and where it ranks; None for no model or an unknown one."""
    rows = model_queries.model(site.db, key=query.get("model", ""))
    if rows.empty:
        return None
    about = rows.iloc[0]
    size = parameters_text(about["parameters_m"])
    facts = [model_kind(about["kind"]), f"{size} parameters" if size[0].isdigit() else ""]
    ranks = _ranks(site, about["key"])
    words = [f"{rank['text']} in {rank['title']}" for rank in ranks[:2]]
    maker = f" by {about['organisation']}" if about["organisation"] else ""
    return Described(
        title=about["title"],
        sentence=f"{about['title']}{maker}: {', '.join(filter(None, facts))}. "
        + (f"Ranked {', '.join(words)}." if words else "No score in a ranking yet."),
        query=(("model", about["key"]),),
        caption="Rank and its 95% interval, the best at the right",
        rows=tuple(DescribedRow(label=rank["title"], text=rank["text"], **rank["strip"]) for rank in ranks[:MOST]),
    )


def _ranks(site: Site, model: str) -> list[dict[str, Any]]:
    """Its rank in each suite, real items first: the suite's title, the rank in words and on a strip, best at 1."""
    out = []
    for suite, (title, benchmark) in site.suite_cache.suites().items():
        table = site.suite_cache.table(suite)
        origins = origins_of(table, model=model)
        if not origins or (ranked := site.suite_cache.ranked(suite)) is None:
            continue
        index = table.row(f"{model}~{displayed_origin(origins)}")
        rank, low, high = (int(values[index]) for values in (ranked.rank, ranked.rank_low, ranked.rank_high))
        if rank < 1:
            continue
        among = int((ranked.rank[table.rows_of(table.rows[index].origin)] > 0).sum())
        strip = {"value": _share(rank, among)}
        if low > 0:
            strip |= {"low": _share(high, among), "high": _share(low, among)}
        text = f"{rank} of {among}" + (f" ({low} to {high})" if low > 0 and low != high else "")
        made_up = is_synthetic(benchmark) or is_own(benchmark)
        out.append({"title": title, "text": text, "strip": strip, "made_up": made_up})
    return sorted(out, key=lambda rank: rank["made_up"])


def _share(rank: int, among: int) -> float:
    return (among - rank) / max(among - 1, 1)
