"""What judging pairs at an endpoint adds to the server's own time: python -m tests.bench.bench_judge_endpoint

A server process on loopback looks at the pixels of every pair and takes its time. PAIRS pairs of drawn photographs are
put to it in both orders, under one condition and then under the other, as a run does. Under the first the images are
made and encoded, each once; under the second they are ready, so that what is left is asking itself. Added is the wall
time beyond the server's own seconds shared by the requests at once, a pair of two requests: it must stay below ADDED.
Memory may grow by GROWTH from the first answers of the second condition to its last.

Beside it, the hub's client and a plain loop ask some of the same questions with as many threads, each image encoded
for every request.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from compute.content.items import Column, content_key
from compute.content.messages import Picture, Question, Reply
from compute.models.judges.answer_log import AnswerLog
from compute.models.judges.endpoint import Endpoint, Limits
from compute.procedures import judging
from compute.procedures.shared import conditions
from compute.tasks.data import CONDITIONS, RatedPairs
from compute.types import Model
from tests.bench.measure import Report
from tests.compute.models.pair_server import Running, running

ADDED = 5.0  # ms a pair
GROWTH = 64.0  # MB
TYPES = ("identical", "transformed", "irrelevant")
ROW = Model(key="org/judge", title="Judge", kind="mllm", adapter="endpoint", weights="judge", abilities=("choose",))


class Photographs:
    """Drawn photographs of SIDE pixels by source and kind, drawn and encoded when they are read; `reads` counts."""

    def __init__(self, sources: int, *, side: int) -> None:
        self.sources, self.side, self.reads = sources, side, 0
        self._lock = threading.Lock()

    def file(self, source: int, kind: int) -> bytes:
        """An encoded image: coarse colours with noise, as large as a photograph of its size."""
        with self._lock:
            self.reads += 1
        draw = np.random.default_rng(source)
        size = self.side, self.side * 3 // 4
        coarse = Image.fromarray(draw.integers(0, 255, (6, 8, 3), dtype=np.uint8)).resize(size)
        noise = np.random.default_rng(source * len(TYPES) + kind).integers(-8, 8 + 8 * kind, (size[1], size[0], 3))
        stream = io.BytesIO()
        Image.fromarray((np.asarray(coarse, dtype=int) + noise).clip(0, 255).astype(np.uint8)).save(stream, "PNG")
        return stream.getvalue()

    def column(self, rows: Sequence[tuple[int, int]]) -> Column:
        """Images by (source, kind), read when needed."""
        return Column(
            modality="image",
            keys=np.array([content_key(f"{source} {kind}") for source, kind in rows], dtype="S32"),
            read=lambda row: self.file(*rows[row]),
            name=lambda row: f"drawn {rows[row]}",
        )

    def pairs(self, count: int, condition: str) -> RatedPairs:
        """`count` pairs: identical, transformed and irrelevant of each source in turn."""
        at = [(row // len(TYPES), row % len(TYPES)) for row in range(count)]
        second = [((source + 17) % self.sources, 0) if kind == 2 else (source, kind + 1) for source, kind in at]
        return RatedPairs(
            names=tuple(f"{source}/{TYPES[kind]}" for source, kind in at),
            first=self.column([(source, 0) for source, _ in at]),
            second=self.column(second),
            expected=np.array([(10, 8, 1)[kind] for _, kind in at]),
            types=np.array([TYPES[kind] for _, kind in at]),
            sources=np.array([str(source) for source, _ in at]),
            templates=np.arange(count) % 5,
            condition=condition,
            transformations=("rotate",),
        )


@dataclass(kw_only=True)
class Subject:
    """A model as procedures ask it; `replies` are those of the last questions."""

    row: Model
    judge: Endpoint

    def can(self, ability: str) -> bool:
        return ability in self.row.abilities

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        self.replies = self.judge.reply(questions)
        return self.replies


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of one way of asking: requests, seconds, and the server's own seconds of all requests together."""

    requests: int
    wall: float
    processor: float
    server: float

    def added(self, concurrency: int) -> float:
        """Milliseconds of wall time a pair beyond the server's own."""
        return (self.wall - self.server / concurrency) / (self.requests / 2) * 1000

    def of_processor(self) -> float:
        """Milliseconds of this process's processor time a pair."""
        return self.processor / (self.requests / 2) * 1000


def measured(server: Running, work: Callable[[], object]) -> Cost:
    """Does `work` and counts what it took."""
    server.control()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    state = server.state()
    return Cost(requests=state["counts"]["requests"], wall=wall, processor=processor, server=state["seconds"])


class Watch:
    """Resident memory in MB, every tenth of a second from the start of a thread on."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self._end = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not self._end.wait(0.1):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.values.append(pages * resource.getpagesize() / 1e6)

    def growth(self) -> float:
        """From the first fifth's median to the highest of the last fifth."""
        self._end.set()
        part = max(1, len(self.values) // 5)
        return max(self.values[-part:]) - float(np.median(self.values[:part]))


def data_url(picture: Picture) -> str:
    return "data:image/png;base64," + base64.b64encode(picture.data).decode()


def messages(question: Question) -> list[dict]:
    """A question as these clients take it, its images encoded anew."""
    return question.chat(lambda picture: {"type": "image_url", "image_url": {"url": data_url(picture)}})


def hub_client(server: Running, questions: Sequence[Question], concurrency: int) -> None:
    """Asks through huggingface_hub's client."""
    from huggingface_hub import InferenceClient

    client = InferenceClient(base_url=server.url, api_key="-", timeout=120)

    def ask(question: Question) -> str:
        done = client.chat_completion(messages(question), model="judge", max_tokens=32, temperature=0, seed=0)
        return done.choices[0].message.content

    with ThreadPoolExecutor(concurrency) as pool:
        assert all(text.startswith("Score: ") for text in pool.map(ask, questions))


def plain_loop(server: Running, questions: Sequence[Question], concurrency: int) -> None:
    """Asks through httpx alone, as a script would."""
    import httpx

    with httpx.Client(timeout=120, limits=httpx.Limits(max_connections=concurrency)) as client:

        def ask(question: Question) -> str:
            body = {"model": "judge", "messages": messages(question), "max_tokens": 32, "temperature": 0, "seed": 0}
            done = client.post(f"{server.url}/chat/completions", json=body).raise_for_status().json()
            return done["choices"][0]["message"]["content"]

        with ThreadPoolExecutor(concurrency) as pool:
            assert all(text.startswith("Score: ") for text in pool.map(ask, questions))


def ready(questions: Sequence[Question]) -> list[Question]:
    """The questions with their images' files in memory: what it takes to draw them is not the clients' own."""
    files: dict[bytes, bytes] = {}

    def held(part: str | Picture) -> str | Picture:
        if isinstance(part, str):
            return part
        data = files.setdefault(part.key, part.data) if part.key not in files else files[part.key]
        return replace(part, read=lambda: data)

    return [replace(question, parts=tuple(map(held, question.parts))) for question in questions]


def others(server: Running, questions: Sequence[Question], concurrency: int) -> Iterator[tuple[str, Cost]]:
    """What other ways of asking take, an image's file in memory but not its encoding."""
    asked = ready(questions)
    for name, ask in (("huggingface_hub.InferenceClient", hub_client), ("a loop of httpx", plain_loop)):
        yield name, measured(server, lambda ask=ask: ask(server, asked, concurrency))


def main() -> None:
    """Print every figure; ends with 1 where one is over its budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000, help="under each condition, two requests each")
    parser.add_argument("--others", type=int, default=250, help="pairs that the other clients are asked")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--delay", type=float, default=0.25, help="seconds the server takes for a request, at least")
    parser.add_argument("--side", type=int, default=256, help="pixels of an image's longer side")
    options = parser.parse_args()
    drawn = Photographs(-(-options.pairs // len(TYPES)), side=options.side)
    sample = drawn.file(0, 0)
    print(
        f"{options.pairs:,} pairs under each of {len(CONDITIONS)} conditions at concurrency {options.concurrency}, "
        f"images of {len(sample) / 1e3:.0f} kB, a server that takes {options.delay * 1000:.0f} ms; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    drawn.reads = 0
    report = Report()
    with tempfile.TemporaryDirectory() as folder, running("--delay", str(options.delay)) as server:
        judge = Endpoint(
            row=ROW,
            url=server.url,
            limits=Limits(concurrency=options.concurrency),
            answers=AnswerLog(ROW, settings={}, root=Path(folder)),
        )
        subject = Subject(row=ROW, judge=judge)
        costs = {}
        for condition in CONDITIONS:
            watch = Watch()
            pairs = drawn.pairs(options.pairs, condition)
            evidence = {}
            costs[condition] = measured(
                server, lambda pairs=pairs, into=evidence: into.update(made=judging.run(subject, pairs, {}))
            )
            growth = watch.growth()
            settings = evidence["made"].settings
            report.fact(
                f"{condition}: every answer is a score",
                (settings["asked"], settings["invalid"], settings["errors"]) == (2 * options.pairs, 0, 0),
            )
        first, second = (costs[condition] for condition in CONDITIONS)
        distinct = len({*pairs.first.keys.tolist(), *pairs.second.keys.tolist()})
        latency = [reply.seconds * 1000 for reply in subject.replies]
        own = second.server / second.requests * 1000
        report.fact(
            "each image is read and encoded once",
            drawn.reads == judge.images.made == distinct,
            f"{distinct:,} images, {drawn.reads:,} reads, {4 * options.pairs * 2:,} sent",
        )
        report.row("wall time added, a pair", [second.added(options.concurrency)], budget=ADDED)
        report.row("processor time of the client, a pair", [second.of_processor()], budget=ADDED)
        report.row("memory's growth", [growth], budget=GROWTH, unit="MB")
        report.note("a request, as the client saw it", latency)
        report.note("a request, the server's own time", [own])
        report.note("wall time added, with making images, a pair", [first.added(options.concurrency)])
        few = conditions.questions(drawn.pairs(options.others, CONDITIONS[0]))
        for name, cost in others(server, few, options.concurrency):
            report.note(f"wall time added by {name}", [cost.added(options.concurrency)])
            report.note(f"processor time of {name}", [cost.of_processor()])
        again = Endpoint(
            row=ROW, url=server.url, limits=judge.limits, answers=AnswerLog(ROW, settings={}, root=Path(folder))
        )
        server.control()
        judging.run(Subject(row=ROW, judge=again), drawn.pairs(options.pairs, CONDITIONS[0]), {})
        report.fact("a second run asks nothing", server.state()["counts"].get("requests", 0) == 0)
    sys.exit(1 if report.over else 0)


if __name__ == "__main__":
    main()
