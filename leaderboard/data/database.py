"""The database as the pages read it: read-only, from several threads, also while another file replaces it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from compute.database import store
from compute.paths import DATABASE


class OpenDatabase:
    """One file as it was opened: a cursor a thread, and what was made of it, which goes when the file is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = f"{path.stat().st_mtime_ns:x}" if path.exists() else ""
        self.made: dict[Any, Callable[..., Any]] = {}  # see leaderboard.data.memo
        self.users = 0  # requests that read it now
        self.replaced = False
        self._connection = store.connect(path)
        self._local = threading.local()

    def ask(self, sql: str, values: list | None = None) -> pd.DataFrame:
        """The answer to one SELECT with `values` for its question marks."""
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._connection.cursor()
        cursor: duckdb.DuckDBPyConnection = self._local.cursor
        return cursor.execute(sql, values or []).df()

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


class Database:
    """The read-only database, safe to query from several threads, also while another file replaces it.

    An answer that takes several queries makes them within `snapshot`, and so reads one file throughout.
    """

    def __init__(self, path: Path = DATABASE) -> None:
        self._now = OpenDatabase(path)
        self._lock = threading.Lock()
        self._pinned: ContextVar[OpenDatabase | None] = ContextVar("pinned", default=None)

    @property
    def path(self) -> Path:
        """The file that is read."""
        return (self._pinned.get() or self._now).path

    @property
    def version(self) -> str:
        """What identifies the file among those before and after it."""
        return (self._pinned.get() or self._now).version

    @contextmanager
    def snapshot(self) -> Iterator[OpenDatabase]:
        """Reads one file within the block, even if another is swapped in meanwhile. Not across an await or a yield."""
        pinned = self._pinned.get()
        if pinned is not None:
            yield pinned
            return
        with self._lock:
            opening = self._now
            opening.users += 1
        token = self._pinned.set(opening)
        try:
            yield opening
        finally:
            self._pinned.reset(token)
            with self._lock:
                opening.users -= 1
                last = opening.replaced and not opening.users
            if last:
                opening.close()

    def ask(self, sql: str, values: list | None = None) -> pd.DataFrame:
        """The answer to one SELECT with `values` for its question marks."""
        with self.snapshot() as opening:
            return opening.ask(sql, values)

    def swap(self, path: Path) -> None:
        """Reads `path` from now on; the file before it is closed after the last request that reads it.

        The path must be another one: a file is known by its path as long as it is open. Raises DatabaseError, and then
        nothing has changed.
        """
        opening = OpenDatabase(path)
        with self._lock:
            before, self._now = self._now, opening
            before.replaced = True
            idle = not before.users
        if idle:
            before.close()

    def close(self) -> None:
        """Closes the file."""
        self._now.close()
