"""What a chat endpoint can do to who asks it: floods, redirects, replies that are none. No answer tells the key."""

import gzip
import itertools
import time
from dataclasses import replace
from urllib.parse import quote

import pytest

from compute.engine import plan
from compute.live.roster import IMPOSSIBLE, READY, availability
from compute.models.judges import endpoint
from compute.models.judges.endpoint import Limits, load
from compute.types import Model, NotHere
from tests.compute.models.chat_server import said
from tests.compute.models.judges.asked import CPU, ROW, judge, question
from tests.compute.small_bench import CATALOG, World

KEY = "sk/not+to-be-told-0123456789"
ONCE = Limits(attempts=1, concurrency=1, timeout=30.0)
LARGE = 8 << 20


def reply_of(server, *, limits=ONCE, **fault):
    server.faults = itertools.repeat(fault)
    return judge(server, limits=limits, key=KEY).reply([question(1)])[0]


@pytest.mark.parametrize(
    "body, headers",
    [(b"x" * LARGE, {}), (gzip.compress(b" " * LARGE), {"content-encoding": "gzip"})],
    ids=["plain", "unpacked"],
)
def test_a_reply_that_is_too_large_is_not_asked_for_again(server, body, headers):
    reply = reply_of(server, body=body, headers=headers, limits=replace(ONCE, attempts=8))
    assert "more than 1 MB" in reply.error and server.requests() == 1


def test_a_reply_that_drips_is_given_up(server):
    drips = (time.sleep(0.05) or b" " for _ in itertools.count())  # until nobody listens
    assert "no answer within 0.5 s" in reply_of(server, body=drips, limits=replace(ONCE, timeout=0.5)).error


def test_counts_that_are_none_are_left_out(server):
    usage = {"prompt_tokens": 10**400, "completion_tokens": "3"}
    reply = reply_of(server, body=said("(A) Image 1") | {"usage": usage})
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.error) == ("(A) Image 1", None, None, "")


@pytest.mark.parametrize("body", [b"[" * 900_000, b"\xff\xfe", b"[1, NaN"], ids=range(3))
def test_what_is_no_json_is_told(server, body):
    assert "no chat completion" in reply_of(server, body=body).error


@pytest.mark.parametrize("echo", [KEY, quote(KEY, safe="")])
def test_no_echo_of_the_key_is_told(server, echo, tmp_path, caplog):
    caplog.set_level("DEBUG")
    failure = {"error": {"message": f"a={echo} " * 50}}
    bodies = ((400, failure), (500, failure), (200, f"{'x' * 180} {echo}".encode()), (200, said(f"(A) {echo}")))
    for status, body in bodies:
        reply = reply_of(server, status=status, body=body, headers={"echoed": echo})
        assert server.last["authorization"] == f"Bearer {KEY}"
        assert "..." in reply.error + reply.text and len(reply.error) < 400
        assert echo[5:15] not in reply.error + reply.text + caplog.text
    assert not any(echo[5:15] in file.read_text() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "after, asked",
    [
        ("", "/v1/chat/completions"),
        ("/api/v1?a=b", "/api/v1/chat/completions?a=b"),
        ("/chat/completions", "/chat/completions"),
    ],
)
def test_the_address_that_is_asked(server, after, asked):
    server.url = server.url.removesuffix("/v1") + after
    assert reply_of(server).text and server.last["path"] == asked


@pytest.mark.parametrize(
    "url, local",
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
        assert load(ROW, CPU, None)
    else:
        with pytest.raises(NotHere, match="--offline"):
            load(ROW, CPU, None)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert availability(ROW, network=lambda: False, room=1 << 40).state == READY


def test_offline_a_local_judge_answers_without_a_proxy(server, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert reply_of(server).text


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
