"""The real app under attack: others are served, nothing fails, and the server lives on within 3 GB.

Not for a machine that others use: the floods take all its processors for a while.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.compute.live import hostile
from tests.slow.visitor import Answer, Visitor

ROOT = Path(__file__).resolve().parents[2]
ATTACKER, OTHER, INNOCENT = "127.0.0.10", "127.0.0.20", "127.0.0.99"
LARGEST = 3_000_000  # kB of the server, at which it is stopped for the sake of the machine
MODEL = "tiny"  # bundled, for images and texts
BESIDE = ("/data/board/unisim-core", "/board", "/data/board/mieb", "/live/examples", "/about")


@dataclass(frozen=True)
class Server:
    """The running app."""

    process: subprocess.Popen
    port: int
    log: Path

    def resident(self) -> int:
        """kB of its memory."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app on loopback, without judges, runs or rates of this machine's own."""
    folder = tmp_path_factory.mktemp("attacked")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LIKENESS_", "GRADIO_"))}
    own |= {"LIKENESS_RESULTS": str(folder / "results"), "LIKENESS_DATABASE": str(folder / "likeness.duckdb")}
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen([sys.executable, "-u", "app.py"], cwd=ROOT, env=own, stdout=out, stderr=out)
    try:
        while (address := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())) is None:
            assert process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
        running = Server(process, int(address[1]), log)
        Visitor(running.port).call("score_pair", "a cat", "a dog", MODEL)  # loads the bundled model
        yield running
        assert process.poll() is None and "Traceback" not in log.read_text(), log.read_text()[-3000:]
    finally:
        process.terminate()
        process.wait(timeout=60)


def summary(beside: list[Answer]) -> str:
    """How long others waited."""
    waited = sorted(answer.seconds for answer in beside)
    statuses = Counter(answer.status for answer in beside)
    slowest = max(beside, key=lambda answer: answer.seconds)
    return (
        f"{len(beside)} requests of others waited {waited[len(waited) // 2]:.2f} s, at most {slowest.seconds:.2f} s "
        f"({slowest.what}); {dict(statuses)}"
    )


def survived(server: Server, attack: Callable[[int], list[Answer]]) -> list[Answer]:
    """The attack's answers; meanwhile another visitor looks at pages, and is served each time."""
    answers: list[Answer] = []
    beside: list[Answer] = []
    attacker = threading.Thread(target=lambda: answers.extend(attack(server.port)), daemon=True)
    attacker.start()
    for path in itertools.cycle(BESIDE):
        beside.append(seen := Visitor(server.port, INNOCENT).get(path))
        assert seen.status == 200, (path, seen.status, seen.sentence)
        assert server.process.poll() is None and server.resident() < LARGEST
        if not attacker.is_alive():
            break
    print(f"\n{getattr(attack, '__name__', attack)}: {summary(beside)}")
    assert answers and not [answer for answer in answers if answer.status == 0 or answer.status >= 500]
    return answers


def test_a_server_holds_no_library_that_only_a_build_or_other_models_need(server: Server) -> None:
    mapped = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "Building" in server.log.read_text() and "libtorch_cpu" in mapped
    assert [library for library in ("scipy/stats", "torchvision", "sklearn") if library in mapped] == []


def send_files(port: int, *, clients: int = 4) -> list[Answer]:
    """Every crafted image, and fuzzed ones, from several addresses at once."""

    def client(number: int) -> list[Answer]:
        visitor = Visitor(port, f"127.0.1.{number + 1}")
        answers = [visitor.upload(make(), what=name) for name, make in list(hostile.IMAGES.items())[number::clients]]
        answers += [visitor.upload(hostile.fuzzed(seed), what=f"fuzzed {seed}") for seed in range(number, 100, clients)]
        visitor.leave()
        return answers

    with ThreadPoolExecutor(clients) as pool:
        return [answer for answers in pool.map(client, range(clients)) for answer in answers]


def test_crafted_files_from_several_visitors(server: Server) -> None:
    survived(server, send_files)


def fill_queue(port: int, *, events: int, size: int = 0) -> list[Answer]:
    """One visitor asks for maps without waiting for them, with bodies of `size`; then another has a pair compared."""
    event = Visitor(port, ATTACKER).events()["Make this map"]

    def join(seed: int) -> Answer:
        visitor = Visitor(port, ATTACKER)
        visitor.session = uuid.uuid4().hex
        return visitor.join(event, data="x" * size, values=[*event.values[:-1], seed + 1])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(join, range(events)))
    return [*answers, Visitor(port, OTHER).call("score_pair", "a cat", "a dog", MODEL)]


@pytest.mark.parametrize(("events", "size"), [(100, 0), (40, 20_000_000)], ids=["many", "large"])
def test_one_visitor_does_not_fill_the_queue(server: Server, events: int, size: int) -> None:
    *_, other = survived(server, partial(fill_queue, events=events, size=size))
    assert other.status == 200


def ask_with_giant_keys(port: int) -> list[Answer]:
    visitor, long = Visitor(port, ATTACKER), "k" * 20_000_000
    return [
        visitor.call("leaderboard", long, 5, "", "", "", ""),
        visitor.call("score_pair", f"example:{long}", "a dog", MODEL),
        visitor.call("score_pair", "a" * 100_000, "a\u0315\u0300" * 33_000, MODEL),
        visitor.get(f"/data/board/{'k' * 60_000}"),
    ]


def test_giant_keys_and_words(server: Server) -> None:
    assert max(len(answer.body) for answer in survived(server, ask_with_giant_keys)) < 20_000


def come_from_elsewhere(port: int) -> list[Answer]:
    """Requests under a foreign name, and state-changing ones from a foreign page."""
    visitor, origin = Visitor(port, ATTACKER), {"origin": "http://evil.example"}
    session, join = {"x-likeness-session": visitor.session}, "/gradio_api/queue/join"
    return [
        visitor.request("GET", "/board", headers={"host": "evil.example"}),
        visitor.request("POST", join, body=b"{}", headers={"content-type": "application/json"} | origin),
        visitor.request("POST", "/live/input", body=b"x", headers=session | origin),
        visitor.request("POST", "/gradio_api/mcp/", body=b"{}", headers=origin),
    ]


def test_pages_of_other_sites(server: Server) -> None:
    assert {answer.status for answer in survived(server, come_from_elsewhere)} == {403}


# Endless, larger than the memory of a query, deaf to interrupts, out to the server's files.
QUERIES = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT sum(length(a.claim || b.claim || c.claim)) FROM claims a, claims b, claims c",
    "SELECT jaro_similarity(repeat('a', 1000000), repeat('ab', 1000000))",
    "SELECT md5(repeat('x', 1000000000))",
    "FROM read_csv('/etc/passwd')",
    "ATTACH 'other.duckdb'",
)


def query_the_database(port: int) -> list[Answer]:
    """Two at a time, each of another visitor."""

    def ask(numbered: tuple[int, str]) -> Answer:
        return Visitor(port, f"127.0.0.{100 + numbered[0]}").send_json("/data/sql", {"sql": numbered[1]})

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ask, enumerate((*QUERIES, "SELECT count(*) FROM claims"))))


def test_hostile_queries_of_the_database(server: Server) -> None:
    *hostile_ones, innocent = survived(server, query_the_database)
    assert {answer.status for answer in hostile_ones} == {400} and innocent.status == 200


def read_nothing(port: int, *, readers: int = 100) -> list[Answer]:
    """Asks for the whole table many times and reads nothing of it; another visitor downloads it meanwhile."""
    links = []
    for path in itertools.islice(itertools.cycle(["/export/everything", "/data/board/mieb"]), readers):
        with contextlib.suppress(OSError):
            link = Visitor(port, ATTACKER).connect()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            links.append(link)
    answer = Visitor(port, OTHER).get("/export/everything")
    for link in links:
        link.close()
    return [answer]


def send_half(port: int, *, uploads: int = 26) -> list[Answer]:
    """Uploads that stop before their last byte; another visitor's upload passes."""
    attacker, other = Visitor(port, ATTACKER), Visitor(port, OTHER)
    links = [attacker.begin("/live/input", length=8_000_000, sent=bytes(7_999_000)) for _ in range(uploads)]
    answer = other.upload(hostile.fuzzed(0))
    for link in links:
        link.close()
    return [answer]


def connect_idly(port: int, *, connections: int = 1000) -> list[Answer]:
    """Connections that send nothing or half of a head, until the server has ended them all."""
    links: list[socket.socket] = []
    for number in range(connections):
        with contextlib.suppress(OSError):
            link = Visitor(port, ATTACKER).connect()
            link.sendall(b"GET /board HTTP/1.1\r\nX-Slow: " if number % 2 else b"")
            links.append(link)
    for link in links:
        with contextlib.suppress(ConnectionError):
            assert link.recv(1) == b""
        link.close()
    return [Visitor(port, OTHER).get("/board")]


@pytest.mark.parametrize("attack", [read_nothing, send_half, connect_idly])
def test_connections_that_wait(server: Server, attack: Callable[[int], list[Answer]]) -> None:
    assert [answer.status for answer in survived(server, attack)][-1] < 500


# ---- what computes, many requests of one address, and both slots of the queries

RANK = ["mieb", 1000, "", "", "", ""]
HEAVY = (
    "/judges",
    "/config",
    "/config?page=board",
    "/gradio_api/mcp/",
    "/gradio_api/info?page=board",
    "/data/rank/mieb",
)


def run_functions(port: int, *, clients: int = 8, each: int = 6) -> list[Answer]:
    """Clients of one address call functions that no queue holds back, directly and as tools of MCP."""

    def client(number: int) -> list[Answer]:
        visitor = Visitor(port, ATTACKER)
        direct = partial(visitor.send_json, "/gradio_api/run/leaderboard", {"data": RANK})
        tool = partial(visitor.call_tool, "leaderboard", suite="mieb", limit=1000)
        return [(tool if number % 2 else direct)() for _ in range(each)]

    with ThreadPoolExecutor(clients) as pool:
        return [answer for answers in pool.map(client, range(clients)) for answer in answers]


def get_at_once(port: int, *, path: str, requests: int = 400, times: int = 3) -> list[Answer]:
    """All of one address, each on a connection of its own; a stream that has begun is an answer."""
    answers = []
    for _ in range(times):
        links = []
        for number in range(requests):
            links.append(link := Visitor(port, ATTACKER).connect())
            query = f"?w=average:{number % 100}" if path.startswith("/data/rank") else ""
            head = f"GET {path}{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            link.sendall(f"{head}Accept: application/json, text/event-stream\r\n\r\n".encode())
        for link in links:
            with link, contextlib.suppress(OSError):
                answers.append(Answer(what=path, status=int(link.recv(15)[9:12] or 0), seconds=0))
    return answers


@pytest.mark.parametrize(
    "attack",
    [run_functions, *(partial(get_at_once, path=path) for path in HEAVY)],
    ids=["functions", *HEAVY],
)
def test_one_address_leaves_others_their_time(server: Server, attack: Callable[[int], list[Answer]]) -> None:
    answers = survived(server, attack)
    assert {answer.status for answer in answers} <= {200, 400, 429}


def hold_queries(port: int, *, seconds: float = 20) -> tuple[list[Answer], list[Answer]]:
    """Two addresses send endless queries, one after another and several at a time; a third asks what takes no time."""
    ends = time.monotonic() + seconds

    def hold(address: str) -> list[Answer]:
        answers = []
        while time.monotonic() < ends:
            answers.append(Visitor(port, address).send_json("/data/sql", {"sql": QUERIES[0]}))
        return answers

    with ThreadPoolExecutor(6) as pool:
        held = [pool.submit(hold, address) for address in (ATTACKER, OTHER) * 3]
        asked = []
        while time.monotonic() < ends:
            asked.append(Visitor(port, INNOCENT).send_json("/data/sql", {"sql": "SELECT 1"}))
        return [answer for one in held for answer in one.result()], asked


def test_two_addresses_leave_a_third_its_queries(server: Server) -> None:
    held, asked = hold_queries(server.port)
    print(f"\nqueries: {summary(asked)}; of {len(held)} of the attackers {sum(a.status == 429 for a in held)} refused")
    assert {answer.status for answer in asked} == {200} and {answer.status for answer in held} <= {400, 429}
