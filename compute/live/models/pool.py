"""Loaded models within a budget of memory, the least recently used dropped first; each is loaded once for all users."""

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
class LoadedModel:
    """A model in memory with its number of current users, until whose end it stays."""

    model: Any
    bytes: int
    users: int = 0


@dataclass(kw_only=True)
class Pool:
    """At most `budget` bytes of models. `load(row)` loads one, `size(row)` predicts its bytes."""

    load: Callable[[Model], Any]
    size: Callable[[Model], int | None]
    budget: Callable[[], int] = memory.budget
    _models: OrderedDict[str, LoadedModel] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _one_load: threading.Lock = field(default_factory=threading.Lock)  # two at once would both count on the same room
    _room: int | None = None

    @contextlib.contextmanager
    def use(self, row: Model) -> Iterator[Any]:
        """The row's model, loaded if need be, for as long as the block runs. Raises NotHere where it is too large."""
        loaded = self._acquire(row)
        try:
            yield loaded.model
        finally:
            with self._lock:
                loaded.users -= 1

    def loaded(self) -> tuple[str, ...]:
        """Keys of the models in memory, the least recently used first."""
        with self._lock:
            return tuple(self._models)

    def room(self) -> int:
        """The whole budget in bytes, measured at the first call, before any model is loaded."""
        if self._room is None:
            self._room = self.budget()
        return self._room

    def _acquire(self, row: Model) -> LoadedModel:
        if loaded := self._in_memory(row.key):
            return loaded
        with self._one_load:
            if loaded := self._in_memory(row.key):  # loaded while this thread waited
                return loaded
            loaded = self._loaded(row)
            with self._lock:
                self._models[row.key] = loaded
                self._drop(lambda: self._bytes() > self.room())
            return loaded

    def _loaded(self, row: Model) -> LoadedModel:
        expected = self.size(row) or 0
        if expected > self.room():
            raise NotHere(
                f"{row.title} takes about {in_words(expected)} of memory, and {in_words(self.room())} are "
                f"set aside for models. A larger machine can run it; {memory.VARIABLE} changes the limit"
            )
        with self._lock:
            self._drop(lambda: self._bytes() + expected > self.room())
        before = memory.resident()
        try:
            model = self.load(row)
        except MemoryError as error:
            raise NotHere(f"{row.title} did not fit into memory. Take a smaller model") from error
        # The larger of both: in memory that a dropped model freed, a new one does not make the process grow.
        return LoadedModel(model=model, bytes=max(expected, memory.resident() - before), users=1)

    def _in_memory(self, key: str) -> LoadedModel | None:
        with self._lock:
            loaded = self._models.get(key)
            if loaded:
                loaded.users += 1
                self._models.move_to_end(key)
            return loaded

    def _bytes(self) -> int:
        return sum(loaded.bytes for loaded in self._models.values())

    def _drop(self, more: Callable[[], bool]) -> None:
        """Drops models that are not in use, the least recently used first, while `more()`."""
        dropped = False
        for key in [key for key, loaded in self._models.items() if not loaded.users]:
            if not more():
                break
            del self._models[key]
            dropped = True
        if dropped:
            encoding.release()
