"""What the server takes from one client: turns, bodies within bounds of size and time, answers at the reader's pace;
and nothing from pages of other sites, under other names, or to routes that are closed."""

import asyncio
import json
import socket
from functools import wraps
from itertools import chain, repeat
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from gradio.route_utils import CustomCORSMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web import limits
from leaderboard.web.access import Access, access
from leaderboard.web.limits import ClientLimits, Gate, Refused, kind_of
from tests.leaderboard.web.launched import SECRET
from tests.leaderboard.web.uvicorn_server import ask, read_all, serving
from tests.serving import ROOT

JOIN = "/gradio_api/queue/join"


async def echo(request):
    """Answers with what arrived."""
    return Response(await request.body())


def echoing(**options):
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    app = Starlette(routes=[Route("/{path:path}", echo, methods=methods)])
    return TestClient(ClientLimits(app, **options), raise_server_exceptions=False)


@pytest.fixture
def client():
    return echoing()


class VirtualTime(asyncio.SelectorEventLoop):
    """An event loop whose clock leaps to the next timer instead of waiting for it; `time()` starts at 0."""

    def __init__(self):
        super().__init__()
        self._now = 0.0
        wait = self._selector.select

        def leap(timeout=None):
            assert timeout is not None, "nothing will ever happen"
            self._now += timeout
            return wait(0)

        self._selector.select = leap

    def time(self):
        return self._now


def run(work):
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(work)


def in_virtual_time(test):
    @wraps(test)
    def timed(**given):
        run(test(**given))

    return timed


PHOTO = 8_000_000


def request(
    parts,
    *,
    stated="",
    ends="http.request",
    sender="192.0.2.1",
    path="/live/input",
):
    """A request that sends these parts, then what `ends` says; of "never", nothing."""
    messages = iter(parts)

    async def receive():
        part = next(messages, None)
        if part is None and ends == "never":
            await asyncio.Event().wait()
        if part is None:
            return {"type": ends}
        if isinstance(part, tuple):
            seconds, part = part
            await asyncio.sleep(seconds)
        return {"type": "http.request", "body": part, "more_body": True}

    headers = [(b"content-length", stated.encode())] if stated else []
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": (sender, 1)}
    return Request(scope, receive)


async def sent_to(limited, sent):
    """The status that a request is answered with, 0 for none, and when; that of a slow body closes the connection."""
    starts = []

    async def send(message):
        starts.extend([message] if message["type"] == "http.response.start" else [])

    await limited(sent.scope, sent.receive, send)
    (status,) = [start["status"] for start in starts] or [0]
    assert status != 408 or (b"connection", b"close") in starts[0]["headers"]
    return status, asyncio.get_running_loop().time()


async def whole(scope, receive, send):
    """An app that reads a body of a photograph at most."""
    body = await Request(scope, receive).body()
    await Response(str(len(body)))(scope, receive, send)


def nothing_counted(limited):
    return not limited.bytes and not any(gate.running for gate in limited.gates.values())


# ---- turns


async def hold(gate, client, entered, release):
    """What became of a request that lasts until it is released."""
    try:
        async with gate.turn(client):
            entered.append(client)
            await release.wait()
            return "served"
    except Refused as error:
        return str(error.status)


@in_virtual_time
async def test_a_client_has_some_turns_and_others_do_not_wait_for_it():
    gate, entered, release = Gate(2, waiting=3), [], asyncio.Event()
    tasks = [asyncio.create_task(hold(gate, client, entered, release)) for client in "aaaaaaab"]
    await asyncio.sleep(1)
    assert entered == ["a", "a", "b"] and [task.done() for task in tasks].count(True) == 2
    release.set()
    assert sorted(await asyncio.gather(*tasks)) == ["429"] * 2 + ["served"] * 6
    assert not gate.running and not gate._queued


@in_virtual_time
async def test_a_turn_goes_to_another_client_first():
    """As the queries of the database: two of all, one of each; two clients that always ask leave a third its turn."""

    async def ask_on(gate, client, served):
        for _ in range(20):
            async with gate.turn(client):
                served.append(client)
                await asyncio.sleep(3)

    gate, served = Gate(1, waiting=2, total=2, queue=8), []
    tasks = [asyncio.create_task(ask_on(gate, client, served)) for client in "aaabbb"]
    await asyncio.sleep(0.1)
    for _ in range(5):
        began = asyncio.get_running_loop().time()
        async with gate.turn("c"):
            assert asyncio.get_running_loop().time() - began <= 3
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert not gate.running and not gate._queued


@in_virtual_time
async def test_who_waits_in_vain_is_told():
    gate, entered, release = Gate(1, waiting=1, total=2, queue=2), [], asyncio.Event()
    tasks = [asyncio.create_task(hold(gate, client, entered, release)) for client in "abcde"]
    await asyncio.sleep(limits.PATIENCE + 1)
    release.set()
    assert await asyncio.gather(*tasks) == ["served", "served", "503", "503", "503"]
    assert not gate.running and not gate._queued


TURNS = {
    "GET /board": "page",
    "POST /live/input": "page",
    f"POST {JOIN}": "compute",
    "POST /likeness/api//v1/pair": "compute",
    "GET /api/v1/suites/mieb/ranking": "compute",
    "GET /api/v1/query": "query",
    "GET /data/rank/mieb": "compute",
    "GET /data/board/mieb?language=deu": "page",
    "GET /data/board/mieb?language=deu,fra": "compute",  # a board of several languages is made for whoever asks
    "GET /data/board/mieb?metric=a&language=deu%2Cfra": "compute",
    "GET /gradio_api/queue/data": "stream",
    "POST /gradio_api/mcp/": "tool",
    "GET /gradio_api/mcp/": "tool stream",
    "POST /data/sql": "query",
    "GET /data/sql": "page",
    "POST /export/board/mieb": "download",
}


@pytest.mark.parametrize("asked", TURNS)
def test_every_route_has_its_turns(asked):
    method, address = asked.split()
    path, _, query = address.partition("?")
    assert kind_of(method, path, query.encode()) == TURNS[asked]


@in_virtual_time
async def test_what_computes_runs_twice_at_a_time_for_one_address():
    """A program that asks more is served after them."""

    async def work(scope, receive, send):
        await asyncio.sleep(1)
        await Response()(scope, receive, send)

    limited = ClientLimits(work)
    many = [sent_to(limited, request([b"{}"], path="/data/rank/mieb")) for _ in range(30)]
    one = sent_to(limited, request([b"{}"], path="/eyes/order", sender="192.0.2.2"))
    *answers, other = await asyncio.gather(*many, one)
    assert other == (200, 1) and sorted(answers) == [(200, second) for second in range(1, 16) for _ in range(2)]


READING = 100.0  # seconds


@in_virtual_time
async def test_what_computes_has_one_bound_for_all_which_who_sends_or_reads_slowly_does_not_take():
    """Ten senders of two requests each, of a second; others wait for none of them, or for one of each sender."""
    running, most, clocks = 0, 0, []

    async def work(scope, receive, send):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1
        await Response()(scope, receive, send)
        await asyncio.sleep(READING)

    limited = ClientLimits(work)
    senders = [f"192.0.2.{number}" for number in range(10)]
    slow = [request([(4.0, b"x")], path="/eyes/report", sender=each) for each in senders * 2]
    tasks = [asyncio.create_task(sent_to(limited, each)) for each in slow]
    for begins, most_seconds in ((1, 1), (3.5, 5)):
        await asyncio.sleep(begins)
        other = sent_to(limited, request([b"{}"], path="/eyes/order", sender=f"192.0.3.{most_seconds}"))
        tasks.append(asyncio.create_task(other))
        clocks.append((asyncio.get_running_loop().time(), most_seconds))
    answers = await asyncio.gather(*tasks)
    assert {status for status, _ in answers} == {200}
    for (_, ended), (began, most_seconds) in zip(answers[-2:], clocks, strict=True):
        assert ended - began - READING <= most_seconds
    assert most == limits.COMPUTING


# ---- bodies


def drip(*, seconds, size):
    """A part of `size` bytes every so many seconds, without an end."""
    return repeat((seconds, bytes(size)))


@pytest.mark.parametrize(
    "sent, status, seconds",
    [
        (request([b"1" * 100]), 200, 0),
        (request([bytes(6_000_000), bytes(2_000_001)]), 413, 0),
        (request([], stated="8000001"), 413, 0),
        (request([], stated="9" * 400), 413, 0),
        (request([b"1"], ends="http.disconnect"), 0, 0),
        (request([], ends="never"), 408, 10),
        (request(drip(seconds=9.5, size=1)), 408, 10),
        (request(drip(seconds=1, size=19_000)), 408, 181),
        (request(chain([(0, bytes(7_000_000))], drip(seconds=1, size=1))), 408, 10),
        (request(repeat((0.5, bytes(10_500)), PHOTO // 10_500)), 200, 380),
        (request(repeat((9, bytes(200_000)), PHOTO // 200_000)), 200, 360),
        (request([(0, bytes(10)), (9.9, bytes(PHOTO - 10))]), 200, 9.9),
    ],
    ids=[
        *("whole", "long", "stated-long", "stated-absurd", "gone", "nothing", "drip"),
        *("nearly", "half-then-drip", "21-kB-a-second", "in-bursts", "late"),
    ],
)
def test_a_body_arrives_or_is_dropped_in_time_and_is_counted_no_more(sent, status, seconds):
    limited = ClientLimits(whole)
    answered, after = run(sent_to(limited, sent))
    assert answered == status and after == pytest.approx(seconds, rel=0.06, abs=0.1) and nothing_counted(limited)


def test_a_body_is_counted_until_it_is_done_with():
    held = []

    async def fails(scope, receive, send):
        held.append(limited.bytes.total())
        raise ZeroDivisionError

    limited = ClientLimits(fails)
    with pytest.raises(ZeroDivisionError):
        run(sent_to(limited, request([b"ab", b"c"])))
    assert held == [3] and nothing_counted(limited)


@in_virtual_time
async def test_half_sent_uploads_leave_room_for_others_and_go():
    """26 uploads of 8 MB stop before their last byte: others' photographs arrive, the same visitor's a little later."""
    limited = ClientLimits(whole)

    def half(sender):
        return request([bytes(PHOTO - 1)], ends="never", sender=sender)

    def photo(sender, *, after):
        return request([(after, bytes(PHOTO))], sender=sender)

    idle = [asyncio.create_task(sent_to(limited, half("192.0.2.1"))) for _ in range(26)]
    results = await asyncio.gather(
        sent_to(limited, photo("192.0.2.2", after=1)),
        sent_to(limited, photo("192.0.2.1", after=1)),
        sent_to(limited, photo("192.0.2.2", after=2)),
    )
    assert [status for status, _ in results] == [200, 429, 200]
    dropped = await asyncio.gather(*idle)
    assert [status for status, _ in dropped].count(408) == 18  # the share; the others were refused at once
    assert {status for status, _ in dropped} == {408, 429}
    assert max(seconds for _, seconds in dropped) == pytest.approx(limits.IDLE, abs=0.1)
    assert (await sent_to(limited, photo("192.0.2.1", after=0)))[0] == 200
    assert nothing_counted(limited)


@in_virtual_time
async def test_a_visitor_has_a_bounded_number_of_bodies():
    limited = ClientLimits(whole)
    limited.gates["body"] = Gate(3)
    idle = [sent_to(limited, request([b"1"], ends="never")) for _ in range(5)]
    other = sent_to(limited, request([b"12"], sender="192.0.2.2"))
    statuses = [status for status, _ in await asyncio.gather(*idle, other)]
    assert sorted(statuses[:5]) == [408] * 3 + [429] * 2 and statuses[5] == 200 and nothing_counted(limited)


# ---- what is closed, and events


A_FILE = {"path": "https://example.org/a.png", "meta": {"_type": "gradio.FileData"}}
CLOSED = [
    "upload",
    "upload_progress?upload_id=x",
    "file=x",
    "file/x",
    "proxy=https://x",
    "stream/x",
    "process_recording",
    "deep_link?session_hash=x",
    "vibe-code/",
    "run-history/buckets",
    "app_id",
]


@pytest.mark.parametrize("path", CLOSED)
def test_closed_under_any_root_path_for_any_method(client, path):
    for method in ("GET", "POST", "HEAD"):
        for before in ("/gradio_api/", "/a/b/gradio_api/", "/%67radio_api//"):
            answer = client.request(method, f"{before}{path}")
            assert answer.status_code == 404 and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["a b", "[", "a:b:c", "http://a", "\x7f", "a" * 5000, "u@a", ""])
def test_a_forwarded_host_that_is_none_is_refused(client, name):
    assert client.get("/", headers={"x-forwarded-host": name}).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"data": ["gradio.FileData"], "meta": "gradio.FileData"}',
        b'{"meta": {"_type": "other"}, "path": "x"}',
        json.dumps({"data": ["t" * 100_000, "data:image/png;base64," + "A" * (8_000_000 * 4 // 3)] * 2}).encode(),
    ],
    ids=["empty", "broken", "words", "name", "largest"],
)
def test_events_arrive_as_they_were_sent(client, body):
    assert client.post(JOIN, content=body).content == body


@pytest.mark.parametrize(
    "body, status",
    [
        (json.dumps({"data": [{"a": [A_FILE]}]}), 400),
        (json.dumps({"data": [A_FILE]}).replace("F", "\\u0046"), 400),
        (json.dumps({"data": [A_FILE]}).encode("utf-16"), 400),
        (json.dumps({"data": ["t" * 100_001]}), 400),
        (json.dumps({"event_data": {"n" * 100_001: 1}}), 400),
        (json.dumps({"data": [10**16]}), 400),
        ('{"data": [NaN]}', 400),
        ("[1e400]", 400),
        ("[" * 4_000 + "]" * 4_000, 400),
        ('{"data": [' + "9" * 5000 + "]}", 400),
        (b'["\xff"]', 400),
        ("[" + "{}," * 60_000 + "1]", 413),
        ("1" * 24_000_001, 413),
    ],
    ids=range(13),
)
def test_what_gradio_must_not_get_is_a_short_sentence(client, body, status):
    answer = client.post(JOIN, content=body)
    assert answer.status_code == status and list(answer.json()) == ["error"] and len(answer.content) < 700
    assert client.post("/gradio_api/component_server", files={"f": ("a.txt", b"x")}).status_code == 400  # a form


SMALL = ("/gradio_api/cancel", "/login", "/", "/live/plan", "/likeness/gradio_api/reset")
MOST = dict.fromkeys(SMALL, 64_000) | {
    "/live/input": 8_000_000,
    "/live/file": 50_000_000,
    "/export/board/mieb": 1_000_000,
}


@pytest.mark.parametrize("path", MOST)
def test_a_file_is_bounded_and_what_is_sent_anywhere_else_is_small(client, path):
    most = MOST[path]
    assert len(client.post(path, content=bytes(most)).content) == most
    for content in (bytes(most + 1), iter([bytes(most // 2 + 1)] * 2)):
        answer = client.post(path, content=content)
        assert (answer.status_code, list(answer.json())) == (413, ["error"])
        assert path in SMALL or f"{most // 1_000_000} MB" in answer.json()["error"]


# ---- the app itself


def spellings(path):
    """One absolute path in ways that a server might fall for."""
    plain, up = str(path), "../" * 12 + str(path)[1:]
    yield from (
        plain,
        up,
        "/" + up,
        quote(plain, safe=""),
        quote(quote(plain, safe=""), safe=""),
        up.replace("/", "%2f"),
    )
    yield from (up.replace("..", "%2e%2e"), up.replace("../", "....//"), up.replace("/", "\\"), f"{up}%00.webp")
    yield from ("file://" + plain, "cat.webp/" + up, "%c0%ae%c0%ae/" * 12 + plain[1:])


@pytest.mark.parametrize(
    "before",
    [
        "/gradio_api/file=",
        "/file=",
        "/live/example/",
        "/static/x/js/",
        "/assets/",
        "/gradio_api/proxy=",
        "/",
        "/export/board/",
        "/gradio_api/custom_component/html/client/component/",
        "/thumbnails/unisim/nights/",
    ],
)
def test_no_path_leads_outside(app, before):
    targets = {app.secret: SECRET.encode(), Path("/etc/passwd"): b"root:", ROOT / "app.py": b"def main"}
    for target, inside in targets.items():
        for spelling in spellings(target):
            status, content = app.raw(before + spelling)
            assert inside not in content and status != 500, (status, before + spelling)


def test_the_app_keeps_what_is_sent_in_memory_and_its_own_routes_open(app):
    for path in ("upload", "upload?upload_id=abc"):
        sent = httpx.post(f"{app.url}gradio_api/{path}", files={"files": ("a.zip", b"PK")}, timeout=60)
        assert sent.status_code == 404
    assert httpx.get(f"{app.url}gradio_api/file={app.secret}", timeout=60).status_code == 404
    listed = httpx.get(f"{app.url}live/examples", timeout=60).json()
    picture = httpx.get(f"{app.url}{listed['inputs'][0]['thumbnail']}", timeout=60)
    headers = {"x-likeness-session": "a" * 32}
    answer = httpx.post(f"{app.url}live/input", content=picture.content, headers=headers, timeout=60)
    assert answer.status_code == 200 and answer.json()["width"] > 100
    assert [httpx.get(f"{app.url}{path}").status_code for path in ("openapi.json", "redoc")] == [404] * 2
    secret = ("monitoring", "monitoring/summary", "monitoring/key")  # Gradio prints an address to whoever opens these
    assert [httpx.get(f"{app.url}{path}", timeout=60).status_code for path in secret] == [403] * 3
    assert "/api/v1/pair" in httpx.get(f"{app.url}api/v1/openapi.json").json()["paths"]
    sent = {"session_hash": "s", "fn_index": 0, "event_id": "e"}
    assert httpx.post(f"{app.url}gradio_api/cancel", json=sent, timeout=60).json() == {"success": True}
    assert app.files() == []


# ---- pages of other sites, and other names

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


def served(given):
    async def answer(request):
        return PlainTextResponse(request.headers.get("origin", "no origin"))

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    app = Starlette(
        routes=[Route("/{path:path}", answer, methods=methods)], middleware=[Middleware(CustomCORSMiddleware)]
    )
    return TestClient(ClientLimits(app, access=given), base_url=OWN)


@pytest.fixture
def local():
    return served(access(listens_on="127.0.0.1"))


MCP, EVIL = "/gradio_api/mcp/", {"origin": "http://evil.example"}
FETCHED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "referer": "https://a.example/"}
NAMES = ("evil.example", "evil.example:7860", "127.0.0.1.evil.example", "", "a, localhost")
ASKED = [
    *(("POST", path, headers, 403) for headers in FOREIGN for path in (JOIN, "/live/input")),
    *(("DELETE", JOIN, headers, 403) for headers in FOREIGN),
    *(("POST", JOIN, headers, 200) for headers in OWN_PAGES),
    *(("GET", MCP, headers, 200) for headers in (*OWN_PAGES, FOLLOWED)),
    *(("GET", path, headers, 403) for path in (MCP, "/gradio_api/heartbeat/a", JOIN) for headers in (EVIL, FETCHED)),
    ("GET", "/", FOLLOWED, 200),  # links from other sites lead here
    *(("POST", JOIN, {"host": name, "origin": f"http://{name}"}, 403) for name in NAMES),
    *(("GET", "/", {"host": name}, 403) for name in NAMES),
]


@pytest.mark.parametrize("method, path, headers, status", ASKED)
def test_own_pages_and_programs_are_served_and_no_other_site_s(local, method, path, headers, status):
    answer = local.request(method, path, headers=headers)
    words = "LIKENESS_HOSTS" if "host" in headers else "page of another site"
    assert answer.status_code == status and (status == 200 or words in answer.json()["error"])


@pytest.mark.parametrize("host", ["localhost:7860", "board.example"])
def test_no_other_site_may_read_an_answer(host):
    """Gradio permits every site to read under any name but this machine's."""
    local = served(Access())
    answer = local.get("/config", headers={"origin": "http://evil.example", "host": host})
    assert answer.text == "no origin" and "access-control-allow-origin" not in answer.headers
    asked = {"origin": "http://evil.example", "host": host, "access-control-request-method": "POST"}
    refused = local.options(JOIN, headers=asked)
    assert refused.status_code == 403 and "access-control-allow-origin" not in refused.headers


def test_names_of_the_operator_are_answered_and_count_as_its_own():
    named = served(access(listens_on="127.0.0.1", hosts="board.example"))
    asked = {"host": "board.example"}, {"origin": "https://board.example"}, {"host": "evil.example"}
    assert [named.post(JOIN, headers=headers).status_code for headers in asked] == [200, 200, 403]


# ---- answers

LARGE = bytes(range(256)) * 40_000  # 10 MB: more than the system's own buffers take


def large(request):
    return Response(LARGE)


def test_who_reads_nothing_is_disconnected_and_who_reads_is_not(monkeypatch):
    """The server stores one part of the answer for either."""
    monkeypatch.setattr(limits, "STALL", 0.5)
    with serving(ClientLimits(Starlette(routes=[Route("/", large)]))) as port:
        idle, reader = ask(port, "/"), ask(port, "/", buffer=1_000_000)
        assert len(read_all(reader)) > len(LARGE)
        while idle.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:  # until the server has broken it off
            if len(read_all(idle)) < len(LARGE):
                break
        else:
            pytest.fail("It was sent the whole")


def test_a_silent_stream_is_not_disconnected(monkeypatch):
    async def silent(request):
        async def parts():
            yield b"first"
            await asyncio.sleep(0.5)
            yield b"last"

        return StreamingResponse(parts())

    monkeypatch.setattr(limits, "STALL", 0.1)
    with serving(ClientLimits(Starlette(routes=[Route("/", silent)]))) as port:
        assert b"last" in read_all(ask(port, "/"))
