"""The database as the pages read it: read-only, from several threads, and while another file replaces it."""

from __future__ import annotations

import atexit
import inspect
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import duckdb
import pandas as pd

from compute.database import store, versions
from compute.io.files import temporary_folder
from compute.paths import DATABASE
from compute.types import BadInput, DatabaseError, unknown

MEMORY_MB, THREADS = 256, 2  # of DuckDB for one file; what needs more goes to its private folder for a while
COPIED_AT_ONCE = 1 << 20  # bytes
# By name, each with its comment.
QUERIES = dict(
    part.split("\n", 1) for part in Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")[1:]
)
MOST_EARLIER = 2  # versions of the data that are open beside today's
# The version of the data that the request being answered names; empty: today's.
STATE: ContextVar[str] = ContextVar("state", default="")
log = logging.getLogger(__name__)
_until_the_end = ExitStack()
atexit.register(_until_the_end.close)

Value = TypeVar("Value")
LOCKS = 64  # keys that share one only wait for each other


@cache
def private_folder() -> Path:
    """Returns a temporary folder of this process for large files, made on first use. It is removed when the process
    ends or, after a kill, at the next start. Raises OSError.
    """
    return _until_the_end.enter_context(temporary_folder())


class OpenDatabase:
    """One opened file: a cursor per thread, and values derived from it, which are dropped when the file is closed.

    What is read is a copy in a private folder. So the file itself can be replaced or deleted at any time on any system,
    and opened again under its path, which DuckDB would take for the one that is open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.made: dict[Any, Callable[..., Any]] = {}  # see `shared`
        self.users = 0  # requests that read it now
        self.replaced = False
        self.folder, self.copy, self.version = _private_copy(path)
        try:
            self._connection = _connect(self.copy)
        except DatabaseError:
            self._remove()
            raise
        self._local = threading.local()
        self.data = "".join(self.ask(QUERIES["data_version"]).df()["version"])

    def ask(self, sql: str, values: list | dict[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
        """Returns this thread's cursor with the result of one SELECT, with `values` for its question marks or named
        parameters.
        """
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._connection.cursor()
        return self._local.cursor.execute(sql, values or [])

    def free_later(self) -> None:
        """Returns memory freed by queries to the system, also after another file was closed."""
        store.free_later(self._connection)

    def close(self) -> None:
        """Closes the file, and deletes its copy and the files derived from it."""
        self._connection.close()
        self._remove()

    def _remove(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)  # Windows keeps what is being sent until the process ends


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Opens the file with the same options each time, because DuckDB refuses different options for a file that is
    open.
    """
    return store.connect(path, memory_mb=MEMORY_MB, threads=THREADS, long_lived=True)


def _private_copy(path: Path) -> tuple[Path | None, Path, str]:
    """Makes a copy and returns its folder, its path, and the content's identity; no folder if none can be written.

    Raises DatabaseError for a file that is missing, damaged, or written to at this moment.
    """
    while True:
        # Opened once where it is: that says what is wrong with it, and whether it is written to.
        _connect(path).close()
        folder = None
        try:
            folder = Path(tempfile.mkdtemp(prefix="database-", dir=private_folder()))
            copy = folder / path.name
            with path.open("rb") as source, copy.open("wb") as target:
                before = os.fstat(source.fileno())
                shutil.copyfileobj(source, target, COPIED_AT_ONCE)
                after = os.fstat(source.fileno())
            break
        except OSError as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if not path.is_file():
                continue  # it went in the meantime; to open it says what is there now
            log.warning(
                "%s cannot be copied to the folder for temporary files (%s), so it is read where it is and must not be "
                "replaced while the app runs",
                path.name,
                error.strerror or error,
            )
            return None, path, f"{path.stat().st_mtime_ns:x}"
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        shutil.rmtree(folder, ignore_errors=True)
        raise DatabaseError(f"{path.name} is being written. Try again when that is done")
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
    return folder, copy, f"{before.st_mtime_ns:x}"


class Database:
    """A read-only database, safe to query from several threads, even while another file replaces it.

    An answer that takes several queries makes them within `snapshot`, and so reads one file throughout.
    """

    def __init__(self, path: Path = DATABASE) -> None:
        self._now = OpenDatabase(path)
        self.prepare: Callable[[], None] = lambda: None  # what is made of a new file before others read it
        self._lock = threading.Lock()
        self.is_closed = False
        self._pinned: ContextVar[OpenDatabase | None] = ContextVar("pinned", default=None)
        self._earlier: dict[tuple[str, str], OpenDatabase] = {}  # by today's file and the version of the data
        self._restoring = threading.Lock()

    @property
    def _read(self) -> OpenDatabase:
        return self._pinned.get() or self._now

    @property
    def path(self) -> Path:
        """Returns the path of the opened file; another file may have replaced it since."""
        return self._read.path

    @property
    def copy(self) -> Path:
        """Returns the private copy that is read."""
        return self._read.copy

    @property
    def version(self) -> str:
        """Returns the identity of the file among its predecessors and successors."""
        return self._read.version

    @property
    def data(self) -> str:
        """Returns the version of the data that is read."""
        return self._read.data

    def check_version(self, data: str) -> None:
        """Raises BadInput for a version of the data that cannot be read."""
        if data not in (known := [one["version"] for one in self.records("stored_versions")]):
            raise BadInput(f"{unknown('version of the data', data, known)} There are: {', '.join(known)}")

    @contextmanager
    def snapshot(self, data: str | None = None) -> Iterator[OpenDatabase]:
        """Reads one file within the block, even if another is swapped in meanwhile. The block must not contain an await
        or a yield.

        `data`: the version of the data that is read, empty for today's; None: the one that the request names (STATE).
        An earlier one is restored when it is first asked for, and the last MOST_EARLIER stay. Raises BadInput.
        """
        pinned = self._pinned.get()
        if pinned is not None:
            yield pinned
            return
        opening = self._opened(STATE.get() if data is None else data)
        token = self._pinned.set(opening)
        try:
            yield opening
        finally:
            self._pinned.reset(token)
            self._leave(opening)

    def _opened(self, data: str) -> OpenDatabase:
        """Returns the file with this version of the data, and counts one more user."""
        with self._lock:
            now = self._now
            now.users += 1
        if data in ("", now.data):
            return now
        try:
            with self._restoring:  # of several visitors, one restores
                name = (now.version, data)
                opening = self._earlier.pop(name, None) or _restored(now, data)
                self._earlier[name] = opening
                with self._lock:
                    opening.users += 1
                for old in list(self._earlier)[:-MOST_EARLIER]:
                    self._retire(self._earlier.pop(old))
            return opening
        finally:
            self._leave(now)

    def _leave(self, opening: OpenDatabase) -> None:
        with self._lock:
            opening.users -= 1
            last = opening.replaced and not opening.users
        if last:
            self._end(opening)

    def _retire(self, opening: OpenDatabase) -> None:
        """Closes a file after the last request that reads it."""
        with self._lock:
            opening.replaced = True
            idle = not opening.users
        if idle:
            self._end(opening)

    def ask(self, sql: str, values: list | dict[str, Any] | None = None) -> pd.DataFrame:
        """Returns the result of one SELECT with `values`, as `OpenDatabase.ask`."""
        with self.snapshot() as opening:
            return opening.ask(sql, values).df()

    def query(self, name: str, /, **values: Any) -> pd.DataFrame:
        """Returns the result of the named statement of queries.sql, with `values` for its parameters."""
        return self.ask(QUERIES[name], values)

    def keyed(self, name: str, /, **values: Any) -> pd.DataFrame:
        """Returns the same, indexed by its column `key`."""
        return self.query(name, **values).set_index("key", drop=False)

    def records(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """Returns the same as dictionaries of plain values, with None for NULL."""
        with self.snapshot() as opening:
            cursor = opening.ask(QUERIES[name], values)
            names = [column for column, *_ in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def swap(self, path: Path, *, check: Callable[[Database], None] = lambda database: None) -> None:
        """Reads `path` from now on; the previous file is closed after the last request that reads it.

        `check` is called with the new file, then `prepare` in a thread that reads it, before anyone else does; a
        failure of `prepare` is logged. Raises DatabaseError, and what `check` raises, and then nothing has changed.
        """
        fresh = Database(path)
        try:
            if fresh.copy == self._now.copy:
                raise DatabaseError(f"{path.name} is open already and cannot be copied, so it cannot be read again")
            check(fresh)
        except BaseException:
            fresh.close()
            raise
        token = self._pinned.set(fresh._now)
        try:
            self.prepare()
        except Exception:
            log.exception("A new file could not be prepared for its visitors")
        finally:
            self._pinned.reset(token)
        with self._lock:
            before, self._now = self._now, fresh._now
        self._retire(before)

    def _end(self, opening: OpenDatabase) -> None:
        """Closes a file that was replaced."""
        opening.close()
        with self._lock:
            if not self.is_closed:
                self._now.free_later()

    def close(self) -> None:
        """Closes the file, after the last request that reads it."""
        self.is_closed = True
        for opening in (self._now, *self._earlier.values()):
            self._retire(opening)


def _restored(now: OpenDatabase, data: str) -> OpenDatabase:
    """Returns the file of an earlier version of the data. Raises BadInput."""
    with tempfile.TemporaryDirectory(dir=private_folder()) as folder:
        today, path = Path(folder) / "today.duckdb", Path(folder) / now.path.name
        shutil.copyfile(now.copy, today)  # DuckDB opens no file twice
        versions.restore(today, path, version=data)
        return OpenDatabase(path)


def shared(make: Callable[..., Value], *, most: int | None = None) -> Callable[..., Value]:
    """Caches the last `most` values (None: all) of `make(owner, *key)` for all callers, while the file of `owner.db`,
    or of the owner itself, is read. One thread makes a value, and the others wait for it.

    The value must be the same for all owners of a database.
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
