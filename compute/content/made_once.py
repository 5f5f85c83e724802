"""What several threads want at once, made by one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """Makes what is not stored; threads that want what is being made wait for it. `made` counts."""

    def __init__(self) -> None:
        self.made = 0
        self._making: dict[bytes, Future[T]] = {}
        self._lock = threading.Lock()

    def once(
        self, key: bytes, *, stored: Callable[[], T | None], make: Callable[[], T], store: Callable[[T], None]
    ) -> T:
        """What is stored under the key, else made and stored. Raises what `make` raises."""
        with self._lock:
            value = stored()
            if value is not None:
                return value
            making = self._making.get(key)
            if making is None:
                ours = self._making[key] = Future()
        if making is not None:
            return making.result()
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            ours.set_exception(error)
            raise
        with self._lock:
            self.made += 1
            store(value)
            del self._making[key]
        ours.set_result(value)
        return value
