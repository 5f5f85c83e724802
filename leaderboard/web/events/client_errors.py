"""Refusals in the form whose sentence gradio_client shows to whoever calls it."""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.responses import LONGEST_ERROR, NO_STORE, sentence_of

JOIN = re.compile(r"/gradio_api/+queue/join/?$")
CLIENT = "gradio_client"  # begins its User-Agent


class ClientErrors:
    """Answers gradio_client with status 422 and the sentence as a failed validation where its event is refused.

    With any other status the client shows the number alone. Everyone else gets `{"error": sentence}` with the status
    that fits, which the client finds under `status`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and changes the answer where it is such a refusal."""
        if scope["type"] != "http" or scope["method"] != "POST" or not JOIN.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        if not Headers(scope=scope).get("user-agent", "").startswith(CLIENT):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def send_changed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] >= 400:
                start = message
                return
            if start is None or message["type"] != "http.response.body":
                await send(message)
                return
            body.extend(message.get("body", b"")[: LONGEST_ERROR - len(body)])
            if message.get("more_body", False):
                return
            if sentence := sentence_of(bytes(body), names=("error", "detail")):
                await _shown(sentence, start)(scope, receive, send)
            else:
                await send(start)
                await send({**message, "body": bytes(body)})

        await self.app(scope, receive, send_changed)


def _shown(sentence: str, start: Message) -> JSONResponse:
    failed = {"__type__": "validate", "is_valid": False, "parameter_name": "request", "message": sentence}
    content = {"error": sentence, "status": start["status"], "detail": [failed]}
    headers = {"cache-control": NO_STORE}
    if (wait := Headers(raw=start["headers"]).get("retry-after")) is not None:
        headers["retry-after"] = wait
    return JSONResponse(content, status_code=422, headers=headers)
