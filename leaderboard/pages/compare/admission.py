"""Long work that is done in turns: how much of it the app does at once, and who makes room for whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Protocol
from weakref import WeakSet

from compute.types import BadInput

IDLE = 120.0  # idle seconds after which other work may replace it


class LongWork(Protocol):
    """Work in turns; `used` is when its last turn began, `sender` the visitor's address."""

    sender: str
    used: float

    @property
    def over(self) -> bool:
        """Whether it needs no further turn."""

    def stop(self) -> Any:
        """Ends it and drops what it holds."""


class Admission:
    """At most `most` at once, `most_of_sender` of them from one address. Thread-safe.

    Work that has been idle for IDLE seconds is stopped for a newcomer. `many` and `running` name it in sentences:
    "8 tables from your network are being scored".
    """

    def __init__(
        self,
        *,
        most: int,
        most_of_sender: int,
        many: str,
        running: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._most_of_sender, self._many, self._running = most, most_of_sender, many, running
        self._clock = clock
        self._work: WeakSet[LongWork] = WeakSet()
        self._lock = threading.Lock()

    def admit(self, work: LongWork, *, results: MutableMapping[Any, Any], key: tuple) -> None:
        """Puts the work into a session's results, whose earlier work of this key ends. Raises BadInput where there is
        too much."""
        with self._lock:
            if previous := results.get(key):
                previous.stop()
            others = sorted((each for each in self._work if not each.over), key=lambda each: each.used)
            own = [each for each in others if each.sender == work.sender]
            full = f"{len(own)} {self._many} from your network are {self._running}, which is the most"
            self._make_room(own, most=self._most_of_sender, full=full)
            others = [each for each in others if not each.over]
            full = f"{len(others)} other visitors' {self._many} are {self._running}"
            self._make_room(others, most=self._most, full=full)
            self._work.add(work)
            results[key] = work

    def _make_room(self, running: Sequence[LongWork], *, most: int, full: str) -> None:
        for work in running[: max(0, len(running) - most + 1)]:
            if self._clock() - work.used < IDLE:
                raise BadInput(f"{full}. Try again in a minute")
            work.stop()
