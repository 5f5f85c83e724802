"""The app under attack: python -m tests.bench.bench_attacks [--seconds 60] [--root FOLDER] [--before FILE]

Starts the real app in a process of its own on loopback, attacks it in every way of attacks.py, then with all crafted
files at once from eight clients, and prints a line an attack. Meanwhile another visitor's answers are timed, fifty
visitors switch suites, and the memory of the server and its children is sampled. It exits with 1 when a goal is missed:
an answer, another visitor's slowest, memory, a traceback in the log, a server that ended. Memory has two goals: what an
attack adds, and that server and children never have more than MEMORY, in any row.

`--root` attacks another checkout; `--save` writes the figures to a file, which `--before` shows beside those of a later
run. An idle server is measured first: on a busy machine, read the figures as multiples of that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.attacked import STOP_AT, Attacked, Innocent, attacked, resident, torch_alone  # noqa: E402
from tests.bench.attacks import MODEL, OTHER, ROWS, Attack, answered, flood_with_files  # noqa: E402
from tests.bench.crowd import switching  # noqa: E402
from tests.bench.measure import ROOT  # noqa: E402
from tests.bench.spoilt import look, spoilt, unnamed, whole  # noqa: E402
from tests.bench.visitor import Answer, Visitor  # noqa: E402

SLOWEST = 0.5  # seconds, another visitor's slowest answer
MEMORY = 1_200.0  # MB of the server and its children, in any row
BACK = 50.0  # MB by which it may be larger afterwards
SETTLE = 30.0  # seconds after which memory is back
SPOILT = Attack(
    row="10",
    title="run folders with impossible figures and nested JSON",
    limit="the metric's bounds, 1 MB and the form of a detail; what fails is named and left out",
    run=look,
    check=whole,
)
SUITES = ["unisim-core", "mieb", "pairbench", "mieb-lite", "unisim-ood"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One attack's figures: of its own answers, of another visitor's, and of memory in MB."""

    row: str
    title: str
    limit: str
    statuses: str
    seconds: float  # of its slowest answer
    others: float  # seconds of another visitor's slowest answer
    at_first: float
    peak: float
    afterwards: float
    problems: tuple[str, ...]

    @property
    def figures(self) -> str:
        """In a few words."""
        return f"{self.statuses} {self.seconds:.1f} s, {self.peak:.0f} MB, others {self.others:.2f} s"


def attack(server: Attacked, pool: ProcessPoolExecutor, each: Attack, *, slowest: float, settle: float) -> Line:
    """Runs one attack beside an innocent visitor."""
    at_first, tracebacks, since = resident(server.process.pid), server.tracebacks, time.perf_counter()
    with Innocent(server.port) as innocent:
        answers = _result(pool.submit(each.run, server.port), server)
    peak = server.peak(since)
    afterwards = server.settle(at_first + BACK, seconds=settle)
    problems = [each.check(answers) if answers else "no answers"]
    if peak - at_first > each.megabytes:
        problems.append(f"{peak - at_first:.0f} MB more")
    problems += _general(server, innocent, peak=peak, slowest=slowest, tracebacks=tracebacks)
    return _line(each, answers, innocent, at_first=at_first, peak=peak, afterwards=afterwards, problems=problems)


def flood(
    server: Attacked, pool: ProcessPoolExecutor, *, seconds: float, slowest: float, settle: float, visitors: int = 50
) -> Line:
    """All crafted files at once from eight clients, while fifty visitors switch suites and one has pairs compared."""
    at_first, tracebacks, since = resident(server.process.pid), server.tracebacks, time.perf_counter()
    with Innocent(server.port) as innocent:
        files = pool.submit(flood_with_files, server.port, seconds=seconds)
        crowd = pool.submit(switch_suites, server.port, visitors=visitors, seconds=min(20.0, seconds / 2))
        compared = pool.submit(compare, server.port, seconds=seconds)
        answers, errors, comparisons = (_result(each, server) for each in (files, crowd, compared))
    peak = server.peak(since)
    afterwards = server.settle(at_first + BACK, seconds=settle)
    problems = [answered(answers or []), f"{errors} errors of {visitors} visitors" if errors else ""]
    if afterwards > at_first + BACK:
        problems.append(f"{afterwards - at_first:.0f} MB are not given back after {settle:.0f} s")
    problems += [f"a comparison: {each.status}" for each in comparisons or [] if each.status != 200][:1]
    problems += _general(server, innocent, peak=peak, slowest=slowest, tracebacks=tracebacks)
    waited = max((each.seconds for each in comparisons or []), default=0.0)
    title = f"{len(answers or [])} crafted and fuzzed files, 8 clients, {seconds:.0f} s"
    limit = f"{len(innocent.answers)} answers to others; {len(comparisons or [])} comparisons, slowest {waited:.1f} s"
    whole = Attack(row="all", title=title, limit=limit, run=flood_with_files, check=answered)
    return _line(whole, answers, innocent, at_first=at_first, peak=peak, afterwards=afterwards, problems=problems)


def switch_suites(port: int, *, visitors: int, seconds: float) -> int:
    """How many answers were not 200 while so many visitors switched suites."""
    errors, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        try:
            errors += asyncio.run(switching(port, SUITES, visitors=visitors, switches=5))[1]
        except (OSError, EOFError):
            errors += 1
    return errors


def compare(port: int, *, seconds: float) -> list[Answer]:
    """A visitor's small comparisons, one a second."""
    visitor, until, answers = Visitor(port, OTHER), time.perf_counter() + seconds, []
    while time.perf_counter() < until:
        answers.append(visitor.call("score_pair", f"a cat {len(answers)}", "a dog", MODEL, what="a comparison"))
        time.sleep(1)
    return answers


def _result(waiting: Future, server: Attacked) -> Any:
    """What an attack returns; None where the server ended under it."""
    try:
        return waiting.result()
    except Exception as error:
        if server.alive:
            raise
        print(f"The server ended: {error!r}", file=sys.stderr)
        return None


def _general(server: Attacked, innocent: Innocent, *, peak: float, slowest: float, tracebacks: int) -> list[str]:
    """What no attack may do."""
    problems = []
    if peak > MEMORY:
        problems.append(f"{peak:.0f} MB in all")
    if innocent.slowest > slowest:
        problems.append(f"others wait {innocent.slowest:.2f} s")
    if innocent.failed:
        problems.append(f"{innocent.failed[0].what} for others: {innocent.failed[0].status}")
    if server.tracebacks > tracebacks:
        problems.append(f"{server.tracebacks - tracebacks} tracebacks")
    if not server.alive:
        problems.append(f"stopped at {server.stop_at:.0f} MB" if server.stopped else "the server ended")
    return problems


def _line(
    each: Attack,
    answers: Sequence[Answer] | None,
    innocent: Innocent,
    *,
    at_first: float,
    peak: float,
    afterwards: float,
    problems: Sequence[str],
) -> Line:
    counted = Counter(answer.status for answer in answers or [])
    return Line(
        row=each.row,
        title=each.title,
        limit=each.limit,
        statuses=" ".join(f"{count}x{status}" if count > 1 else str(status) for status, count in counted.most_common()),
        seconds=max((answer.seconds for answer in answers or []), default=0.0),
        others=innocent.slowest,
        at_first=at_first,
        peak=peak,
        afterwards=afterwards,
        problems=tuple(filter(None, problems)),
    )


def calibrate(server: Attacked, *, seconds: float) -> float:
    """Seconds of an innocent visitor's slowest answer from an idle server."""
    with Innocent(server.port) as innocent:
        time.sleep(seconds)
    return innocent.slowest


def main(arguments: Sequence[str] | None = None) -> int:
    """Attacks and prints; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_attacks", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of the flood with crafted files; 0: none")
    parser.add_argument("--rows", default="", help="only these rows, commas between; default: all")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to attack; default: this one")
    parser.add_argument("--slowest", type=float, default=SLOWEST, help="seconds of others' slowest answer")
    parser.add_argument("--settle", type=float, default=SETTLE, help="seconds until memory is back")
    parser.add_argument("--stop-at", type=float, default=STOP_AT, help="MB at which the server is stopped")
    parser.add_argument("--save", type=Path, help="file for the figures")
    parser.add_argument("--before", type=Path, help="figures of an earlier run, shown beside these")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is ended too
    before = (
        {line["title"].split(" crafted")[-1]: line for line in json.loads(options.before.read_text())}
        if options.before
        else {}
    )
    rows = [each for each in ROWS if not options.rows or each.row in options.rows.split(",")]
    work: list[Callable[[Attacked, ProcessPoolExecutor], Line]] = [
        partial(_attack_row, each=each, slowest=options.slowest, settle=options.settle) for each in rows
    ]
    if not options.rows or SPOILT.row in options.rows.split(","):
        work.append(partial(_spoilt_row, options=options))
    if options.seconds:
        work.append(partial(_flood_row, seconds=options.seconds, slowest=options.slowest, settle=options.settle))
    lines: list[Line] = []
    context = multiprocessing.get_context("spawn")
    print(
        f"{'row':4} {'attack':58} {'answers':22} {'slowest':>8} {'others':>7} {'MB at first, peak, after':>25}  goals"
    )
    floor = torch_alone()
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        while work:
            with attacked(options.root, stop_at=options.stop_at) as server:
                Visitor(server.port, OTHER).call("score_pair", "a cat", "a dog", MODEL)  # loads the bundled model
                idle, memory = calibrate(server, seconds=3), resident(server.process.pid)
                print(
                    f"     an idle server: slowest answer {idle:.2f} s, {memory:.0f} MB with the bundled model; "
                    f"a program that only imports torch has {floor:.0f} MB",
                    flush=True,
                )
                whole = True
                while work and whole:
                    lines.append(work.pop(0)(server, pool))
                    _show(lines[-1], before)
                    if options.save:
                        figures = [asdict(line) | {"figures": line.figures} for line in lines]
                        options.save.write_text(json.dumps(figures, indent=1))
                    whole = not lines[-1].problems  # the next attack gets a server that the last did not hurt
    missed = sum(bool(line.problems) for line in lines)
    print(f"{len(lines) - missed} of {len(lines)} attacks survived")
    return 1 if missed else 0


def _attack_row(server: Attacked, pool: ProcessPoolExecutor, *, each: Attack, slowest: float, settle: float) -> Line:
    return attack(server, pool, each, slowest=slowest, settle=settle)


def _spoilt_row(_: Attacked, pool: ProcessPoolExecutor, *, options: argparse.Namespace) -> Line:
    """On a server of its own, which is started beside spoilt results."""
    with spoilt(options.root, stop_at=options.stop_at) as server:
        line = attack(server, pool, SPOILT, slowest=options.slowest, settle=options.settle)
        return replace(line, problems=(*line.problems, *(f"{mark} is not named" for mark in unnamed(server))))


def _flood_row(server: Attacked, pool: ProcessPoolExecutor, *, seconds: float, slowest: float, settle: float) -> Line:
    return flood(server, pool, seconds=seconds, slowest=slowest, settle=settle)


def _show(line: Line, before: dict[str, dict]) -> None:
    memory = f"{line.at_first:.0f}, {line.peak:.0f}, {line.afterwards:.0f}"
    verdict = "; ".join(line.problems) or "survived"
    print(
        f"{line.row:4} {line.title:58.58} {line.statuses:22.22} {line.seconds:>6.1f} s {line.others:>5.2f} s"
        f" {memory:>25}  {verdict}",
        flush=True,
    )
    if earlier := before.get(line.title.split(" crafted")[-1]):
        print(f"     before: {earlier['figures']}; {'; '.join(earlier['problems']) or 'survived'}", flush=True)
    print(f"     limit: {line.limit}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
