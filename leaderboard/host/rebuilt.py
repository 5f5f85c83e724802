"""A local database that is rebuilt while the app runs: the new file is checked and swapped in."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from compute.types import DatabaseError, LikenessError
from leaderboard.data.database import Database

EVERY = 2.0  # seconds between two looks at the file
log = logging.getLogger(__name__)
Stamp = tuple[int, int, int]  # modification time in ns, bytes, inode


class RebuiltData:
    """Checks the database's file every few seconds and swaps in each new one; a broken file changes nothing.

    A file is opened once two looks in a row saw the same, so not while it is being copied there. Only the path that
    `db` reads at the start is looked at, and only as long as `db` reads it: data of the hub that arrives later has its
    own renewal.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._path = db.path
        self._opened = self._before = _stamp(self._path)
        if self._opened and f"{self._opened[0]:x}" != db.version:
            self._opened = None  # replaced since it was opened

    def start(self) -> None:
        """Checks from now on, in a separate thread."""
        threading.Thread(target=self._look_regularly, name="rebuilt-data", daemon=True).start()

    def look(self) -> bool:
        """Checks once and returns whether a new file was swapped in. Raises nothing: problems with a file are
        logged.
        """
        stamp = _stamp(self._path)
        unchanged, self._before = stamp == self._before, stamp
        if stamp is None or stamp == self._opened or not unchanged or self._db.path != self._path:
            return False
        self._opened = stamp  # a broken file is logged once
        try:
            self._db.swap(self._path, check=self._check)
        except LikenessError as error:
            log.warning("%s was replaced, but the new file is not used: %s", self._path.name, error)
            return False
        log.info("%s was rebuilt, and its scores are shown from now on", self._path.name)
        return True

    def _check(self, fresh: Database) -> None:
        check_contents(fresh)
        if self._db.path != self._path:
            raise DatabaseError("another file is shown by now")

    def _look_regularly(self) -> None:
        while not self._db.is_closed:
            time.sleep(EVERY)
            try:
                self.look()
            except Exception:
                log.exception("%s could not be looked at", self._path.name)


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def check_contents(db: Database) -> None:
    """Raises DatabaseError unless the database has the benchmarks, suites, models, tasks and scores."""
    from compute.catalog import shipped

    try:
        benchmarks = set(db.query("benchmarks")["key"])
        counts = {
            "suites": len(db.query("suites")),
            **db.query("counts").iloc[0],
        }
        db.records("claim_counts")[0]
    except Exception as error:  # of DuckDB: a missing table, a block that cannot be read
        raise DatabaseError(f"it cannot be read ({type(error).__name__})") from error
    missing = [f"benchmark {row.key!r}" for row in shipped().benchmarks if row.key not in benchmarks]
    missing += [noun for noun, count in counts.items() if not count]
    if missing:
        raise DatabaseError(f"it has no {missing[0]}")
