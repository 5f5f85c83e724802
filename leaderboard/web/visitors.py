"""Identification of visitors, whose turn is next, and rate limits: a token bucket per visitor."""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from starlette.requests import Request

T = TypeVar("T")
MOST_VISITORS = 20_000  # remembered; one who was away for long starts with a full bucket


class Rate:
    """A rate limit in requests per minute for each visitor, after an initial `burst`. Thread-safe."""

    def __init__(self, *, a_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.a_minute = a_minute
        self._burst, self._clock = float(burst), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens left, and when that was so
        self._lock = threading.Lock()

    def allow(self, visitor: str) -> float:
        """Takes a token. Returns 0.0, or the seconds until a token is available."""
        with self._lock:
            now, each = self._clock(), self.a_minute / 60
            left, then = self._buckets.pop(visitor, (self._burst, now))
            left = min(self._burst, left + (now - then) * each)
            wait = 0.0 if left >= 1 else (1 - left) / each
            self._buckets[visitor] = left if wait else left - 1, now
            if len(self._buckets) > MOST_VISITORS:
                self._buckets.popitem(last=False)
            return wait


def in_turn(waiting: Sequence[T], *, of: Callable[[T], Hashable]) -> list[T]:
    """Orders everyone's first request before everyone's second, and so on; otherwise the order is unchanged.

    Applied at each arrival, it serves all in rotation: a newcomer waits for at most one request of each other visitor.
    """
    own: Counter[Hashable] = Counter()
    rounds = []
    for each in waiting:
        rounds.append(own[of(each)])
        own[of(each)] += 1
    return [waiting[index] for index in sorted(range(len(waiting)), key=rounds.__getitem__)]


def visitor(request: Request) -> str:
    """Returns the visitor's address; for IPv6, the network of one household."""
    client = address(request)
    if client is None:
        return "unknown"
    return str(ipaddress.ip_network((client, 64), strict=False)) if client.version == 6 else str(client)


def address(request: Request) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns the visitor's address, None if it has none.

    Anyone can send an x-forwarded-for header, and each proxy adds at its end the address that it saw. So only the last
    ones, which a Space's own proxies wrote, can be trusted: the last that is a public address. Without such a proxy the
    header is not read at all (one on the same machine is known to the server, which has read it already).
    """
    spaces = os.environ.get("SYSTEM") == "spaces"
    seen = ",".join(request.headers.getlist("x-forwarded-for")).split(",") if spaces else []
    addresses = [address for address in map(_address, seen) if address is not None]
    public = [address for address in addresses if address.is_global]
    return (public or addresses or [_address(request.client.host if request.client else "")])[-1]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns an address written by a proxy, with or without a port or brackets. None for anything else."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
