"""Every event that runs a model counts against the rate limit of a visitor."""

import httpx
import pytest

# A table's later turns belong to its start, which is counted; each is a few seconds of one of few tables. A query
# runs no model, for a second at most and two at a time. Of a study the start is counted, once its images are here.
UNCOUNTED = {"turn", "query", "make"}


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


def values(fn):
    """What a page would send: texts for the endpoint; else nothing of meaning."""
    return ["a", "b", ""] if fn.api_name == "score_pair" else [None] * len(fn.inputs)


def test_a_visitor_over_the_rate_is_refused_by_every_event_of_the_queue(app):
    url, blocks = app
    queued = {index: fn for index, fn in blocks.fns.items() if fn.queue}
    assert {"compare", "download", "score_pair", *UNCOUNTED} <= {fn.api_name for fn in queued.values()}
    with httpx.Client(timeout=60) as client:

        def answer(index, session):
            sent = {"data": values(queued[index]), "fn_index": index, "session_hash": session, "event_data": {}}
            assert client.post(f"{url}queue/join", json=sent).status_code == 200
            return client.get(f"{url}queue/data", params={"session_hash": session}).text

        first = next(index for index, fn in queued.items() if fn.api_name == "compare")
        for number in range(11):
            answer(first, f"first{number}")
        for index, fn in queued.items():
            told = "You have sent many questions" in answer(index, f"s{index}")
            assert told is (fn.api_name not in UNCOUNTED), fn.api_name
