"""Nothing is stored of a session, and a page works whatever the server has forgotten."""

from __future__ import annotations

import gc
import tracemalloc

import gradio as gr
import httpx
import pytest
from gradio.state_holder import SessionState

from leaderboard.web.events.stateless import EventStep, NoSessions, StatelessBlocks
from tests.leaderboard.web.gradio_server import gradio_server, nothing


def test_a_session_takes_no_memory_and_gradios_own_does() -> None:
    with StatelessBlocks(analytics_enabled=False) as blocks:
        for number in range(50):
            gr.Dropdown([str(choice) for choice in range(100)], label=f"Choice {number}")
    sessions = NoSessions(blocks)

    def bytes_of(make: object, count: int) -> float:
        gc.collect()
        tracemalloc.start()
        stored = [make(str(number)) for number in range(count)]
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size / len(stored)

    assert bytes_of(lambda _: SessionState(blocks), 5) > 30_000
    assert bytes_of(sessions.__getitem__, 200) < 5_000  # while a step runs; nothing holds it afterwards
    assert len(sessions.session_data) == len(sessions.time_last_used) == 0 and "1" not in sessions


def test_a_step_sees_what_it_changes_and_the_next_does_not() -> None:
    with StatelessBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox("first")
    sessions, other = NoSessions(blocks), gr.Textbox("other", render=False)
    step = sessions["a"]
    assert isinstance(step, EventStep) and step[box._id] is box and box._id in step
    step[box._id] = other
    assert step[box._id] is other and sessions["a"][box._id] is box and blocks.blocks[box._id] is box


def test_many_sessions_of_every_kind_leave_nothing_behind() -> None:
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


def test_choices_that_a_page_was_sent_stay_valid() -> None:
    with gradio_server() as app, httpx.Client(base_url=app.url, timeout=60) as client:
        session = {"session_hash": "page"}
        more = client.post("gradio_api/run/more", json={"data": []} | session).json()["data"][0]
        assert more["choices"] == [["a", "a"], ["b", "b"]] and more["value"] == "b"
        assert client.post("gradio_api/run/free", json={"data": ["b"]} | session).json()["data"] == ["b"]
        refused = client.post("gradio_api/run/strict", json={"data": ["b"]} | session)  # what preprocess=False is for
        assert refused.status_code == 500 and "not in the list of choices" in refused.json()["error"]


def test_what_needs_a_session_cannot_be_served() -> None:
    with StatelessBlocks(analytics_enabled=False) as blocks:
        gr.State(0)
    with pytest.raises(ValueError, match=r"no gr\.State"):
        blocks.serve(nothing)
    with StatelessBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox()
        box.change(lambda values: values, box, box, batch=True)
    with pytest.raises(ValueError, match="batch"):
        blocks.serve(nothing)
