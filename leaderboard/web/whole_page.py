"""Answers that are replaced before they are sent, which needs the whole of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def send_whole(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    when: Callable[[Message], bool],
    change: Callable[[Message, bytes], Awaitable[Response]],
) -> None:
    """Answers a request by `app`; where `when(start)` holds, by what `change(start, body)` returns in its place."""
    start: Message | None = None
    body = bytearray()

    async def send_changed(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and when(message):
            start = message
        elif start is None or message["type"] != "http.response.body":
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                answer = await change(start, bytes(body))
                await answer(scope, receive, send)

    await app(scope, receive, send_changed)


def is_page(start: Message) -> bool:
    """Whether an answer is a page of markup."""
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")


def again(start: Message, body: bytes) -> Response:
    """The answer that began with `start`, with another body."""
    answer = Response(body, start["status"])
    kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    answer.raw_headers = [*kept, (b"content-length", str(len(body)).encode())]
    return answer
