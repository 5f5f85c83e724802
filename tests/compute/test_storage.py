"""Objects at an address: whole, listed with what tells a change, and errors that say what to do."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import typer
from fsspec.registry import _registry
from typer.core import TyperGroup
from typer.testing import CliRunner

from compute import mirror, storage
from compute.__main__ import app
from compute.features.store import Shelf
from compute.storage import RemoteFolder
from compute.types import BadInput, CannotWrite, LikenessError, NotHere
from tests.compute.object_store import bucket, forget

__all__ = ["bucket"]


@pytest.fixture(params=["s3", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> RemoteFolder:
    url = request.getfixturevalue("bucket") if request.param == "s3" else f"memory://{tmp_path.name}"
    return RemoteFolder(f"{url}/some/folder")


def file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_objects_are_written_listed_read_and_removed(folder: RemoteFolder, tmp_path: Path) -> None:
    assert folder.names() == {}
    folder.put(file(tmp_path / "a", "first"), "x/a.txt")
    folder.put(file(tmp_path / "b", "second"), "b.txt")
    before = folder.names()
    assert list(before) == ["b.txt", "x/a.txt"] and list(folder.names(under="x")) == ["x/a.txt"]
    assert list(folder.below("x").names()) == ["a.txt"]
    folder.get("x/a.txt", tmp_path / "deep" / "read")
    assert (tmp_path / "deep" / "read").read_text() == "first"
    folder.put(file(tmp_path / "a", "other"), "x/a.txt")
    after = folder.names()
    assert after["b.txt"] == before["b.txt"] and after["x/a.txt"] != before["x/a.txt"]
    folder.remove("b.txt")
    folder.remove("b.txt")
    assert list(folder.names()) == ["x/a.txt"]


def test_a_missing_object_leaves_nothing_behind(folder: RemoteFolder, tmp_path: Path) -> None:
    folder.put(file(tmp_path / "a", "first"), "a")
    with pytest.raises(NotHere, match="has no b"):
        folder.get("b", tmp_path / "new" / "b")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_bucket_that_does_not_exist(bucket: str, tmp_path: Path) -> None:
    folder = RemoteFolder("s3://no-such-bucket/x")
    for attempt in (folder.names, lambda: folder.put(file(tmp_path / "a", "text"), "a")):
        with pytest.raises(NotHere, match="s3://no-such-bucket/x: there is no such bucket.*Create it first"):
            attempt()


def test_no_credentials(bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    forget()
    with pytest.raises(CannotWrite, match="no credentials, or none with that right. For s3, set AWS_ACCESS_KEY_ID"):
        RemoteFolder(f"{bucket}/x").put(file(tmp_path / "a", "text"), "a")


def test_a_server_that_is_gone(monkeypatch: pytest.MonkeyPatch, bucket: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    forget()
    with pytest.raises(CannotWrite, match=r"cannot be read \(EndpointConnectionError.*run the same command again"):
        RemoteFolder(f"{bucket}/x").names()


def test_a_hub_that_wants_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfFileSystem

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
            self.send_response(401)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    HfFileSystem.clear_instance_cache()
    try:
        with pytest.raises(LikenessError, match="hf://datasets/org/private.*HF_TOKEN"):
            RemoteFolder("hf://datasets/org/private/results").names()
    finally:
        server.shutdown()
        HfFileSystem.clear_instance_cache()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("s3://", "no address of a folder"),
        ("nothing://a/b", "nothing here reads addresses that begin with nothing://"),
        ("file:///data", "is a folder of this machine: name its path, /data"),
        ("adl://a/b", "need a package that is missing"),
    ],
)
def test_an_address_that_is_none(url: str, words: str) -> None:
    with pytest.raises((BadInput, NotHere), match=words):
        RemoteFolder(url).names()


@pytest.mark.parametrize("url", ["s3://KEY:hunter2@bucket/x", "s3://bucket/x?sig=hunter2", "s3://bucket/x#hunter2"])
def test_keys_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadInput, match="takes no keys") as refused:
        RemoteFolder(url)
    assert "hunter2" not in str(refused.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(_registry, "s3", raising=False)
    storage._file_system.cache_clear()
    with pytest.raises(NotHere, match="pip install s3fs"):
        RemoteFolder("s3://another-bucket/x").names()


class TakesAnyName:
    """Objects of a server that takes names as they are, `..` included."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def invalidate_cache(self) -> None:
        pass

    def find(self, folder: str, *, detail: bool) -> dict[str, dict[str, object]]:
        return {f"bucket/{name}": {"type": "file", "size": 4} for name in self.names}

    def get_file(self, name: str, path: str) -> None:
        Path(path).write_text("evil")


ESCAPES = ("../evil.json", "0/../../../evil.safetensors", "a/..")


@pytest.mark.parametrize("name", ESCAPES)
def test_a_name_that_leads_out_of_the_folder_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(storage, "_file_system", lambda url: (TakesAnyName("good.json", name), "bucket"))
    folder = RemoteFolder("s3://bucket")
    for attempt in (
        folder.names,
        lambda: folder.names(under=name),
        lambda: folder.get(name, tmp_path / "x" / name),
        lambda: folder.put(file(tmp_path / "a", "text"), name),
        lambda: folder.remove(name),
        mirror.Mirror(folder).pull,
        lambda: Shelf(tmp_path / "cache" / "model" / "image", remote=folder),
    ):
        with pytest.raises(BadInput, match="leads out of the folder, '.*evil|leads out of the folder, 'a/..'"):
            attempt()
    assert not list(tmp_path.rglob("evil*"))


def test_names_with_two_dots_in_a_part_are_names_like_others(tmp_path: Path) -> None:
    folder = RemoteFolder(f"memory://{tmp_path.name}")
    folder.put(file(tmp_path / "a", "first"), "v1..v2/x..json")
    assert list(folder.names()) == ["v1..v2/x..json"]
    folder.get("v1..v2/x..json", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "first"


def test_a_shelf_does_not_fetch_what_lies_in_folders_below_it(tmp_path: Path) -> None:
    remote = RemoteFolder(f"memory://{tmp_path.name}/image")
    remote.put(file(tmp_path / "a", "no shard"), "ab/cd.safetensors")
    Shelf(tmp_path / "image", remote=remote)
    assert not list(tmp_path.rglob("cd.safetensors"))


class TestMirror:
    """A results folder of two machines: two local folders for one address."""

    @pytest.fixture
    def machines(self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[mirror.Mirror]:
        made = []
        for name in ("one", "two"):
            monkeypatch.setenv("LIKENESS_CACHE", str(tmp_path / name))
            made.append(mirror.Mirror(RemoteFolder(f"{bucket}/results")))
            made[-1].pull()
        return made

    def test_what_one_writes_the_other_reads(self, machines: list[mirror.Mirror]) -> None:
        one, two = machines
        run = one.folder / "model" / "task" / "0123"
        run.mkdir(parents=True)
        for name in ("scores.parquet", "items.parquet", "run.json"):
            (run / name).write_text(name)
        for apart in ("features/x", "fetched/x", ".hidden"):
            (one.folder / apart).parent.mkdir(exist_ok=True)
            (one.folder / apart).write_text("stays")
        one.push()
        two.pull()
        names = ["items.parquet", "run.json", "scores.parquet"]
        assert sorted(path.name for path in (two.folder / "model/task/0123").iterdir()) == names
        assert sorted(one.remote.names()) == [f"model/task/0123/{name}" for name in names]
        (two.folder / "model/task/0123/run.json").write_text("made again")
        two.push()
        one.pull()
        assert (run / "run.json").read_text() == "made again"

    def test_a_run_s_mark_is_written_last_and_removed_first(
        self, machines: list[mirror.Mirror], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, _ = machines
        steps: list[str] = []
        put, remove = RemoteFolder.put, RemoteFolder.remove
        monkeypatch.setattr(RemoteFolder, "put", lambda *some: (steps.append(f"put {some[2]}"), put(*some))[1])
        monkeypatch.setattr(RemoteFolder, "remove", lambda *some: (steps.append(f"drop {some[1]}"), remove(*some))[1])
        for text in ("first", "second"):
            for name in ("a/b/c/run.json", "a/b/c/scores.parquet"):
                (one.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (one.folder / name).write_text(text)
            one.push()
        one.push()  # nothing changed
        assert steps == [
            "put a/b/c/scores.parquet",
            "put a/b/c/run.json",
            "drop a/b/c/run.json",
            "put a/b/c/scores.parquet",
            "put a/b/c/run.json",
        ]

    def test_nothing_is_fetched_twice(self, machines: list[mirror.Mirror], monkeypatch: pytest.MonkeyPatch) -> None:
        one, two = machines
        (one.folder / "suites").mkdir()
        (one.folder / "suites" / "mine.json").write_text("{}")
        one.push()
        two.pull()

        def fetched(*some: object) -> None:
            raise AssertionError("fetched again")

        monkeypatch.setattr(RemoteFolder, "get", fetched)
        one.pull()
        two.pull()

    def test_what_was_removed_there_goes_unless_it_was_written_anew(self, machines: list[mirror.Mirror]) -> None:
        one, two = machines
        for name in ("x.json", "y.json"):
            (one.folder / name).write_text("old")
        one.push()
        two.pull()
        for name in ("x.json", "y.json"):
            one.remote.remove(name)
        (two.folder / "y.json").write_text("new, and longer")
        two.pull()
        assert not (two.folder / "x.json").exists() and (two.folder / "y.json").exists()

    def test_a_failure_s_note_goes_once_the_run_succeeds(self, machines: list[mirror.Mirror]) -> None:
        one, _ = machines
        (one.folder / "failed.json").write_text("why")
        one.push()
        assert list(one.remote.names()) == ["failed.json"]
        (one.folder / "failed.json").unlink()
        one.push()
        assert one.remote.names() == {}

    def test_a_failure_s_note_that_was_removed_here_is_not_fetched_anew(self, machines: list[mirror.Mirror]) -> None:
        """Another process of this machine opens the address between the success of a run and its put."""
        one, two = machines
        (one.folder / "failed.json").write_text("why")
        one.push()
        (one.folder / "failed.json").unlink()
        one.pull()
        assert not (one.folder / "failed.json").exists()
        one.push()
        assert one.remote.names() == {}
        (two.folder / "failed.json").write_text("failed anew, elsewhere")
        two.push()
        one.pull()
        assert (one.folder / "failed.json").exists()

    def test_a_pull_that_is_cut_short_goes_on_where_it_was(
        self, machines: list[mirror.Mirror], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two = machines
        for name in "abc":
            (one.folder / f"{name}.json").write_text(name)
        one.push()
        fetched: list[str] = []
        get = RemoteFolder.get

        def fails_at_last(folder: RemoteFolder, name: str, path: Path) -> None:
            if len(fetched) == 2:
                raise CannotWrite("the server is gone")
            fetched.append(name)
            get(folder, name, path)

        with monkeypatch.context() as patched:
            patched.setattr(RemoteFolder, "get", fails_at_last)
            with pytest.raises(CannotWrite):
                two.pull()
        monkeypatch.setattr(RemoteFolder, "get", lambda *some: (fetched.append(some[1]), get(*some))[1])
        two.pull()
        assert fetched == ["a.json", "b.json", "c.json"]


@pytest.mark.parametrize(
    ("raised", "code", "lines"),
    [
        (LikenessError("the command's own"), 1, ["Error: no right to write", "Error: the command's own"]),
        (ValueError("a fault"), 1, ["Error: no right to write"]),
        (typer.Exit(3), 3, ["Error: no right to write"]),
        (typer.Exit(0), 1, ["Error: no right to write"]),
        (None, 1, ["Error: no right to write"]),
    ],
    ids=["error", "fault", "exit", "early success", "success"],
)
def test_results_that_cannot_be_put_do_not_hide_a_command_s_own_error(
    raised: Exception | None, code: int, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise CannotWrite("no right to write")

    def listed(*words: object) -> None:
        if raised is not None:
            raise raised

    monkeypatch.setattr(mirror, "push_all", refused)
    monkeypatch.setattr(TyperGroup, "invoke", listed)
    ended = CliRunner().invoke(app, ["list", "suites"])
    assert (ended.exit_code, ended.stderr.splitlines()) == (code, lines)
    assert isinstance(ended.exception, ValueError) == isinstance(raised, ValueError)
