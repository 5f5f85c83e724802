"""Weights that come while a visitor watches: progress, stop, refusals, one download for all; against a hub of our own.

The tests share one app and one cache, and follow one model in order: refused, left, stopped, fetched, ready.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compute.catalog import shipped
from tests.compute.models import checkpoints, model_hub
from tests.compute.models.chat_server import running
from tests.compute.models.model_hub import Hub

ROOT = Path(__file__).resolve().parents[2]
ROWS = {row.key: row for row in shipped().models}
ROW, DAMAGED = ROWS["laion/clip-vit-b-32-laion2b-s34b-b79k"], ROWS["openai/clip-vit-base-patch32"]
JUDGE = "gpt-4o-2024-11-20"
WEIGHTS = "open_clip_model.safetensors"
READY, DONE, LINE = ".likeness-tray[data-ready=true]", ".cp-result[data-done=yes]", ".cp-download"
LINK = "compare?mode=choice&inputs=cat,cat-face,cat-cheek&models=ssim"
SLOW = 60_000  # ms: what starts a process or loads a model


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub with the suggested model in small, and with another whose weights are none."""
    folder = tmp_path_factory.mktemp("published")
    damaged = checkpoints.clip(folder / "damaged")
    (damaged / "model.safetensors").write_bytes(b"not weights at all" * 1000)
    with model_hub.serving() as hub:
        hub.publish(ROW.weights, checkpoints.open_clip(folder / "whole"), commit=ROW.revision)
        hub.publish(DAMAGED.weights, damaged, commit=DAMAGED.revision)
        yield hub


class App:
    """The app that runs, with its cache of the hub's."""

    def __init__(self, process: subprocess.Popen, cache: Path) -> None:
        self.process, self.cache = process, cache

    def fetching(self) -> bool:
        """Whether a process of its own fetches weights for it; those that decode images stay."""
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return any(b"\0fetch\0" in _command_line(child) for path in children for child in path.read_text().split())

    def drafts(self) -> list[int]:
        """Sizes of files that have not come whole."""
        return [path.stat().st_size for path in self.cache.rglob("*.incomplete")]


def _command_line(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


@pytest.fixture(scope="module")
def app(hub: Hub, database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, App]]:
    """Address and app, with an empty cache, little memory for models, and a judge that takes its time."""
    folder = tmp_path_factory.mktemp("downloading")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with running("--delay", "1") as judge, (folder / "log").open("w") as out:
        place = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        process = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={
                **place,
                "LIKENESS_DATABASE": str(database),
                "GRADIO_SERVER_PORT": str(port),
                "HF_ENDPOINT": hub.address,
                "GRADIO_SERVER_NAME": "127.0.0.1",
                "HF_HOME": str(folder / "hub"),
                "LIKENESS_ENDPOINT": judge.url,
                "LIKENESS_MODEL_MEMORY_MB": "3000",
            },
        )
        address = f"http://127.0.0.1:{port}/"
        try:
            for _ in range(1800):
                try:
                    urllib.request.urlopen(address, timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield address, App(process, folder / "hub")
        finally:
            process.terminate()
            process.wait(timeout=60)
    log = (folder / "log").read_text()
    raised = set(re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception))\b", log, re.MULTILINE))
    assert raised <= {"SafetensorError"}, log[-3000:]


@pytest.fixture(scope="module")
def server(app: tuple[str, App]) -> str:
    """What `visit` opens pages of."""
    return app[0]


def press(page: Any) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()


def said(page: Any, words: str) -> str:
    """The sentence in place of the progress."""
    message = page.locator(".pg-message", has_text=words)
    message.wait_for(timeout=SLOW)
    return message.inner_text()


def press_again(page: Any) -> None:
    """Waits for another answer than the one that stands there."""
    before = page.locator(".cp-result").get_attribute("data-at")
    press(page)
    page.locator(f"{DONE}:not([data-at='{before}'])").wait_for(timeout=SLOW)


def picked(page: Any) -> None:
    """Waits for the model's own answer."""
    page.locator(f".cp-row[data-model='{ROW.key}']", has_text="picks").wait_for(timeout=SLOW)


def until(holds: Callable[[], bool], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def test_what_cannot_be_fetched_is_refused_in_a_sentence_and_the_others_answer(visit: Callable, hub: Hub) -> None:
    page = visit(f"{LINK},{ROW.key}", ready=READY)
    hub.status = 404
    press(page)
    assert said(page, "The hub has no") == f"The hub has no {ROW.weights}, or shows it to its owners only"
    page.locator(DONE).wait_for(timeout=SLOW)
    assert "picks" in page.locator(".cp-row[data-model=ssim]").inner_text()
    assert "not on this machine" in page.locator(f".cp-row[data-model='{ROW.key}']").inner_text()
    hub.status = 200
    hub.repositories[ROW.weights].sizes = {WEIGHTS: 5_000_000_000}
    press(page)
    assert said(page, "is too large") == (
        f"{ROW.title} is too large: it takes about 6.5 GB of memory, and 3.0 GB are set aside for models"
    )
    assert hub.fetched == []
    hub.repositories[ROW.weights].sizes = {}


def test_who_leaves_ends_the_download(visit: Callable, hub: Hub, app: tuple[str, App]) -> None:
    hub.held = threading.Event()
    page = visit(f"{LINK},{ROW.key}", ready=READY)
    press(page)
    page.locator(LINE, has_text="2 of 4 MB").wait_for(timeout=SLOW)
    assert app[1].fetching()
    page.close()
    until(lambda: not app[1].fetching())
    assert hub.fetched == ["0"] and app[1].drafts()[0] > 1_000_000
    hub.held.set()


def test_it_is_added_by_a_click_shows_its_progress_and_can_be_stopped(
    visit: Callable, hub: Hub, app: tuple[str, App]
) -> None:
    hub.held, hub.asked = threading.Event(), []
    page, other = visit("compare", ready=READY), visit("compare", ready=READY)
    page.get_by_role("button", name=f"Add {ROW.title} (604 MB download)").click()
    press(page)
    page.locator(LINE, has_text=f"Downloading {ROW.title}: 2 of 4 MB").wait_for(timeout=SLOW)
    share = page.locator(f"{LINE} progress").evaluate("bar => bar.position")
    assert 0.4 < share < 0.6
    press(other)  # nobody waits for it
    other.locator(DONE).wait_for(timeout=SLOW)
    assert page.locator(LINE).is_visible() and not other.locator(LINE).count()
    page.get_by_role("button", name="Stop the download").click()
    assert said(page, "was stopped") == f"The download of {ROW.title} was stopped; the downloaded part is kept"
    assert not page.get_by_role("button", name="Stop the download").is_visible()
    page.locator(DONE).wait_for(timeout=SLOW)
    assert page.locator(".cp-row .cp-problem").count() == 1
    assert not app[1].fetching() and app[1].drafts()[0] > 1_000_000
    hub.held.set()


def test_two_ask_at_once_it_breaks_off_and_comes_once_and_for_all(
    visit: Callable, hub: Hub, app: tuple[str, App]
) -> None:
    kept = app[1].drafts()
    hub.held, hub.cuts, hub.asked = threading.Event(), 1, []
    pages = [visit(f"{LINK},{ROW.key}", ready=READY) for _ in range(2)]
    for page in pages:
        press(page)
        page.locator(LINE, has_text="2 of 4 MB").wait_for(timeout=SLOW)
    hub.held.set()
    for page in pages:
        picked(page)  # by itself, once all is here
        assert page.locator(".pg-message").count() == 0 and page.locator(LINE).count() == 0
    assert hub.fetched == [str(kept[0])] * 2 and app[1].drafts() == []  # the second time after the break
    first = pages[0]
    assert first.locator(f".tr-pick[data-key='{ROW.key}']").inner_text() == ROW.title  # without `604 MB download`
    hub.asked = []
    press_again(first)
    picked(first)
    assert hub.asked == []
    late = visit(f"{LINK},{ROW.key}", ready=READY)  # such a link answers by itself now
    picked(late)


def test_weights_that_are_none_are_a_sentence_in_their_row(visit: Callable, hub: Hub) -> None:
    page = visit(f"{LINK},{DAMAGED.key}", ready=READY)
    problem = page.locator(f".cp-row[data-model='{DAMAGED.key}'] .cp-problem")
    for ask in (press, press_again):  # the second time of what is here
        hub.asked = []
        ask(page)
        problem.wait_for(timeout=SLOW)
        assert problem.inner_text().startswith("It could not be loaded (SafetensorError): its files are damaged")
    assert hub.asked == []
    assert "picks" in page.locator(".cp-row[data-model=ssim]").inner_text()
    assert "Traceback" not in page.locator("body").inner_text()


def test_who_waits_sees_the_place_in_the_queue(visit: Callable) -> None:
    pages = [visit("compare?mode=choice&models=none", ready=READY) for _ in range(3)]
    for page in pages:
        page.locator(f".tr-pick[data-key='{JUDGE}'] input").check()
    for page in pages:
        press(page)
    line = pages[2].locator("#answers .progress-text", has_text=re.compile(r"queue: \d/\d"))
    line.wait_for(timeout=SLOW)
    line, cover = (
        one.evaluate("one => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; }")
        for one in (line, line.locator(".."))
    )
    assert line[1] - line[0] > 10 and cover[0] <= line[0] and line[1] <= cover[1]  # which cuts what exceeds it
    for page in pages:
        page.locator(DONE).wait_for(timeout=SLOW)
