"""Every event and every program that runs a model counts against the rate limit of a visitor."""

import httpx
import pytest

# A table's later turns belong to its start, which is counted; each is a few seconds of one of few tables. Of a study
# the start is counted, once its images are here.
UNCOUNTED = {"turn", "make"}


@pytest.fixture(scope="module")
def app(database):
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)
        patch.setenv("LIKENESS_RATE", "1")
        blocks, launch = server.build(database)
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        yield f"{url}gradio_api/", blocks
        blocks.close(verbose=False)


def test_a_visitor_over_the_rate_is_refused_by_every_event_of_the_queue(app):
    url, blocks = app
    queued = {index: fn for index, fn in blocks.fns.items() if fn.queue}
    assert {"compare", "download", *UNCOUNTED} <= {fn.api_name for fn in queued.values()}
    with httpx.Client(timeout=60) as client:

        def answer(index, session):
            sent = {
                "data": [None] * len(queued[index].inputs),
                "fn_index": index,
                "session_hash": session,
                "event_data": {},
            }
            assert client.post(f"{url}queue/join", json=sent).status_code == 200
            return client.get(f"{url}queue/data", params={"session_hash": session}).text

        first = next(index for index, fn in queued.items() if fn.api_name == "compare")
        for number in range(11):
            answer(first, f"first{number}")
        for index, fn in queued.items():
            told = "You have sent many questions" in answer(index, f"s{index}")
            assert told is (fn.api_name not in UNCOUNTED), fn.api_name
        program = client.post(url.replace("gradio_api", "api/v1") + "pair", json={"first": "a", "second": "b"})
        assert "You have sent many questions" in program.json()["error"]
