"""A rebuilt database is shown by a running app; a broken one is not."""

import logging

import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.rebuilt import RebuiltData
from tests.leaderboard.served import client as client_of
from tests.leaderboard.served import rebuild


def test_a_rebuild_is_shown_and_open_pages_are_told(path):
    db, told = Database(path), []
    db.prepare = lambda: told.append(db.version)
    rebuilt = RebuiltData(db)
    client = client_of(SuiteCache(db))
    opened = client.get("/data/board/unisim-core").json()
    rank = f"/data/rank/unisim-core?w=IQA:2&version={opened['version']}"
    assert client.get(rank).status_code == 200 and not rebuilt.look()
    rebuild(path)
    assert [rebuilt.look(), rebuilt.look(), rebuilt.look()] == [False, True, False], "once it has settled, and once"
    assert told == [db.version] != [opened["version"]]
    answer = client.get("/data/board/unisim-core")
    assert "Rebuilt" in answer.text and "Rebuilt" not in str(opened)
    refused = client.get(rank)
    assert refused.status_code == 400 and "updated after this page was opened. Reload" in refused.json()["error"]


@pytest.mark.parametrize(
    "broken, words",
    [
        (lambda path: path.write_bytes(b"no database at all"), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "half-written"),
        (lambda path: rebuild(path, "UPDATE meta SET value = '0'"), "version"),
        (lambda path: rebuild(path, "DELETE FROM scores"), "no scores"),
        (lambda path: rebuild(path, "DROP TABLE claims"), "cannot be read"),
    ],
    ids=["other", "half", "version", "empty", "without-a-table"],
)
def test_a_broken_file_changes_nothing_and_is_logged_once(path, broken, words, caplog):
    whole = path.read_bytes()
    db = Database(path)
    version, rebuilt = db.version, RebuiltData(db)
    broken(path)
    assert [rebuilt.look() for _ in range(4)] == [False] * 4 and db.version == version
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert words in record.getMessage() and path.name in record.getMessage()
    path.write_bytes(whole)
    assert [rebuilt.look(), rebuilt.look()] == [False, True], "a whole file is shown again"


def test_what_was_replaced_before_the_first_look_is_shown(path):
    db = Database(path)
    rebuild(path)
    assert RebuiltData(db).look()
