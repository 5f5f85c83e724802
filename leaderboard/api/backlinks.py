"""For other sites: all models as one JSON file."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from leaderboard.data.models.model_facts import HUB, facts, hub_id
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import model_url
from leaderboard.page import Site


def routes(site: Site) -> list[Route]:
    """`/models.json`."""
    return [Route("/models.json", site.packed(lambda: listed(site.suite_cache)))]


def listed(suite_cache: SuiteCache) -> dict[str, Any]:
    """Every model; the address of its page is relative to this file's."""
    return {
        "models": [
            {
                **{name: row[name] for name in ("key", "title", "organisation", "kind")},
                **facts(suite_cache)[row["key"]],
                "page": model_url(row["key"]),
                "weights": f"{HUB}{id}" if (id := hub_id(row["weights"])) else "",
                "scored": bool(row["runs"]),
            }
            for row in suite_cache.db.records("models")
        ]
    }
