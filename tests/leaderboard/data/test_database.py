"""A database file is read as it was opened, whatever becomes of its path."""

import pytest

from compute.types import DatabaseError
from leaderboard.data.database import Database
from tests.leaderboard.served import rebuild


def title(db):
    return db.ask("SELECT title FROM models WHERE key = 'dreamsim-ensemble'")["title"][0]


def test_a_file_is_replaced_under_its_own_path(path):
    db = Database(path)
    before, version, copy = title(db), db.version, db.copy
    rebuild(path)
    assert title(db) == before
    with db.snapshot():
        db.swap(path)
        assert (title(db), db.version) == (before, version)
    assert title(db) == "Rebuilt" and db.version != version and db.path == path
    assert not copy.parent.exists() and db.copy.read_bytes() == path.read_bytes()
    db.close()
    assert not db.copy.parent.exists() and path.is_file()


def test_a_file_that_is_gone_is_still_read(path):
    db = Database(path)
    path.unlink()
    assert title(db) and db.copy.is_file()
    with pytest.raises(DatabaseError, match="no database"):
        db.swap(path)
    assert title(db)


def test_a_check_that_fails_leaves_the_old_file_and_no_copy(path):
    db = Database(path)
    copies = set(db.copy.parents[1].iterdir())
    rebuild(path)

    def check(fresh):
        assert title(fresh) == "Rebuilt"
        raise DatabaseError("not this one")

    with pytest.raises(DatabaseError, match="not this one"):
        db.swap(path, check=check)
    path.write_bytes(b"no database")
    with pytest.raises(DatabaseError, match="damaged"):
        db.swap(path)
    assert title(db) != "Rebuilt" and set(db.copy.parents[1].iterdir()) == copies
