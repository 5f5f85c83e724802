"""Values made once a database file and stored, also when many visitors need one at the same moment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from threading import Lock
from typing import Any, TypeVar

Value = TypeVar("Value")
LOCKS = 64  # keys that share one only wait for each other


def shared(make: Callable[..., Value], *, most: int | None = None) -> Callable[..., Value]:
    """`make(owner, *key)` with its last `most` values stored (None: all) as long as the file of `owner.db`, or of the
    owner itself, is read, for all that call it; one thread makes a value, the others wait for it.

    The value must not depend on which owner of a database asks.
    """
    signature = inspect.signature(make)

    def ask(owner: Any, *given: Hashable, **named: Hashable) -> Value:
        key = signature.bind(owner, *given, **named)
        key.apply_defaults()
        with getattr(owner, "db", owner).snapshot() as opening:
            values = opening.made.get(ask)
            if values is None:
                values = opening.made.setdefault(ask, _once(partial(make, owner), most))
            return values(*key.args[1:])

    return ask


def _once(make: Callable[..., Value], most: int | None) -> Callable[..., Value]:
    values, locks = lru_cache(maxsize=most)(make), tuple(Lock() for _ in range(LOCKS))

    def ask(*key: Hashable) -> Value:
        with locks[hash(key) % LOCKS]:
            return values(*key)

    return ask
