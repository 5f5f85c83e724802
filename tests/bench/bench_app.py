"""The app's budgets, measured: python tests/bench/bench_app.py [--repeats 20] [--against FOLDER]

Starts the real app on the shipped figures and on made-up tables of 60 and 700 rows, and prints a line a measurement.
Seconds mean nothing on another machine, so a budget is a multiple of a reference that the same run measures: importing
Gradio, a fixed script in the same browser, Gradio's own table with the same numbers, one visitor alone. Sizes and
memory are budgets in themselves.

`--against` names a checkout of another version: both are measured in turn, and every row is compared.
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
from dataclasses import dataclass
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
    PAINTED,
    READY,
    ROOT,
    STOCK,
    Report,
    ask_once,
    compare,
    fixed,
    floor,
    free_port,
    memory,
    running,
    timed,
)

SIZES = (60, 700)  # rows of the made-up tables
MOST = 1.05  # how much slower than another version a row may be


@dataclass(frozen=True, kw_only=True)
class Stock:
    """Gradio's own table with as many cells as ours, in ms: sorting, switching, and its first cell on the screen."""

    sort: list[float]
    switch: list[float]
    first: list[float]


def start(report: Report, database: Path, root: Path, repeats: int) -> None:
    """From the command to the first answer, beside importing Gradio alone, in turn."""
    seconds, alone = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import gradio"], check=True, cwd=root)
        alone.append(time.perf_counter() - began)
        with running(["app.py"], port=free_port(), database=database, root=root) as (_, _, taken):
            seconds.append(taken)
    beside = f"importing Gradio alone {np.median(alone):.2f} s"
    report.row("python app.py to the first answer", seconds, budget=1.5, unit="s", reference=alone, beside=beside)


def loaded(report: Report, database: Path) -> None:
    """What the app imports before anybody visits."""
    code = (
        "import sys, app; from leaderboard import server; server.build(); print(len(sys.modules)); "
        "print(*(name for name in ('torch', 'umap', 'sklearn', 'transformers') if name in sys.modules))"
    )
    environment = os.environ | {"LIKENESS_DATABASE": str(database)}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=environment
    )
    count, heavy = ended.stdout.splitlines()[-2:] if ended.stdout.count("\n") > 1 else (ended.stdout.strip(), "")
    report.fact("neither torch, umap, sklearn nor transformers imported", not heavy, heavy)
    report.note("modules imported at the start", [float(count)], unit="")


# ---- the page


def page_sizes(report: Report, address: str) -> None:
    from leaderboard.pages import VIEWS

    sizes = {view.key or "/": len(urllib.request.urlopen(address + view.key).read()) / 1000 for view in VIEWS}
    largest = max(sizes, key=sizes.get)
    beside = f"{largest}; the board {sizes['board']:.0f} KB"
    report.row("page HTML, the largest", [sizes[largest]], budget=150, unit="KB", beside=beside)


def first_table(report: Report, browser: Browser, address: str, stock: Stock, repeats: int) -> None:
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
    beside = f"Gradio's own table of 60 rows {np.median(stock.first):.0f} ms"
    report.row("first table visible, cold", cold, budget=1.2, reference=stock.first, beside=beside)
    report.row("first table visible, on reload", warm, budget=0.5, reference=stock.first, beside=beside)
    report.fact("plotly not requested by the board", not [url for url in requests if "plotly" in url.lower()])


def open_board(browser: Browser, address: str, query: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(FIRST)
    page.goto(f"{address}board?{query}")
    page.wait_for_selector(READY, state="attached")
    return page


# ---- the table


def times_longer(stock: list[float], ours: list[float]) -> str:
    """Gradio's own table doing the same, and how many times longer its median takes."""
    return f"; Gradio's own table {np.median(stock):.0f} (x{np.median(stock) / np.median(ours):.0f})"


def type_text(text: str) -> str:
    return (
        f"const box = document.querySelector('.lk-search'); box.value = {text!r}; "
        "box.dispatchEvent(new Event('input', {bubbles: true}))"
    )


def table(report: Report, browser: Browser, address: str, *, rows: int, stock: Stock, repeats: int) -> None:
    """Sort, search, filter, columns, switch and weights of one table, from the event to the repaint."""
    made = ask_once(address, ("mieb", "unisim-core"))
    page = open_board(browser, address, "suite=mieb&columns=all")
    size = f"{rows} x 140"
    script = fixed(page, repeats)
    beside = f"floor {np.median(floor(page, repeats)):.0f}, script {np.median(script):.0f}"
    head = "document.querySelector('.lk-titles [data-key=\"{}\"] button').click()"
    sort = [timed(page, head.format("mean" if turn % 2 else "title")) for turn in range(repeats)]
    nodes = [page.evaluate("document.querySelectorAll('*').length")]
    search = [timed(page, type_text("01" if turn % 2 else "")) for turn in range(repeats)]
    timed(page, type_text(""))
    page.get_by_role("button", name="Filters", exact=True).click()
    labels = "[...document.querySelectorAll('.lk-filters label')]"
    box = f"{labels}.find((label) => label.textContent.startsWith('Open')).click()"
    narrow = [timed(page, box) for _ in range(repeats)]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Columns").click()
    column = "document.querySelectorAll('.lk-picker .lk-list input')[12].click()"
    columns = [timed(page, column) for _ in range(repeats)]
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('.lk-grid').scrollTo(3000, 2000)")
    timed(page, "")
    nodes.append(page.evaluate("document.querySelectorAll('*').length"))
    script += fixed(page, repeats)
    report.note(f"the very first request of a table, {size}", made)
    sort_beside = beside + times_longer(stock.sort, sort)
    report.row(f"sort, {size}", sort, budget=0.7, reference=script, beside=sort_beside)
    report.row(f"search, {size}", search, budget=0.7, reference=script, beside=beside)
    report.row(f"filter, {size}", narrow, budget=0.7, reference=script, beside=beside)
    report.row(f"columns, {size}", columns, budget=0.7, reference=script, beside=beside)
    report.row(f"DOM nodes, {size}", [max(nodes)], budget=1500, unit="")

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
    for turn in range(repeats):
        suite = ("unisim-core", "mieb")[turn % 2]
        known.append(timed(page, click.format(suite), stands.format(suite)))
    switch_beside = beside + times_longer(stock.switch, first)
    report.row(f"switch of suite, fetched, {size}", first, budget=1.0, reference=script, beside=switch_beside)
    report.row(f"switch of suite, seen before, {size}", known, budget=1.0, reference=script, beside=beside)

    page.goto(f"{address}board?suite=mieb")
    page.wait_for_selector(READY, state="attached")
    page.get_by_role("button", name="Weights", exact=True).click()
    weights = []
    others = [step / 4 for step in range(21) if step != 4]  # 1 is the usual weight, which asks nothing of the server
    for turn in range(repeats):
        act = (
            "window.began = false; const range = document.querySelector('.lk-range'); "
            f"range.value = {others[turn % 20]}; "
            "new MutationObserver((_, observer) => { if (root.hasAttribute('aria-busy')) window.began = true; "
            "else if (window.began) { window.ended = true; observer.disconnect(); } })"
            ".observe(root, {attributes: true}); "
            "window.ended = false; range.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        weights.append(timed(page, f"const root = document.querySelector('{BOARD}'); {act}", "() => window.ended"))
    report.row(f"change of weights, {size}", weights, budget=2.0, reference=script, beside=beside)
    page.context.close()


def stock_table(browser: Browser, *, rows: int, repeats: int) -> Stock:
    """Gradio's own table: opened cold, sorted by its menu, switched by a server function."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "stock.py"
        script.write_text(STOCK)
        port = free_port()
        with running([str(script), str(rows), str(port)], port=port) as (address, _, _):
            cell = "document.querySelector('#stock [data-testid^=cell-]')"
            filled = f"{cell}?.innerText.includes('m0')"
            first = []
            for _ in range(max(3, repeats // 2)):
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                page.goto(address)
                page.wait_for_function(f"{filled} && (window.stood ??= performance.now())")
                first.append(page.evaluate("window.stood"))
                page.context.close()
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(address)
            page.wait_for_selector("#switch")
            page.wait_for_function(filled)
            changed = (
                f"(() => {{ const before = {cell}.innerText; return () => {cell} && {cell}.innerText !== before; }})()"
            )
            sort, switch = [], []
            for _ in range(max(3, repeats // 4)):
                switch.append(timed(page, "document.querySelector('#switch').click()", changed))
            for turn in range(max(3, repeats // 4)):
                page.evaluate(
                    "[...document.querySelectorAll('#stock [data-testid=header-0] .cell-menu-button')].at(-1).click()"
                )
                entry = "Sort descending" if turn % 2 == 0 else "Sort ascending"
                page.get_by_text(entry).wait_for()
                buttons = "[...document.querySelectorAll('button')]"
                act = f"{buttons}.find((button) => button.textContent.includes({entry!r})).click()"
                sort.append(timed(page, act, changed))
            page.context.close()
    return Stock(sort=sort, switch=switch, first=first)


# ---- figures


def figures(report: Report, browser: Browser, address: str, stock: Stock, repeats: int) -> None:
    first, later, script, sizes = [], [], [], []
    figure = "document.querySelector('#correlations-figure .js-plotly-plot')?.data"
    drawn = "() => document.querySelector('#correlations-figure .js-plotly-plot .main-svg')"
    for visit in range(max(5, repeats // 2)):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(FIRST)
        page.goto(f"{address}correlations")
        page.wait_for_function("window.stood !== null")
        first.append(page.evaluate("window.stood"))
        if visit == 0:
            page.wait_for_function(drawn)
            for turn in range(repeats):
                page.wait_for_load_state("networkidle")
                level = ("tasks", "categories")[turn % 2]
                radios = "[...document.querySelectorAll('input[type=radio]')]"
                act = f"{radios}.find((radio) => radio.value === {level!r}).click()"
                changed = f"(() => {{ const before = {figure}; return () => {figure} && {figure} !== before; }})()"
                later.append(timed(page, act, changed))
            script = fixed(page, repeats)
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
    beside = f"Gradio's own table of 60 rows {np.median(stock.first):.0f} ms"
    report.row("first figure of a visit", first, budget=2.5, reference=stock.first, beside=beside)
    report.row("later figures", later, budget=3, reference=script, beside=f"script {np.median(script):.0f}")
    # Two bytes a cell, the colour and the percent, and the names four times.
    report.row("correlation heatmap 130 x 130, its answer", [max(sizes)], budget=70, unit="KB")


ANSWER = ".pg-lead, .pg-findings, .jd-leads, h2.pg-name"
ANSWERS = {  # what a visitor waits for, by page
    "": ANSWER,
    "choose": ANSWER,
    "claims": ".lk-counts",
    "correlations": ANSWER,
    "cost": ANSWER,
    "generators": ANSWER,
    "judges": ANSWER,
    "languages": ANSWER,
    "map": ANSWER,
    "models": ".lk-catalogue[data-ready]",
    "smaller-suite": ANSWER,
    "sql": ".lk-sql[data-ready]",
    "tasks": ".lk-catalogue[data-ready]",
}
NO_FIGURES = ("judges", "models", "tasks", "sql", "choose")  # pages that draw without plotly


def answers(report: Report, browser: Browser, address: str, stock: Stock, repeats: int) -> None:
    """The answer of every page that has one, in a new profile each."""
    beside = f"Gradio's own table of 60 rows {np.median(stock.first):.0f} ms"
    for key, answer in ANSWERS.items():
        drawn, requests = [], []
        for _ in range(max(3, repeats // 4)):
            context = browser.new_context()
            page = context.new_page()
            page.on("request", lambda request, urls=requests: urls.append(request.url))
            page.add_init_script(f"({PAINTED})({answer!r})")
            page.goto(address + key, wait_until="commit")
            page.wait_for_function("window.painted !== null")
            drawn.append(page.evaluate("window.painted"))
            context.close()
        name = key or "overview"
        report.row(f"answer of the page {name}", drawn, budget=1.0, reference=stock.first, beside=beside)
        if key in NO_FIGURES:
            report.fact(f"plotly not requested by {name}", not [url for url in requests if "plotly" in url.lower()])


# ---- all of it


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What every version is measured on: the browser, the databases by number of rows, Gradio's own tables."""

    browser: Browser
    database: Path
    made: dict[int, Path]
    stock: dict[int, Stock]


def prepare(folder: Path, browser: Browser, repeats: int) -> Setup:
    """Builds the databases, and measures Gradio's own table."""
    database = folder / "likeness.duckdb"
    with running(["app.py"], port=free_port(), database=database):
        pass
    made = {rows: generate(folder / f"made-{rows}.duckdb", models=rows) for rows in SIZES}
    stock = {rows: stock_table(browser, rows=rows, repeats=repeats) for rows in SIZES}
    return Setup(browser=browser, database=database, made=made, stock=stock)


def measure(report: Report, setup: Setup, *, root: Path, repeats: int) -> None:
    """Every row of the report for the checkout in `root`."""
    browser = setup.browser
    start(report, setup.database, root, repeats)
    with running(["app.py"], port=free_port(), database=setup.database, root=root) as (address, process, _):
        page_sizes(report, address)
        first_table(report, browser, address, setup.stock[SIZES[0]], repeats)
        report.row("memory after the first tables", [memory(process)], budget=450, unit="MB")
        figures(report, browser, address, setup.stock[SIZES[0]], repeats)
        answers(report, browser, address, setup.stock[SIZES[0]], repeats)
        crowd(report, browser, address, repeats)
        report.row("memory after all visitors", [memory(process)], budget=450, unit="MB")
    for rows in SIZES:
        with running(["app.py"], port=free_port(), database=setup.made[rows], root=root) as (address, _, _):
            table(report, browser, address, rows=rows, stock=setup.stock[rows], repeats=repeats)


def main() -> None:
    """Measures everything; exit code 1 where a budget is exceeded, or a row is slower than in the other version."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20, help="of each measurement")
    parser.add_argument("--against", type=Path, help="a checkout of another version to compare every row with")
    parser.add_argument("--rounds", type=int, default=3, help="with --against: how often both are measured in turn")
    options = parser.parse_args()
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        raise SystemExit("No Chromium found: install the package chromium, or name the program in CHROMIUM")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        setup = prepare(Path(name), browser, options.repeats)
        if options.against:
            ours, theirs = [], []
            for turn in range(options.rounds):
                pairs = [(ROOT, ours), (options.against.resolve(), theirs)]
                for root, reports in pairs if turn % 2 else reversed(pairs):
                    reports.append(Report(quiet=True))
                    measure(reports[-1], setup, root=root, repeats=options.repeats)
            holds = compare(ours, theirs, most=MOST)
        else:
            report = Report()
            loaded(report, setup.database)
            measure(report, setup, root=ROOT, repeats=options.repeats)
            print(f"{report.over} over budget" if report.over else "all within budget")
            holds = not report.over
        browser.close()
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
