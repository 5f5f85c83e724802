"""Every event and every program that runs a model counts against the rate limit of a visitor."""

import httpx

from tests.leaderboard.web.launched import launched

# A table's later turns belong to its start, which is counted; each is a few seconds of one of few tables. Of a study
# the start is counted, once its images are here.
UNCOUNTED = {"turn", "make"}


def test_a_visitor_over_the_rate_is_refused_by_every_event_of_the_queue(database, tmp_path):
    with launched(database, tmp_path, rate="1") as app, httpx.Client(timeout=60, base_url=app.url) as client:
        queued = {index: fn for index, fn in app.blocks.fns.items() if fn.queue}
        assert {"compare", "download", *UNCOUNTED} <= {fn.api_name for fn in queued.values()}

        def answer(index, session):
            sent = {"data": [None] * len(queued[index].inputs), "fn_index": index, "event_data": {}}
            joined = client.post("gradio_api/queue/join", json=sent | {"session_hash": session})
            assert joined.status_code == 200
            return client.get("gradio_api/queue/data", params={"session_hash": session}).text

        first = next(index for index, fn in queued.items() if fn.api_name == "compare")
        for number in range(11):
            answer(first, f"first{number}")
        for index, fn in queued.items():
            told = "You have sent many questions" in answer(index, f"s{index}")
            assert told is (fn.api_name not in UNCOUNTED), fn.api_name
        program = client.post("api/v1/pair", json={"first": "a", "second": "b"})
        assert "You have sent many questions" in program.json()["error"]
