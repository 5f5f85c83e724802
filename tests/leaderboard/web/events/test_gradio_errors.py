"""No request of a visitor writes a traceback to the log: a sentence answers it, and at most one line is logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import pytest

from tests.leaderboard.web.gradio_server import gradio_server

JUNK: tuple[Any, ...] = (None, -1, 10**400, "x" * 2000, [], {}, [[]], [{"a": [None]}], True)
JUNK_IDS = ("none", "minus", "huge", "long", "list", "object", "lists", "objects", "true")
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe\x00",
    b'{"data": 1}',
    b'{"data": []}',
    b'{"data": [], "fn_index": 99999, "session_hash": "s"}',
    b'{"data": [], "fn_index": -1, "session_hash": "s"}',
    b'{"data": [], "fn_index": "x", "session_hash": "s"}',
    b'{"data": [], "fn_index": 1e400, "session_hash": "s"}',
    b'{"data": [], "fn_index": 0, "session_hash": 5}',
    b'{"data": [], "fn_index": 0, "session_hash": "s", "trigger_id": 99999, "event_data": [1]}',
    b'{"data": {"session_hash": {}}, "fn_index": 0}',
    b'{"session_hash": "s", "fn_index": 0, "event_id": "e"}',
    b'{"session_hash": "s", "component_id": 99999, "fn_name": "x", "data": null}',
    b'{"session_hash": "s", "component_id": "x", "fn_name": "__class__", "data": null}',
    b'{"session_hash": {}, "component_id": [], "fn_name": 5, "data": null}',
    b"[" * 30_000,
)
POSTED = (
    "queue/join",
    "run/predict",
    "run/nothing",
    "api/nothing",
    "call/nothing",
    "call/v2/nothing",
    "call/list_suites",
    "call/v2/list_suites",
    "cancel",
    "reset",
    "component_server",
    "component_server/",
    "queue/data",
    "heartbeat/x",
)
READ = (
    "queue/data?session_hash=unknown",
    "queue/data",
    "queue/join",
    "call/list_suites/unknown",
    "call/v2/list_suites/unknown",
    "call/nothing/unknown",
    "run/predict",
    "cancel",
    "component_server",
    "info?page=nothing",
    "info?all_endpoints=x",
    "custom_component/x/client/y/z",
    "custom_component/html/client/component/..%2f..%2fx",
    "runs",
    "token",
    "user",
    "openapi.json",
)


@pytest.fixture(scope="module")
def app(database: Path) -> Iterator[tuple[str, gr.Blocks]]:
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        patch.delenv("LIKENESS_RATE", raising=False)
        blocks, launch = server.build(database)
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        yield f"{url}gradio_api/", blocks
        blocks.close(verbose=False)


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails the test that left a traceback, or more than a line a request, in the log."""
    with caplog.at_level(logging.INFO):
        yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err, (out + err)[-3000:]
    told = [record for record in caplog.records if record.exc_info]
    assert not told, [(record.getMessage(), record.exc_info) for record in told]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("path", POSTED)
def test_a_body_that_is_no_event(app: tuple[str, gr.Blocks], path: str) -> None:
    with httpx.Client(timeout=60) as client:
        for number, body in enumerate(BODIES):
            for method in ("POST", "PUT"):
                headers = {"content-type": "application/json", "x-forwarded-for": f"203.0.113.{number}"}
                answer = client.request(method, app[0] + path, content=body, headers=headers)
                assert answer.status_code < 500 and len(answer.content) < 200_000, (body, answer.text)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("path", READ)
def test_an_address_that_leads_nowhere(app: tuple[str, gr.Blocks], path: str) -> None:
    answer = httpx.get(app[0] + path, timeout=60)
    assert answer.status_code < 500
    if "unknown" in path:
        assert (answer.status_code, list(answer.json())) == (404, ["error"])
        assert "There is no such event here" in answer.json()["error"]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("junk", JUNK, ids=JUNK_IDS)
def test_every_event_of_every_page_with_values_of_other_kinds(app: tuple[str, gr.Blocks], junk: Any) -> None:
    url, blocks = app
    with httpx.Client(timeout=60) as client:
        for index, fn in blocks.fns.items():
            for data in ([junk] * len(fn.inputs), [junk] * max(0, len(fn.inputs) - 1)):
                sent = {"data": data, "fn_index": index, "session_hash": f"s{index}", "event_data": junk}
                sent["batched"] = True
                if fn.queue:
                    answer = client.post(
                        f"{url}queue/join", json=sent, headers={"x-forwarded-for": f"203.0.113.{index % 250}"}
                    )
                    assert answer.status_code in (200, 400, 422, 429), (fn.name, answer.text)
                    if answer.status_code == 200:
                        text = client.get(f"{url}queue/data", params={"session_hash": f"s{index}"}).text
                        assert "process_completed" in text and len(text) < 400_000
                else:
                    answer = client.post(f"{url}run/predict", json=sent)
                    assert answer.status_code in (200, 400, 422, 500) and answer.json(), (fn.name, answer.text)
                    if answer.status_code == 500:
                        assert answer.json()["error"] and len(answer.text) < 4000


@pytest.mark.usefixtures("quiet")
def test_two_readers_of_one_session() -> None:
    with gradio_server() as app:
        app.join("x", visitor="203.0.113.1", session="s")
        address = f"{app.url}gradio_api/queue/data?session_hash=s"
        with httpx.stream("GET", address, timeout=20) as first, httpx.stream("GET", address, timeout=20) as second:
            next(first.iter_raw())
            assert second.status_code == 200
        app.work.gate.set()
        app.wait(lambda: not app.queue.event_ids_to_events)
        assert httpx.get(address).status_code == 404
