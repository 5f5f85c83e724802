"""What the measurements share: a report, a running server, the clock in the page."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
# When the answer, the elements of a selector, was painted, on the page's own clock: in the frame after the one that has
# it. Asked from outside, the time would include what the page does next, such as drawing a figure below.
PAINTED = """(answer) => {
  window.painted = null;
  (function look() {
    if (document.querySelector(answer)) requestAnimationFrame(() => { window.painted = performance.now(); });
    else requestAnimationFrame(look);
  })();
}"""
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


# The fixed script that interactions are measured against: as many cells as the board's largest table, as plain markup.
FIXED = """
const table = document.createElement('table');
for (let row = 0; row < 60; row += 1) {
  const line = table.insertRow();
  for (let column = 0; column < 140; column += 1) line.insertCell().textContent = (row * column / 8400).toFixed(3);
}
document.body.append(table);
table.getBoundingClientRect();
table.remove();
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement: its values, and what they may be at most, in their unit or as a multiple of a reference."""

    values: list[float]
    unit: str
    budget: float
    reference: list[float] | None = None  # measured in the same run; None: the budget is in the unit itself

    @property
    def figure(self) -> float:
        """What is compared with the budget: the ratio of the medians, or the 95th percentile in the unit."""
        if self.reference is None:
            return float(np.percentile(self.values, 95))
        return float(np.median(self.values) / np.median(self.reference))


class Report:
    """Prints a line a measurement, and counts those over their budget. A quiet one only collects them."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.over, self.quiet, self.rows = 0, quiet, {}
        self._print(f"{'':58}{'median':>9}{'95 %':>9}{'':6}{'figure':>8}{'budget':>8}")

    def row(
        self,
        name: str,
        values: list[float],
        *,
        budget: float,
        unit: str = "ms",
        reference: list[float] | None = None,
        beside: str = "",
    ) -> None:
        """A measurement with a budget: in its unit, or with `reference` as a multiple of that one's median."""
        row = Row(values=values, unit=unit, budget=budget, reference=reference)
        self.rows[name] = row
        over = row.figure > budget
        self.over += over
        sign = "x" if reference else ""
        self._print(
            f"{name:58}{np.median(values):>9.4g}{np.percentile(values, 95):>9.4g} {unit:<5}"
            f"{sign + format(row.figure, '.3g'):>8}{sign + format(budget, 'g'):>8} "
            f"{'OVER' if over else 'ok':<5}{beside}"
        )

    def fact(self, name: str, holds: bool, beside: str = "") -> None:
        """Something that is true or not."""
        self.over += not holds
        self._print(f"{name:58}{'':40} {'ok' if holds else 'OVER':<5}{beside}")

    def note(self, name: str, values: list[float], *, unit: str = "ms") -> None:
        """A measurement without a budget."""
        self.rows[name] = Row(values=values, unit=unit, budget=math.inf)
        self._print(f"{name:58}{np.median(values):>9.4g}{np.percentile(values, 95):>9.4g} {unit:<5}")

    def _print(self, line: str) -> None:
        if not self.quiet:
            print(line, flush=True)


def compare(ours: Sequence[Report], theirs: Sequence[Report], *, most: float) -> bool:
    """Prints every row of two versions side by side; True where no median is slower by more than `most`."""
    slower = 0
    print(f"{'':58}{'before':>9}{'now':>9}{'':6}{'ratio':>7}", flush=True)
    for name, row in ours[0].rows.items():
        now = np.concatenate([report.rows[name].values for report in ours])
        before = np.concatenate([report.rows[name].values for report in theirs])
        ratio = float(np.median(now) / np.median(before))
        slower += ratio > most
        mark = "SLOWER" if ratio > most else "ok"
        print(f"{name:58}{np.median(before):>9.4g}{np.median(now):>9.4g} {row.unit:<5}{ratio:>7.3f} {mark}", flush=True)
    return not slower


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(
    command: list[str], *, port: int, database: Path | None = None, root: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen, float]]:
    """A server in a process of its own: its address, the process, seconds to the first answer. `root`: its checkout."""
    environment = {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    if database:
        environment["LIKENESS_DATABASE"] = str(database)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=root, env=os.environ | environment, stdout=subprocess.DEVNULL
    )
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
    """Times in which nothing happens: two animation frames."""
    return [timed(page, "") for _ in range(repeats)]


def fixed(page: Page, repeats: int) -> list[float]:
    """Times of the fixed script in this page."""
    return [timed(page, FIXED) for _ in range(repeats)]


# ---- start


def ask_once(address: str, suites: Sequence[str]) -> list[float]:
    """Times of the first request of each table, which the server makes then and keeps."""
    times = []
    for suite in suites:
        began = time.perf_counter()
        urllib.request.urlopen(f"{address}data/board/{suite}").read()
        times.append((time.perf_counter() - began) * 1000)
    return times
