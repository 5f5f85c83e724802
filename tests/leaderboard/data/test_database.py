"""A database file is read as it was opened, whatever becomes of its path."""

import re
from pathlib import Path

import pytest

import leaderboard
from compute.types import DatabaseError
from leaderboard.data.database import QUERIES, Database
from tests.leaderboard.served import rebuild


def test_every_statement_is_asked_and_every_asked_one_is_there():
    sources = [path.read_text() for path in Path(leaderboard.__file__).parent.rglob("*.py")]
    asked = re.compile(r'(?:\.(?:query|keyed|records)\(\s*|QUERIES\[)"(\w+)"')
    assert {name for text in sources for name in asked.findall(text)} == set(QUERIES)


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
