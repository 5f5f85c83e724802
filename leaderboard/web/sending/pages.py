"""The pages that a browser opens: an address that leads nowhere, and which files a page needs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import parse_qsl, urlencode

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.responses import NO_STORE

GRADIO_FETCHES = frozenset(
    {"gradio_api", "assets", "static", "svelte", "config", "theme.css", "manifest.json", "login"}
)


class DropPageQuery:
    """Removes `page` from the query of `/`: Gradio reads it as the name of a page and fails on an unknown one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; only a request of `/` with such a query is changed."""
        if scope["type"] == "http" and scope["path"] in ("", "/") and b"page" in scope["query_string"]:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            rest = urlencode([(key, value) for key, value in pairs if key != "page"])
            scope = {**scope, "query_string": rest.encode("latin-1")}
        await self.app(scope, receive, send)


class NotFoundPage:
    """Answers a visitor's address that leads nowhere with a page; what programs and scripts fetch keeps its own 404.

    `page` makes the markup for a path below the app's root. `fetched` are first parts of paths that no visitor opens.
    """

    def __init__(self, app: ASGIApp, page: Callable[[str], str], fetched: Collection[str] = ()) -> None:
        self.app, self.page, self.fetched = app, page, frozenset(fetched) | GRADIO_FETCHES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and replaces the body of a 404 to a visitor."""
        path = _below_root(scope) if scope["type"] == "http" else ""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or path.split("/")[1] in self.fetched:
            await self.app(scope, receive, send)
            return
        replaced = False

        async def send_page(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] == 404:
                replaced = True
                answer = HTMLResponse(self.page(path), status_code=404, headers={"cache-control": NO_STORE})
                await answer(scope, receive, send)
            elif not replaced:
                await send(message)

        await self.app(scope, receive, send_page)


def _below_root(scope: Scope) -> str:
    """The path without the one that a proxy serves the app under; it begins with a slash."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    return "/" + (path[len(root) :] if path.startswith(f"{root}/") else path).lstrip("/")


class PreloadFigures:
    """Names the figure library in the answer of a page with figures, so it loads while the page is built."""

    def __init__(self, app: ASGIApp, pages: frozenset[str], link: str) -> None:
        self.app, self.pages, self.link = app, pages, link.encode("latin-1")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and adds the header to the answers of `pages`."""
        if scope["type"] != "http" or scope["path"].strip("/") not in self.pages:
            await self.app(scope, receive, send)
            return

        async def send_with_link(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"link", self.link)]}
            await send(message)

        await self.app(scope, receive, send_with_link)
