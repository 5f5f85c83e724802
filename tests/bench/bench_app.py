"""The app's budgets, measured: python tests/bench/bench_app.py [--repeats 20]

Starts the real app on the shipped figures and on made-up tables of 60 and 700 rows, and prints a line a budget:
median, 95th percentile, budget, and beside it a reference of the same run: two animation frames in which nothing
happens (the floor of all that is measured in the browser), or Gradio's own table with the same numbers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from tests.bench.crowd import crowd  # noqa: E402
from tests.bench.generate import generate  # noqa: E402
from tests.bench.measure import (  # noqa: E402
    ARGUMENTS,
    BOARD,
    FIRST,
    READY,
    ROOT,
    STOCK,
    Report,
    ask_once,
    floor,
    free_port,
    memory,
    running,
    timed,
)


def start(report: Report, folder: Path, repeats: int) -> Path:
    """Builds the database first; then every start finds it."""
    database = folder / "likeness.duckdb"
    with running(["app.py"], port=free_port(), database=database):
        pass
    seconds = []
    for _ in range(repeats):
        with running(["app.py"], port=free_port(), database=database) as (_, _, taken):
            seconds.append(taken)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import gradio"], check=True, cwd=ROOT)
    report.row(
        "python app.py to the first answer",
        seconds,
        budget=4,
        unit="s",
        beside=f"importing Gradio alone {time.perf_counter() - began:.2f} s",
    )
    code = (
        "import sys, app; from leaderboard import server; server.build(); "
        "print(*(name for name in ('torch', 'umap') if name in sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"LIKENESS_DATABASE": str(database)},
    )
    report.fact("neither torch nor umap imported", not ended.stdout.split(), ended.stdout.strip())
    return database


# ---- the page


def page_sizes(report: Report, address: str) -> None:
    from leaderboard.pages import VIEWS

    sizes = {view.key or "/": len(urllib.request.urlopen(address + view.key).read()) / 1000 for view in VIEWS}
    largest = max(sizes, key=sizes.get)
    report.row(
        "page HTML, the largest",
        [sizes[largest]],
        budget=150,
        unit="KB",
        single=True,
        beside=f"{largest}; the board {sizes['board']:.0f} KB",
    )


def first_table(report: Report, browser: Browser, address: str, repeats: int) -> None:
    cold, warm, requests = [], [], []
    for _ in range(repeats):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(FIRST)
        page.on("request", lambda request: requests.append(request.url))
        for times in (cold, warm):
            page.goto(f"{address}board?suite=mieb") if times is cold else page.reload()
            page.wait_for_function("window.stood !== null")
            times.append(page.evaluate("window.stood"))
        context.close()
    report.row("first table visible, cold", [value / 1000 for value in cold], budget=1.5, unit="s")
    report.row("first table visible, on reload", [value / 1000 for value in warm], budget=0.5, unit="s")
    report.fact("plotly not requested by the board", not [url for url in requests if "plotly" in url.lower()])


def open_board(browser: Browser, address: str, query: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(FIRST)
    page.goto(f"{address}board?{query}")
    page.wait_for_selector(READY, state="attached")
    return page


# ---- the table


def against(stock: list[float], ours: list[float]) -> str:
    """Gradio's own table doing the same, and how many times longer its median takes."""
    return f"; Gradio's own table {np.percentile(stock, 95):.0f} (x{np.median(stock) / np.median(ours):.0f})"


def type_text(text: str) -> str:
    return (
        f"const box = document.querySelector('.lk-search'); box.value = {text!r}; "
        "box.dispatchEvent(new Event('input', {bubbles: true}))"
    )


def table(
    report: Report, browser: Browser, address: str, *, rows: int, stock: dict[str, list[float]], repeats: int
) -> None:
    """Sort, search, filter, columns, switch and weights of one table, from the event to the repaint."""
    made = ask_once(address, ("mieb", "unisim-core"))
    page = open_board(browser, address, "suite=mieb&columns=all")
    size = f"{rows} x 140"
    still = floor(page, repeats)
    beside = f"floor {np.percentile(still, 95):.0f}"
    head = "document.querySelector('.lk-titles [data-key=\"{}\"] button').click()"
    sort = [timed(page, head.format("mean" if place % 2 else "title")) for place in range(repeats)]
    nodes = [page.evaluate("document.querySelectorAll('*').length")]
    search = [timed(page, type_text("01" if place % 2 else "")) for place in range(repeats)]
    timed(page, type_text(""))
    page.get_by_role("button", name="Filters", exact=True).click()
    labels = "[...document.querySelectorAll('.lk-filters label')]"
    box = f"{labels}.find((one) => one.textContent.startsWith('Open')).click()"
    narrow = [timed(page, box) for _ in range(repeats)]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Columns").click()
    column = "document.querySelectorAll('.lk-picker .lk-list input')[12].click()"
    columns = [timed(page, column) for _ in range(repeats)]
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('.lk-grid').scrollTo(3000, 2000)")
    timed(page, "")
    nodes.append(page.evaluate("document.querySelectorAll('*').length"))
    ratio = against(stock["sort"], sort)
    report.note(f"the very first request of a table, {size}", made)
    report.row(f"sort, {size}", sort, budget=60, beside=beside + ratio)
    report.row(f"search, {size}", search, budget=60, beside=beside)
    report.row(f"filter, {size}", narrow, budget=60, beside=beside)
    report.row(f"columns, {size}", columns, budget=60, beside=beside)
    report.row(f"DOM nodes, {size}", [max(nodes)], budget=1500, unit="", single=True)

    stands = "() => document.querySelector('.likeness-board[data-suite={0}][data-ready=true]')"
    click = "document.querySelector('.lk-suite[data-key={0}]').click()"
    first, known = [], []
    for _ in range(repeats):
        page.goto(f"{address}board?suite=mieb")
        page.wait_for_selector(READY, state="attached")
        first.append(timed(page, click.format("unisim-core"), stands.format("unisim-core")))
        page.goto(f"{address}board")
        page.wait_for_selector(READY, state="attached")
        first.append(timed(page, click.format("mieb"), stands.format("mieb")))
    for place in range(repeats):
        suite = ("unisim-core", "mieb")[place % 2]
        known.append(timed(page, click.format(suite), stands.format(suite)))
    ratio = against(stock["switch"], first)
    report.row(f"switch of suite, fetched, {size}", first, budget=100, beside=beside + ratio)
    report.row(f"switch of suite, seen before, {size}", known, budget=100, beside=beside)

    page.goto(f"{address}board?suite=mieb")
    page.wait_for_selector(READY, state="attached")
    page.get_by_role("button", name="Weights", exact=True).click()
    weights = []
    others = [step / 4 for step in range(21) if step != 4]  # 1 is the usual weight, which asks nothing of the server
    for place in range(repeats):
        act = (
            "window.began = false; const range = document.querySelector('.lk-range'); "
            f"range.value = {others[place % 20]}; "
            "new MutationObserver((_, seen) => { if (root.hasAttribute('aria-busy')) window.began = true; "
            "else if (window.began) { window.ended = true; seen.disconnect(); } }).observe(root, {attributes: true}); "
            "window.ended = false; range.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        weights.append(timed(page, f"const root = document.querySelector('{BOARD}'); {act}", "() => window.ended"))
    report.row(f"change of weights, {size}", weights, budget=150, beside=beside)
    page.context.close()


def stock_table(browser: Browser, *, rows: int, repeats: int) -> dict[str, list[float]]:
    """Gradio's own table with as many cells: sorting by its menu, switching by a server function."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "stock.py"
        script.write_text(STOCK)
        port = free_port()
        with running([str(script), str(rows), str(port)], port=port) as (address, _, _):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(address)
            page.wait_for_selector("#switch")
            cell = "document.querySelector('#stock [data-testid^=cell-]')"
            page.wait_for_function(f"{cell}?.innerText.includes('m0')")
            changed = (
                f"(() => {{ const before = {cell}.innerText; return () => {cell} && {cell}.innerText !== before; }})()"
            )
            times: dict[str, list[float]] = {"sort": [], "switch": []}
            for _ in range(max(3, repeats // 4)):
                times["switch"].append(timed(page, "document.querySelector('#switch').click()", changed))
            for place in range(max(3, repeats // 4)):
                page.evaluate(
                    "[...document.querySelectorAll('#stock [data-testid=header-0] .cell-menu-button')].at(-1).click()"
                )
                entry = "Sort descending" if place % 2 == 0 else "Sort ascending"
                page.get_by_text(entry).wait_for()
                buttons = "[...document.querySelectorAll('button')]"
                act = f"{buttons}.find((one) => one.textContent.includes({entry!r})).click()"
                times["sort"].append(timed(page, act, changed))
            page.context.close()
    return times


# ---- figures


def figures(report: Report, browser: Browser, address: str, repeats: int) -> None:
    first, later, sizes = [], [], []
    figure = "document.querySelector('#correlations-figure .js-plotly-plot')?.data"
    drawn = "() => document.querySelector('#correlations-figure .js-plotly-plot .main-svg')"
    for place in range(max(5, repeats // 2)):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(FIRST)
        page.goto(f"{address}correlations")
        page.wait_for_function("window.stood !== null")
        first.append(page.evaluate("window.stood") / 1000)
        if place == 0:
            page.wait_for_function(drawn)
            for turn in range(repeats):
                page.wait_for_load_state("networkidle")
                level = ("tasks", "categories")[turn % 2]
                radios = "[...document.querySelectorAll('input[type=radio]')]"
                act = f"{radios}.find((one) => one.value === {level!r}).click()"
                later.append(
                    timed(
                        page,
                        act,
                        f"(() => {{ const before = {figure}; return () => {figure} && {figure} !== before; }})()",
                    )
                )
            still = floor(page, repeats)
        context.close()
    page = browser.new_context().new_page()
    page.on(
        "response",
        lambda answer: sizes.append(len(answer.body()) / 1000) if "/predict" in answer.url else None,
    )
    page.goto(f"{address}correlations?suite=mieb&level=tasks")
    page.wait_for_function(drawn)
    page.wait_for_load_state("networkidle")
    page.context.close()
    report.row("first figure of a visit", first, budget=2, unit="s")
    report.row("later figures", later, budget=250, beside=f"floor {np.percentile(still, 95):.0f}")
    report.row("correlation heatmap 130 x 130, its answer", [max(sizes)], budget=60, unit="KB", single=True)


# ---- many visitors


def main() -> None:
    """Measures everything; exit code 1 when a budget is exceeded."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--repeats", type=int, default=20, help="of each measurement")
    repeats: int = asked.parse_args().repeats
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        raise SystemExit("No Chromium found: install the package chromium, or name the program in CHROMIUM")
    report = Report()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        database = start(report, folder, repeats)
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        with running(["app.py"], port=free_port(), database=database) as (address, process, _):
            page_sizes(report, address)
            first_table(report, browser, address, repeats)
            report.row("memory after the first tables", [memory(process)], budget=450, unit="MB", single=True)
            figures(report, browser, address, repeats)
            crowd(report, browser, address, repeats)
            report.row("memory after all visitors", [memory(process)], budget=450, unit="MB", single=True)
        for rows in (60, 700):
            stock = stock_table(browser, rows=rows, repeats=repeats)
            made = generate(folder / f"made-{rows}.duckdb", models=rows)
            with running(["app.py"], port=free_port(), database=made) as (address, _, _):
                table(report, browser, address, rows=rows, stock=stock, repeats=repeats)
        browser.close()
    print(f"{report.over} over budget" if report.over else "all within budget")
    sys.exit(1 if report.over else 0)


if __name__ == "__main__":
    main()
