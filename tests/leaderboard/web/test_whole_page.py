"""Pages that are changed before they are sent, and answers that are left alone."""

from __future__ import annotations

import asyncio

import pytest
from starlette.datastructures import MutableHeaders
from starlette.types import Message

from leaderboard.web.whole_page import send_whole

CHUNKS = (b"<p>a", b"b", b"c</p>")


def sent(status: int, kind: str, *, errors_too: bool) -> list[Message]:
    """What leaves the server of an answer of this status and content type that is written in three parts."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def change(headers: MutableHeaders, page: bytes) -> bytes:
        headers["x-changed"] = "yes"
        return page.upper()

    async def answer() -> None:
        start = {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]}
        changed = send_whole(send, change, errors_too=errors_too)
        await changed(start)
        for at, chunk in enumerate(CHUNKS, start=1):
            await changed({"type": "http.response.body", "body": chunk, "more_body": at < len(CHUNKS)})

    asyncio.run(answer())
    return messages


@pytest.mark.parametrize(("status", "errors_too"), [(200, False), (200, True), (404, True)])
def test_a_page_goes_out_changed_and_in_one_piece(status: int, errors_too: bool) -> None:
    start, body = sent(status, "text/html; charset=utf-8", errors_too=errors_too)
    assert start["status"] == status and (b"x-changed", b"yes") in start["headers"]
    assert body == {"type": "http.response.body", "body": b"<P>ABC</P>", "more_body": False}


@pytest.mark.parametrize(("status", "kind"), [(404, "text/html"), (200, "application/json"), (200, "text/plain")])
def test_any_other_answer_goes_out_as_it_comes(status: int, kind: str) -> None:
    start, *parts = sent(status, kind, errors_too=False)
    assert start["headers"] == [(b"content-type", kind.encode())]
    assert [part["body"] for part in parts] == list(CHUNKS)
