"""Values made once and stored, also when many visitors need one at the same moment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from leaderboard.data.database import Database

Value = TypeVar("Value")
LOCKS = 64  # keys that share one only wait for each other


def memoised(
    make: Callable[..., Value], *, most: int | None = None, of: Database | None = None
) -> Callable[..., Value]:
    """`make` with its last `most` values stored (None: all); one thread makes a value, the others wait for it.

    What is made `of` a database is stored as long as its file is read: after a swap it is made again.
    """
    if of is not None:
        return partial(shared(lambda _, *key: make(*key), most=most), SimpleNamespace(db=of))
    values, locks = lru_cache(maxsize=most)(make), tuple(Lock() for _ in range(LOCKS))

    def ask(*key: Hashable) -> Value:
        with locks[hash(key) % LOCKS]:
            return values(*key)

    return ask


def shared(make: Callable[..., Value], *, most: int | None = None) -> Callable[..., Value]:
    """`make(owner, *key)` memoised for each file of `owner.db`, for all that call it: a page, its routes and its
    description make a value once. The value must not depend on which owner of a database asks."""

    signature = inspect.signature(make)

    def ask(owner: Any, *given: Hashable, **named: Hashable) -> Value:
        key = signature.bind(owner, *given, **named)
        key.apply_defaults()
        with owner.db.snapshot() as opening:
            values = opening.made.get(ask)
            if values is None:
                values = opening.made.setdefault(ask, memoised(partial(make, owner), most=most))
            return values(*key.args[1:])

    return ask
