"""The real app under attack, one line a row: how long others waited, the memory of its processes, a verdict.

    python -m tests.slow.attacks [NAME ...]

Each attack is paired with a quiet measurement of the same requests just before it, since other programs may use the
machine: an attack has fallen where others are refused, wait 0.5 s longer than then (the 95th percentile; behind queries
the time of one), where the processes take more than 1.2 GB, or where its own answers are not what is expected.
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from leaderboard.web.gradio_app import UNREADABLE
from tests.compute.live import hostile
from tests.compute.live.pictures import png
from tests.serving import ROOT, serving
from tests.slow.visitor import JSON, Answer, Visitor

ATTACKER, OTHER, INNOCENT = "127.0.0.10", "127.0.0.20", "127.0.0.99"
MOST_MEMORY = 1_200_000_000  # bytes of the app's processes
LONGER, ONE_QUERY = 0.5, 2.5  # seconds that others may wait longer
MODEL = "tiny"  # bundled, for images and texts
BESIDE = ("/data/board/unisim-core", "/board", "/data/board/mieb", "/live/examples", "/about")


def parts(pid):
    """Bytes of a process and all below it, without the pages of files that the system can drop at any time.

    What the processes share counts once. By the span of addresses: until a new process has loaded its program, it has
    that of its parent.
    """
    found = {}
    with contextlib.suppress(OSError):  # it has ended
        words = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
        found[words[0]] = 1024 * sum(int(words[words.index(kind) + 1]) for kind in ("Pss_Anon:", "Pss_Shmem:"))
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found = parts(int(child)) | found
    return found


@contextlib.contextmanager
def watching(pid):
    """What memory a process and those below it take while the block runs, five times a second."""
    seen, ended = [0], threading.Event()

    def look():
        while not ended.wait(0.2):
            seen.append(sum(parts(pid).values()))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def at_once(ask, asked, *, threads):
    """All answers of so many clients."""
    with ThreadPoolExecutor(threads) as pool:
        return list(itertools.chain(*pool.map(ask, asked)))


# ---- files, events, words


def send_files(port):
    """Every crafted image, and fuzzed ones, from several addresses at once."""
    files = [*hostile.IMAGES.values(), *(partial(hostile.fuzzed, seed) for seed in range(100))]

    def client(number):
        visitor = Visitor(port, f"127.0.1.{number + 1}")
        answers = [visitor.upload(make()) for make in files[number::4]]
        visitor.leave()
        return answers

    return at_once(client, range(4), threads=4)


def fill_queue(port, *, events, size=0):
    """One visitor asks for patches without waiting, with bodies of `size`; then another has a pair compared."""
    event = Visitor(port, ATTACKER).events()["Show"]
    answers = at_once(lambda _: [Visitor(port, ATTACKER).join(event, data="x" * size)], range(events), threads=8)
    return [*answers, Visitor(port, OTHER).score("a cat", "a dog", MODEL)]


def ask_with_giant_keys(port):
    visitor, long = Visitor(port, ATTACKER), "k" * 20_000_000
    return [
        visitor.get(f"/api/v1/suites/{'k' * 60_000}/ranking"),
        visitor.score(f"example:{long}", "a dog", MODEL),
        visitor.score("a" * 100_000, "a\u0315\u0300" * 33_000, MODEL),
        visitor.get(f"/data/board/{'k' * 60_000}"),
    ]


def come_from_elsewhere(port):
    """Requests under a foreign name, and state-changing ones from a foreign page."""
    visitor, origin = Visitor(port, ATTACKER), {"origin": "http://evil.example"}
    session = origin | {"x-likeness-session": visitor.session}
    return [
        visitor.request("GET", "/board", headers={"host": "evil.example"}),
        visitor.send_json("/gradio_api/queue/join", {}, JSON | origin),
        visitor.request("POST", "/live/input", body=b"x", headers=session),
        visitor.send_json("/gradio_api/mcp/", {}, origin),
    ]


# Endless, larger than the memory of a query, deaf to interrupts, out to the server's files.
QUERIES = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT sum(length(a.claim || b.claim || c.claim)) FROM claims a, claims b, claims c",
    "SELECT jaro_similarity(repeat('a', 1000000), repeat('ab', 1000000))",
    "SELECT md5(repeat('x', 1000000000))",
    "FROM read_csv('/etc/passwd')",
    "ATTACH 'other.duckdb'",
)


def query_the_database(port):
    """Two at a time, each of another visitor."""

    def ask(numbered):
        return [Visitor(port, f"127.0.0.{100 + numbered[0]}").send_json("/data/sql", {"sql": numbered[1]})]

    return at_once(ask, enumerate((*QUERIES, "SELECT count(*) FROM claims")), threads=2)


def read_nothing(port):
    """Asks for the whole table many times and reads nothing of it; another visitor downloads it meanwhile."""
    with contextlib.ExitStack() as links:
        for path in itertools.islice(itertools.cycle(["/export/everything", "/data/board/mieb"]), 100):
            with contextlib.suppress(OSError):
                link = links.enter_context(Visitor(port, ATTACKER).connect())
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        return [Visitor(port, OTHER).get("/export/everything")]


def send_half(port):
    """Uploads that stop before their last byte; another visitor's upload passes."""
    attacker, other = Visitor(port, ATTACKER), Visitor(port, OTHER)
    head = f"POST /live/input HTTP/1.1\nHost: 127.0.0.1:{port}\nContent-Length: 8000000\n"
    head += f"X-Likeness-Session: {attacker.session}\n\n"
    with contextlib.ExitStack() as links:
        for _ in range(26):
            links.enter_context(attacker.connect(head, bytes(7_999_000)))
        return [other.upload(hostile.fuzzed(0))]


def connect_idly(port):
    """Connections that send nothing or half of a head, until the server has ended them all."""
    links = []
    for number in range(1000):
        with contextlib.suppress(OSError):
            links.append(Visitor(port, ATTACKER).connect("GET /board HTTP/1.1\nX-Slow: " * (number % 2)))
    for link in links:
        with link, contextlib.suppress(ConnectionError):
            assert link.recv(1) == b""
    return [Visitor(port, OTHER).get("/board")]


# ---- what computes, many requests of one address, and both slots of the queries

HEAVY = (
    "/judges",
    "/config",
    "/config?page=board",
    "/gradio_api/mcp/",
    "/gradio_api/info?page=board",
    "/api/v1/suites/mieb/scores",
    "/data/rank/mieb",
)


def run_functions(port):
    """Clients of one address call functions, by the API and as tools of MCP."""

    def client(number):
        visitor = Visitor(port, ATTACKER)
        direct = partial(visitor.get, "/api/v1/suites/mieb/ranking?limit=1000")
        tool = partial(visitor.call_tool, "leaderboard", suite="mieb", limit=1000)
        return [(tool if number % 2 else direct)() for _ in range(6)]

    return at_once(client, range(8), threads=8)


def get_at_once(port, *, path):
    """All of one address, each on a connection of its own; a stream that has begun is an answer."""
    answers = []
    for _ in range(3):
        links = []
        for number in range(400):
            query = f"?w=average:{number % 100}" if path.startswith("/data/rank") else ""
            head = f"GET {path}{query} HTTP/1.1\nHost: 127.0.0.1:{port}\n"
            links.append(Visitor(port, ATTACKER).connect(f"{head}Accept: application/json, text/event-stream\n\n"))
        for link in links:
            with link, contextlib.suppress(OSError):
                answers.append(Answer(status=int(link.recv(15)[9:12] or 0), seconds=0))
    return answers


def send_studies(port):
    """Ten addresses have the largest studies opened and reported on, and send lists of numbers in their place."""
    count, picks = 1000, [at % 2 for at in range(1000)]
    models = {f"m{number}": "A model" for number in range(40)}
    study = {"kind": "quality", "contents": ["a", "b"], "questions": [(-1, 0, 1)] * count, "models": models}
    facts = {"time": "", "draw": "uniform", "left": 0}
    judgments = [
        facts | {"order": at, "question": at % count, "choice": at % 7 % 2, "seed": at // 300, "rater": "me"}
        for at in range(9000)
    ]
    study |= {"picks": dict.fromkeys(models, picks), "chance": [0.5] * count}
    whole = json.dumps({"study": study, "judgments": judgments}).encode()
    alone = json.dumps(judgments).encode()

    def client(number):
        visitor = Visitor(port, f"127.0.3.{number + 1}")
        send = partial(visitor.request, "POST", headers={"x-likeness-session": visitor.session})
        answers = []
        for _ in range(2):
            answers.append(opened := send("/eyes/order?seed=1", body=whole))
            name = json.loads(opened.body)["id"] if opened.status == 200 else ""
            answers += [send(f"/eyes/report?study={name}", body=alone)] if name else []
        assert {answer.status for answer in answers} <= {200, 503}, "neither answered nor asked to wait"
        refused = send("/eyes/order?seed=1", body=b"[" + b"1," * 1_950_000 + b"1]")
        assert refused.status in (400, 503), refused.status
        return [answer for answer in answers if answer.status != 503]

    return at_once(client, range(10), threads=10)


def hold_queries(port):
    """Two addresses send endless queries, one after another and several at a time."""
    ends = time.monotonic() + 20

    def hold(address):
        answers = []
        while time.monotonic() < ends:
            answers.append(Visitor(port, address).send_json("/data/sql", {"sql": QUERIES[0]}))
        return answers

    return at_once(hold, (ATTACKER, OTHER) * 3, threads=6)


def get_under_many_names(port):
    """Pages under a new forwarded name each, and names that are none."""
    names = [*(f"a{number}.example" for number in range(300)), "a b", "[", "a:b:c", "u@a", "x" * 5000]

    def ask(numbered):
        path = ("/judges", "/config")[numbered[0] % 2]
        return [Visitor(port, ATTACKER).request("GET", path, headers={"x-forwarded-host": numbered[1]})]

    answers = at_once(ask, enumerate(names), threads=16)
    for path in ("/monitoring", "/monitoring/summary"):  # Gradio's statistics
        assert Visitor(port, ATTACKER).get(path).status == 403
    return answers


def send_thin(port):
    """Pictures of one line, and functions of DuckDB that hear no interrupt; each is over within 2 s."""
    visitor = Visitor(port, ATTACKER)
    answers = [visitor.upload(png("black", size)) for size in ((39_000_000, 1), (1, 39_000_000))]
    nines = "repeat('9', 1000000)::BIGNUM"
    for sql in ("SELECT lpad('a', 1000000000, 'b')", f"SELECT ({nines} * {nines})::VARCHAR", QUERIES[2]):
        answers.append(visitor.send_json("/data/sql", {"sql": sql}))
    longest = max(answer.seconds for answer in answers)
    assert {answer.status for answer in answers} <= {200, 400} and longest < 2, f"{longest:.1f} s until refused"
    return answers


# ---- files given to the commands; what they are given comes back as the command's words


def long_strings(folder):
    path = folder / "bomb.parquet"
    duckdb.execute(f"COPY (SELECT 'm' || i AS model, repeat('x', 1000000) AS a FROM range(8000) t(i)) TO '{path}'")
    return ["rank", str(path)]


def many_columns(folder):
    path = folder / "wide.csv"
    path.write_text("model," + ",".join(f"c{number}" for number in range(900_000)) + "\n")
    return ["rank", str(path)]


def many_layers(folder):
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["num_hidden_layers"] = config["vision_config"]["num_hidden_layers"] = 10_000_000
    (folder / "config.json").write_text(json.dumps(config))
    return [*RUN, "mini/photographs", "--models", str(folder)]


def long_header(folder):
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    names = {f"{number:0100d}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for number in range(520_000)}
    text = json.dumps(names).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    return [*RUN, "mini/photographs", "--models", str(folder)]


SECRET, TINY, RUN = "c2VjcmV0", ROOT / "assets" / "tiny", ("run", "--suite", "mini", "--tasks")
COMMANDS = {
    "parquet of long strings": long_strings,
    "10 million layers": many_layers,
    "header of 89 MB": long_header,
    "key in the endpoint's address": lambda _: [*RUN, "mini/image-choice", "--models", "gpt-4o-2024-08-06"],
    "900,000 columns": many_columns,
}


def command(make):
    """How soon a command ended, the most memory of it, and why that is no refusal; empty where it is one."""
    with tempfile.TemporaryDirectory() as folder:
        own = os.environ | {"LIKENESS_RESULTS": f"{folder}/results", "LIKENESS_DATABASE": f"{folder}/own.duckdb"}
        own |= {"LIKENESS_ENDPOINT": f"http://user:{SECRET}@127.0.0.1:9/v1", "HF_HUB_OFFLINE": "1"}
        words = [sys.executable, "-m", "compute", *make(Path(folder))]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        began = time.monotonic()
        process = subprocess.Popen(words, cwd=ROOT, env=own, **how)
        stopped = threading.Timer(45, os.killpg, (process.pid, signal.SIGKILL))
        stopped.start()
        with watching(process.pid) as memory:
            said, _ = process.communicate()
        stopped.cancel()
        faults = {
            "traceback": "Traceback" in said,
            "echoes the key": SECRET in said,
            "not refused": process.returncode in (0, -signal.SIGKILL),
            "not run": "Usage:" in said,
        }
        return f"refused in {time.monotonic() - began:.1f} s", max(memory), ", ".join(filter(faults.get, faults))


# ---- the table


ATTACKS = {
    "functions and tools": run_functions,
    **{f"400 at once: {path}": partial(get_at_once, path=path) for path in HEAVY},
    "300 forwarded names": get_under_many_names,
    "largest studies of ten addresses": send_studies,
    "two addresses hold the queries": hold_queries,
    "thin pictures, deaf queries": send_thin,
    "crafted files": send_files,
    "many events": partial(fill_queue, events=100),
    "large events": partial(fill_queue, events=40, size=20_000_000),
    "giant keys": ask_with_giant_keys,
    "pages of other sites": come_from_elsewhere,
    "hostile queries": query_the_database,
    "who reads nothing": read_nothing,
    "half-sent uploads": send_half,
    "idle connections": connect_idly,
}


def looked(port, *, query, until):
    """Another visitor's requests, until something is so and at least once round; the median and the 95th percentile of
    their seconds."""
    seen = []
    visitor = Visitor(port, INNOCENT)
    while len(seen) < len(BESIDE) or not until():
        path = BESIDE[len(seen) % len(BESIDE)]
        seen.append(visitor.send_json("/data/sql", {"sql": "SELECT 1"}) if query else visitor.get(path))
    return seen, *np.percentile([answer.seconds for answer in seen], (50, 95), method="lower").tolist()


def attacked(server, attack):
    """The times that others waited, the most memory, and why the attack has not been held; empty where it was."""
    query, begun = attack is hold_queries, time.monotonic()
    _, *quiet = looked(server.port, query=query, until=lambda: time.monotonic() > begun + 2)
    with watching(server.process.pid) as memory, ThreadPoolExecutor(1) as pool:
        running = pool.submit(attack, server.port)
        beside, *during = looked(server.port, query=query, until=running.done)
    problems = []
    try:
        answers = running.result()
        failed = sorted({answer.status for answer in answers if answer.status == 0 or answer.status >= 500})
        problems += [f"answered with {failed}"] * bool(failed)
        unread = (UNREADABLE.encode(), b'"isError":true')
        problems += ["sent what is not read"] * any(word in answer.body for answer in answers for word in unread)
    except AssertionError as error:
        problems.append(str(error) or "not refused")
    if refused := [answer.status for answer in beside if answer.status != 200]:
        problems.append(f"others refused: {len(refused)} of {len(beside)}, {refused[0]}")
    problems += ["others wait"] * (during[1] > quiet[1] + (ONE_QUERY if query else LONGER))
    problems += ["the app ended"] * (server.process.poll() is not None)
    return " ".join(f"{seconds:.2f}" for seconds in (*quiet, *during)), max(memory), ", ".join(problems)


def main(names):
    """Prints the table; 1 where an attack was not held."""
    fallen = 0
    print(f"{'attack':40} {'waits of others':>19}    MB  verdict   (quiet median, 95th; attacked median, 95th, in s)")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LIKENESS_", "GRADIO_"))}
    with tempfile.TemporaryDirectory() as folder:
        own |= {"LIKENESS_RESULTS": f"{folder}/results", "LIKENESS_DATABASE": f"{folder}/likeness.duckdb"}
        with serving(place=own) as server:
            Visitor(server.port).score("a cat", "a dog", MODEL)  # loads the bundled model
            for name in names or (*ATTACKS, *COMMANDS):
                words, most, problem = attacked(server, ATTACKS[name]) if name in ATTACKS else command(COMMANDS[name])
                problem = ", ".join(filter(None, (problem, "more memory" * (most > MOST_MEMORY))))
                fallen += bool(problem)
                print(f"{name:40} {words:>19} {most // 1_000_000:5}  {problem or 'held'}", flush=True)
    return int(fallen > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
