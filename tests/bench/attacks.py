"""Attacks on a running app, each with its goal. They run in a process of their own: they slow no measurement down."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import socket
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

from tests.bench.visitor import Answer, Event, Visitor
from tests.compute.live import hostile

ATTACKER, OTHER = "127.0.0.10", "127.0.0.20"
PHOTO = 8_000_000  # bytes, the largest that is accepted
AT_ONCE = 1.0  # seconds in which a refusal is due
COMPARISON = "another visitor's comparison"
MODEL = "tiny"  # bundled, for images and texts
Check = Callable[[Sequence[Answer]], str]  # what is wrong with the answers; empty: nothing


@dataclass(frozen=True, kw_only=True)
class Attack:
    """`run` attacks the app at a port; `check` judges its answers. `megabytes`: how much memory it may take more."""

    row: str
    title: str
    limit: str
    run: Callable[[int], list[Answer]]
    check: Check
    megabytes: float = 400.0


# ---- what answers must be


def at_once(answers: Sequence[Answer], *, within: float = AT_ONCE) -> str:
    """Every answer is refused with a sentence in time."""
    for answer in answers:
        if answer.status == 0:
            return f"no answer to {answer.what}"
        if answer.status >= 500:
            return f"{answer.what}: {answer.status}"
        if answer.seconds > within:
            return f"{answer.what}: {answer.seconds:.1f} s"
    return ""


def refused(answers: Sequence[Answer], *, within: float = AT_ONCE) -> str:
    """As at_once, and none is taken."""
    taken = [answer.what for answer in answers if answer.status < 400]
    return at_once(answers, within=within) or (f"taken: {taken[0]}" if taken else "")


def small_echo(answers: Sequence[Answer]) -> str:
    """As at_once, and no answer repeats what was sent."""
    longest = max(len(answer.body) for answer in answers)
    return at_once(answers) or (f"an answer of {longest / 1e6:.1f} MB" if longest > 20_000 else "")


def last_served(answers: Sequence[Answer], *, within: float) -> str:
    """The last answer, another visitor's, is 200 in time, whatever became of the others."""
    last = answers[-1]
    if last.status != 200:
        return f"{last.what}: {last.status}"
    return f"{last.what}: {last.seconds:.1f} s" if last.seconds > within else ""


def answered(answers: Sequence[Answer]) -> str:
    """No answer is missing or a failure of the server."""
    return next((f"{each.what}: {each.status}" for each in answers if each.status == 0 or each.status >= 500), "")


# ---- files


def photograph(size: int = PHOTO) -> bytes:
    """A JPEG of noise with nearly so many bytes."""
    side = int((size / 0.92) ** 0.5)
    noise = np.random.default_rng(3).integers(0, 256, (side, side, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "JPEG", quality=83)
    return out.getvalue()


def send_files(port: int, *, images: Sequence[str], zips: Sequence[str] = ()) -> list[Answer]:
    """Uploads crafted images one after another, and has crafted ZIPs read."""
    visitor = Visitor(port, ATTACKER)
    events = visitor.events()
    answers = [visitor.upload(hostile.IMAGES[name](), what=name) for name in images]
    return answers + [read_table(visitor, hostile.ZIPS[name](), events=events, what=name) for name in zips]


def read_table(visitor: Visitor, content: bytes, *, events: Mapping[str, Event], what: str) -> Answer:
    """Uploads a table and has it scored."""
    sent = visitor.upload(content, to="file", what=what)
    if sent.status != 200:
        return sent
    data = {"session": visitor.session, "file": json.loads(sent.body)["key"], "models": [MODEL], "turn": 1}
    return visitor.run(events["batch"], data=data, what=what)


def flood_with_files(
    port: int,
    *,
    seconds: float,
    clients: int = 8,
    fuzzed: int = 300,
    images: Sequence[str] = (*hostile.IMAGES, *hostile.HARMLESS),
    zips: Sequence[str] = (*hostile.ZIPS,),
) -> list[Answer]:
    """Crafted images and ZIPs, all unless named, and many fuzzed images, again and again, from several addresses."""
    makers = hostile.IMAGES | hostile.HARMLESS
    files = [("input", name, makers[name]()) for name in images]
    files += [("file", name, hostile.ZIPS[name]()) for name in zips]
    crafted = itertools.cycle(files)
    numbers = itertools.cycle(range(fuzzed))
    events = Visitor(port, ATTACKER).events()
    until = time.perf_counter() + seconds

    def client(number: int) -> list[Answer]:
        visitor, answers = Visitor(port, f"127.0.1.{number + 1}"), []
        while time.perf_counter() < until:
            kind, name, content = next(crafted)
            if kind == "file":
                answers.append(read_table(visitor, content, events=events, what=name))
            else:
                answers.append(visitor.upload(content, what=name))
            seed = next(numbers)
            answers.append(visitor.upload(hostile.fuzzed(seed), what=f"fuzzed {seed}"))
            if len(answers) % 20 == 0:
                visitor.leave()
        visitor.leave()  # what a visit uploaded is stored until it ends, within bounds of its own
        return [small(answer) for answer in answers]

    with ThreadPoolExecutor(clients) as pool:
        return [answer for answers in pool.map(client, range(clients)) for answer in answers]


def small(answer: Answer) -> Answer:
    """The answer without what would be copied between processes for nothing."""
    return Answer(what=answer.what, status=answer.status, seconds=answer.seconds, body=answer.body[:500])


# ---- events


def fill_queue(port: int, *, events: int = 100) -> list[Answer]:
    """One visitor asks for maps without waiting for them; then another has a pair compared."""
    attacker, other = Visitor(port, ATTACKER), Visitor(port, OTHER)
    event = attacker.events()["Make this map"]
    answers = []
    for seed in range(events):
        attacker.session = uuid.uuid4().hex
        answers.append(attacker.join(event, values=[*event.values[:-1], seed + 1]))
    return [*answers, other.call("score_pair", "a cat", "a dog", MODEL, what=COMPARISON)]


def fill_queue_with_bytes(port: int, *, events: int = 40, size: int = 20_000_000, clients: int = 8) -> list[Answer]:
    """One visitor sends events of 20 MB from several programs at once; then another's comparison."""
    event = Visitor(port, ATTACKER).events()["Make this map"]

    def client(_: int) -> list[Answer]:
        return [Visitor(port, ATTACKER).join(event, data="x" * size) for _ in range(events // clients)]

    with ThreadPoolExecutor(clients) as pool:
        answers = [answer for answers in pool.map(client, range(clients)) for answer in answers]
    return [*answers, Visitor(port, OTHER).call("score_pair", "a cat", "a dog", MODEL, what=COMPARISON)]


def open_sessions(port: int, *, sessions: int = 1500) -> list[Answer]:
    """Opens pages as so many visitors, from one address."""
    event = Visitor(port, ATTACKER).events()["load"]

    def visit(_: int) -> Answer:
        return small(Visitor(port, ATTACKER).join(event))

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(visit, range(sessions)))


def ask_with_giant_keys(port: int, *, size: int = 20_000_000) -> list[Answer]:
    """Keys of 20 MB where the endpoints and routes take a key."""
    visitor, long = Visitor(port, ATTACKER), "k" * size
    answers = [
        visitor.call("leaderboard", long, 5, "", "", "", "", what="leaderboard of a giant suite"),
        visitor.call("list_models", long, what="models of a giant mode"),
        visitor.call("score_pair", "a cat", "a dog", long, what="a giant model"),
        visitor.call("score_pair", f"example:{long}", "a dog", MODEL, what="a giant example"),
        visitor.call("leaderboard", "mieb", 5, long, "", "", "", what="a giant origin"),
        visitor.get(f"/data/board/{'k' * 60_000}"),
    ]
    return [
        Answer(what=each.what, status=each.status, seconds=each.seconds, body=each.body[:30_000]) for each in answers
    ]


def compare_long_words(port: int, *, letters: int = 100_000) -> list[Answer]:
    """Texts without a space."""
    visitor = Visitor(port, ATTACKER)
    return [
        visitor.call("score_pair", "a" * letters, "b" * letters, MODEL, what="a long word"),
        visitor.call("score_pair", "a\u0315\u0300" * (letters // 3), "b", MODEL, what="many combining signs"),
    ]


def come_from_elsewhere(port: int) -> list[Answer]:
    """Requests under a foreign name, and state-changing ones from a foreign page."""
    visitor = Visitor(port, ATTACKER)
    json_type = {"content-type": "application/json"}
    evil = {"host": "evil.example", "origin": "http://evil.example"}
    origin = {"origin": "http://evil.example"}
    call = b'{"data": ["pair"]}'
    session = {"x-likeness-session": visitor.session}
    join = "/gradio_api/queue/join"
    return [
        visitor.request("GET", "/board", headers=evil, what="a page for a foreign Host"),
        visitor.request("POST", "/gradio_api/call/list_models", body=call, headers=json_type | evil, what="Host, call"),
        visitor.request("POST", join, body=b"{}", headers=json_type | origin, what="Origin, queue/join"),
        visitor.request("POST", "/live/input", body=b"x", headers=session | origin, what="Origin, live/input"),
        visitor.request("POST", "/gradio_api/mcp/", body=b"{}", headers=json_type | origin, what="Origin, MCP"),
        visitor.request("POST", "/live/forget", body=b"x" * 32, headers=origin, what="Origin, live/forget"),
    ]


# Endless, larger than the memory of a query, deaf to interrupts, out to the server's files, and one text that grows.
QUERIES = (
    ("endless recursion", "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t"),
    ("cross join", "SELECT sum(length(a.claim || b.claim || c.claim)) FROM claims a, claims b, claims c"),
    ("deaf to interrupts", "SELECT jaro_similarity(repeat('a', 1000000), repeat('ab', 1000000))"),
    ("a list of a billion", "SELECT range(1000000000)"),
    ("1 GB of text", "SELECT md5(repeat('x', 1000000000))"),
    ("a file of the server", "FROM read_csv('/etc/passwd')"),
    ("another database", "ATTACH 'other.duckdb'"),
)


def query_the_database(port: int, *, queries: Sequence[tuple[str, str]] = QUERIES) -> list[Answer]:
    """Hostile queries, two at a time and each of another visitor, then an innocent one."""

    def ask(address: str, named: tuple[str, str]) -> Answer:
        return Visitor(port, address).send_json("/data/sql", {"sql": named[1]}, what=named[0])

    with ThreadPoolExecutor(2) as pool:
        addresses = [f"127.0.0.{100 + at}" for at in range(len(queries))]  # a visitor runs one query at a time
        answers = list(pool.map(ask, addresses, queries))
    return [*answers, ask(OTHER, ("count(*)", "SELECT count(*) FROM claims"))]


def only_the_innocent(answers: Sequence[Answer], *, within: float) -> str:
    """Every query but the last is refused in time; the last is answered."""
    return refused(answers[:-1], within=within) or last_served(answers, within=within)


def look_at_headers(port: int) -> list[Answer]:
    """A page and a file, for their headers."""
    visitor = Visitor(port, ATTACKER)
    return [
        Answer(what=path, status=answer.status, seconds=answer.seconds, headers=answer.headers)
        for path in ("/compare", "/board", "/data/board/mieb")
        if (answer := visitor.get(path))
    ]


def headers_defend(answers: Sequence[Answer]) -> str:
    """Each answer forbids frames of other sites and the guessing of types."""
    for answer in answers:
        if answer.headers.get("x-content-type-options") != "nosniff":
            return f"{answer.what}: no nosniff"
    policy = answers[0].headers.get("content-security-policy", "")
    return "" if "frame-ancestors" in policy else f"{answers[0].what}: no frame-ancestors"


# ---- connections


def read_slowly(port: int, *, readers: int = 100, seconds: float = 12) -> list[Answer]:
    """Asks for the whole table and the largest script many times, and reads a few bytes a second."""
    links = []
    paths = itertools.cycle(["/export/everything", "/export/everything?format=json", "/data/board/mieb"])
    for _ in range(readers):
        visitor = Visitor(port, ATTACKER)
        with contextlib.suppress(OSError):
            link = visitor.connect()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(f"GET {next(paths)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            links.append(link)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for link in links:
            with contextlib.suppress(OSError):
                link.recv(8, socket.MSG_DONTWAIT)
        time.sleep(1)
    answer = Visitor(port, OTHER).get("/export/everything")
    for link in links:
        link.close()
    return [Answer(what="another visitor's download", status=answer.status, seconds=answer.seconds)]


def send_half(port: int, *, uploads: int = 26, most: float = 13.0) -> list[Answer]:
    """Uploads that stop before their last byte; another visitor's photograph, and, a little later, the same one's."""
    attacker, other, photo = Visitor(port, ATTACKER), Visitor(port, OTHER), photograph()
    sizes = [PHOTO] * uploads + [500_000] * 20  # the small ones fill what the large ones leave
    links = [attacker.begin("/live/input", length=size, sent=bytes(size - 1000)) for size in sizes]
    began = time.perf_counter()
    answers = [small(other.upload(photo, what="another visitor's photograph"))]
    while (again := attacker.upload(photo, what="the same visitor's photograph")).status != 200:
        if time.perf_counter() - began > most + 10:
            break
        time.sleep(0.5)
    seconds = time.perf_counter() - began
    for link in links:
        link.close()
    return [*answers, Answer(what=again.what, status=again.status, seconds=seconds)]


def half_is_dropped(answers: Sequence[Answer], *, most: float = 13.0) -> str:
    """The other visitor's photograph came at once, the same visitor's after the idle time."""
    other, same = answers
    if other.status != 200 or other.seconds > 5:
        return f"{other.what}: {other.status}, {other.seconds:.1f} s"
    return "" if same.status == 200 and same.seconds < most else f"{same.what}: {same.status}, {same.seconds:.1f} s"


def connect_idly(port: int, *, connections: int = 1000, seconds: float = 14) -> list[Answer]:
    """Connections that send nothing or half of a head; in the end, how many the server still holds."""
    links: list[socket.socket] = []
    for number in range(connections):
        with contextlib.suppress(OSError):
            link = Visitor(port, ATTACKER).connect()
            if number % 2:
                link.sendall(b"GET /board HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            links.append(link)
    time.sleep(seconds)
    answer = Visitor(port, OTHER).get("/board")
    held = sum(map(_is_open, links))
    for link in links:
        link.close()
    return [
        Answer(what=f"{held} of {connections} still open", status=0 if held > connections // 10 else 200, seconds=0),
        small(answer),
    ]


def _is_open(link: socket.socket) -> bool:
    try:
        return link.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def pipeline(port: int) -> list[Answer]:
    """Odd but legal HTTP: many requests at once, a body without a length, an expectation, an upgrade."""
    visitor = Visitor(port, ATTACKER, patience=20)
    head = f"Host: 127.0.0.1:{port}\r\n"
    cases = {
        "200 pipelined requests": f"GET /live/examples HTTP/1.1\r\n{head}\r\n" * 200,
        "a chunked body that never ends": f"POST /live/input HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n"
        f"X-Likeness-Session: {visitor.session}\r\n\r\n" + "1\r\na\r\n",
        "an expectation, then nothing": f"POST /live/input HTTP/1.1\r\n{head}Expect: 100-continue\r\n"
        f"X-Likeness-Session: {visitor.session}\r\nContent-Length: 1000000\r\n\r\n",
        "an upgrade to a websocket": f"GET /gradio_api/queue/data HTTP/1.1\r\n{head}Connection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        "a head of 1 MB": f"GET / HTTP/1.1\r\n{head}X-Long: {'x' * 1_000_000}\r\n\r\n",
        "no HTTP": "\x16\x03\x01\x02\x00\r\n\r\n",
    }
    return [_raw(visitor, what, text.encode("latin-1")) for what, text in cases.items()]


def _raw(visitor: Visitor, what: str, sent: bytes) -> Answer:
    """The first status that comes back, or 408 where the server hangs up."""
    began = time.perf_counter()
    with visitor.connect() as link:
        status, got = 0, b""
        with contextlib.suppress(OSError):
            link.sendall(sent)
        try:
            while part := link.recv(65_536):
                got += part
                if not got.startswith(b"HTTP/1.1 100"):
                    break
            status = 408
            lines = [line for line in got.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
            codes = [int(line.split()[1]) for line in lines if not line.startswith(b"HTTP/1.1 100")]
            status = codes[0] if codes else 408
        except ConnectionError:
            status = 408
        except OSError:
            status = 0
    return Answer(what=what, status=status, seconds=time.perf_counter() - began)


def odd_events(port: int) -> list[Answer]:
    """Events and files that do not exist."""
    visitor = Visitor(port, ATTACKER)
    answers = [
        visitor.get("/gradio_api/call/score_pair/nothing"),
        visitor.get("/gradio_api/queue/data?session_hash=nothing"),
        visitor.send_json("/gradio_api/queue/join", {"fn_index": 99_999, "data": [], "session_hash": "x"}),
        visitor.send_json("/gradio_api/run/nothing", {"data": []}),
        visitor.get("/export/relations?suite=%3Dcmd"),
    ]
    return [small(answer) for answer in answers]


IDLE = "a body: 20 kB a second, at most 10 s behind; a visitor: three quarters of 200 MB"
ROWS: tuple[Attack, ...] = (
    Attack(
        row="1",
        title="combining signs in a ZIP's cell and name",
        limit="signs on one letter are bounded before composing",
        run=partial(send_files, images=(), zips=("zip_signs_in_a_cell", "zip_signs_in_a_name")),
        check=at_once,
    ),
    Attack(
        row="2",
        title="TIFF, PNG and WebP whose tags share 7 MB",
        limit="directories are walked before decoding; decoding in a child",
        run=partial(
            send_files,
            images=("tiff_shared_tags", "png_exif_shared_tags", "webp_exif_shared_tags", "bigtiff_shared_tags"),
        ),
        check=refused,
    ),
    Attack(
        row="3",
        title="comments of bytes, tiny segments, strips, a large tile, a lying AVIF",
        limit="blocks, segments, strips and tiles are counted before decoding",
        run=partial(
            send_files,
            images=(
                "gif_comment_of_bytes",
                "jpeg_tiny_exif_segments",
                "tiff_million_strips",
                "tiff_large_tile",
                "avif_claims_less",
            ),
        ),
        check=refused,
    ),
    Attack(
        row="4",
        title="100 maps from one visitor",
        limit="waiting events of one visitor",
        run=fill_queue,
        check=partial(last_served, within=10),
    ),
    Attack(
        row="4",
        title="40 events of 20 MB, 8 at once, from one visitor",
        limit="waiting events of one visitor; bytes of an event",
        run=fill_queue_with_bytes,
        check=partial(last_served, within=10),
    ),
    Attack(
        row="5",
        title="1,500 sessions from one visitor",
        limit="sessions in memory",
        run=open_sessions,
        check=answered,
        megabytes=200,
    ),
    Attack(
        row="6",
        title="keys of 20 MB",
        limit="200 characters of a key",
        run=ask_with_giant_keys,
        check=small_echo,
        megabytes=500,
    ),
    Attack(
        row="7",
        title="100 slow readers of exports",
        limit="downloads at a time; bytes that wait for readers",
        run=read_slowly,
        check=partial(last_served, within=5),
    ),
    Attack(
        row="8",
        title="100,000 letters without a space",
        limit="characters of a text and of a word",
        run=compare_long_words,
        check=at_once,
    ),
    Attack(row="9", title="foreign Host and Origin", limit="Host and Origin", run=come_from_elsewhere, check=refused),
    Attack(
        row="9",
        title="frames and types",
        limit="CSP frame-ancestors, nosniff",
        run=look_at_headers,
        check=headers_defend,
    ),
    Attack(row="11", title="26 half-sent uploads", limit=IDLE, run=send_half, check=half_is_dropped, megabytes=500),
    Attack(
        row="11",
        title="1,000 connections without a request",
        limit="10 s for a request's head",
        run=connect_idly,
        check=answered,
        megabytes=100,
    ),
    Attack(row="11", title="pipelining, chunks, upgrades, no HTTP", limit=IDLE, run=pipeline, check=answered),
    Attack(
        row="13",
        title=f"{len(QUERIES)} hostile SQL queries, two at a time",
        limit="2 s, memory and one SELECT of a query; two at a time",
        run=query_the_database,
        check=partial(only_the_innocent, within=8),  # with the start of a new process for a killed one
        megabytes=700,
    ),
    Attack(
        row="12",
        title="events and files that do not exist",
        limit="one line in the log",
        run=odd_events,
        check=answered,
    ),
)
