"""Values made once, however many ask at the same moment."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from leaderboard.data.database import Database, shared


def test_many_askers_make_one_value(database):
    db, made = Database(database), []

    def make(owner, key):
        made.append(key)
        time.sleep(0.05)
        return key.upper()

    ask = shared(make)
    start = threading.Barrier(16)

    def visitor(number):
        start.wait()
        return ask(db, "ab"[number % 2])

    with ThreadPoolExecutor(max_workers=16) as visitors:
        answers = list(visitors.map(visitor, range(16)))
    assert answers == ["A", "B"] * 8
    assert sorted(made) == ["a", "b"]


def test_what_is_shared_is_made_once_a_file_for_every_owner(database):
    db, made = Database(database), []
    ask = shared(lambda owner, key: made.append(key) or (key, owner.db.version))
    first, second = SimpleNamespace(db=db), SimpleNamespace(db=db)
    assert ask(first, "a") is ask(second, "a") and made == ["a"]
    other = SimpleNamespace(db=Database(database))
    assert ask(other, "a") == ask(first, "a") and made == ["a", "a"], "another opening of the file makes its own"
    db.close()
