"""The real app in a real browser: one server and one Chromium for the whole run, every tab watched."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.trays import open_tray, stand_in, tray_address  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no name resolves: nothing gets out
)
PATIENCE = 60_000  # ms for anything to appear: on a busy machine a page takes many seconds
COMPUTED = ("unisim/imagenet-ooo", "unisim/roxford")  # tasks that stand-in models ran
HOSTILE = '<img src=x onerror="window.harmed=1">${window.harmed=1}{{7*7}}'  # a model's title, out of an imported file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests run last: Playwright keeps an event loop in this thread, which other tests may want to start.

    One that fails is tried once more, in a fresh page, and the summary names it: on a starved machine a page may be
    read before its answer is drawn. What is wrong with the page itself fails twice.
    """
    items.sort(key=lambda item: Path(__file__).parent in item.path.parents)
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def app_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped figures, a small import, and a few computed runs of stand-in models with a map of images.

    The import has a new model with a hostile title, and one known model measured again.
    """
    from compute.catalog import shipped
    from compute.importing import collection, read_scores_csv
    from tests.leaderboard import stand_ins

    catalog = shipped()
    folder = tmp_path_factory.mktemp("app")
    tasks = [task for task in catalog.tasks if "unisim-core" in task.suites]
    lines = ["benchmark,model,task,metric,value,model_title,model_kind,n,source"]
    title = '"' + HOSTILE.replace('"', '""') + '"'
    for place, task in enumerate(tasks):
        lines.append(
            f"unisim,example/hostile,{task.key},{task.metrics[0]},0.{60 + place},{title},encoder,1000,Example file"
        )
        lines.append(f"unisim,openai/clip-vit-base-patch32,{task.key},{task.metrics[0]},0.{65 + place},,,,Example file")
    table = folder / "example.csv"
    table.write_text("\n".join(lines) + "\n")
    results = folder / "results"
    collection.save(read_scores_csv(table, catalog=catalog), name="scores-example", folder=results / "imported")
    stand_ins.make(results, tasks=COMPUTED)
    stand_ins.make_map(results, task=COMPUTED[0])
    return stand_ins.database(folder, results=results)


@pytest.fixture(scope="session")
def server(app_database: Path) -> Iterator[str]:
    """The app's address, ending in a slash."""
    with serving(app_database) as address:
        yield address


@contextmanager
def serving(database: Path, *options: str, results: Path | None = None) -> Iterator[str]:
    """`python app.py` on a database in a process of its own, with options and a results folder where they are named;
    its address, ending in a slash."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = {
        "LIKENESS_DATABASE": str(database),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        **({"LIKENESS_RESULTS": str(results)} if results else {}),
    }
    log = database.with_name("app.log")
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "app.py", *options], cwd=ROOT, env=os.environ | place, stdout=out, stderr=subprocess.STDOUT
        )
        address = f"http://127.0.0.1:{port}/"
        try:
            _wait(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=60)
    assert "Traceback" not in log.read_text(), f"the server's log holds a traceback:\n{log.read_text()[-3000:]}"


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + 180
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"app.py ended with {process.returncode}: {log.read_text()[-2000:]}")
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"app.py did not answer within three minutes: {log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, from CHROMIUM or the path; skipped where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed: pip install -r tests/requirements.txt")
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.skip("no Chromium found: install the package chromium, or name the program in CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


class Watch:
    """What one tab did that it must not: requests elsewhere, errors in its scripts or console."""

    def __init__(self, page: Any, *, server: str, expected: str) -> None:
        self.page, self.host, self.expected = page, urlsplit(server).netloc, expected
        self.requests: list[str] = []
        self.offences: list[str] = []
        page.on("request", lambda request: self.request(request.url))
        page.on("pageerror", lambda error: self.offend(f"script error: {error}"))
        page.on("console", lambda message: message.type == "error" and self.offend(f"console: {message.text}"))

    def request(self, url: str) -> None:
        parts = urlsplit(url)
        self.requests.append(parts.path)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.offences.append(f"request to {url}")

    def offend(self, text: str) -> None:
        if not (self.expected and re.search(self.expected, text)):
            self.offences.append(text)


@pytest.fixture(scope="session")
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """One browser profile a width and motion setting, so that later tabs find the files in its cache."""
    made: dict[tuple, Any] = {}

    def context(*, width: int, reduced: bool) -> Any:
        if (width, reduced) not in made:
            made[width, reduced] = browser.new_context(
                viewport={"width": width, "height": 900},
                accept_downloads=True,
                reduced_motion="reduce" if reduced else "no-preference",
            )
            made[width, reduced].set_default_timeout(PATIENCE)
        return made[width, reduced]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def visit(server: str, contexts: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Opens a path of the app in a new tab: visit("board?suite=mieb", width=390, dark=True). Fails at the end of the
    test on a request to another host and on any error that `expected` (a pattern) does not name."""
    watches: list[Watch] = []

    def open_page(
        path: str = "",
        *,
        width: int = 1280,
        dark: bool = False,
        reduced: bool = False,
        expected: str = "",
        ready: str = "h1",
        before: Callable[[Any], None] | None = None,
    ) -> Any:
        page = contexts(width=width, reduced=reduced).new_page()
        watches.append(Watch(page, server=server, expected=expected))
        page.watch = watches[-1]
        if before:
            before(page)
        theme = f"{'&' if '?' in path else '?'}__theme={'dark' if dark else 'light'}"
        page.goto(server + path + theme, wait_until="commit")
        page.locator(ready).first.wait_for(state="attached")
        return page

    yield open_page
    offences = [offence for watch in watches for offence in watch.offences]
    for watch in watches:
        watch.page.close()
    assert not offences, "\n".join(offences)


@pytest.fixture
def open_board(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the board with a query string and waits until its table is drawn."""

    def open_query(query: str = "", **how: Any) -> Any:
        return visit(f"board{'?' if query else ''}{query}", ready=".likeness-board[data-ready=true]", **how)

    return open_query
