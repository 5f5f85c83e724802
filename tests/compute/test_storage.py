"""Objects at an address in memory: whole, listed with what tells a change, and a results folder of two machines.

On a server that speaks S3: tests/slow/compute/test_s3.py.
"""

from unittest.mock import Mock

import numpy as np
import pytest

from compute import storage
from compute.features.store import EmbeddingCache
from compute.storage import RemoteFolder
from compute.types import BadInput, NotHere
from tests.compute.tasks.files import put


@pytest.fixture
def folder(tmp_path):
    return RemoteFolder(f"memory://{tmp_path.name}/some/folder")


def file(path, text):
    return put(path.parent, {path.name: text}) / path.name


def test_objects_are_written_listed_read_and_removed(folder, tmp_path):
    folder.put(file(tmp_path / "a", "first"), "x/a.txt")
    folder.put(file(tmp_path / "b", "second"), "b..txt")
    assert list(folder.names()) == ["b..txt", "x/a.txt"] and list(folder.below("x").names()) == ["a.txt"]
    folder.get("x/a.txt", tmp_path / "deep" / "read")
    assert (tmp_path / "deep" / "read").read_text() == "first"
    before = folder.names()
    folder.put(file(tmp_path / "a", "others"), "x/a.txt")
    after = folder.names()
    assert after["b..txt"] == before["b..txt"] and after["x/a.txt"] != before["x/a.txt"]
    folder.remove("b..txt")
    folder.remove("b..txt")
    assert list(folder.names()) == ["x/a.txt"]
    with pytest.raises(NotHere, match="such object"):
        folder.get("b", tmp_path / "new" / "b")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    "url, word",
    [
        ("s3://", "address"),
        ("nothing://a/b", "nothing://"),
        ("adl://a/b", "package"),
        ("s3://KEY:hunter2@bucket/x", "keys"),
        ("s3://bucket/x?sig=hunter2", "keys"),
    ],
)
def test_an_address_that_is_none(url, word):
    with pytest.raises((BadInput, NotHere), match=word) as refused:
        RemoteFolder(url).names()
    assert "hunter2" not in str(refused.value)


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, monkeypatch):
    takes_any_name = Mock()
    names = ("bucket/good.json", "bucket/0/../../evil.json")
    takes_any_name.find.return_value = {name: {"type": "file", "size": 4} for name in names}
    monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(storage, "_file_system", lambda url: (takes_any_name, "bucket"))
    for attempt in (
        storage.Mirror(RemoteFolder("s3://bucket")).pull,
        lambda: EmbeddingCache(tmp_path / "image", remote=RemoteFolder("s3://bucket")),
    ):
        with pytest.raises(BadInput, match="evil"):
            attempt()


@pytest.fixture
def machines(folder, tmp_path, monkeypatch):
    """Two local folders for one address."""
    made = []
    for name in ("one", "two"):
        monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / name))
        made.append(storage.Mirror(folder))
        made[-1].pull()
    return made


def test_what_one_machine_writes_the_other_reads(machines):
    one, two = machines
    run = "model/task/0123"
    for name in ("scores.parquet", "items.parquet", "run.json", "failed.json"):
        file(one.folder / run / name, name)
    for apart in ("features/x", "fetched/x", ".hidden", "suites/x.json.draft-12"):
        file(one.folder / apart, "stays")
    one.push()
    two.pull()
    names = ["items.parquet", "run.json", "scores.parquet"]
    assert sorted(path.name for path in (two.folder / run).iterdir()) == names
    assert sorted(one.remote.names()) == [f"{run}/{name}" for name in names]
    file(two.folder / run / "run.json", "made again")
    two.push()
    one.pull()
    assert (one.folder / run / "run.json").read_text() == "made again"
    for name in ("items.parquet", "run.json"):
        one.remote.remove(f"{run}/{name}")
    file(two.folder / run / "run.json", "and written here since")
    two.pull()
    assert sorted(path.name for path in (two.folder / run).iterdir()) == names[1:]


def test_a_run_s_mark_is_put_last_and_nothing_twice(machines, monkeypatch):
    steps = []
    for method in ("put", "remove", "get"):
        old = getattr(RemoteFolder, method)

        def counted(self, *some, old=old, method=method):
            steps.append(f"{method} {next(part for part in some if isinstance(part, str))}")
            old(self, *some)

        monkeypatch.setattr(RemoteFolder, method, counted)
    one, two = machines
    for text in ("first", "second"):
        for name in ("a/b/c/run.json", "a/b/c/scores.parquet"):
            file(one.folder / name, text)
        one.push()
        one.push()
    for machine in (one, two, two):
        machine.pull()
    both = [" a/b/c/scores.parquet", " a/b/c/run.json"]
    put, got = [f"put{name}" for name in both], [f"get{name}" for name in both]
    assert steps == [*put, "remove a/b/c/run.json", *put, *got]


def test_a_shard_that_could_not_be_put_is_put_later(folder, tmp_path, monkeypatch):
    keys = np.array([f"{row:032x}" for row in range(4)], dtype="S32")
    cache = EmbeddingCache(tmp_path / "image", remote=folder)

    def refuse(*some):
        raise ConnectionError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(RemoteFolder, "put", refuse)
        with pytest.raises(ConnectionError), cache.locked(tell=print):
            cache.append(keys, np.ones((4, 2), np.float32))
    assert folder.names() == {} and cache._listed()
    # Nothing is missing here, so that no pass takes the lock.
    assert EmbeddingCache(tmp_path / "image", remote=folder).has(keys).all()
    assert list(folder.names()) == cache._listed()
