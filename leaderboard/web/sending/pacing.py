"""How answers are sent: in small parts, only to visitors who read them.

A server takes a body as it comes and stores what the visitor's computer does not read yet, as long as it is connected.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PART = 32_768  # bytes that are handed to the server at once; it stores no second part before the first is sent
STALL = 30.0  # seconds that a reader may take for one part
GRACE, SLOWEST = 60.0, 8_000.0  # a whole answer: seconds, and in addition one for so many bytes


class PacedSending:
    """ASGI middleware that sends large bodies in parts, and disconnects visitors who do not read them.

    Only the time in which a visitor's computer takes nothing counts: a stream may be silent for as long as it likes.
    """

    def __init__(self, app: ASGIApp, *, stall: float = STALL, grace: float = GRACE) -> None:
        self.app, self._stall, self._grace = app, stall, grace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and paces its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        transport = getattr(getattr(receive, "__self__", None), "transport", None)  # `receive` is a method of uvicorn's
        clock, left, ended = asyncio.get_running_loop().time, self._grace, False

        async def send_part(message: Message) -> None:
            nonlocal left, ended
            if ended:
                return
            began = clock()
            try:
                async with asyncio.timeout(max(0.0, min(self._stall, left))):
                    await send(message)
            except TimeoutError:
                ended = True
                if transport is not None:
                    transport.abort()  # `close` would wait for the reader
            left += len(message.get("body", b"")) / SLOWEST - (clock() - began)

        async def send_paced(message: Message) -> None:
            body = message.get("body", b"")
            if len(body) > PART:
                if transport is not None:  # the server takes a part only when the one before has been sent
                    transport.set_write_buffer_limits(high=0)
                for begin in range(0, len(body), PART):
                    await send_part({**message, "body": body[begin : begin + PART], "more_body": True})
                await send_part({**message, "body": b"", "more_body": True})  # until the last part has been sent
                message = {**message, "body": b""}
            await send_part(message)

        await self.app(scope, receive, send_paced)
