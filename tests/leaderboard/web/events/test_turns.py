"""Requests are served in rotation over visitors, and each visitor has a limit."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from leaderboard.web.events.turns import QueueLimits, Visit, fair_order, in_turn, largest, refusal_of

LIMITS = QueueLimits(session=2, address=5, total=10)


def line(text: str) -> list[str]:
    """`A1 A2 B1`: the first letter names the visitor."""
    return text.split()


def of(each: str) -> str:
    return each[0]


def visit(each: str) -> Visit:
    """`Ax1`: address A, session x."""
    return Visit(address=each[0], session=each[1])


@pytest.mark.parametrize(
    ("waiting", "served"),
    [
        ("", ""),
        ("A1 A2 A3", "A1 A2 A3"),
        ("A1 A2 A3 B1", "A1 B1 A2 A3"),
        ("A1 A2 B1 B2 C1", "A1 B1 C1 A2 B2"),
        ("B1 C1 A2 B2 A3 N1", "B1 C1 A2 N1 B2 A3"),  # A was served, so a newcomer is behind A's next and no other
    ],
)
def test_everyone_has_a_turn_before_anyone_has_two(waiting: str, served: str) -> None:
    assert in_turn(line(waiting), of=of) == line(served)
    assert in_turn(line(served), of=of) == line(served)  # nothing changes without an arrival


def test_within_an_address_the_sessions_take_turns() -> None:
    waiting = line("Ax1 Ax2 Ax3 Bx1 Ay1 Bx2")
    assert fair_order(waiting, visit=visit) == line("Ax1 Bx1 Ay1 Bx2 Ax2 Ax3")


def test_nobody_waits_for_more_than_one_of_each_other_visitor() -> None:
    rng = random.Random(5)
    waiting: list[str] = []
    ahead: dict[str, set[str]] = {}  # of each newcomer, who is ahead
    served_since: dict[str, Counter[str]] = {}
    for step in range(2000):
        if waiting and rng.random() < 0.5:
            waiting = fair_order(waiting, visit=visit)
            first = waiting.pop(0)
            served_since.pop(first, None)
            ahead.pop(first, None)
            for counts in served_since.values():
                counts[first[0]] += 1
        else:
            address = rng.choice("AAAAAAAABCDE")
            new = f"{address}x{step}"
            if not any(each[0] == address for each in waiting):
                ahead[new], served_since[new] = {each[0] for each in waiting}, Counter()
            waiting = fair_order([*waiting, new], visit=visit)
        for new, counts in served_since.items():
            assert all(count <= 1 for count in counts.values()) and set(counts) <= ahead[new]


def test_a_visitor_is_refused_in_words_what_is_over_the_limits() -> None:
    mine = Visit(address="A", session="x")
    assert refusal_of(mine, [], limits=LIMITS) == refusal_of(mine, [mine], limits=LIMITS) == ""
    assert "already has 2 requests" in refusal_of(mine, [mine, mine], limits=LIMITS)
    assert refusal_of(Visit(address="B", session="x"), [mine, mine], limits=LIMITS) == ""  # MCP's visitors share one
    others = [Visit(address="A", session=str(number)) for number in range(5)]
    assert "Your network already has 5" in refusal_of(mine, others, limits=LIMITS)
    assert refusal_of(mine, others[:4], limits=LIMITS) == ""
    heavy = Visit(address="A", session="z", units=5)
    assert refusal_of(heavy, [], limits=LIMITS) == "" and "network" in refusal_of(mine, [heavy], limits=LIMITS)
    large = Visit(address="A", session="z", units=24)  # accepted where nothing else of the visitor waits
    assert refusal_of(large, [], limits=LIMITS) == ""
    nameless = Visit(address="A", session="")
    assert refusal_of(nameless, [nameless] * 4, limits=LIMITS) == ""


def test_the_largest_is_counted_in_units() -> None:
    assert largest([Visit(address="A", session="x")] * 3 + [Visit(address="B", session="y", units=4)]) == "B"
