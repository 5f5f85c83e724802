"""Pages that are changed before they are sent, which needs the whole of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Send


def send_whole(
    send: Send, change: Callable[[MutableHeaders, bytes], Awaitable[bytes]], *, errors_too: bool = False
) -> Send:
    """A `send` for one answer: a page goes out in one piece, as `change` returns it; any other answer as it comes.

    `change` gets the headers, to be changed in place, and the markup. Pages of another status than 200 are changed
    with `errors_too` only.
    """
    start: Message | None = None
    page = bytearray()

    async def send_changed(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            is_page = Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
            if is_page and (errors_too or message["status"] == 200):
                start = message
                return
        elif start is not None and message["type"] == "http.response.body":
            page.extend(message.get("body", b""))
            if message.get("more_body", False):
                return
            body = await change(MutableHeaders(scope=start), bytes(page))
            await send(start)
            message = {"type": "http.response.body", "body": body, "more_body": False}
        await send(message)

    return send_changed
