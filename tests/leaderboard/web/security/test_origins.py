"""What a page of another site sends is refused; the app's own pages and programs notice nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from gradio.route_utils import CustomCORSMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web.security.access import Access, access
from leaderboard.web.security.origins import guarded

EVENT = "/gradio_api/queue/join"
OWN = "http://localhost:7860"
FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost:9999"},
    {"origin": "http://localhost:port"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": OWN},
    {"origin": "null", "sec-fetch-site": "same-origin"},
    {"origin": "http://evil.example", "x-forwarded-host": "board.example"},
]
OWN_PAGES = [
    {},
    {"origin": OWN},
    {"origin": OWN, "sec-fetch-site": "same-origin"},
    {"referer": f"{OWN}/compare"},
    {"origin": "https://board.example", "x-forwarded-host": "board.example", "x-forwarded-proto": "https"},
    {"origin": "http://board.example:8080", "x-forwarded-host": "board.example:8080"},
    {"origin": "https://unnamed.example", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "none"},
]


def served(given: Access) -> TestClient:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(request.headers.get("origin", "no origin"))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield

    paths = ("/", "/config", EVENT, "/gradio_api/mcp/", "/gradio_api/heartbeat/a", "/live/input", "/login")
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return TestClient(
        Starlette(
            routes=[Route(path, answer, methods=methods) for path in paths],
            middleware=[Middleware(CustomCORSMiddleware)],
            lifespan=guarded(lifespan, given),
        ),
        base_url=OWN,
    )


@pytest.fixture
def client() -> TestClient:
    with served(access(listens_on="127.0.0.1")) as found:
        yield found


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", [EVENT, "/live/input"])
def test_another_sites_page_changes_nothing(client: TestClient, path: str, headers: dict[str, str]) -> None:
    for method in ("POST", "DELETE"):
        answer = client.request(method, path, headers=headers)
        assert answer.status_code == 403 and "page of another site" in answer.json()["error"]
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("headers", OWN_PAGES)
def test_own_pages_and_programs_are_served(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post(EVENT, headers=headers).status_code == 200
    assert client.get("/gradio_api/mcp/", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/gradio_api/mcp/", "/gradio_api/heartbeat/a", EVENT])
def test_what_reading_starts_is_refused_to_other_sites_pages(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.get(path, headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code == 403


def test_links_from_other_sites_lead_here(client: TestClient) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "referer": "https://a.example/"}
    assert client.get("/", headers=followed).status_code == 200
    assert client.get("/gradio_api/mcp/", headers=followed).status_code == 200


@pytest.mark.parametrize("host", ["localhost:7860", "board.example"])
def test_no_other_site_may_read_an_answer(host: str) -> None:
    """Gradio permits every site to read under any name but this machine's."""
    with served(Access()) as client:
        answer = client.get("/config", headers={"origin": "http://evil.example", "host": host})
        assert answer.text == "no origin" and "access-control-allow-origin" not in answer.headers
        asked = {"origin": "http://evil.example", "host": host, "access-control-request-method": "POST"}
        refused = client.options(EVENT, headers=asked)
        assert refused.status_code == 403 and "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7860", "127.0.0.1.evil.example", "", "a, localhost"])
def test_another_name_for_this_machine_is_refused(client: TestClient, host: str) -> None:
    answer = client.post(EVENT, headers={"host": host, "origin": f"http://{host}"})
    assert answer.status_code == 403 and "LIKENESS_HOSTS" in answer.json()["error"]
    assert client.get("/", headers={"host": host}).status_code == 403
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["localhost", "localhost:7860", "127.0.0.1:1", "[::1]:7860", "LOCALHOST"])
def test_its_own_names_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


def test_names_of_the_operator_are_answered_and_count_as_its_own() -> None:
    with served(access(listens_on="127.0.0.1", hosts="board.example")) as client:
        assert client.get("/", headers={"host": "board.example"}).status_code == 200
        assert client.post(EVENT, headers={"origin": "https://board.example"}).status_code == 200
        assert client.get("/", headers={"host": "evil.example"}).status_code == 403
