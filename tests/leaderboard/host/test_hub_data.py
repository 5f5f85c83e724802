"""A database that comes from the hub: fetched, checked, swapped under running requests, and kept when the hub fails."""

import logging
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from compute.types import BadInput
from leaderboard.data.database import Database, shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host import hub_data
from leaderboard.host.hub_data import HubData
from tests.compute.models.model_hub import Repository, serving
from tests.leaderboard.hub import point_at
from tests.leaderboard.served import client as client_of
from tests.leaderboard.served import copied, rebuild

NEW = "example/new"  # a model that only the other database has
REPO, FILE = "someone/likeness", "likeness.duckdb"


@pytest.fixture(scope="module")
def other(changed):
    """The shipped figures and one more model, which has another's."""
    runs = "model = 'dreamsim-ensemble'"
    return changed(
        copied("models", "key = 'dreamsim-ensemble'", key=f"'{NEW}'"),
        copied("runs", runs, id="'new-' || id", model=f"'{NEW}'"),
        copied("scores", f"run IN (SELECT id FROM runs WHERE {runs})", run="'new-' || run"),
    ).path


@pytest.fixture
def two(database, other, tmp_path):
    """Both databases at paths of the test's own."""
    return tuple(
        Path(shutil.copyfile(path, tmp_path / f"{name}.duckdb"))
        for name, path in (("first", database), ("second", other))
    )


@pytest.fixture
def hub(monkeypatch):
    with serving() as hub:
        point_at(hub, monkeypatch)
        yield hub


def publish(hub, content, *, commit):
    """Another commit with other content."""
    hub.repositories[REPO] = Repository(commit=commit * 40, files={FILE: content})
    hub.asked.clear()


@pytest.fixture
def data(tmp_path):
    data = HubData(REPO, folder=tmp_path / "cache")
    yield data
    data.close()


def stored(data):
    """The files in the cache, whole ones and parts."""
    return list((data.folder / "datasets--someone--likeness" / "blobs").glob("*"))


def models(db):
    return set(db.query("listed_models")["key"])


# Swapping


def test_a_swap_shows_in_every_cache(two):
    db = Database(two[0])
    made = []
    counted = partial(shared(lambda db: made.append(1) or len(models(db))), db)
    client = client_of(SuiteCache(db))
    pages = ("data/board/unisim-core", "data/task?task=unisim/nights", "export/everything?format=json")
    before = {page: client.get(page) for page in pages}
    count = counted()
    assert client.get(f"data/model?model={NEW}").status_code == 400
    db.swap(two[1])
    after = {page: client.get(page) for page in pages}
    for page in pages:
        assert NEW not in before[page].text and NEW in after[page].text, page
    tags = [answers[pages[0]].headers["etag"] for answers in (before, after)]
    assert [client.get(pages[0], headers={"if-none-match": tag}).status_code for tag in tags] == [200, 304]
    assert client.get(f"data/model?model={NEW}").status_code == 200
    assert (counted(), counted(), len(made)) == (count + 1, count + 1, 2)


def test_requests_of_many_threads_outlive_swaps(two, caplog):
    db = Database(two[0])
    client = client_of(SuiteCache(db))
    pages = ("data/board/unisim-core", "data/rank/unisim-core?w=IQA:3", "data/task?task=unisim/nights", "data/claims")
    done, answers = threading.Event(), []

    def visit(number):
        turn = number
        while not done.is_set() or turn < number + len(pages):
            answers.append((pages[turn % len(pages)], client.get(pages[turn % len(pages)]).status_code))
            turn += 1

    with ThreadPoolExecutor(6) as visitors:
        running = [visitors.submit(visit, number) for number in range(6)]
        for turn in range(8):
            db.swap(two[(turn + 1) % 2])
            assert (NEW in models(db)) is (turn % 2 == 0)
        done.set()
        for one in running:
            one.result(timeout=60)
    assert len(answers) >= 24 and {status for _, status in answers} == {200}
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


# Fetching


def test_the_first_copy_is_fetched_and_a_new_commit_is_swapped_in(
    hub,
    data,
    database,
    other,
    monkeypatch,
    caplog,
):
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    publish(hub, database.read_bytes(), commit="a")
    assert data.refresh() and data.path.read_bytes() == database.read_bytes()
    assert stored(data) == [data.path]
    db, told = Database(data.path), []
    db.prepare = lambda: told.append(db.path)
    data.renew(db)
    publish(hub, other.read_bytes(), commit="b")
    assert data.refresh() and NEW in models(db) and told == [db.path] == [data.path]
    assert data.status.startswith(f"The data set {REPO}, commit bbbbbbb, content ") and data.status.endswith(" UTC.")
    # None leaves the hub, none is told. The library asks of itself without one.
    assert hub.tokens["hub"] - {""} == {"Bearer hf_secretsecret"} and hub.tokens["store"] == {""}
    assert "secret" not in data.status + caplog.text


def test_a_new_file_that_fails_its_checks_is_refused_once(hub, data, database, path, changed):
    publish(hub, database.read_bytes(), commit="a")
    data.refresh()
    db = Database(data.path)
    data.renew(db)
    rebuild(path, "UPDATE meta SET value = '0' WHERE key = 'schema'")
    publish(hub, path.read_bytes(), commit="b")
    assert not data.refresh() and len(hub.fetched) == 1
    assert "not a database of this version" in data.problem and "bbbbbbb" in data.status and db.path == data.path
    assert stored(data) == [data.path]
    assert len(models(db)) > 100
    assert not data.refresh() and len(hub.fetched) == 1 and "of this version" in data.problem  # known to be wrong
    publish(hub, changed("UPDATE models SET title = 'X' WHERE key = 'cfred'").path.read_bytes(), commit="c")
    assert data.refresh() and data.problem == ""
    assert db.query("model", key="cfred")["title"].iloc[0] == "X"


def test_a_file_that_is_no_database_or_half_of_one_is_refused(hub, data, database):
    for commit, content in (("a", b"not a database" * 10_000), ("b", database.read_bytes()[:-300_000])):
        publish(hub, content, commit=commit)
        assert not data.refresh() and "is not used" in data.problem and data.path is None
    assert "not loaded yet" in data.status


def test_what_the_hub_does_not_have_is_said(hub, data):
    for words in ("no data set someone/likeness that this app may read", "likeness publish --repo someone/likeness"):
        assert not data.refresh() and words in data.problem and words in data.status
        hub.repositories[REPO] = Repository(commit="a" * 40, files={})


# Starting


def test_a_copy_from_before_is_opened_without_the_hub(hub, data, database, tmp_path):
    publish(hub, database.read_bytes(), commit="a")
    data.refresh()
    hub.asked.clear()
    later = HubData(REPO, folder=data.folder, offline=True)
    assert later.start() == data.path and hub.asked == []
    assert "runs offline" in later.status and "fetched" in later.status


def test_without_the_hub_or_a_copy_the_start_goes_on(data, hub, caplog):
    assert data.start() is None
    assert "is not shown: The hub has no data set" in caplog.text
    data.offline = True
    assert data.start() is None
    assert "has no copy" in caplog.text and "come with the program" in caplog.text


def test_a_damaged_copy_is_passed_over(hub, data, database, caplog):
    publish(hub, database.read_bytes(), commit="a")
    pointer = data.folder / "datasets--someone--likeness" / "snapshots" / "b" / FILE
    content = pointer.parents[2] / "blobs" / ("1" * 64)
    for path in (pointer, content):
        path.parent.mkdir(parents=True)
    content.write_bytes(database.read_bytes()[:5000])
    pointer.symlink_to(Path("../../blobs") / content.name)
    assert data.start().read_bytes() == database.read_bytes() and "cannot be used" in caplog.text


def test_what_arrives_after_the_start_gave_up_is_swapped_in(hub, data, database, other, monkeypatch):
    publish(hub, other.read_bytes(), commit="a")
    hub.held = threading.Event()
    monkeypatch.setattr(hub_data, "PATIENCE", 0.01)
    assert data.start() is None
    db = Database(database)
    data.renew(db)
    assert NEW not in models(db)
    hub.held.set()
    assert data._checked.wait(30) and NEW in models(db) and "commit aaaaaaa" in data.status


# What the environment says


@pytest.fixture
def place(monkeypatch, tmp_path):
    for name in ("LIKENESS_DATA", "LIKENESS_REFRESH", "LIKENESS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return tmp_path


def test_the_environment_names_data_set_cache_and_interval(place, monkeypatch):
    def found():
        data = hub_data.from_environment()
        return data and (data.repo, data.every, data.offline, data.folder)

    assert found() is None
    monkeypatch.setenv("LIKENESS_DATA", REPO)
    assert found() == (REPO, 1800, False, place / "hf" / "likeness")
    monkeypatch.setenv("LIKENESS_REFRESH", "0.5")
    monkeypatch.setenv("LIKENESS_CACHE", str(place / "mine"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert found() == (REPO, 30, True, place / "mine")


@pytest.mark.parametrize(
    "name, value",
    [
        *(("LIKENESS_DATA", value) for value in ("likeness", "a/b/c", "../b", "a/b c")),
        *(("LIKENESS_REFRESH", value) for value in ("often", "-1", "nan")),
    ],
)
def test_what_cannot_be_meant_is_said(place, monkeypatch, name, value):
    monkeypatch.setenv("LIKENESS_DATA", REPO)
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=name):
        hub_data.from_environment()
