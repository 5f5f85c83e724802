"""Bodies are bounded each, together and in time, and what is counted is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import pytest
from starlette.requests import Request
from starlette.types import Message

from leaderboard.web.bodies import Busy, Disconnected, InFlight, TooLarge, TooSlow, UnreadBody


def request(parts: Iterable[bytes], *, stated: str = "", ends: str = "http.request") -> Request:
    """A request that sends these parts, then what `ends` says; of "never", nothing."""
    messages = iter([{"type": "http.request", "body": part, "more_body": True} for part in parts])

    async def receive() -> Message:
        found = next(messages, None)
        if found is None and ends == "never":
            await asyncio.Event().wait()
        return found or {"type": ends}

    headers = [(b"content-length", stated.encode())] if stated else []
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


def read(flight: InFlight, one: Request, *, then: Callable[[], Awaitable[None]] | None = None) -> bytes:
    async def run() -> bytes:
        async with flight.body(one, most=100) as body:
            if then:
                await then()
            return bytes(body)

    return asyncio.run(run())


def test_a_body_is_counted_until_it_is_done_with() -> None:
    flight, held = InFlight(), []

    async def look() -> None:
        held.append(flight.bytes)

    assert read(flight, request([b"ab", b"c"]), then=look) == b"abc"
    assert (held, flight.bytes) == ([3], 0)


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (request([b"1" * 60, b"1" * 41]), TooLarge),
        (request([], stated="101"), TooLarge),
        (request([], stated="9" * 400), TooLarge),
        (request([b"1" * 60, b"1" * 31]), Busy),
        (request([b"1"], ends="never"), TooSlow),
        (request([b"1"], ends="http.disconnect"), Disconnected),
    ],
    ids=["long", "stated-long", "stated-absurd", "too-many", "slow", "gone"],
)
def test_what_is_not_read_to_its_end_leaves_nothing_counted(one: Request, error: type[UnreadBody]) -> None:
    flight = InFlight(90, seconds=0.05)
    with pytest.raises(error):
        read(flight, one)
    assert flight.bytes == 0
    with pytest.raises(ZeroDivisionError):
        read(flight, request([b"1" * 90]), then=lambda: 1 / 0)
    assert flight.bytes == 0


def test_small_ones_pass_beside_large_ones() -> None:
    flight = InFlight(90, free=10)

    async def small() -> None:
        assert flight.bytes == 90
        async with flight.body(request([b"1" * 10]), most=100) as body:
            assert len(body) == 10
        with pytest.raises(Busy):
            async with flight.body(request([b"1" * 11]), most=100):
                pass

    read(flight, request([b"1" * 50, b"1" * 50]), then=small)
    assert flight.bytes == 0
