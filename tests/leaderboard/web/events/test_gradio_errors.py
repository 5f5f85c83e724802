"""No request of a visitor writes a traceback to the log, but a failure of ours or of Gradio's does, once a kind."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio import route_utils
from gradio.data_classes import PredictBody
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from leaderboard.web.errors import FAILED
from leaderboard.web.events import gradio_errors
from leaderboard.web.events.gradio_errors import FailureLog, GradioErrors, is_lookup
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
            chunks = first.iter_raw()  # a name of its own: the connection ends with the iterator
            next(chunks)
            assert second.status_code == 200
        app.work.gate.set()
        app.wait(lambda: not app.queue.event_ids_to_events)
        assert httpx.get(address, timeout=60).status_code == 404


# ---- failures that are not the visitor's


class Blocks:
    """Stands in for the app's, of which only the queue's memory is read."""

    class _queue:
        @staticmethod
        def knows_session(_: str) -> bool:
            return True


def failing(error: Exception, *, after: bool = False) -> TestClient:
    """An app whose Gradio raises this; `after` it has begun to answer."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if after:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun", "more_body": False})
        raise error

    return TestClient(GradioErrors(app, Blocks()), raise_server_exceptions=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [KeyError("s"), TypeError("x"), RuntimeError("/secret/path"), OSError(28, "full")])
def test_an_unknown_failure_is_a_500_with_its_traceback_once_a_kind(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    client = failing(error)
    for number in range(25):
        answer = client.post(f"/gradio_api/queue/join?number={number}", json={})
        assert (answer.status_code, answer.json()) == (500, {"error": FAILED})
    told = [record for record in caplog.records if record.name == gradio_errors.log.name]
    assert [record.exc_info[1] for record in told if record.exc_info] == [error, error]
    assert [record.getMessage() for record in told] == [
        "POST /gradio_api/'queue/join' failed",
        "POST /gradio_api/'queue/join' failed, for the 10th time",
    ]


def test_a_failure_after_the_answer_began_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    assert failing(RuntimeError("late"), after=True).post("/gradio_api/queue/join", json={}).text == "begun"
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info] == [("late",)]


def test_a_path_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    failing(RuntimeError("x")).get("/gradio_api/a%0Aroot:%20all%20is%20well" + "y" * 500)
    (record,) = [record for record in caplog.records if record.exc_info]
    assert "\n" not in record.getMessage() and len(record.getMessage()) < 120


def test_kinds_without_end_do_not_flood_the_log(caplog: pytest.LogCaptureFixture) -> None:
    failures = FailureLog(most=5)
    for number in range(200):
        failures.add(type(f"Error{number}", (Exception,), {})(), action="It")
    assert len(caplog.records) == 5 + 3  # and the 1st, 10th and 100th beyond


def test_what_a_request_names_in_vain_is_told_from_the_same_error_elsewhere() -> None:
    def get_fn() -> None:
        raise KeyError("x")

    def raised(call: Callable[[], object]) -> Exception:
        with pytest.raises(Exception) as caught:  # noqa: PT011 (of any kind)
            call()
        return caught.value

    with gr.Blocks(analytics_enabled=False) as blocks:
        pass
    body = PredictBody(data=[], fn_index=9)
    assert is_lookup(raised(lambda: route_utils.get_fn(blocks, None, body)))
    assert not is_lookup(raised(get_fn)) and not is_lookup(KeyError("x"))


@pytest.mark.parametrize(("module", "name"), gradio_errors.LOOKUPS)
def test_gradio_has_the_functions_that_look_up_what_a_request_names(module: str, name: str) -> None:
    def names(code: CodeType) -> Iterator[str]:
        for inner in filter(lambda each: isinstance(each, CodeType), code.co_consts):
            yield inner.co_qualname
            yield from names(inner)

    path = importlib.util.find_spec(module).origin
    assert name in names(compile(Path(path).read_text(), path, "exec"))
