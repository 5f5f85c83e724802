"""Files on disk as answers: whole, in ranges, or not again."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web.sending.files import FileAnswer
from leaderboard.web.sending.pacing import PART
from tests.leaderboard.web.uvicorn_server import ask, serving

CONTENT = bytes(range(256)) * 600  # several parts
TAG = '"v1"'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_bytes(CONTENT)
    return path


def app_of(path: Path, opened: list | None = None) -> Starlette:
    def answer(request: Request) -> FileAnswer:
        file = path.open("rb")
        if opened is not None:
            opened.append(file)
        return FileAnswer(file, name="scores.csv", media="text/csv; charset=utf-8", etag=TAG)

    return Starlette(routes=[Route("/", answer)])


def test_a_whole_file_states_its_length_and_is_closed(path: Path) -> None:
    opened: list = []
    client = TestClient(app_of(path, opened))
    answer = client.get("/")
    assert answer.content == CONTENT and len(CONTENT) > 3 * PART
    assert answer.headers["content-length"] == str(len(CONTENT)) and answer.headers["etag"] == TAG
    assert answer.headers["accept-ranges"] == "bytes" and answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="scores.csv"'
    head = client.head("/")
    assert head.content == b"" and head.headers["content-length"] == str(len(CONTENT))
    assert all(file.closed for file in opened) and len(opened) == 2


@pytest.mark.parametrize(
    ("header", "status", "content", "range_"),
    [
        ("bytes=0-9", 206, CONTENT[:10], "bytes 0-9/153600"),
        ("bytes=100-", 206, CONTENT[100:], "bytes 100-153599/153600"),
        ("bytes=-7", 206, CONTENT[-7:], "bytes 153593-153599/153600"),
        ("bytes=-999999", 206, CONTENT, "bytes 0-153599/153600"),
        ("bytes=153599-999999", 206, CONTENT[-1:], "bytes 153599-153599/153600"),
        ("bytes=153600-", 416, b"", "bytes */153600"),
        ("bytes=-0", 416, b"", "bytes */153600"),
        ("bytes=9-3", 200, CONTENT, None),
        ("bytes=-", 200, CONTENT, None),
        ("bytes=0-1,5-6", 200, CONTENT, None),
        ("lines=1-2", 200, CONTENT, None),
        (f"bytes={'9' * 400}-", 200, CONTENT, None),
    ],
    ids=lambda value: value[:22] if isinstance(value, str) else "",
)
def test_ranges(path: Path, header: str, status: int, content: bytes, range_: str | None) -> None:
    answer = TestClient(app_of(path)).get("/", headers={"range": header})
    assert (answer.status_code, answer.headers.get("content-range")) == (status, range_)
    assert answer.content == content and answer.headers["content-length"] == str(len(content))


def test_what_changed_or_is_known_is_not_continued_or_repeated(path: Path) -> None:
    client = TestClient(app_of(path))
    assert client.get("/", headers={"range": "bytes=5-", "if-range": TAG}).status_code == 206
    assert client.get("/", headers={"range": "bytes=5-", "if-range": '"v0"'}).content == CONTENT
    known = client.get("/", headers={"if-none-match": f'"v0", {TAG}'})
    assert (known.status_code, known.content) == (304, b"") and "content-length" not in known.headers
    assert client.get("/", headers={"if-none-match": '"v0"'}).status_code == 200


def test_a_file_deleted_while_it_is_sent_arrives_whole(path: Path) -> None:
    content = CONTENT * 80  # more than the system's buffers
    path.write_bytes(content)
    with serving(app_of(path)) as port:
        link = ask(port, "/", buffer=1_000_000)
        got = link.recv(1000)
        path.unlink()
        while part := link.recv(1_000_000):
            got += part
    assert got.partition(b"\r\n\r\n")[2] == content


def test_a_reader_who_leaves_frees_the_file(path: Path) -> None:
    path.write_bytes(CONTENT * 80)
    opened: list = []
    with serving(app_of(path, opened)) as port:
        link = ask(port, "/")
        link.recv(1000)
        link.close()
    assert opened[0].closed


def test_a_file_that_became_shorter_is_not_taken_for_whole(path: Path) -> None:
    def answer(request: Request) -> FileAnswer:
        answer = FileAnswer(path.open("rb"), name="a", media="text/plain", etag=TAG)
        path.write_bytes(CONTENT[:10])
        return answer

    with pytest.raises(OSError, match="shorter"):
        TestClient(Starlette(routes=[Route("/", answer)])).get("/")
