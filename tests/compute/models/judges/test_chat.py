"""What a chat endpoint can do to who asks it: floods, redirects, replies that are none. No answer tells the key."""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote

import pytest

from compute.content.messages import Reply
from compute.engine import plan
from compute.live.roster import IMPOSSIBLE, READY, availability
from compute.models.adapter import Hardware
from compute.models.judges import endpoint
from compute.models.judges.endpoint import Endpoint, Limits, load
from compute.types import Model, NotHere
from tests.answering import Handler
from tests.answering import answering as serving
from tests.compute.models.judges.test_endpoint import KEY, ROW, question
from tests.compute.small_bench import CATALOG, World

ONCE = Limits(attempts=1, concurrency=1, timeout=30.0)


@contextmanager
def answering(content: bytes, *, status: int = 200, **headers: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server that gives every request the same answer, and the path and `authorization` of each."""
    asked: list[tuple[str, str]] = []

    class Always(Handler):
        def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
            self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.path, self.headers.get("authorization", "")))
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    with serving(Always) as url:
        yield f"{url}/v1", asked


@pytest.fixture(autouse=True)
def answers(tmp_path, monkeypatch):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path))


def reply_of(url: str, *, limits: Limits = ONCE) -> Reply:
    return Endpoint(row=ROW, url=url, key=KEY, limits=limits).reply([question(1)])[0]


def good(text: str, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


@pytest.mark.parametrize(
    ("content", "headers"),
    [(b"x" * (8 << 20), {}), (gzip.compress(b" " * (8 << 20)), {"content-encoding": "gzip"})],
    ids=["plain", "unpacked"],
)
def test_a_reply_that_is_too_large_is_not_asked_for_again(content, headers):
    with answering(content, **headers) as (url, asked):
        assert "more than 1 MB" in reply_of(url, limits=replace(ONCE, attempts=8)).error
        assert len(asked) == 1


def test_a_reply_that_drips_is_given_up():
    class Dripping(Handler):
        def do_POST(self) -> None:  # noqa: N802
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            while True:  # until nobody listens
                self.wfile.write(b" ")
                time.sleep(0.05)

    with serving(Dripping) as url:
        assert "no answer within 0.5 s" in reply_of(f"{url}/v1", limits=replace(ONCE, timeout=0.5)).error


def test_counts_that_are_none_are_left_out():
    with answering(good("(A) Image 1", usage={"prompt_tokens": 10**400, "completion_tokens": "3"})) as (url, _):
        reply = reply_of(url)
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.error) == ("(A) Image 1", None, None, "")


def test_a_redirect_is_not_followed():
    with answering(b"", status=307, location="http://127.0.0.1:9/elsewhere") as (url, asked):
        with pytest.raises(NotHere, match="status 307"):
            reply_of(url)
        assert len(asked) == 1


@pytest.mark.parametrize("body", [b"[" * 900_000, b"\xff\xfe", b"[1, NaN"], ids=range(3))
def test_what_is_no_json_is_told(body):
    with answering(body) as (url, _):
        assert "no chat completion" in reply_of(url).error


BASIC = [base64.b64encode(f"{'user'[:count]}:{KEY}:".encode()).decode() for count in range(3)]


@pytest.mark.parametrize("echo", [KEY, *BASIC, quote(quote(KEY + "="))])
def test_no_echo_of_the_key_is_told(echo, tmp_path, caplog):
    caplog.set_level("DEBUG")
    failure = json.dumps({"error": {"message": f"a={echo} " * 50}}).encode()
    bodies = ((400, failure), (500, failure), (200, f"{'x' * 180} {echo}".encode()), (200, good(f"(A) {echo}")))
    for status, content in bodies:
        with answering(content, status=status, echoed=echo) as (url, asked):
            reply = reply_of(url)
        assert asked == [("/v1/chat/completions", f"Bearer {KEY}")]
        assert "..." in reply.error + reply.text and len(reply.error) < 400
        assert echo[5:15] not in reply.error + reply.text + caplog.text
    assert not any(echo[5:15] in file.read_text() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("after", "asked"),
    [
        ("", "/v1/chat/completions"),
        ("/api/v1?a=b", "/api/v1/chat/completions?a=b"),
        ("/chat/completions", "/chat/completions"),
    ],
)
def test_the_address_that_is_asked(after, asked):
    with answering(good("(A) Image 1")) as (url, requests):
        assert reply_of(url.removesuffix("/v1") + after).text
    assert [path for path, _ in requests] == [asked]


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.4/v1", False),
        ("http://localhost.example/v1", False),
    ],
)
def test_offline_no_judge_on_another_machine_is_asked(url, local, monkeypatch):
    monkeypatch.setenv("LIKENESS_ENDPOINT", url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    state = availability(ROW, network=lambda: False, room=1 << 40)
    assert (state.state, state.reason) == ((READY, "") if local else (IMPOSSIBLE, "offline"))
    if local:
        assert load(ROW, Hardware(device="cpu", dtype="float32"), None)
    else:
        with pytest.raises(NotHere, match="--offline"):
            load(ROW, Hardware(device="cpu", dtype="float32"), None)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert availability(ROW, network=lambda: False, room=1 << 40).state == READY


def test_offline_a_local_judge_answers_without_a_proxy(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with answering(good("(A) Image 1")) as (url, _):
        assert reply_of(url).text == "(A) Image 1"


def test_the_plan_says_that_a_judge_is_not_asked_offline(tmp_path, monkeypatch):
    judge = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", abilities=("choose",))
    known = replace(CATALOG, models=(*CATALOG.models, judge))
    monkeypatch.setenv(endpoint.URL, "https://judge.example/v1")
    online, offline = (
        plan.make(known, suite="small", models=["org/judge"], bench=World(folder=tmp_path).bench(offline=offline))
        for offline in (False, True)
    )
    assert online.jobs and not offline.jobs
    refused = {skipped.task.key for skipped in offline.skipped if "another machine" in skipped.reason}
    assert refused == {job.task.key for job in online.jobs}
