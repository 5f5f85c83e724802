"""The budgets of Your eyes, measured: python -m tests.bench.bench_eyes [--repeats 60] [--raters 100]

Starts the real app. In a real browser, on images of 1,024 pixels, the time from a key press to the frame that shows the
next question; beside it the same three images, decoded already, put into an empty page. Then so many raters at once,
each with 8 images: their studies are made and answered, and the server's memory is read all the while.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.bench.measure import ARGUMENTS, ROOT, Report, memory, running
from tests.slow.visitor import Event, Visitor

JUDGMENTS, OWN_IMAGES = 40, 8
PRESS = """async (key) => {
  const node = document.querySelector('.ey-ask');
  const before = node.dataset.place;
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  while (node.dataset.place === before || [...node.querySelectorAll('img')].some((image) => !image.complete)) {
    if (performance.now() - start > 20000) throw new Error('no next question');
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  await frame();
  return performance.now() - start;
}"""
BARE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const images = [...document.querySelectorAll('.ey-ask img')].map((image) => image.cloneNode());
  await Promise.all(images.map((image) => image.decode()));
  const place = document.createElement('div');
  document.body.append(place);
  await frame();
  const start = performance.now();
  place.replaceChildren(...images);
  await frame();
  const seconds = performance.now() - start;
  place.remove();
  return seconds;
}"""


def photographs(count: int, *, side: int, seed: int = 0) -> dict[str, bytes]:
    """Different pictures as JPEG, by name: smooth noise, which takes as long as a photograph."""
    draw = np.random.default_rng(seed)
    out = {}
    for number in range(count):
        small = Image.fromarray(draw.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        file = io.BytesIO()
        small.resize((side, side * 3 // 4), Image.Resampling.BICUBIC).save(file, "JPEG", quality=88)
        out[f"{seed}-{number}.jpg"] = file.getvalue()
    return out


def presses(browser: Browser, address: str, repeats: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key press to the frame with the next question, and of the images alone."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{address}eyes")
    page.locator("input[type=file]").first.set_input_files(
        [{"name": name, "mimeType": "image/jpeg", "buffer": data} for name, data in photographs(60, side=1024).items()]
    )
    page.get_by_role("button", name="Start").click()
    page.locator(".ey-ask[data-place='0']").wait_for(timeout=300_000)
    new, bare = [], []
    for number in range(repeats):
        page.wait_for_timeout(500)  # a person looks longer
        new.append(page.evaluate(PRESS, ("ArrowLeft", "ArrowRight")[number % 2]))
        bare.append(page.evaluate(BARE))
    page.context.close()
    return new, bare


def rated(port: int, number: int, event: Event, problems: list[str]) -> None:
    """One rater: sends images, has the study made, and asks for the answer to JUDGMENTS judgments."""
    visitor = Visitor(port, f"127.0.{1 + number // 250}.{1 + number % 250}", patience=1800)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in photographs(OWN_IMAGES, side=512, seed=number).items():
            archive.writestr(name, data)
    sent = visitor.upload(packed.getvalue(), to="file")
    facts: dict = {"state": sent.sentence or "running"}
    file, turn = json.loads(sent.body).get("key", ""), 0
    while facts["state"] == "running":
        turn += 1
        payload = {"session": visitor.session, "source": "upload", "kind": "image", "seed": number, "turn": turn}
        joined = visitor.join(event, data=payload | {"file": file})
        if joined.status != 200:
            problems.append(joined.sentence or f"status {joined.status}")
            return
        stream = visitor.get(f"/gradio_api/queue/data?session_hash={visitor.session}")
        done = next(line for line in stream.body.splitlines() if b"process_completed" in line)
        value = json.loads(done.removeprefix(b"data: "))["output"]["data"][0]
        facts = json.loads(value["value"] if isinstance(value, dict) else value)
        file = facts.get("file", "")  # to be sent again, as others are being made
        if file:
            time.sleep(2)
    if facts["state"] != "done":
        problems.append(facts.get("message", facts["state"]))
        return
    judgments = [
        {"time": "2026-01-01T00:00:00Z", "seed": number, "order": at, "question": question, "draw": draw}
        | {"left": left, "choice": (question + at) % 2}
        for at, (question, draw, left) in enumerate(facts["order"][:JUDGMENTS])
    ]
    answer = visitor.send_json("/eyes/report", {"study": facts["study"], "judgments": judgments})
    if answer.status != 200:
        problems.append(answer.sentence or f"status {answer.status}")


def main() -> None:
    """Measures everything; exit code 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--raters", type=int, default=100)
    given = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["HF_HUB_OFFLINE"] = "1"
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=list(ARGUMENTS)
        )
        with running(["app.py"], database=Path(folder) / "board.duckdb") as (address, process, _):
            new, bare = presses(browser, address, given.repeats)
            report.row("key press to next question, 1,024 px", new, budget=50)
            report.note("... the images alone, decoded, in the same page", bare)
            before = memory(process)
            port = int(address.rstrip("/").rpartition(":")[2])
            event = Visitor(port).events()["make"]
            problems: list[str] = []
            raters = [
                threading.Thread(target=rated, args=(port, number, event, problems)) for number in range(given.raters)
            ]
            began, used = time.perf_counter(), [before]
            for rater in raters:
                rater.start()
            while any(rater.is_alive() for rater in raters):
                time.sleep(0.5)
                used.append(memory(process))
            report.note("memory before the raters", [before], unit="MB")
            report.row(f"memory, {given.raters} raters at once", [max(used) - before], budget=700, unit="MB")
            seconds = time.perf_counter() - began
            report.fact(f"all {given.raters} got their answer", not problems, f"{seconds:.0f} s; {problems[:3]}")
        browser.close()
    report.finish()


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
