"""A server under attack: started in a process of its own, its memory sampled, and an innocent visitor beside it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.measure import ROOT, free_port
from tests.bench.visitor import Answer, Visitor

EVERY = 0.2  # seconds between two samples of the memory
INNOCENT = "127.0.0.99"  # an address that no attack comes from
STOP_AT = 4_000.0  # MB at which the server is stopped, for the sake of the machine that measures
BESIDE = (
    "/data/board/unisim-core",
    "/board",
    "/data/board/mieb",
    "/data/rank/mieb?w=Retrieval:2",
    "/live/examples",
    "/about",
)


def tree(process: int) -> list[int]:
    """A process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue  # it has ended
            parents.setdefault(parent, []).append(int(entry.name))
    found = [process]
    for number in found:
        found += parents.get(number, [])
    return found


def resident(process: int) -> float:
    """Memory of a process and all below it, in MB of a million bytes, each page once.

    That is: all that is resident of the process itself, and of those below it what is theirs alone, with the pages of
    files that it does not map too (the libraries of a map's program). It is the proportional set size of a machine that
    runs nothing else; the system's own figure of that is less where other programs map the same libraries, and costs
    30 ms of the server's time.
    """
    first, *below = tree(process)
    own = _status(first)
    total = own.get("VmRSS", 0)
    mapped = _files(first) if below else set()
    for number in below:
        status = _status(number)
        total += status.get("RssAnon", 0) + status.get("RssShmem", 0)
        for file, size in _file_pages(number).items():
            if file not in mapped:
                mapped.add(file)
                total += size
    return total * 1024 / 1e6


def torch_alone() -> float:
    """MB that a Python program has which imports torch and does nothing: what no server with a model can go below."""
    program = "import sys, torch; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        return resident(process.pid)


def _status(number: int) -> dict[str, int]:
    """The sizes in kB that the system states of a process; empty where it has ended."""
    try:
        text = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return {}
    return {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}


def _files(number: int) -> set[str]:
    """The files that a process maps."""
    try:
        lines = Path(f"/proc/{number}/maps").read_text().splitlines()
    except OSError:
        return set()
    return {parts[5] for line in lines if len(parts := line.split(maxsplit=5)) == 6}


def _file_pages(number: int) -> dict[str, int]:
    """Resident kB of each file that a process maps, without what it changed for itself."""
    sizes: dict[str, int] = {}
    file = ""
    try:
        lines = Path(f"/proc/{number}/smaps").read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        name, *rest = line.split(maxsplit=5)
        if not name.endswith(":"):
            file = rest[4] if len(rest) == 5 and rest[4].startswith("/") else ""
        elif file and name in ("Rss:", "Anonymous:"):
            sizes[file] = sizes.get(file, 0) + int(rest[0]) * (1 if name == "Rss:" else -1)
    return sizes


@dataclass(kw_only=True)
class Attacked:
    """The running app."""

    process: subprocess.Popen
    port: int
    log: Path
    stop_at: float = STOP_AT
    samples: list[tuple[float, float]] = field(default_factory=list)  # seconds, MB
    stopped: bool = False  # because of its memory

    @property
    def alive(self) -> bool:
        """Whether it is the process that was started."""
        return self.process.poll() is None

    @property
    def tracebacks(self) -> int:
        """Tracebacks in its log so far."""
        return self.log.read_text(errors="replace").count("Traceback (most recent call last)")

    def sample(self) -> None:
        """Notes the memory; stops a server that takes too much."""
        megabytes = resident(self.process.pid)
        self.samples.append((time.perf_counter(), megabytes))
        if megabytes > self.stop_at and self.alive:
            self.stopped = True
            _end(self.process)

    def peak(self, since: float) -> float:
        """The most memory since a time, in MB."""
        return max((megabytes for at, megabytes in self.samples if at >= since), default=0.0)

    def settle(self, target: float, *, seconds: float) -> float:
        """Waits until the memory is at most `target` MB, but no longer than `seconds`; the memory then."""
        until = time.perf_counter() + seconds
        while (now := resident(self.process.pid)) > target and time.perf_counter() < until and self.alive:
            time.sleep(EVERY)
        return now


@contextmanager
def attacked(
    root: Path = ROOT, *, environment: Mapping[str, str] | None = None, stop_at: float = STOP_AT, patience: float = 120
) -> Iterator[Attacked]:
    """Starts the app of a checkout on loopback, without judges, runs or rates of this machine's own."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LIKENESS_", "GRADIO_"))}
    with tempfile.TemporaryDirectory() as folder:
        log, port = Path(folder) / "log", free_port()
        own |= {"LIKENESS_RESULTS": folder, "LIKENESS_DATABASE": f"{folder}/likeness.duckdb"} | dict(environment or {})
        with log.open("w") as out:
            process = subprocess.Popen(
                [sys.executable, "app.py", "--port", str(port)],
                cwd=root,
                env=own,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        server = Attacked(process=process, port=port, log=log, stop_at=stop_at)
        ended = threading.Event()
        sampler = threading.Thread(target=_sample, args=(server, ended), daemon=True)
        try:
            _wait(server, patience)
            sampler.start()
            yield server
        finally:
            ended.set()
            if sampler.is_alive():
                sampler.join()
            _end(process)


def _wait(server: Attacked, patience: float) -> None:
    visitor, until = Visitor(server.port, INNOCENT, patience=10), time.perf_counter() + patience
    while visitor.get("/data/board/mieb").status != 200:
        if not server.alive or time.perf_counter() > until:
            raise SystemExit(f"The app does not answer: {server.log.read_text()[-2000:]}")
        time.sleep(0.1)
    for path in BESIDE:  # so that no first time is measured
        visitor.get(path)


def _sample(server: Attacked, ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        server.sample()


def _end(process: subprocess.Popen) -> None:
    """Ends a process and those of its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            continue


class Innocent:
    """A visitor who looks at pages and figures the whole time, in a thread; each answer is timed."""

    def __init__(self, port: int, *, paths: tuple[str, ...] = BESIDE, pause: float = 0.05) -> None:
        self.answers: list[Answer] = []
        self._visitor, self._paths, self._pause = Visitor(port, INNOCENT), paths, pause
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Innocent:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def slowest(self) -> float:
        """Seconds of the slowest answer."""
        return max((answer.seconds for answer in self.answers), default=0.0)

    @property
    def failed(self) -> list[Answer]:
        """Answers that were not 200."""
        return [answer for answer in self.answers if answer.status != 200]

    def _look(self) -> None:
        while True:
            for path in self._paths:
                self.answers.append(self._visitor.get(path))
                if self._ended.wait(self._pause):
                    return
