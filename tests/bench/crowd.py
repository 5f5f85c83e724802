"""Many visitors at once: fifty that switch suites, and fifty that come for the first time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from playwright.sync_api import Browser

from tests.bench.measure import FIRST, READY, Report, ask_once

VISITORS, SWITCHES = 50, 5
CONNECTIONS = 6  # of one visitor, as in browsers


async def fetch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> int:
    """One request on an open connection: its status."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].split(b"\r", 1)[0]
    if length:
        await reader.readexactly(int(length))
    else:
        while size := int((await reader.readline()).strip() or b"0", 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return int(head.split()[1])


async def switching(port: int, suites: list[str], *, visitors: int, switches: int) -> tuple[float, int]:
    """Seconds until all visitors have all their tables, and how many answers were not 200."""
    errors = 0

    async def visitor(number: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for turn in range(switches):
            errors += await fetch(reader, writer, f"/data/board/{suites[(number + turn) % len(suites)]}") != 200
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(visitor(number) for number in range(visitors)))
    return time.perf_counter() - began, errors


async def arriving(port: int, paths: list[str], *, visitors: int) -> tuple[float, int]:
    """Every visitor fetches the page and, over a few connections, all that it asks for; seconds until all have it."""
    errors = 0

    async def visitor() -> None:
        nonlocal errors
        links = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS)]
        errors += await fetch(*links[0], paths[0]) != 200
        waiting = iter(paths[1:])

        async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal errors
            for path in waiting:
                errors += await fetch(reader, writer, path) != 200
            writer.close()

        await asyncio.gather(*(link(*one) for one in links))

    began = time.perf_counter()
    await asyncio.gather(*(visitor() for _ in range(visitors)))
    return time.perf_counter() - began, errors


def apart(waiting: Coroutine[Any, Any, Any]) -> Any:
    """Runs it in a thread of its own: Playwright has a loop in this one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, waiting).result()


def crowd(report: Report, browser: Browser, address: str, repeats: int) -> None:
    port = int(address.rstrip("/").rpartition(":")[2])
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(FIRST)
    paths: list[str] = []
    page.on(
        "request",
        lambda request: (
            paths.append(request.url[len(address) - 1 :])
            if request.method == "GET" and "heartbeat" not in request.url
            else None
        ),
    )
    page.goto(f"{address}board")
    page.wait_for_selector(READY, state="attached")
    context.close()
    suites = ["unisim-core", "mieb", "pairbench", "mieb-lite", "unisim-ood"]
    report.note("the very first request of a table", ask_once(address, suites))
    # A tenth of a second is soon disturbed: both are measured in turn, several times.
    alone, together, errors = [], [], 0
    for _ in range(max(5, repeats // 2)):
        alone.append(apart(switching(port, suites, visitors=1, switches=VISITORS * SWITCHES))[0])
        seconds, failed = apart(switching(port, suites, visitors=VISITORS, switches=SWITCHES))
        together.append(seconds)
        errors += failed
    name = f"{VISITORS} visitors x {SWITCHES} switches, all served"
    beside = f"one visitor as often {np.median(alone):.2f} s; {errors} errors"
    report.row(name, together, budget=1.5, unit="s", reference=alone, beside=beside)
    report.fact("... without an error", errors == 0)
    turns = range(max(3, repeats // 4))
    one = [apart(arriving(port, paths, visitors=1))[0] for _ in turns]
    rounds = [apart(arriving(port, paths, visitors=VISITORS)) for _ in turns]
    errors = sum(errors for _, errors in rounds)
    report.row(
        f"{VISITORS} cold visitors, all served",
        [seconds for seconds, _ in rounds],
        budget=1.5,
        unit="s",
        reference=[VISITORS * seconds for seconds in one],
        beside=f"one {np.median(one):.3f} s, taken {VISITORS} times; {errors} errors, {len(paths)} files each",
    )
