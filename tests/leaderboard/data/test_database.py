"""A database file is read as it was opened, whatever becomes of its path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pandas as pd
import pytest

from compute.types import DatabaseError
from leaderboard.data import database
from leaderboard.data.database import MEMORY_MB, THREADS, Database


@pytest.fixture
def path(database: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(database, tmp_path / "likeness.duckdb"))


def renamed(path: Path, *, suite: str) -> None:
    """Replaces the file by one in which the first suite has this title, as a build does."""
    draft = path.with_name("draft.duckdb")
    shutil.copyfile(path, draft)
    with duckdb.connect(draft) as connection:
        connection.execute("UPDATE suites SET title = ? WHERE key = 'mieb'", [suite])
    os.replace(draft, path)


def title(db: Database) -> str:
    return db.ask("SELECT title FROM suites WHERE key = 'mieb'")["title"][0]


def test_a_file_is_replaced_under_its_own_path(path: Path) -> None:
    db = Database(path)
    before, version, copy = title(db), db.version, db.copy
    renamed(path, suite="New")
    assert title(db) == before
    with db.snapshot():
        db.swap(path)
        assert (title(db), db.version) == (before, version)
    assert title(db) == "New" and db.version != version and db.path == path
    assert not copy.parent.exists() and db.copy.read_bytes() == path.read_bytes()
    db.close()
    assert not db.copy.parent.exists() and path.is_file()


def test_a_file_that_is_gone_is_still_read(path: Path) -> None:
    db = Database(path)
    path.unlink()
    assert title(db) and db.copy.is_file()
    with pytest.raises(DatabaseError, match="no database"):
        db.swap(path)
    assert title(db)


def test_a_file_that_another_program_writes_to_is_not_copied(path: Path) -> None:
    code = f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print('held', flush=True); sys.stdin.read()"
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout.readline() == "held\n"
        with pytest.raises(DatabaseError, match="in use"):
            Database(path)
    finally:
        writer.communicate("")
    assert title(Database(path))


def test_a_check_that_fails_leaves_the_old_file_and_no_copy(path: Path) -> None:
    db = Database(path)
    copies = set(db.copy.parents[1].iterdir())
    renamed(path, suite="New")

    def check(fresh: Database) -> None:
        assert title(fresh) == "New"
        raise DatabaseError("not this one")

    with pytest.raises(DatabaseError, match="not this one"):
        db.swap(path, check=check)
    path.write_bytes(b"no database")
    with pytest.raises(DatabaseError, match="damaged"):
        db.swap(path)
    assert title(db) != "New" and set(db.copy.parents[1].iterdir()) == copies


def test_without_room_for_a_copy_the_file_is_read_where_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full() -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database, "private_folder", full)
    db = Database(path)
    assert title(db) and db.copy == path and "No space left" in caplog.text
    with pytest.raises(DatabaseError, match="cannot be copied"):
        db.swap(path)
    db.close()
    assert path.is_file()


def test_a_file_that_is_replaced_again_and_again_is_opened_when_it_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    private_folder, connect = database.private_folder, database.store.connect

    def missing_at_first() -> Path:
        tries.append(path)
        away = path.with_name("away")
        if len(tries) == 1:
            path.rename(away)
        if len(tries) < 2000:  # more than Python's own limit of calls
            raise FileNotFoundError(2, "No such file")
        away.rename(path)
        monkeypatch.setattr(database.store, "connect", connect)
        return private_folder()

    nothing = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(database, "private_folder", missing_at_first)
    monkeypatch.setattr(database.store, "connect", lambda *_, **__: nothing)
    db = Database(path)
    assert len(tries) == 2000 and title(db) and db.copy != path
    db.close()


def test_what_duckdb_may_use_is_bounded(path: Path) -> None:
    settings = Database(path).ask("SELECT current_setting('memory_limit') AS memory, current_setting('threads') AS n")
    number, unit = settings["memory"][0].split()
    assert unit == "MiB" and float(number) * 2**20 == pytest.approx(MEMORY_MB * 1e6, rel=0.01)
    assert settings["n"][0] == THREADS


def test_an_answer_in_parts_is_the_whole_answer(path: Path) -> None:
    db = Database(path)
    sql = "SELECT * FROM scores ORDER BY run, subset, metric"
    with db.snapshot() as opening:
        parts = list(opening.parts(sql))
        assert len(parts) > 1 and len(list(opening.parts("SELECT * FROM scores WHERE false"))) == 1
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), db.ask(sql), check_dtype=False)


GROWTH = """
import sys, time
from pathlib import Path
from compute.live.models import memory
from leaderboard.data import judge_queries
from leaderboard.data.database import Database
memory.tune_malloc()
db = Database(Path(sys.argv[1]))
before = memory.resident()
for _ in range(3):
    judge_queries.ratings(db, suite="pairbench")
until, held = time.monotonic() + 30, memory.resident()
while time.monotonic() < until and held > before + 60_000_000:
    time.sleep(0.2)
    held = memory.resident()
print(held - before)
db.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much is resident")
def test_what_a_query_has_freed_goes_back_to_the_system(path: Path) -> None:
    """Without that this query, of many joins, leaves 70 MB behind in an app that nobody uses any more."""
    ended = subprocess.run(
        [sys.executable, "-c", GROWTH, str(path)], capture_output=True, text=True, timeout=300, check=True
    )
    assert int(ended.stdout) < 60_000_000
