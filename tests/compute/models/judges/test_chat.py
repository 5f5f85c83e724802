"""What a chat endpoint can do to who asks it: floods, bombs, drips, redirects. Each ends with a sentence and no key."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from compute.live.models.availability import IMPOSSIBLE, READY, availability
from compute.models.adapter import Hardware
from compute.models.judges import chat, endpoint
from compute.models.judges.chat import ChatClient
from compute.models.judges.endpoint import Endpoint, Limits, load
from compute.types import Model, NotHere
from tests.compute.models.judges.test_endpoint import KEY, ROW, question

ONCE = Limits(attempts=1, concurrency=1, timeout=1.0, first_delay=0.01)
MB = 1 << 20


class Sent:
    """What one connection was sent, and how much of it the client took before it left."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.bytes = 0


@contextmanager
def answering(write: Callable[[Callable[[bytes], None]], None]) -> Iterator[tuple[str, Sent]]:
    """A server on loopback that reads a request and lets `write` answer it, byte for byte."""
    server, sent = socket.create_server(("127.0.0.1", 0)), Sent()

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(1 << 16)
                head, _, body = request.partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                while len(body) < length:
                    body += connection.recv(1 << 16)
                sent.requests.append(head)

                write(partial(_send, connection, sent))

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", sent
    finally:
        server.close()


def _send(connection: socket.socket, sent: Sent, data: bytes) -> None:
    connection.sendall(data)
    sent.bytes += len(data)


def head(*headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *headers, "", ""]).encode()


def reply_of(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, limits: Limits = ONCE):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    return Endpoint(row=ROW, url=url, key=KEY, limits=limits).reply([question(1)])[0]


def good(text: str, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


def test_a_reply_of_60_mb_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not asked for again: seven more attempts would cost seven more."""

    def flood(send: Callable[[bytes], None]) -> None:
        send(head(f"Content-Length: {60 * MB}"))
        for _ in range(60):
            send(b"x" * MB)

    with answering(flood) as (url, sent):
        began = time.process_time()
        reply = reply_of(url, tmp_path, monkeypatch, limits=replace(ONCE, attempts=8, timeout=30))
        assert reply.error == "a reply of more than 1 MB, which is not read further"
        assert len(sent.requests) == 1 and sent.bytes < 20 * MB  # what the sockets between them hold
        assert time.process_time() - began < 1


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_packed_reply_unpacks_to_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    import zlib

    pack = gzip.compress if packing == "gzip" else zlib.compress
    bomb, small = pack(b" " * (200 * MB)), pack(good("(A) Image 1"))
    for content, expected in ((bomb, "a reply of more than 1 MB"), (small, "")):
        with answering(lambda send, data=content: send(head(f"Content-Encoding: {packing}") + data)) as (url, sent):
            began = time.process_time()
            reply = reply_of(url, tmp_path, monkeypatch, limits=replace(ONCE, timeout=30))
            assert reply.error.startswith(expected) and bool(reply.text) == (not expected)
            assert time.process_time() - began < 1
            assert b"accept-encoding: identity" in sent.requests[0].lower()


def test_a_packing_that_was_not_offered_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(lambda send: send(head("Content-Encoding: br") + b"x")) as (url, _):
        assert "packed as br" in reply_of(url, tmp_path, monkeypatch).error


@pytest.mark.parametrize("part", ["headers", "body"])
def test_a_reply_that_drips_ends_at_the_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Every byte comes well within the timeout; the whole never does."""

    def drip(send: Callable[[bytes], None]) -> None:
        send(head()[: -2 if part == "headers" else None])
        for _ in range(600):
            send(b"x")
            time.sleep(0.1)

    with answering(drip) as (url, sent):
        began = time.monotonic()
        assert "no answer within 1 s" in reply_of(url, tmp_path, monkeypatch).error
        assert time.monotonic() - began < 20 and sent.bytes < 400


@pytest.mark.parametrize(
    "location", ["http://169.254.169.254/latest", "//elsewhere.example/v1", "/v2", "file:///etc/x"]
)
def test_a_redirect_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    with answering(lambda send: send(head(f"Location: {location}", status="307 Temporary Redirect"))) as (url, sent):
        with pytest.raises(NotHere, match="status 307: it redirects to .*set LIKENESS_ENDPOINT"):
            reply_of(url, tmp_path, monkeypatch)
        assert len(sent.requests) == 1


def test_a_million_choices_and_tokens_are_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {
        "choices": [{"message": {"content": "(A) Image 1"}}] + [0] * 300_000,
        "usage": {"prompt_tokens": 10**400, "completion_tokens": True},
    }
    with answering(lambda send: send(head() + json.dumps(record).encode())) as (url, _):
        reply = reply_of(url, tmp_path, monkeypatch, limits=replace(ONCE, timeout=30))
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.error) == ("(A) Image 1", None, None, "")


@pytest.mark.parametrize("body", [b"[" * 900_000, b'{"choices":' * 90_000, b"\xff\xfe", b"[1, NaN"], ids=range(4))
def test_what_is_no_json_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    with answering(lambda send: send(head() + body)) as (url, _):
        assert "no chat completion" in reply_of(url, tmp_path, monkeypatch, limits=replace(ONCE, timeout=30)).error


def test_no_echo_of_the_key_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for status, told in (("400 Bad", KEY.upper()), ("500 Bad", f"a={KEY} " * 50), ("200 OK", f"(A) {KEY}")):
        content = json.dumps({"error": {"message": told}}).encode() if status != "200 OK" else good(told)
        with answering(lambda send, s=status, c=content: send(head(status=s) + c)) as (url, sent):
            reply = reply_of(url, tmp_path, monkeypatch)
        assert f"Bearer {KEY}".encode() in sent.requests[0]
        assert (reply.error or reply.text) and KEY.lower() not in (reply.error + reply.text).lower()
        assert len(reply.error) < 400
    assert not any(KEY.lower() in file.read_text().lower() for file in tmp_path.rglob("*") if file.is_file())


def test_connections_are_used_again() -> None:
    """Two requests after one another on one connection: what is bounded is not slowed."""
    accepted = []
    server = socket.create_server(("127.0.0.1", 0))
    content = good("yes")

    def serve() -> None:
        with suppress(OSError):
            connection, _ = server.accept()
            accepted.append(connection)
            for _ in range(2):
                request = b""
                while not request.endswith(b"}"):
                    request += connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content)

    threading.Thread(target=serve, daemon=True).start()
    client = ChatClient(url=f"http://127.0.0.1:{server.getsockname()[1]}", key="", timeout=10, concurrency=1)
    assert [client.complete(b'{"a": 1}')["choices"][0]["message"]["content"] for _ in range(2)] == ["yes", "yes"]
    assert len(accepted) == 1
    server.close()


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://host:8000", "http://host:8000/v1/chat/completions"),
        ("http://host/v1/", "http://host/v1/chat/completions"),
        ("https://host/api/v1?a=b", "https://host/api/v1/chat/completions?a=b"),
        ("http://host/base", "http://host/base/v1/chat/completions"),
        ("http://host/v1/chat/completions", "http://host/v1/chat/completions"),
    ],
)
def test_the_address_is_the_one_the_hubs_client_asks(url: str, asked: str) -> None:
    from huggingface_hub.inference._providers.hf_inference import _build_chat_completion_url

    assert chat.address(url) == asked == _build_chat_completion_url(url)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://10.0.0.4/v1", False),
        ("https://judge.example/v1", False),
        ("http://localhost.example/v1", False),
    ],
)
def test_offline_no_judge_on_another_machine_is_asked(
    url: str, local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))
    monkeypatch.setenv("LIKENESS_ENDPOINT", url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    state = availability(ROW, network=lambda: False, room=1 << 40)
    assert (state.state, state.reason) == ((READY, "") if local else (IMPOSSIBLE, "offline"))
    if local:
        assert load(ROW, Hardware(device="cpu", dtype="float32"), None)
    else:
        with pytest.raises(NotHere, match="--offline .*asks none. Leave it out, or set LIKENESS_ENDPOINT"):
            load(ROW, Hardware(device="cpu", dtype="float32"), None)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert availability(ROW, network=lambda: False, room=1 << 40).state == READY


def test_offline_a_local_judge_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's own client would refuse any request at all."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # not asked either
    with answering(lambda send: send(head() + good("(A) Image 1"))) as (url, _):
        assert reply_of(url, tmp_path, monkeypatch).text == "(A) Image 1"


def test_the_plan_says_that_a_judge_is_not_asked_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compute.engine import plan
    from tests.compute.small_bench import CATALOG, World

    judge = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", abilities=("choose",))
    known = replace(CATALOG, models=(*CATALOG.models, judge))
    bench = World(folder=tmp_path).bench()
    monkeypatch.setenv(endpoint.URL, "https://judge.example/v1")
    online, offline = (
        plan.make(known, suite="small", models=["org/judge"], bench=bench, results=tmp_path, offline=offline)
        for offline in (False, True)
    )
    assert online.jobs and not offline.jobs
    refused = {
        skipped.task.key for skipped in offline.skipped if "its endpoint is on another machine" in skipped.reason
    }
    assert refused == {job.task.key for job in online.jobs}


def test_the_thread_ends_with_its_client() -> None:
    before = set(threading.enumerate())
    client = ChatClient(url="http://127.0.0.1:9", key="", timeout=1, concurrency=1)
    client._running()
    (thread,) = set(threading.enumerate()) - before
    del client
    thread.join(10)
    assert not thread.is_alive()
