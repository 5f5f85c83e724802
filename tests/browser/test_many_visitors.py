"""Open pages beside a flood: of sessions, after which every control still works, and of one visitor's map jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.browser.test_compare import DONE, READY, SLOW, ask
from tests.browser.test_views import PLOT, wait_query

SESSIONS = 120
MANY, NEW = "198.51.100.77", "198.51.100.78"  # a program's addresses; the browser's own is another


def flood(server: str) -> None:
    """Opens sessions in every way that a request can."""
    with httpx.Client(base_url=f"{server}gradio_api/", timeout=60) as client:
        for number in range(SESSIONS):
            sent, headers = {"data": []}, {"x-forwarded-for": f"203.0.113.{number}"}
            client.post("run/list_suites", json=sent | {"session_hash": f"run{number}"})
            client.post("call/list_suites", json=sent | {"session_hash": f"call{number}"}, headers=headers)
            component = {"session_hash": f"server{number}", "component_id": 1, "fn_name": "x", "data": None}
            client.post("component_server", json=component)
            with client.stream("GET", f"heartbeat/beat{number}") as stream:
                chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
                next(chunks)


def test_every_control_of_an_open_page_works_after_a_flood_of_sessions(visit: Callable, server: str) -> None:
    board = visit("board", ready=".likeness-board[data-ready=true]")
    correlations, chart = visit("correlations"), visit("map")
    correlations.locator(f"#correlations-figure {PLOT}").first.wait_for()
    chart.locator(f"#map-figure {PLOT}").first.wait_for()
    compare = visit("compare?mode=pair&inputs=cat,cat-face&models=tiny", ready=READY)
    compare.locator(DONE).wait_for(timeout=SLOW)  # which renewed the choices of the sections below

    flood(server)

    board.get_by_role("button", name="MIEB-lite", exact=True).click()
    board.locator(".likeness-board[data-suite=mieb-lite][data-ready=true]").wait_for()
    correlations.get_by_label("Method").click()
    correlations.get_by_role("option", name="Pearson r").click()
    wait_query(correlations, "method", "pearson")
    correlations.get_by_text("Pearson").first.wait_for()
    chart.get_by_role("radio", name="Models").check()
    wait_query(chart, "of", "models")
    chart.get_by_label("Colour by").click()
    chart.get_by_role("option", name="Family", exact=True).click()
    wait_query(chart, "colour", "family")
    compare.get_by_role("button", name="Where do they agree?").click()
    compare.get_by_role("button", name="Show", exact=True).click()
    compare.locator(".cp-patches[data-drawn]").wait_for(timeout=SLOW)
    compare.get_by_role("button", name="Perturb").click()
    compare.get_by_role("slider", name="Gaussian blur (pixels)").first.focus()
    compare.keyboard.press("End")
    compare.locator(".cp-preview img").wait_for(timeout=SLOW)
    ask(compare)
    for page in (board, correlations, chart, compare):
        assert page.locator(".pg-message:visible, .toast-body:visible").count() == 0


@pytest.fixture
def jobs(server: str) -> Iterator[Callable[..., httpx.Response]]:
    """Joins the queue with a map that is still to be made; all that was joined leaves at the end."""
    with httpx.Client(base_url=f"{server}gradio_api/", timeout=60) as client:
        listed = httpx.get(f"{server}config", timeout=60).json()["dependencies"]
        work = next(each["id"] for each in listed if each["api_name"] == "work")
        sessions: set[str] = set()

        def join(seed: int, *, session: str, visitor: str = "") -> httpx.Response:
            sessions.add(session)
            values = ["tasks", ["unisim-core"], "published", "cluster", 10, 0.1, 1000 + seed]
            headers = {"x-forwarded-for": visitor} if visitor else {}
            sent = {"data": values, "fn_index": work, "session_hash": session}
            return client.post("queue/join", json=sent, headers=headers)

        yield join
        for session in sessions:
            with (
                contextlib.suppress(httpx.HTTPError, StopIteration),
                client.stream("GET", f"queue/data?session_hash={session}") as stream,
            ):
                chunks = stream.iter_raw()  # a name of its own: the connection ends with the iterator
                next(chunks)


def test_one_visitors_jobs_hold_no_other_visitor_up(jobs: Callable, visit: Callable, server: str) -> None:
    joined = [jobs(number, session=f"many{number // 8}", visitor=MANY).status_code for number in range(65)]
    assert joined == [200] * 64 + [429]
    page = visit("compare?mode=pair&inputs=coffee,coffee-blurred&models=ssim", ready=READY)
    page.locator(DONE).wait_for(timeout=SLOW)
    assert jobs(100, session="new", visitor=NEW).status_code == 200
    with httpx.stream("GET", f"{server}gradio_api/queue/data?session_hash=new", timeout=60) as stream:
        for line in stream.iter_lines():
            if '"estimation"' in line:
                assert '"rank":1,' in line or '"rank":0,' in line, line  # behind one job of the other visitor
                break


def test_the_page_shows_why_a_request_is_refused(jobs: Callable, visit: Callable) -> None:
    page = visit("map?suites=mieb&seed=7", expected="429")
    page.get_by_role("button", name="Make this map").wait_for()
    for number in range(64):
        assert jobs(number, session=f"own{number // 8}").status_code == 200
    page.get_by_role("button", name="Make this map").click()
    page.get_by_text("Your network already has 64 requests waiting or running, which is the most").first.wait_for()
