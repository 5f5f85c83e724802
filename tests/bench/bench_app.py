"""The app's budgets, measured: python -m tests.bench.bench_app [--repeats 20]

Starts the real app on the shipped scores and on made-up tables of 60 and 700 rows, and prints a line a measurement.
Seconds mean nothing on another machine, so a budget is a multiple of a reference that the same run measures: importing
Gradio, a fixed script in the same browser, Gradio's own table with the same numbers. Sizes and memory are budgets in
themselves.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from leaderboard.pages import VIEWS
from tests.bench.generate import generate
from tests.bench.measure import FIRST, FIXED, READY, STOCK, Report, memory, running, timed
from tests.browser.conftest import chromium, in_thread
from tests.serving import ROOT

SIZES = (60, 700)  # rows of the made-up tables
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
SEEN = 8_000  # ms, in which Gradio's page has taken the place of the first screen
PAINTED = """
window.largest = null; window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ entryType, startTime, value, hadRecentInput }) => {
  if (entryType !== 'layout-shift') window.largest = startTime;
  else if (!hadRecentInput) window.shift += value;
})).observe({ entryTypes: ['largest-contentful-paint', 'layout-shift'] });
"""
HEAVY = ("torch", "umap", "sklearn", "transformers")


def start(report, database, repeats):
    """From the command to the first answer, beside importing Gradio alone, in turn; and what is imported."""
    seconds, alone = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import gradio"], check=True, cwd=ROOT)
        alone.append(time.perf_counter() - began)
        with running("app.py", database=database) as (_, taken):
            seconds.append(taken)
    report.row("python app.py to the first answer", seconds, budget=1.5, unit="s", reference=alone)
    code = "import sys; from leaderboard import server; server.build(); print(*sys.modules)"
    own = os.environ | {"LIKENESS_DATABASE": str(database)}
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=own)
    report.row(f"imported of {', '.join(HEAVY)}", [len({*HEAVY} & {*ended.stdout.split()})], budget=0, unit="")


def pages(report, browser, server, stock, repeats):
    """Sizes of the pages; the first table, cold and on reload; the first figure of a visit."""
    sizes = {view.key or "/": len(server.get(view.key)) / 1000 for view in VIEWS}
    largest = max(sizes, key=sizes.get)
    report.row("page HTML, the largest", [sizes[largest]], budget=220, unit="KB", beside=largest)
    budgets = {
        "first table visible, cold": ("board?suite=mieb", 1.2),
        "first table visible, on reload": ("board?suite=mieb", 0.5),
        "first figure of a visit": ("correlations", 2.5),
    }
    times = {name: [] for name in budgets}
    for _ in range(repeats):
        page = opened(browser)
        for name, (query, _) in budgets.items():
            page.goto(server.address + query)
            page.wait_for_function("window.stood !== null")
            times[name].append(page.evaluate("window.stood"))
        page.context.close()
    for name, (_, budget) in budgets.items():
        report.row(name, times[name], budget=budget, reference=stock["first"])


def first_paints(report, browser, server, repeats):
    """The largest paint of each page on a slow phone, as a multiple of that of the same HTML without scripts."""
    for view in VIEWS:
        site = still(server.get(view.key).decode(), server.address)
        with in_thread(site) as alone:
            visits = [(painted(browser, server.address + view.key), painted(browser, alone)) for _ in range(repeats)]
        own, reference = ([paint for paint, _ in each] for each in zip(*visits, strict=True))
        report.row(f"largest paint, {view.key or 'overview'}", own, budget=1.25, reference=reference)
        report.row(f"layout shift, {view.key or 'overview'}", [shift for (_, shift), _ in visits], budget=0.02, unit="")


def still(html, address):
    """A site of one page: the HTML without its scripts, and all that it names where it was."""
    html = re.sub(r"<script\b.*?</script>|</?noscript>", "", html, flags=re.DOTALL)
    html = html.replace('<base href="./" />', f'<base href="{address}" />')
    packed = gzip.compress(html.encode())
    headers = {"content-encoding": "gzip"}
    return Starlette(routes=[Route("/", lambda request: HTMLResponse(packed, headers=headers))])


def painted(browser, address):
    """When the largest part was painted, in ms, and the sum of layout shifts: 390 px, a processor of a quarter of the
    speed, 150 ms and 1.6 Mbit/s."""
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    tools.send("Network.emulateNetworkConditions", SLOW)
    page.add_init_script(PAINTED)
    page.goto(address, wait_until="commit")
    page.wait_for_timeout(SEEN)
    found = page.evaluate("[window.largest, window.shift]")
    page.context.close()
    return tuple(found)


def opened(browser):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(FIRST)
    return page


def table(report, browser, address, *, rows, stock, repeats):
    """Sort, search, columns, switch and weights of one table, from the event to the repaint."""
    page, size = opened(browser), f"{rows} x 140"
    page.goto(f"{address}board?suite=mieb&columns=all")
    page.wait_for_selector(READY, state="attached")
    head = "document.querySelector('.lk-titles [data-key=\"{}\"] button').click()"
    search = (
        "const box = document.querySelector('.lk-search'); box.value = {!r}; "
        "box.dispatchEvent(new Event('input', {{bubbles: true}}))"
    )
    acts = {"sort": (head.format("mean"), head.format("title")), "search": (search.format("01"), search.format(""))}
    script = [timed(page, FIXED) for _ in range(repeats)]
    for name, pair in acts.items():
        times = [timed(page, pair[turn % 2]) for turn in range(repeats)]
        beside = f"Gradio's own table {np.median(stock['sort']):.0f} ms" if name == "sort" else ""
        report.row(f"{name}, {size}", times, budget=0.7, reference=script, beside=beside)
    timed(page, search.format(""))
    page.get_by_role("button", name="Columns").click()
    column = "document.querySelectorAll('.lk-picker .lk-list input')[12].click()"
    report.row(f"columns, {size}", [timed(page, column) for _ in range(repeats)], budget=0.7, reference=script)
    page.keyboard.press("Escape")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    report.row(f"DOM nodes, {size}", [nodes], budget=1500, unit="")

    stands = "() => document.querySelector('.likeness-board[data-suite={0}][data-ready=true]')"
    click = "document.querySelector('.likeness-board nav [data-key={0}]').click()"
    first, known = [], []
    for _ in range(repeats):
        page.goto(f"{address}board?suite=mieb")
        page.wait_for_selector(READY, state="attached")
        first.append(timed(page, click.format("unisim-core"), stands.format("unisim-core")))
        known.append(timed(page, click.format("mieb"), stands.format("mieb")))
    beside = f"Gradio's own table {np.median(stock['switch']):.0f} ms"
    report.row(f"switch of suite, fetched, {size}", first, budget=1.0, reference=script, beside=beside)
    report.row(f"switch of suite, seen before, {size}", known, budget=1.0, reference=script)

    page.get_by_role("button", name="Weights", exact=True).click()
    act = """
      const root = document.querySelector('.likeness-board'), range = document.querySelector('.lk-range');
      window.ended = window.began = false;
      new MutationObserver((_, observer) => {
        if (root.hasAttribute('aria-busy')) window.began = true;
        else if (window.began) { window.ended = true; observer.disconnect(); }
      }).observe(root, {attributes: true});
      range.value = %s;
      range.dispatchEvent(new Event('input', {bubbles: true}));
    """
    weights = [timed(page, act % (2 + turn % 12 / 4), "() => window.ended") for turn in range(repeats)]
    report.row(f"change of weights, {size}", weights, budget=2.0, reference=script)
    page.context.close()


def stock_table(browser, *, rows, repeats):
    """Gradio's own table with as many cells, in ms: its first cell, sorting by its menu, a switch by a function."""
    cell = "document.querySelector('#stock [data-testid^=cell-]')"
    changed = f"(() => {{ const before = {cell}.innerText; return () => {cell} && {cell}.innerText !== before; }})()"
    times = {"first": [], "switch": [], "sort": []}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "stock.py"
        script.write_text(STOCK)
        with running(script, str(rows)) as (server, _):
            for _ in range(max(3, repeats // 4)):
                page = opened(browser)
                page.goto(server.address)
                page.wait_for_function(f"{cell}?.innerText.includes('m0') && (window.stood ??= performance.now())")
                times["first"].append(page.evaluate("window.stood"))
                times["switch"].append(timed(page, "document.querySelector('#switch').click()", changed))
                menu = "#stock [data-testid=header-0] .cell-menu-button"
                page.evaluate(f"[...document.querySelectorAll({menu!r})].at(-1).click()")
                page.get_by_text("Sort descending").wait_for()
                entry = "[...document.querySelectorAll('button')].find((one) => one.textContent.includes('Sort desc'))"
                times["sort"].append(timed(page, f"{entry}.click()", changed))
                page.context.close()
    return times


def main():
    """Measures everything; exit code 1 where a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20, help="of each measurement")
    repeats = parser.parse_args().repeats
    report = Report()
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        database = Path(name) / "likeness.duckdb"
        stock = {rows: stock_table(browser, rows=rows, repeats=repeats) for rows in SIZES}
        with running("app.py", database=database) as (server, _):
            pages(report, browser, server, stock[SIZES[0]], repeats)
            first_paints(report, browser, server, max(3, repeats // 4))
            report.row("memory after all pages", [memory(server)], budget=450, unit="MB")
        start(report, database, repeats)
        for rows in SIZES:
            made = generate(Path(name) / f"made-{rows}.duckdb", models=rows)
            with running("app.py", database=made) as (server, _):
                table(report, browser, server.address, rows=rows, stock=stock[rows], repeats=repeats)
    report.finish()


if __name__ == "__main__":
    main()
