"""What passes between an address and Gradio: queries it must not see, and files a page will need."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class WithoutPage:
    """Takes `page` out of the first page's query: Gradio reads it there as a page's name and fails on one it lacks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on; only a request of `/` with such a query is changed."""
        if scope["type"] == "http" and scope["path"] in ("", "/") and b"page" in scope["query_string"]:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            kept = urlencode([(key, value) for key, value in pairs if key != "page"])
            scope = {**scope, "query_string": kept.encode("latin-1")}
        await self.app(scope, receive, send)


class Ahead:
    """Names the figure library in the answer for a page with figures, so that it loads while the page is built."""

    def __init__(self, app: ASGIApp, pages: frozenset[str], link: str) -> None:
        self.app, self.pages, self.link = app, pages, link.encode("latin-1")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on, and adds the header to the answer of the named pages."""
        if scope["type"] != "http" or scope["path"].strip("/") not in self.pages:
            await self.app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"link", self.link)]}
            await send(message)

        await self.app(scope, receive, noted)
