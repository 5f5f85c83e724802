"""What Gradio's routes cannot read is answered with a sentence, and what fails leaves its traceback in the log."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError, ValidationError
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from leaderboard.web.errors import FAILED
from leaderboard.web.events.fair_queue import QueueLimits
from leaderboard.web.events.gradio_errors import ClientErrors, GradioErrors
from leaderboard.web.responses import refusal
from tests.leaderboard.web.gradio_server import gradio_server
from tests.leaderboard.web.launched import Served

BODIES = (
    b"",
    b"{",
    b"[]",
    b"\xff\xfe\x00",
    b'{"data": 1}',
    b'{"data": [], "fn_index": 99999, "session_hash": "s"}',
    b'{"data": [], "fn_index": "x", "session_hash": "s"}',
    b'{"data": [], "fn_index": 0, "session_hash": "s", "trigger_id": 99999, "event_data": [1]}',
    b'{"session_hash": "s", "component_id": 99999, "fn_name": "x", "data": null}',
    b'{"session_hash": {}, "component_id": [], "fn_name": 5, "data": null}',
    b"[" * 30_000,
)
POSTED = ("queue/join", "run/nothing", "call/nothing", "call/v2/list_suites", "cancel", "reset", "component_server")
READ = ("queue/data?session_hash=unknown", "call/list_suites/unknown", "info?page=nothing", "component_server", "runs")
JOIN = "/gradio_api/queue/join"
AGENT = {"user-agent": "gradio_client/2.7.2; python/3.11"}


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Any:
    """Fails the test that left a traceback in the log."""
    yield
    assert "Traceback" not in "".join(capfd.readouterr()) and not [one for one in caplog.records if one.exc_info]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("path", POSTED)
def test_a_body_that_is_no_event(app: Served, path: str) -> None:
    with httpx.Client(timeout=60, headers={"content-type": "application/json"}) as client:
        for body in BODIES:
            answer = client.post(f"{app.url}gradio_api/{path}", content=body)
            assert answer.status_code < 500 and len(answer.content) < 200_000, (body, answer.text)


@pytest.mark.usefixtures("quiet")
def test_an_address_that_leads_nowhere(app: Served) -> None:
    for path in READ:
        answer = httpx.get(f"{app.url}gradio_api/{path}", timeout=60)
        assert answer.status_code < 500
        assert "unknown" not in path or (answer.status_code, list(answer.json())) == (404, ["error"])


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("junk", [None, "x" * 2000, [{"a": [None]}], -1], ids=["none", "long", "objects", "minus"])
def test_every_event_of_every_page_with_values_of_other_kinds(app: Served, junk: Any) -> None:
    with httpx.Client(base_url=f"{app.url}gradio_api/", timeout=60) as client:
        for index, fn in app.blocks.fns.items():
            session = f"s{index}"
            sent = {"data": [junk] * len(fn.inputs), "fn_index": index, "session_hash": session, "event_data": junk}
            address = {"x-forwarded-for": f"203.0.113.{index % 250}"}
            answer = client.post("queue/join" if fn.queue else "run/predict", json=sent, headers=address)
            assert answer.status_code in (200, 400, 422, 429, 500), (fn.name, answer.text)
            if fn.queue and answer.status_code == 200:
                text = client.get("queue/data", params={"session_hash": session}).text
                assert "process_completed" in text and len(text) < 400_000


@pytest.mark.usefixtures("quiet")
def test_two_readers_of_one_session() -> None:
    with gradio_server() as app:
        app.join("x", visitor="203.0.113.1", session="s")
        address = f"{app.url}gradio_api/queue/data?session_hash=s"
        with httpx.stream("GET", address, timeout=20) as first, httpx.stream("GET", address, timeout=20) as second:
            chunks = first.iter_raw()  # a name of its own: the connection ends with the iterator
            next(chunks)
            assert second.status_code == 200
        app.work.gate.set()
        app.wait(lambda: not app.queue.event_ids_to_events)
        assert httpx.get(address, timeout=60).status_code == 404


class Blocks:
    """Stands in for the app's, of which only the queue's memory is read."""

    class _queue:
        @staticmethod
        def knows_session(_: str) -> bool:
            return True


@pytest.mark.parametrize(("error", "status"), [(KeyError("s"), 400), (RuntimeError("/secret/path"), 500)])
def test_a_failure_is_a_sentence_and_its_traceback_is_logged(
    error: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    answer = TestClient(GradioErrors(app, Blocks())).post(f"{JOIN}%0Afaked", json={})  # type: ignore[arg-type]
    assert answer.status_code == status and (answer.json() == {"error": FAILED}) == (status == 500)
    (record,) = caplog.records
    assert bool(record.exc_info) == (status == 500) and "\n" not in record.getMessage()


# ---- what gradio_client shows


def test_gradio_client_shows_the_sentence_of_a_refusal(app: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(app.url, verbose=False)
    with pytest.raises(ValidationError, match="characters"):
        client.predict("k" * 100_001, api_name="/leaderboard")
    assert client.predict("mieb-lite", limit=1, api_name="/leaderboard")[0]["rank"] == 1
    with pytest.raises(AppError, match="mieb-lit"):
        client.predict("mieb-lit", api_name="/leaderboard")
    monkeypatch.setattr(app.blocks._queue, "limits", QueueLimits(total=0))
    with pytest.raises(ValidationError, match="waiting"):
        client.predict("a", "b", api_name="/score_pair")


def answering(answer: Any) -> TestClient:
    return TestClient(ClientErrors(answer))


def test_only_a_refused_event_of_gradio_client_is_changed() -> None:
    many = answering(refusal("Too many", 429, retry_after=5))
    changed = many.post(JOIN, headers=AGENT)
    assert (changed.status_code, changed.headers["retry-after"], changed.json()["status"]) == (422, "5", 429)
    assert changed.json()["detail"][0]["message"] == "Too many"
    for headers, path in (({}, JOIN), (AGENT, "/live/input")):
        assert many.post(path, headers=headers).json() == {"error": "Too many"}
    unexplained = answering(refusal("", 500)).post(JOIN, headers=AGENT)
    assert (unexplained.status_code, unexplained.json()) == (500, {"error": ""})
