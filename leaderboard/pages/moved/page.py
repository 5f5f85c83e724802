"""What changed from each version of the data to the next: models, scores, and ranks beyond their ranges."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.database.publish import CITATION
from leaderboard.data.database import shared
from leaderboard.data.payload import standing
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.components import html
from leaderboard.html.formatting import rank_range
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site, View, fill
from leaderboard.web.access import Access, public_root
from leaderboard.web.responses import HOURS, NO_STORE, respond

MOST = 50  # changed scores that are listed
RANK = ["rank", "rank_low", "rank_high"]


def draw(site: Site) -> None:
    """Draws a section per version, the newest first."""
    component = html("<p class='pg-waiting pg-quiet'>Loading …</p>")
    fill(site, section="What changed", outputs=[component], make=lambda: [text(site.suite_cache)])


@shared
def text(suite_cache: SuiteCache) -> Markup:
    """Returns the page below its heading."""
    suites = suite_cache.db.keyed("suites").to_dict("index")
    return render("pages/moved/page.html", versions=versions(suite_cache), suites=suites, most=MOST)


@shared
def versions(suite_cache: SuiteCache) -> list[dict[str, Any]]:
    """Returns each version of the data, the newest first: its entry, how to `cite` it, and, if the previous version is
    stored, the counts of `new` and `changed` rows, the new `models`, changed `scores` and moved `ranks`.
    """
    db, words = suite_cache.db, MarkdownIt("commonmark", {"html": False})
    listed = db.records("versions")
    counts, models, scores = db.query("undone_rows"), db.query("new_models"), db.query("changed_scores")
    ranks, found = past_ranks(suite_cache), []
    for one, before in pairwise([*listed, None]):
        earlier = None if before is None else before["version"]
        told = counts[counts["version"] == earlier].set_index("relation")[["new", "changed"]]
        about = {
            **one,
            "words": Markup(words.render(one["changes"]).replace("<ul>", '<ul class="pg-notes">')),
            "cite": CITATION.format(year=one["date"][:4], version=one["version"], where=f"note = {{{one['date']}}}"),
            "stored": earlier in set(ranks["version"]),
            "earlier": earlier,
            "counts": told.to_dict("index"),
            "models": models[models["version"] == earlier].to_dict("records"),
            "scores": scores[scores["version"] == earlier].to_dict("records"),
            "ranks": moved(*(ranks[ranks["version"] == each] for each in (earlier, one["version"]))).to_dict("records"),
        }
        found.append(about)
    return found


def past_ranks(suite_cache: SuiteCache) -> pd.DataFrame:
    """Returns ranks by version, suite and model, including today's; for each existing suite, those of its default
    origin.
    """
    past = suite_cache.db.query("past_ranks", model="")
    past = past[past["suite"].isin([*suite_cache.suites()]) & (past["version"] != suite_cache.db.data)]
    parts = [past]
    for suite in past["suite"].unique():
        table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
        rows = table.rows_of(origin := table.scores.usual_origin)
        own = standing(table, ranked).loc[rows, RANK].dropna(subset="rank")
        about = table.models.loc[[table.rows[row].model for row in own.index], ["key", "title"]]
        names = {"model": about["key"].to_numpy(), "title": about["title"].to_numpy()}
        parts.append(own.assign(version=suite_cache.db.data, suite=suite, origin=origin, **names))
    return pd.concat(parts, ignore_index=True)


def moved(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Returns the models whose new rank is outside the range it had before, in suites with the same default origin;
    columns of the earlier version end in `_before`.
    """
    both = before.merge(after, on=["suite", "origin", "model"], suffixes=("_before", ""))
    outside = (both["rank"] < both["rank_low_before"]) | (both["rank"] > both["rank_high_before"])
    found = both[outside.fillna(False)]
    for end in ("_before", ""):
        found[f"range{end}"] = list(map(rank_range, found[f"rank_low{end}"], found[f"rank_high{end}"]))
    return found


def feed(suite_cache: SuiteCache, root: str) -> bytes:
    """Returns the versions as an Atom feed (RFC 4287); root: the app's whole address."""
    return render("pages/moved/feed.xml", site=SITE, root=root, versions=versions(suite_cache)).encode()


def routes(site: Site) -> list[Route]:
    """Returns the feed's route."""

    def answer(request: Request) -> Response:
        root, about = public_root(request.scope, Access())
        media = "application/atom+xml; charset=utf-8"
        cache = NO_STORE if about.get("cache-control") == NO_STORE else HOURS
        answer = respond(request, feed(site.suite_cache, root), media=media, cache=cache)
        answer.headers["vary"] = about.get("vary", "host")
        return answer

    return [Route("/moved.atom", site.guard(answer))]


CHANGED = View(
    key="moved",
    title="What changed",
    sentence="New models, changed scores, and ranks that moved beyond their ranges, from each version of the data to "
    "the next.",
    group="Docs",
    draw=draw,
    routes=routes,
)
