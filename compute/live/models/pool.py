"""Loaded models, kept by least recent use within a budget of memory; each is loaded once however many ask for it."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from compute.engine.estimate import size as in_words
from compute.features import encoding
from compute.live.models import memory
from compute.types import Model, NotHere


@dataclass(kw_only=True, eq=False)
class Held:
    """A model in memory. `users` work with it now: it stays until they are done."""

    model: Any
    bytes: int
    users: int = 0


@dataclass(kw_only=True)
class Pool:
    """At most `budget` bytes of models. `load(row)` makes one, `size(row)` says beforehand how large it will be."""

    load: Callable[[Model], Any]
    size: Callable[[Model], int | None]
    budget: Callable[[], int] = memory.budget
    _held: OrderedDict[str, Held] = field(default_factory=OrderedDict)
    _loading: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _one_load: threading.Lock = field(default_factory=threading.Lock)  # two at once would each think the room theirs
    _room: int | None = None

    @contextlib.contextmanager
    def use(self, row: Model) -> Iterator[Any]:
        """The row's model, loaded if need be, for as long as the block runs. Raises NotHere where it is too large."""
        held = self._take(row)
        try:
            yield held.model
        finally:
            with self._lock:
                held.users -= 1

    def loaded(self) -> tuple[str, ...]:
        """Keys of the models in memory, the least recently used first."""
        with self._lock:
            return tuple(self._held)

    def room(self) -> int:
        """The whole budget in bytes, settled when it is first asked for: what is free then, before any model."""
        if self._room is None:
            self._room = self.budget()
        return self._room

    def clear(self) -> None:
        """Lets go of every model nobody works with."""
        with self._lock:
            self._drop(lambda: bool(self._held))

    def _take(self, row: Model) -> Held:
        with self._lock:
            found = self._found(row.key)
            if found:
                return found
            waiting = self._loading.setdefault(row.key, threading.Lock())
        with waiting:
            with self._lock:
                found = self._found(row.key)
                if found:  # loaded while this one waited
                    return found
            with self._one_load:
                held = self._made(row)
            with self._lock:
                self._held[row.key] = held
                self._loading.pop(row.key, None)
                self._drop(lambda: self._taken() > self.room())
            return held

    def _made(self, row: Model) -> Held:
        expected = self.size(row) or 0
        if expected > self.room():
            raise NotHere(
                f"{row.title} takes about {in_words(expected)} of memory, and {in_words(self.room())} are "
                f"set aside for models. A larger machine can run it; {memory.VARIABLE} changes the limit"
            )
        with self._lock:
            self._drop(lambda: self._taken() + expected > self.room())
        before = memory.resident()
        try:
            model = self.load(row)
        except MemoryError as error:
            raise NotHere(f"{row.title} did not fit into memory. Take a smaller model") from error
        # The larger of both: memory that an unloaded model left behind is used again without the process growing.
        return Held(model=model, bytes=max(expected, memory.resident() - before), users=1)

    def _found(self, key: str) -> Held | None:
        held = self._held.get(key)
        if held:
            held.users += 1
            self._held.move_to_end(key)
        return held

    def _taken(self) -> int:
        return sum(held.bytes for held in self._held.values())

    def _drop(self, more: Callable[[], bool]) -> None:
        """Lets go of models nobody works with, the longest unused first, while `more` holds."""
        dropped = False
        for key in [key for key, held in self._held.items() if not held.users]:
            if not more():
                break
            del self._held[key]
            dropped = True
        if dropped:
            encoding.release()
