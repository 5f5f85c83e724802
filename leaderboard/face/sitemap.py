"""What search engines read: the addresses of all pages, models, tasks, suites, languages and claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from leaderboard.data import model_queries, suite_queries, task_queries
from leaderboard.data.memo import memoised
from leaderboard.face.addresses import public_root
from leaderboard.face.heads import address
from leaderboard.html.templates import render
from leaderboard.page import Site, View
from leaderboard.web.responses import PRIVATE, refusal
from leaderboard.web.security.access import Access

NO_HOST = "This request names no host, so there are no whole addresses to list. Send a Host header"


class Sitemap:
    """The answers of `sitemap.xml` and `robots.txt`, with addresses under the host of the request."""

    def __init__(self, site: Site, views: Sequence[View], *, access: Access) -> None:
        self.site, self.access = site, access
        self.keys = [view.key for view in views if view.listed]
        self._addresses = memoised(lambda: tuple(self._listed()), of=site.db)

    async def sitemap(self, request: Request) -> Response:
        """Every canonical address as XML."""
        root = public_root(request.scope, self.access)
        if not root:
            return refusal(NO_HOST, 400)
        addresses = await run_in_threadpool(self._addresses)
        text = render("html/sitemap.xml", root=root, addresses=addresses)
        return Response(text, media_type="application/xml", headers={"cache-control": PRIVATE})

    async def robots(self, request: Request) -> Response:
        """Where the sitemap is, and what is no page: downloads, and models to try."""
        root = public_root(request.scope, self.access)
        lines = ["User-agent: *", *(f"Disallow: /{folder}/" for folder in ("export", "live"))]
        text = "\n".join([*lines, *([f"Sitemap: {root}sitemap.xml"] if root else []), ""])
        return PlainTextResponse(text, headers={"cache-control": PRIVATE})

    def _listed(self) -> Iterator[str]:
        yield from self.keys
        for suite in self.site.suite_cache.suites():
            yield address("board", [("suite", suite)])
        for model in model_queries.catalogue(self.site.db)["key"]:
            yield address("model", [("model", model)])
        for task in task_queries.listed_tasks(self.site.db)["key"]:
            yield address("task", [("task", task)])
        for language in self.site.suite_cache.languages().names:
            yield address("languages", [("language", language)])
        for claim in suite_queries.claims(self.site.db)["key"]:
            yield address("claims", [("claim", claim)])
