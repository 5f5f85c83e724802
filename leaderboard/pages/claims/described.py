"""What the page of one claim is about: what the paper prints and what its own figures give."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.data import suite_queries
from leaderboard.page import Described, Site


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The claim that the query names and its verdict; None for no claim or an unknown one."""
    claims = suite_queries.claims(site.db).set_index("key", drop=False)
    key = query.get("claim", "")
    if key not in claims.index:
        return None
    claim = claims.loc[key]
    printed = f" Printed: {claim['printed']}." if claim["printed"] else ""
    recomputed = f" Recomputed: {claim['recomputed']}." if claim["recomputed"] else ""
    return Described(
        title=f"{claim['paper']}: {claim['claim']}",
        sentence=f"{claim['verdict'].capitalize()}.{printed}{recomputed} A claim in {claim['where']}.",
        query=(("claim", key),),
    )
