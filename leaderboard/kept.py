"""Values made once and kept, also when many visitors ask for one at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from threading import Lock
from typing import TypeVar

Value = TypeVar("Value")
LOCKS = 64  # keys that share one only wait for each other


def kept(make: Callable[..., Value], *, most: int | None = None) -> Callable[..., Value]:
    """`make` with its last `most` values kept (None: all); one thread makes a value, the others wait for it."""
    values = lru_cache(maxsize=most)(make)
    locks = tuple(Lock() for _ in range(LOCKS))

    def ask(*key: Hashable) -> Value:
        with locks[hash(key) % LOCKS]:
            return values(*key)

    return ask
