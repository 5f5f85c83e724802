"""Gradio's part of a served app: one visitor's events hold nobody up, nothing is stored of a session, and what cannot
be read is answered with a sentence."""

import threading
from concurrent.futures import ThreadPoolExecutor

import gradio as gr
import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard.web import gradio_app
from leaderboard.web.errors import FAILED
from leaderboard.web.gradio_app import (
    ERRORS,
    NoSessions,
    QueueLimits,
    StatelessBlocks,
)
from tests.leaderboard.web.gradio_server import gradio_server, nothing

MANY, NEW, OTHER = "203.0.113.1", "203.0.113.2", "203.0.113.3"


def test_a_newcomer_waits_for_the_running_event_and_one_of_each_other_visitor():
    with gradio_server(QueueLimits(address=10)) as app:
        joined = [app.join(f"many{number}", visitor=MANY, session=f"m{number // 8}") for number in range(11)]
        assert [answer.status_code for answer in joined] == [200] * 10 + [429]
        app.begins("many0")
        assert app.join("new", visitor=NEW, session="n").status_code == 200
        assert app.join("other", visitor=OTHER, session="o").status_code == 200
        app.work.gate.set()
        app.wait(lambda: len(app.work.ended) == 12)
        assert app.work.ended.index("new") <= 2 and app.work.ended.index("other") <= 3
        assert app.work.most_at_once == 1
        assert '"success":true' in app.messages("n")


def test_a_page_is_told_when_it_sends_too_many_and_others_are_not_held_back():
    with gradio_server(QueueLimits(session=2)) as app:
        for _ in range(2):
            assert app.join("x", visitor=MANY, session="m").status_code == 200
        refused = app.join("x", visitor=MANY, session="m")
        assert refused.status_code == 429 and refused.headers["retry-after"]
        assert "already has 2 requests waiting or running" in refused.json()["detail"]  # what Gradio's page shows
        assert app.join("x", visitor=MANY, session="m2").status_code == 200
        assert app.join("x", visitor=NEW, session="m").status_code == 200


def test_a_large_body_takes_the_room_of_many_and_where_all_is_full_everybody_is_told():
    with gradio_server(QueueLimits(address=6, total=6)) as app:
        assert app.join("x" * 4_500_000, visitor=MANY, session="m").status_code == 200
        assert app.join("x" * 2_500_000, visitor=MANY, session="m").status_code == 429
        assert app.join("x", visitor=MANY, session="m").status_code == 200
        full = app.join("x", visitor=NEW, session="n")
        assert full.status_code == 503 and full.headers["retry-after"]
        assert app.join("x", visitor=NEW, session="x" * 201).status_code == 400


def test_answers_that_nobody_fetches_are_bounded_and_those_who_wait_stay(monkeypatch):
    monkeypatch.setattr(gradio_app, "UNREAD", 3)
    with gradio_server() as app, ThreadPoolExecutor(1) as pool:
        stored = app.queue.pending_messages_per_session
        app.join("x", visitor=NEW, session="n")
        waiting = pool.submit(app.messages, "n")
        app.wait(lambda: app.work.begun == ["x"] and not stored["n"].qsize())
        for number in range(6):
            assert app.join("x", visitor=MANY, session=f"m{number}", event="quick").status_code == 200
            app.wait(lambda: len(app.queue.event_ids_to_events) == 1)
        assert list(stored) == list(app.queue.pending_event_ids_session) == ["n", "m2", "m3", "m4", "m5"]
        app.work.gate.set()
        assert '"success":true' in waiting.result() and '"success":true' in app.messages("m5")


def test_nobody_has_more_than_half_of_several_slots():
    with gradio_server() as app:
        for number in range(6):
            app.join(f"many{number}", visitor=MANY, session=f"m{number}", event="several")
        app.wait(lambda: len(app.work.begun) == 2)
        app.join("new", visitor=NEW, session="n", event="several")
        app.begins("many0", "many1", "new")


def test_who_leaves_takes_the_waiting_events_along():
    with gradio_server() as app:
        app.join("first", visitor=MANY, session="m")
        app.begins("first")
        for _ in range(3):
            app.join("left", visitor=NEW, session="n")
        with app.reading("n"):
            assert len(app.queue) == 3
        app.wait(lambda: len(app.queue) == 0)
        assert "n" not in app.queue.pending_messages_per_session and "n" not in app.queue.pending_event_ids_session
        app.work.gate.set()
        app.wait(lambda: app.work.ended == ["first"])


def test_who_leaves_ends_the_program_that_an_event_waits_for():
    with gradio_server() as app:
        app.join("first", visitor=MANY, session="m", event="program")
        app.begins("first")
        app.join("second", visitor=NEW, session="n", event="program")
        with app.reading("m"):
            assert app.work.ended == [] and app.work.begun == ["first"]
        app.wait(lambda: app.work.ended == ["first"] and app.work.begun == ["first", "second"])


def test_a_cancelled_event_keeps_its_slot_until_its_thread_ends():
    with gradio_server() as app:
        event = app.join("first", visitor=MANY, session="m").json()["event_id"]
        app.begins("first")
        app.join("second", visitor=MANY, session="m2")
        sent = {"session_hash": "m", "fn_index": app.function("slow"), "event_id": event}
        cancelling = threading.Thread(target=lambda: httpx.post(f"{app.url}gradio_api/cancel", json=sent, timeout=60))
        cancelling.start()
        cancelling.join(0.7)
        assert app.work.begun == ["first"]  # Gradio's own queue would have begun the second beside it
        app.work.gate.set()
        cancelling.join()
        app.wait(lambda: app.work.ended == ["first", "second"])
        assert app.work.most_at_once == 1


def test_no_event_runs_beside_the_queue():
    with gradio_server() as app:
        body = {"data": ["x"], "fn_index": app.function("slow"), "session_hash": "m"}
        for path in ("run/slow", "api/slow", "run/predict"):
            assert httpx.post(f"{app.url}gradio_api/{path}", json=body, timeout=60).status_code == 404
        assert app.work.begun == []


# ---- no sessions


def test_many_sessions_of_every_kind_leave_nothing_behind():
    with gradio_server() as app, httpx.Client(base_url=app.url, timeout=60) as client:
        app.work.gate.set()
        body = {"data": ["a"], "fn_index": app.function("free")}
        for number in range(20):
            addressed = {"x-forwarded-for": f"203.0.113.{number}"}
            assert client.post("gradio_api/run/free", json=body | {"session_hash": f"r{number}"}).status_code == 200
            for path, sent in (("queue/join", body), ("call/free", {"data": ["a"]})):
                answer = client.post(
                    f"gradio_api/{path}", json=sent | {"session_hash": f"{path[0]}{number}"}, headers=addressed
                )
                assert answer.status_code == 200
            sent = {"session_hash": f"s{number}", "component_id": min(app.blocks.blocks), "fn_name": "x", "data": None}
            assert client.post("gradio_api/component_server", json=sent).status_code == 404
            with client.stream("GET", f"gradio_api/heartbeat/h{number}") as stream:
                chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
                next(chunks)
        app.wait(lambda: not app.queue.event_ids_to_events)
        state = app.blocks.app.state_holder
        assert isinstance(state, NoSessions) and not state.session_data
        assert not app.blocks.app.iterators and not app.blocks.pending_streams and not app.blocks.pending_diff_streams
        assert len(app.queue.event_analytics) <= 1


def test_choices_that_a_page_was_sent_stay_valid():
    with gradio_server() as app, httpx.Client(base_url=app.url, timeout=60) as client:
        session = {"session_hash": "page"}
        more = client.post("gradio_api/run/more", json={"data": []} | session).json()["data"][0]
        assert more["choices"] == [["a", "a"], ["b", "b"]] and more["value"] == "b"
        assert client.post("gradio_api/run/free", json={"data": ["b"]} | session).json()["data"] == ["b"]
        refused = client.post("gradio_api/run/strict", json={"data": ["b"]} | session)  # what preprocess=False is for
        assert refused.status_code == 500 and "not in the list of choices" in refused.json()["error"]


def test_what_needs_a_session_cannot_be_served():
    with StatelessBlocks(analytics_enabled=False) as blocks:
        gr.State(0)
    with pytest.raises(ValueError, match=r"no gr\.State"):
        blocks.serve(nothing)
    with StatelessBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox()
        box.change(lambda values: values, box, box, batch=True)
    with pytest.raises(ValueError, match="batch"):
        blocks.serve(nothing)


# ---- what cannot be read

BODIES = (
    b"",
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
POSTED = ("queue/join", "run/nothing", "call/nothing", "call/v2/nothing", "cancel", "reset", "component_server")
READ = ("queue/data?session_hash=unknown", "call/nothing/unknown", "info?page=nothing", "component_server", "runs")
JOIN = "/gradio_api/queue/join"


@pytest.fixture
def quiet(capfd, caplog):
    """Fails the test that left a traceback in the log."""
    yield
    assert "Traceback" not in "".join(capfd.readouterr()) and not [one for one in caplog.records if one.exc_info]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("path", POSTED)
def test_a_body_that_is_no_event(app, path):
    with httpx.Client(timeout=60, headers={"content-type": "application/json"}) as client:
        for body in BODIES:
            answer = client.post(f"{app.url}gradio_api/{path}", content=body)
            assert answer.status_code < 500 and len(answer.content) < 200_000, (body, answer.text)


@pytest.mark.usefixtures("quiet")
def test_an_address_that_leads_nowhere(app):
    for path in READ:
        answer = httpx.get(f"{app.url}gradio_api/{path}", timeout=60)
        assert answer.status_code < 500
        assert "unknown" not in path or (answer.status_code, list(answer.json())) == (404, ["error"])


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("junk", [[None], [[{"a": [None]}], "x" * 2000, -1]], ids=["none", "others"])
def test_every_event_of_every_page_with_values_of_other_kinds(app, junk):
    """Of several kinds each event gets one, the next event the next."""
    with httpx.Client(base_url=f"{app.url}gradio_api/", timeout=60) as client:
        for index, fn in app.blocks.fns.items():
            session, kind = f"s{index}", junk[index % len(junk)]
            sent = {"data": [kind] * len(fn.inputs), "fn_index": index, "session_hash": session, "event_data": kind}
            address = {"x-forwarded-for": f"203.0.113.{index % 250}"}
            answer = client.post("queue/join" if fn.queue else "run/predict", json=sent, headers=address)
            assert answer.status_code in (200, 400, 422, 429, 500), (fn.name, answer.text)
            if fn.queue and answer.status_code == 200:
                text = client.get("queue/data", params={"session_hash": session}).text
                assert "process_completed" in text and len(text) < 400_000


@pytest.mark.usefixtures("quiet")
def test_two_readers_of_one_session():
    with gradio_server() as app:
        app.join("x", visitor="203.0.113.1", session="s")
        address = f"{app.url}gradio_api/queue/data?session_hash=s"
        with app.reading("s"), httpx.stream("GET", address, timeout=20) as second:
            assert second.status_code == 200
        app.work.gate.set()
        app.wait(lambda: not app.queue.event_ids_to_events)
        assert httpx.get(address, timeout=60).status_code == 404


@pytest.mark.parametrize("error, status", [(KeyError("s"), 400), (RuntimeError("/secret/path"), 500)])
def test_a_failure_is_a_sentence(error, status, caplog):
    async def fail(scope, receive, send):
        raise error

    app = Starlette(exception_handlers=ERRORS)
    app.router.default = fail
    answer = TestClient(app, raise_server_exceptions=False).post(f"{JOIN}%0Afaked")
    assert answer.status_code == status and (answer.json() == {"error": FAILED}) == (status == 500)
    assert ["\n" in record.getMessage() for record in caplog.records] == [False] * (status == 400)
    if status == 500:
        with pytest.raises(type(error)):  # the server logs it
            TestClient(app).post(JOIN)
