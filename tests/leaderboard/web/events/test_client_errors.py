"""gradio_client shows the sentence of a refusal; pages and other programs get what they got."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError, ValidationError
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from leaderboard.web.events.client_errors import ClientErrors
from leaderboard.web.events.turns import QueueLimits
from leaderboard.web.responses import refusal

JOIN = "/gradio_api/queue/join"
AGENT = {"user-agent": "gradio_client/2.7.2; python/3.11"}


@pytest.fixture(scope="module")
def app(database: Path) -> Iterator[gr.Blocks]:
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        blocks, launch = server.build(database)
        blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        yield blocks
        blocks.close(verbose=False)


@pytest.fixture
def client(app: gr.Blocks) -> Client:
    return Client(app.local_url, verbose=False)


def test_a_value_that_is_too_long_is_told_to_the_caller(client: Client) -> None:
    with pytest.raises(ValidationError, match=r"A value has 5,000 characters, more than 200\. Send a shorter one$"):
        client.predict("k" * 5000, api_name="/leaderboard")


def test_a_queue_that_is_full_for_this_caller_is_told(
    app: gr.Blocks, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app._queue, "limits", QueueLimits(session=0))
    with pytest.raises(ValidationError, match="This page already has 0 requests waiting or running"):
        client.predict("a", "b", api_name="/score_pair")
    monkeypatch.setattr(app._queue, "limits", QueueLimits(total=0))
    with pytest.raises(ValidationError, match="Too many requests are waiting on this server. Try again in a minute"):
        client.predict("a", "b", api_name="/score_pair")


def test_other_programs_get_the_status(app: gr.Blocks) -> None:
    index = next(key for key, fn in app.fns.items() if fn.api_name == "leaderboard")
    event = {"fn_index": index, "data": ["k" * 5000], "session_hash": "s"}
    answer = httpx.post(f"{app.local_url}{JOIN[1:]}", json=event)
    assert answer.status_code == 400 and list(answer.json()) == ["error"]
    shaped = httpx.post(f"{app.local_url}{JOIN[1:]}", json=event, headers=AGENT)
    assert shaped.status_code == 422 and shaped.json()["status"] == 400
    assert shaped.json()["error"] == answer.json()["error"] and "k" * 201 not in shaped.text


def test_what_is_accepted_and_what_an_endpoint_refuses_is_as_before(client: Client) -> None:
    assert client.predict("mieb-lite", limit=1, api_name="/leaderboard")[0]["rank"] == 1
    with pytest.raises(AppError, match="No suite 'mieb-lit'. Did you mean"):
        client.predict("mieb-lit", api_name="/leaderboard")


def answering(body: object, *, status: int) -> TestClient:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answer = refusal(body, status, retry_after=5) if isinstance(body, str) else None
        if answer is None:
            await send({"type": "http.response.start", "status": status, "headers": [(b"x-own", b"1")]})
            for part in body:  # type: ignore[attr-defined]
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            return
        await answer(scope, receive, send)

    return TestClient(ClientErrors(app))


def test_when_to_try_again_stays() -> None:
    answer = answering("Too many", status=429).post(JOIN, headers=AGENT)
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["status"]) == (422, "5", 429)


@pytest.mark.parametrize("parts", [[b"no JSON"], [b"[", b"1]"], [b'{"error"', b": 5}"], [b"null"]], ids=range(4))
def test_an_error_without_a_sentence_is_handed_on(parts: list[bytes]) -> None:
    answer = answering(parts, status=500).post(JOIN, headers=AGENT)
    assert (answer.status_code, answer.content, answer.headers["x-own"]) == (500, b"".join(parts), "1")


@pytest.mark.parametrize(("method", "path"), [("GET", JOIN), ("POST", "/live/input"), ("POST", f"{JOIN}/x")])
def test_only_a_refused_event_is_changed(method: str, path: str) -> None:
    answer = answering("No", status=400).request(method, path, headers=AGENT)
    assert (answer.status_code, answer.json()) == (400, {"error": "No"})
