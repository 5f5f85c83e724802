"""What the measurements share: a report, a running server, the clock in the page."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
BOARD = ".likeness-board"
READY = f"{BOARD}[data-ready=true] .lk-body .lk-row"
# When the table first stood, on the page's own clock; no payload is loaded before it is asked for.
FIRST = f"""
Object.defineProperty(navigator, 'connection', {{ value: {{ saveData: true }} }});
window.stood = null;
(function look() {{
  const there = document.querySelector({READY!r}) || document.querySelector('.js-plotly-plot .main-svg');
  if (there) window.stood = performance.now();
  else requestAnimationFrame(look);
}})();
"""
# Time from doing something to the second animation frame after its effect stands.
TIMED = """async ({act, done}) => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  const start = performance.now();
  const until = done ? new Function(`return ${done}`)() : () => true;
  new Function(act)();
  while (!until()) {
    if (performance.now() - start > 20000) throw new Error(`nothing happened after ${act}`);
    await frame();
  }
  await frame(); await frame();
  return performance.now() - start;
}"""
STOCK = """
import sys, gradio as gr, numpy as np, pandas as pd
rows, port = int(sys.argv[1]), int(sys.argv[2])
def frame(seed):
    cells = np.random.default_rng(seed).random((rows, 140)).round(3)
    table = pd.DataFrame(cells, columns=[f"c{place}" for place in range(140)])
    table.insert(0, "model", [f"s{seed} m{place:03d}" for place in range(rows)])
    return table
tables = frame(0), frame(1)
with gr.Blocks(analytics_enabled=False) as app:
    shown = gr.State(0)
    button = gr.Button("Switch", elem_id="switch")
    table = gr.Dataframe(tables[0], elem_id="stock", interactive=False)
    button.click(lambda one: (1 - one, tables[1 - one]), shown, [shown, table], queue=False, show_progress="hidden")
app.launch(server_port=port, quiet=True)
"""


class Report:
    """Prints a line a budget and keeps count of what is over."""

    def __init__(self) -> None:
        self.over = 0
        print(f"{'':58}{'median':>9}{'95 %':>9}{'budget':>9}", flush=True)

    def row(
        self,
        what: str,
        values: list[float],
        *,
        budget: float,
        unit: str = "ms",
        beside: str = "",
        single: bool = False,
    ) -> None:
        median, high = float(np.median(values)), float(np.percentile(values, 95))
        over = high > budget
        self.over += over
        middle = f"{median:>9.4g}" if not single else f"{'':>9}"
        print(
            f"{what:58}{middle}{high:>9.4g}{budget:>9g} {unit:<5}{'OVER' if over else 'ok':<5}{beside}",
            flush=True,
        )

    def fact(self, what: str, holds: bool, beside: str = "") -> None:
        self.over += not holds
        print(f"{what:58}{'':27} {'':5}{'ok' if holds else 'OVER':<5}{beside}", flush=True)

    def note(self, what: str, values: list[float], *, unit: str = "ms") -> None:
        print(f"{what:58}{np.median(values):>9.4g}{np.percentile(values, 95):>9.4g}{'':>9} {unit}", flush=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(
    command: list[str], *, port: int, database: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen, float]]:
    """A server in a process of its own: its address, the process, seconds to the first answer."""
    place = {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    if database:
        place["LIKENESS_DATABASE"] = str(database)
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=os.environ | place, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        while True:
            try:
                urllib.request.urlopen(address, timeout=10).close()
                break
            except OSError:
                if process.poll() is not None or time.perf_counter() - started > 120:
                    raise SystemExit(f"{' '.join(command)} does not answer") from None
                time.sleep(0.01)
        yield address, process, time.perf_counter() - started
    finally:
        process.terminate()
        process.wait()


def memory(process: subprocess.Popen) -> float:
    """Resident memory in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1000


def timed(page: Page, act: str, done: str = "") -> float:
    return page.evaluate(TIMED, {"act": act, "done": done})


def floor(page: Page, repeats: int) -> list[float]:
    return [timed(page, "") for _ in range(repeats)]


# ---- start


def ask_once(address: str, suites: Sequence[str]) -> list[float]:
    """Times of the first request of each table, which the server makes then and keeps."""
    times = []
    for suite in suites:
        began = time.perf_counter()
        urllib.request.urlopen(f"{address}data/board/{suite}").read()
        times.append((time.perf_counter() - began) * 1000)
    return times
