"""Bodies are bounded each, by visitor, together and in rate, and what is counted is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from leaderboard.web.receiving import bodies
from leaderboard.web.receiving.bodies import (
    Busy,
    Disconnected,
    InFlight,
    OverShare,
    TooLarge,
    TooSlow,
    UnreadBody,
    unread,
)

PHOTO = 8_000_000
Part = tuple[float, bytes]  # seconds until it arrives, and its bytes


class VirtualTime(asyncio.SelectorEventLoop):
    """An event loop whose clock leaps to the next timer instead of waiting for it; `time()` starts at 0."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        wait = self._selector.select

        def leap(timeout: float | None = None) -> Any:
            assert timeout is not None, "nothing will ever happen"
            self._now += timeout
            return wait(0)

        self._selector.select = leap

    def time(self) -> float:
        return self._now


def run(work: Awaitable[Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(work)


def request(
    parts: Iterable[bytes | Part], *, stated: str = "", ends: str = "http.request", sender: str = "192.0.2.1"
) -> Request:
    """A request that sends these parts, then what `ends` says; of "never", nothing."""
    messages: Iterator[bytes | Part] = iter(parts)

    async def receive() -> Message:
        part = next(messages, None)
        if part is None and ends == "never":
            await asyncio.Event().wait()
        if part is None:
            return {"type": ends}
        if isinstance(part, tuple):
            seconds, part = part
            await asyncio.sleep(seconds)
        return {"type": "http.request", "body": part, "more_body": True}

    headers = [(b"content-length", stated.encode())] if stated else []
    return Request({"type": "http", "method": "POST", "headers": headers, "client": (sender, 1)}, receive)


def read(flight: InFlight, sent: Request, *, then: Callable[[], Awaitable[None]] | None = None) -> bytes:
    async def whole() -> bytes:
        async with flight.body(sent, most=100) as body:
            if then:
                await then()
            return body

    return run(whole())


def stopped(flight: InFlight, sent: Request, *, most: int = PHOTO) -> float:
    """Seconds until a body is dropped as too slow; inf where it arrives."""

    async def arrive() -> float:
        try:
            async with flight.body(sent, most=most):
                return float("inf")
        except TooSlow:
            return asyncio.get_running_loop().time()

    return run(arrive())


def test_a_body_is_counted_until_it_is_done_with() -> None:
    flight, held = InFlight(), []

    async def look() -> None:
        held.append(flight.bytes.total())

    assert read(flight, request([b"ab", b"c"]), then=look) == b"abc"
    assert (held, flight.bytes.total()) == ([3], 0)


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (request([b"1" * 60, b"1" * 41]), TooLarge),
        (request([], stated="101"), TooLarge),
        (request([], stated="9" * 400), TooLarge),
        (request([b"1" * 60, b"1" * 31]), OverShare),
        (request([b"1"], ends="never"), TooSlow),
        (request([b"1"], ends="http.disconnect"), Disconnected),
    ],
    ids=["long", "stated-long", "stated-absurd", "too-many", "slow", "gone"],
)
def test_what_is_not_read_to_its_end_leaves_nothing_counted(one: Request, error: type[UnreadBody]) -> None:
    flight = InFlight(120)
    with pytest.raises(error):
        read(flight, one)
    assert not flight.bytes
    with pytest.raises(ZeroDivisionError):
        read(flight, request([b"1" * 90]), then=lambda: 1 / 0)
    assert not flight.bytes


# ---- the rate


def drip(*, seconds: float, size: int) -> Iterator[Part]:
    """A part of `size` bytes every so many seconds, without an end."""
    return repeat((seconds, bytes(size)))


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        (request([], ends="never"), 10),
        (request([bytes(4_000_000)], ends="never"), 10),
        (request(drip(seconds=9.5, size=1)), 10),
        (request(drip(seconds=1, size=10_000)), 20),
        (request(drip(seconds=1, size=19_000)), 181),
        (request(chain([(0, bytes(7_000_000))], drip(seconds=1, size=1))), 10),
        (request(chain(repeat((1, bytes(200_000)), 30), drip(seconds=1, size=1))), 40),
    ],
    ids=["nothing", "half-sent", "drip", "half-rate", "nearly", "half-then-drip", "later-drip"],
)
def test_a_slow_body_is_dropped(sent: Request, seconds: float) -> None:
    assert stopped(InFlight(), sent) == pytest.approx(seconds, rel=0.06, abs=0.1)


@pytest.mark.parametrize(
    "parts",
    [
        repeat((0.5, bytes(10_500)), PHOTO // 10_500),
        repeat((9, bytes(200_000)), PHOTO // 200_000),
        [(0, bytes(10)), (9.9, bytes(PHOTO - 10))],
        [(9, b"1")],
    ],
    ids=["21 kB a second", "in bursts", "late", "small"],
)
def test_a_photograph_over_a_slow_line_arrives(parts: Iterable[Part]) -> None:
    assert stopped(InFlight(), request(parts)) == float("inf")


def test_the_answer_to_a_slow_body_closes_the_connection() -> None:
    slow, busy = unread(TooSlow()), unread(Busy())
    assert (slow.status_code, slow.headers["connection"]) == (408, "close")
    assert busy.status_code == 429 and busy.headers["retry-after"] == "5" and "connection" not in busy.headers


# ---- a visitor's share


async def send(flight: InFlight, sent: Request, *, most: int = PHOTO) -> tuple[str, float]:
    """What became of a body, and when."""
    clock = asyncio.get_running_loop().time
    try:
        async with flight.body(sent, most=most) as body:
            return f"{len(body)} bytes", clock()
    except UnreadBody as error:
        return type(error).__name__, clock()


def test_half_sent_uploads_leave_room_for_others_and_go() -> None:
    """26 uploads of 8 MB stop before their last byte: others' photographs arrive, the same visitor's a little later."""
    flight = InFlight()

    def half(sender: str) -> Request:
        return request([bytes(PHOTO - 1)], ends="never", sender=sender)

    def whole(sender: str, *, after: float) -> Request:
        return request([(after, bytes(PHOTO))], sender=sender)

    async def attack() -> None:
        idle = [asyncio.create_task(send(flight, half("192.0.2.1"))) for _ in range(26)]
        results = await asyncio.gather(
            send(flight, whole("192.0.2.2", after=1)),
            send(flight, whole("192.0.2.1", after=1)),
            send(flight, whole("192.0.2.2", after=2)),
        )
        assert [result for result, _ in results] == [f"{PHOTO} bytes", "OverShare", f"{PHOTO} bytes"]
        dropped = await asyncio.gather(*idle)
        assert [result for result, _ in dropped].count("TooSlow") == 18  # the share; the others were refused at once
        assert {result for result, _ in dropped} == {"TooSlow", "OverShare"}
        assert max(seconds for _, seconds in dropped) == pytest.approx(bodies.IDLE, abs=0.1)
        assert (await send(flight, whole("192.0.2.1", after=0)))[0] == f"{PHOTO} bytes"
        assert not flight.bytes

    run(attack())


def test_a_class_behind_one_address_sends_eighteen_photographs_at_once() -> None:
    flight = InFlight()

    async def lesson() -> list[tuple[str, float]]:
        slow_line = [[(1, bytes(PHOTO // 8))] * 8 for _ in range(18)]
        return await asyncio.gather(*(send(flight, request(parts)) for parts in slow_line))

    assert {result for result, _ in run(lesson())} == {f"{PHOTO} bytes"}


def test_a_visitor_has_a_bounded_number_of_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODIES", 3)
    flight = InFlight()

    async def attack() -> None:
        idle = [asyncio.create_task(send(flight, request([b"1"], ends="never"))) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert (await send(flight, request([b"12"], sender="192.0.2.2")))[0] == "2 bytes"
        assert (await send(flight, request([b"12"])))[0] == "OverShare"
        outcomes = [result for result, _ in await asyncio.gather(*idle)]
        assert outcomes == ["TooSlow"] * 3 + ["OverShare"] * 2
        assert (await send(flight, request([b"12"])))[0] == "2 bytes"
        assert not flight.bytes

    run(attack())
