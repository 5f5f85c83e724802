"""The queue of a served app: one visitor's many events hold nobody up, and what is left behind is dropped."""

from __future__ import annotations

import inspect
import threading

import gradio
import httpx
import pytest
from gradio.queueing import Event, EventQueue, Queue

from leaderboard.web.events import fair_queue
from leaderboard.web.events.fair_queue import FairQueue, QueueLimits, in_turn
from tests.leaderboard.web.gradio_server import gradio_server

MANY, NEW, OTHER = "203.0.113.1", "203.0.113.2", "203.0.113.3"


def test_a_newcomer_waits_for_the_running_event_and_one_of_each_other_visitor() -> None:
    with gradio_server(QueueLimits(address=10)) as app:
        joined = [app.join(f"many{number}", visitor=MANY, session=f"m{number // 8}") for number in range(11)]
        assert [answer.status_code for answer in joined] == [200] * 10 + [429]
        app.wait(lambda: app.work.begun == ["many0"])
        assert app.join("new", visitor=NEW, session="n").status_code == 200
        assert app.join("other", visitor=OTHER, session="o").status_code == 200
        app.work.gate.set()
        app.wait(lambda: len(app.work.ended) == 12)
        assert app.work.ended.index("new") <= 2 and app.work.ended.index("other") <= 3
        assert app.work.most_at_once == 1
        assert '"success":true' in app.messages("n")


def test_a_page_is_told_when_it_sends_too_many_and_others_are_not_held_back() -> None:
    with gradio_server(QueueLimits(session=2)) as app:
        for _ in range(2):
            assert app.join("x", visitor=MANY, session="m").status_code == 200
        refused = app.join("x", visitor=MANY, session="m")
        assert refused.status_code == 429 and refused.headers["retry-after"]
        assert "already has 2 requests waiting or running" in refused.json()["detail"]  # what Gradio's page shows
        assert app.join("x", visitor=MANY, session="m2").status_code == 200
        assert app.join("x", visitor=NEW, session="m").status_code == 200


def test_a_large_body_takes_the_room_of_many() -> None:
    with gradio_server(QueueLimits(address=6)) as app:
        assert app.join("x" * 4_500_000, visitor=MANY, session="m").status_code == 200
        assert app.join("x" * 2_500_000, visitor=MANY, session="m").status_code == 429
        assert app.join("x", visitor=MANY, session="m").status_code == 200


def test_where_all_is_full_everybody_is_told() -> None:
    with gradio_server(QueueLimits(total=2)) as app:
        for number in range(2):
            assert app.join("x", visitor=MANY, session=f"m{number}").status_code == 200
        full = app.join("x", visitor=NEW, session="n")
        assert full.status_code == 503 and full.headers["retry-after"]
        assert app.join("x", visitor=NEW, session="x" * 201).status_code == 400


def test_answers_that_nobody_fetches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "UNREAD", 3)
    with gradio_server() as app:
        app.work.gate.set()
        for number in range(6):
            assert app.join("x", visitor=MANY, session=f"m{number}").status_code == 200
            app.wait(lambda number=number: len(app.work.ended) == number + 1 and not app.queue.event_ids_to_events)
        assert set(app.queue.pending_messages_per_session) <= {"m2", "m3", "m4", "m5"}
        assert '"success":true' in app.messages("m5")


def test_everyones_first_then_everyones_second() -> None:
    assert in_turn(["a1", "a2", "a3", "b1", "c1", "b2"], of=lambda each: each[0]) == [
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "a3",
    ]
    assert in_turn([], of=str) == []


def test_nobody_has_more_than_half_of_several_slots() -> None:
    with gradio_server() as app:
        for number in range(6):
            app.join(f"many{number}", visitor=MANY, session=f"m{number}", event="several")
        app.wait(lambda: len(app.work.begun) == 2)
        app.join("new", visitor=NEW, session="n", event="several")
        app.wait(lambda: app.work.begun == ["many0", "many1", "new"])


def test_who_leaves_takes_the_waiting_events_along() -> None:
    with gradio_server() as app:
        app.join("first", visitor=MANY, session="m")
        app.wait(lambda: app.work.begun == ["first"])
        for _ in range(3):
            app.join("left", visitor=NEW, session="n")
        with httpx.stream("GET", f"{app.url}gradio_api/queue/data?session_hash=n", timeout=20) as stream:
            chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
            next(chunks)
            assert len(app.queue) == 3
        app.wait(lambda: len(app.queue) == 0)
        assert "n" not in app.queue.pending_messages_per_session and "n" not in app.queue.pending_event_ids_session
        app.work.gate.set()
        app.wait(lambda: app.work.ended == ["first"])


def test_who_leaves_ends_the_program_that_an_event_waits_for() -> None:
    with gradio_server() as app:
        app.join("first", visitor=MANY, session="m", event="program")
        app.wait(lambda: app.work.begun == ["first"])
        app.join("second", visitor=NEW, session="n", event="program")
        with httpx.stream("GET", f"{app.url}gradio_api/queue/data?session_hash=m", timeout=20) as stream:
            chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
            next(chunks)
            assert app.work.ended == [] and app.work.begun == ["first"]
        app.wait(lambda: app.work.ended == ["first"] and app.work.begun == ["first", "second"])


def test_a_cancelled_event_keeps_its_slot_until_its_thread_ends() -> None:
    with gradio_server() as app:
        event = app.join("first", visitor=MANY, session="m").json()["event_id"]
        app.wait(lambda: app.work.begun == ["first"])
        app.join("second", visitor=MANY, session="m2")
        sent = {"session_hash": "m", "fn_index": app.function("slow"), "event_id": event}
        cancelling = threading.Thread(
            target=httpx.post, args=(f"{app.url}gradio_api/cancel",), kwargs={"json": sent, "timeout": 60}
        )
        cancelling.start()
        cancelling.join(0.7)
        assert app.work.begun == ["first"]  # Gradio's own queue would have begun the second beside it
        app.work.gate.set()
        cancelling.join()
        app.wait(lambda: app.work.ended == ["first", "second"])
        assert app.work.most_at_once == 1


def test_no_event_runs_beside_the_queue() -> None:
    with gradio_server() as app:
        body = {"data": ["x"], "fn_index": app.function("slow"), "session_hash": "m"}
        for path in ("run/slow", "api/slow", "run/predict"):
            assert httpx.post(f"{app.url}gradio_api/{path}", json=body, timeout=60).status_code == 404
        assert app.work.begun == []


def test_what_is_read_of_gradio_is_there() -> None:
    """Fails, with the name, where a new version of Gradio changes what the queue builds on."""
    with gradio.Blocks(analytics_enabled=False) as blocks:
        pass
    queue = FairQueue(blocks)
    for name in (
        "pending_messages_per_session",
        "pending_event_ids_session",
        "event_ids_to_events",
        "event_queue_per_concurrency_id",
        "active_jobs",
        "cached_event_analytics_summary",
        "_asyncio_tasks",
        "ANALYTICS_MAX_EVENTS",
    ):
        assert hasattr(Queue(True, 1, 1, None, blocks), name) and hasattr(queue, name), name
    assert set(vars(EventQueue("x", 1))) >= {"queue", "concurrency_id", "concurrency_limit", "current_concurrency"}
    assert list(inspect.signature(Event.__init__).parameters) == ["self", "session_hash", "fn", "request", "username"]
    for method in ("push", "get_events", "process_events", "send_message", "clean_events"):
        ours, theirs = (inspect.signature(getattr(one, method)) for one in (FairQueue, Queue))
        assert list(ours.parameters) == list(theirs.parameters), method
    called = inspect.getsource(gradio.routes) + inspect.getsource(gradio.queueing)
    for use in ("blocks._queue.push(", ".get_events()", "self.process_events", ".clean_events(", "<gradio-sep>"):
        assert use in called + inspect.getsource(gradio.utils), use
