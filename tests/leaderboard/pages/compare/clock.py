"""A clock for what runs in turns, so that no test waits."""

from __future__ import annotations


class Clock:
    """Each look at it is a second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now
