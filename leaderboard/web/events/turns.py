"""Whose turn it is: the order in which waiting requests are served, and how many of them a visitor may have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Who sent a request, and how much of the line it takes.

    `address` is the visitor's network, which a whole class may share; `session` one open page or program. `units` is 1,
    or the megabytes of the request's body if those are more.
    """

    address: str
    session: str
    units: int = 1


@dataclass(frozen=True, kw_only=True)
class QueueLimits:
    """How much may wait and run at once: requests of a session, units of an address and of all; answers not fetched."""

    session: int = 8  # a page has five at the very most: a comparison, a curve, patches, a table, a download
    address: int = 64  # a class of 30 behind one address has two each
    total: int = 256
    unread_of_address: int = 32  # answers that wait to be fetched; the oldest are dropped first
    unread: int = 128


def in_turn(waiting: Sequence[T], *, of: Callable[[T], Hashable]) -> list[T]:
    """Everyone's first request, then everyone's second, and so on; otherwise the order stays.

    Applied at each arrival, it serves all in rotation: a newcomer waits for at most one request of each other visitor.
    """
    own: Counter[Hashable] = Counter()
    rounds = []
    for each in waiting:
        rounds.append(own[of(each)])
        own[of(each)] += 1
    return [waiting[index] for index in sorted(range(len(waiting)), key=rounds.__getitem__)]


def fair_order(waiting: Sequence[T], *, visit: Callable[[T], Visit]) -> list[T]:
    """The order in which requests are served: addresses in turn, and the sessions of an address in turn."""
    own: defaultdict[str, list[T]] = defaultdict(list)
    for each in waiting:
        own[visit(each).address].append(each)
    turns = {address: iter(in_turn(group, of=lambda each: visit(each).session)) for address, group in own.items()}
    return in_turn([next(turns[visit(each).address]) for each in waiting], of=lambda each: visit(each).address)


def refusal_of(visit: Visit, others: Iterable[Visit], *, limits: QueueLimits) -> str:
    """Why one more request of a visitor is refused, as a sentence; empty where it is accepted. `others`: all there are.

    Whether all together are too many is not judged here.
    """
    own = [other for other in others if other.address == visit.address]
    if visit.session and sum(other.session == visit.session for other in own) >= limits.session:
        return (
            f"This page already has {limits.session} requests waiting or running, which is the most. "
            "Wait until one of them is answered"
        )
    if own and sum(other.units for other in own) + visit.units > limits.address:
        return (
            f"Your network already has {len(own)} requests waiting or running, which is the most. "
            "Try again in a few seconds"
        )
    return ""


def largest(visits: Iterable[Visit]) -> str:
    """The address that takes most units; the visits are not empty."""
    units: Counter[str] = Counter()
    for visit in visits:
        units[visit.address] += visit.units
    return units.most_common(1)[0][0]
