"""The pages that a browser opens: what it shows instead of an error, and which files a page needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.responses import NO_STORE, PRIVATE, retry_after_of, sentence_of
from leaderboard.web.security.headers import CSP, policy, script_hashes
from leaderboard.web.whole_page import again, is_page, send_whole

UNEXPLAINED = "The server could not answer this. Check the address, or try again"
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


class OpensOn:
    """Sends a visitor who opens the app's own address to another of its pages.

    Links of the app's own to its front page lead there: a browser says where it comes from. `address` is below the
    app's root.
    """

    def __init__(self, app: ASGIApp, address: str) -> None:
        self.app, self.address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers that the page is elsewhere."""
        answer: ASGIApp = self.app
        front = scope["type"] == "http" and _below_root(scope) == "/" and not scope["query_string"]
        if front and Headers(scope=scope).get("sec-fetch-site") == "none":
            root = scope.get("root_path", "").rstrip("/")
            answer = RedirectResponse(f"{root}/{self.address}", headers={"cache-control": NO_STORE})
        await answer(scope, receive, send)


class ErrorPages:
    """Shows a person who opened an address a page where the answer is an error; programs and scripts keep the JSON.

    An address that leads nowhere is a page for everyone, except below `fetched`: first parts of paths that only scripts
    and programs use. `page` makes the markup for a path below the app's root, a status and a sentence, which is empty
    where nothing is there. To be wrapped around all that may refuse a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        page: Callable[[str, int, str], str],
        *,
        fetched: Collection[str] = (),
        frame_hosts: Sequence[str] = (),
    ) -> None:
        self.app, self.page, self.frame_hosts = app, page, tuple(frame_hosts)
        self.fetched = frozenset(fetched) | GRADIO_FETCHES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and replaces an error by a page."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        path = _below_root(scope)
        reads_pages = "text/html" in Headers(scope=scope).get("accept", "")

        def is_shown(start: Message) -> bool:
            nowhere = start["status"] == 404 and path.split("/")[1] not in self.fetched
            return start["status"] >= 400 and (nowhere or (reads_pages and not is_page(start)))

        async def page(start: Message, body: bytes) -> Response:
            status = start["status"]
            markup = self.page(path, status, sentence_of(body) or ("" if status == 404 else UNEXPLAINED))
            own = policy(frame_hosts=self.frame_hosts, scripts=script_hashes(markup.encode()))
            return HTMLResponse(markup, status, headers={**retry_after_of(start), "vary": "accept", CSP: own})

        await send_whole(self.app, scope, receive, send, when=is_shown, change=page)


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


class RewrittenPages:
    """Changes the markup of Gradio's pages before it is sent. `rewrite` gets the request, the page's key, one of
    `pages`, and its markup. Inside of what hashes or compresses pages."""

    def __init__(
        self, app: ASGIApp, pages: frozenset[str], rewrite: Callable[[Request, str, str], Awaitable[str]]
    ) -> None:
        self.app, self.pages, self.rewrite = app, pages, rewrite

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; a page is sent once the whole of it is there."""
        key = _below_root(scope).strip("/") if scope["type"] == "http" else ""
        if scope["type"] != "http" or scope["method"] != "GET" or key not in self.pages:
            await self.app(scope, receive, send)
            return

        async def rewritten(start: Message, page: bytes) -> Response:
            answer = again(start, (await self.rewrite(Request(scope), key, page.decode())).encode())
            answer.headers.setdefault("cache-control", PRIVATE)
            return answer

        def is_whole(start: Message) -> bool:
            return start["status"] == 200 and is_page(start)

        await send_whole(self.app, scope, receive, send, when=is_whole, change=rewritten)
