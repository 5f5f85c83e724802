"""What visitors send: within bounds, into memory only, and always answered with JSON in a sentence. What they fetch."""

import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from compute.live.decoder import POOL, DecoderUnavailable
from leaderboard.live.uploads import Uploads
from leaderboard.pages.try_it import routes as routes_live
from leaderboard.web.errors import guarded
from leaderboard.web.visitors import Rate
from tests.compute.content.test_decoding import picture, saved
from tests.compute.live.hostile import fuzzed
from tests.leaderboard.live.test_uploads import Clock

ONE = {"x-likeness-session": "a" * 32}


@pytest.fixture
def uploads():
    return Uploads()


def client_of(uploads, *, rate=None, suite_cache=None):
    live = SimpleNamespace(uploads=uploads)
    site = SimpleNamespace(live=live, suite_cache=suite_cache, guard=partial(guarded, snapshot=nullcontext))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes_live, "rate", lambda files: rate)
        made = routes_live.routes(site)
    return TestClient(Starlette(routes=made), raise_server_exceptions=False)


@pytest.fixture
def client(uploads):
    return client_of(uploads)


def sentence(answer):
    """The error of an answer: one line, and neither a traceback nor a path of the server."""
    assert answer.headers["content-type"] == "application/json" and list(answer.json()) == ["error"]
    error = answer.json()["error"]
    assert error and "\n" not in error and "Traceback" not in error and str(Path.home()) not in error
    return error


def test_a_session_is_forgotten_by_a_beacon(client, uploads):
    client.post("/live/input", content=saved(picture(), "PNG"), headers=ONE)
    assert client.post("/live/forget", content="b" * 32).status_code == 204 and len(uploads) == 1
    answer = client.post("/live/forget", content="a" * 32)
    assert (answer.status_code, answer.content, len(uploads)) == (204, b"", 0)
    assert client.post("/live/forget", content=b"\xff\x00").status_code == 204


@pytest.mark.parametrize("session", [None, "short", "../../../../etc/passwd"])
def test_without_a_session_nothing_is_read(client, uploads, session):
    headers = {} if session is None else {"x-likeness-session": session}
    for path in ("input", "file"):
        answer = client.post(f"/live/{path}", content=saved(picture(), "PNG"), headers=headers)
        assert answer.status_code == 400 and "Reload it" in sentence(answer)
    assert len(uploads) == 0


def test_who_sends_too_often_is_told_when_to_come_back(uploads):
    clock = Clock()
    client = client_of(uploads, rate=Rate(a_minute=30, burst=2, clock=clock))
    image = saved(picture(), "PNG")
    codes = [client.post("/live/input", content=image, headers=ONE).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    answer = client.post("/live/file", content=b"a", headers=ONE)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2") and "in 2 seconds" in sentence(answer)
    assert client.get("/live/examples").status_code == 200
    assert client.post("/live/forget", content="a" * 32).status_code == 204
    clock.now = 2.0
    assert client.post("/live/input", content=image, headers=ONE).status_code == 200


def test_an_upload_that_waits_holds_up_no_page(uploads, monkeypatch):
    """Uploads have threads of their own: with all of them busy, examples still come at once.

    One visitor's fill only a share of them, so another's are decoded meanwhile.
    """
    monkeypatch.setenv("SYSTEM", "spaces")
    go_on, busy = threading.Event(), threading.Semaphore(0)

    def slow(data, *, read=POOL.image_with_thumbnail, **names):
        busy.release()
        assert go_on.wait(30)
        return read(data, **names)

    monkeypatch.setattr(POOL, "image_with_thumbnail", slow)
    with client_of(uploads) as client, ThreadPoolExecutor(12) as visitors:

        def send(seed, address):
            headers = {**ONE, "x-forwarded-for": address}
            return visitors.submit(
                client.post, "/live/input", content=saved(picture(seed=seed), "PNG"), headers=headers
            )

        sent = [send(seed, "8.8.8.8") for seed in range(10)]
        assert all(busy.acquire(timeout=30) for _ in range(routes_live.OF_VISITOR))
        assert not busy.acquire(timeout=0.3)
        sent += [send(seed, "9.9.9.9") for seed in (10, 11)]
        assert all(busy.acquire(timeout=30) for _ in range(routes_live.WORKERS - routes_live.OF_VISITOR))
        assert client.get("/live/examples").status_code == 200
        assert not any(one.done() for one in sent)
        go_on.set()
        assert [one.result().status_code for one in sent] == [200] * 12


def test_an_image_that_no_process_could_read_may_be_sent_again(client, monkeypatch):
    def busy(data, *, name):
        raise DecoderUnavailable("Many images are being read. Try again")

    monkeypatch.setattr(POOL, "image_with_thumbnail", busy)
    answer = client.post("/live/input", content=saved(picture(), "PNG"), headers=ONE)
    assert answer.status_code == 503 and answer.headers["retry-after"] == "5"
    assert sentence(answer) == "Many images are being read. Try again"


def test_malformed_files_are_images_or_sentences(client, caplog, tmp_path, monkeypatch):
    """None fails, and none leaves anything in a folder. Many more, and crafted ones: tests/slow."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    codes = set()
    for seed in range(40):
        answer = client.post("/live/input", content=fuzzed(seed), headers=ONE)
        codes.add(answer.status_code)
        assert answer.status_code == 200 or len(sentence(answer)) < 400, seed
    assert codes == {200, 400} and os.listdir(tmp_path) == []
    assert not [record for record in caplog.records if record.exc_info or record.name.startswith("leaderboard")]
