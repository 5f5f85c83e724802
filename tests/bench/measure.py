"""What the measurements share: a report, a running server, the clock in the page."""

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.serving import serving

READY = ".likeness-board[data-ready=true] .lk-body .lk-row"
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
rows = int(sys.argv[1])
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
app.launch()
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


class Report:
    """Prints a line a measurement, and counts those over their budget."""

    def __init__(self):
        self.over = 0
        print(f"{'':58}{'median':>9}{'95 %':>9}{'':6}{'figure':>8}{'budget':>8}", flush=True)

    def row(
        self,
        name,
        values,
        *,
        budget,
        unit="ms",
        reference=None,
        beside="",
    ):
        """A measurement whose 95th percentile has a budget in its unit, or whose median has one as a multiple of the
        reference's median."""
        middle, high = np.median(values), np.percentile(values, 95)
        figure, sign = (high, "") if reference is None else (middle / np.median(reference), "x")
        self.over += (over := figure > budget)
        print(
            f"{name:58}{middle:>9.4g}{high:>9.4g} {unit:<5}{sign + format(figure, '.3g'):>8}"
            f"{sign + format(budget, 'g'):>8} {'OVER' if over else 'ok':<5}{beside}",
            flush=True,
        )

    def finish(self):
        """Says whether all is within budget, and ends the program: exit code 1 where something is not."""
        print(f"{self.over} over budget" if self.over else "all within budget")
        sys.exit(1 if self.over else 0)


@contextmanager
def running(*command, database=None):
    """A Python program that serves, on the first free port, and the seconds to its first answer."""
    place = {name: value for name, value in os.environ.items() if name != "GRADIO_SERVER_PORT"}
    place |= {"GRADIO_ANALYTICS_ENABLED": "False"} | ({"LIKENESS_DATABASE": str(database)} if database else {})
    began = time.perf_counter()
    with serving(command=(sys.executable, *command), place=place) as server:
        server.get()
        yield server, time.perf_counter() - began


def memory(server):
    """Resident memory in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1000


def timed(page, act, done=""):
    return page.evaluate(TIMED, {"act": act, "done": done})
