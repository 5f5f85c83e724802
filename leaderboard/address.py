"""What an address may ask of Gradio itself."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send


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
