"""The board: its state in the address, keys, cells, weights, filters, columns, comparison, files, and a phone."""

import json
import re
from urllib.parse import parse_qs

import duckdb
import pandas as pd
import pytest

from compute.rounding import rounded
from tests.browser.conftest import query, settle, unharmed, violations, wait_query
from tests.leaderboard.served import HOSTILE

BOARD = ".likeness-board"
READY = f"{BOARD}[data-ready=true]:not([aria-busy])"
SIGLIP = "google/siglip-so400m-patch14-224~published"
ROWS = """() => [...document.querySelectorAll('.lk-row:has(> .lk-cell)')].map((row) => ({
  place: Number(row.getAttribute('aria-rowindex')),
  title: row.querySelector('.lk-name')?.textContent,
  rank: row.querySelector('.lk-rank b')?.textContent,
})).sort((one, other) => one.place - other.place)"""
SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
}).observe({ type: 'layout-shift', buffered: true });"""
IN_VIEW = """(key) => {
  const grid = document.querySelector('.lk-grid').getBoundingClientRect();
  const cell = document.querySelector(`.lk-titles [data-key="${key}"]`)?.getBoundingClientRect();
  const ends = [...document.querySelectorAll('.lk-titles .lk-pin')].map((one) => one.getBoundingClientRect().right);
  return !!cell && cell.left >= Math.max(grid.left, ...ends) - 1 && cell.right <= grid.right + 1;
}"""
# The names of all rows, drawn one screen after another: in full, as shown, and whether they fit their cells.
NAMES = """async () => {
  const grid = document.querySelector('.lk-grid');
  const names = new Map();
  for (let top = 0; ; top += grid.clientHeight / 2) {
    grid.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const cell of grid.querySelectorAll('.lk-body .lk-model')) {
      const name = cell.querySelector('.lk-name');
      const shown = (name.firstElementChild ?? name).textContent.replace(/\\s+/g, ' ');
      names.set(cell.getAttribute('aria-label').split(' · ')[0], [shown, name.scrollWidth <= name.clientWidth]);
    }
    if (top + grid.clientHeight >= grid.scrollHeight) return [...names].map(([title, found]) => [title, ...found]);
  }
}"""


@pytest.fixture
def board(visit):
    """Opens the board with a query string and waits until its table is drawn."""
    return lambda given="", **how: visit(f"board{'?' if given else ''}{given}", ready=READY, **how)


def header(page, key):
    return page.locator(f'.lk-titles [data-key="{key}"]')


def idle(page):
    page.wait_for_selector(READY)


def panel(page, name):
    page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
    return page.get_by_role("dialog", name=name)


# ---- the address


def test_the_address_alone_gives_the_view_and_stays(board):
    """Whatever the address says is shown, nothing of it is refused, and a change and its undoing lead back to it."""
    given = (
        "kind=encoder,metric&min_parameters=10000000&license=mit,unknown&coverage=0.5&families=IQA"
        f"&columns=unisim/nights,unisim/bapps&sort=-unisim/nights&w=Img-2AFC:0.5,IQA:2&select={SIGLIP}"
    )
    page = board(given)
    wanted = {key: values[0] for key, values in parse_qs(given).items()}
    assert page.locator(".lk-notice").is_hidden(), page.locator(".lk-notice").inner_text()
    page.get_by_label("Search models").fill("zzzz")
    wait_query(page, "q", "zzzz")
    page.locator(".lk-empty", has_text="Nothing found").wait_for()
    page.get_by_label("Search models").press("Escape")
    wait_query(page, "q", None)
    assert query(page) == wanted


def test_what_is_done_is_in_the_address_and_survives_a_reload_and_back(board):
    page = board()
    page.get_by_role("button", name="MIEB", exact=True).click()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb][data-ready=true]")
    page.get_by_role("button", name="Lite", exact=True).click()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb-lite][data-ready=true]")
    page.get_by_label("Search models").fill("siglip")
    wait_query(page, "q", "siglip")
    header(page, "title").get_by_role("button").click()
    wait_query(page, "sort", "title")
    page.get_by_role("checkbox").first.click()
    page.wait_for_function("new URLSearchParams(location.search).has('select')")
    asked, rows = query(page), page.evaluate(ROWS)
    assert 0 < len(rows) < 20 and all("siglip" in row["title"].lower() for row in rows)
    page.reload()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb-lite][data-ready=true]")
    assert page.evaluate(ROWS) == rows and query(page) == asked
    assert page.locator("[role=checkbox][aria-checked=true]").count() == 1
    page.get_by_role("button", name="PairBench", exact=True).click()
    page.wait_for_selector(f"{BOARD}[data-suite=pairbench][data-ready=true]")
    page.go_back()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb-lite][data-ready=true]")


def test_a_title_out_of_a_file_stays_text(board, visit):
    page = board("origin=imported")
    page.locator(".lk-model", has_text="<img").click()
    dialog = page.locator("dialog[open]")
    assert "<img src=x" in dialog.inner_text() and "Public results" in dialog.inner_text()
    pages = {
        page: f"{BOARD}, dialog[open]",
        visit("models?q=example/hostile", ready=".lk-catalogue-name"): ".lk-catalogue-name",
        visit("model?model=example/hostile"): "h1",
    }
    for one, place in pages.items():
        one.locator(place, has_text="<img src=x").first.wait_for()
        assert unharmed(one)
    one.locator(".site-bar-search[data-ready]").click()
    one.locator(".se-input").fill("example/hostile")
    one.locator(".se-title", has_text=HOSTILE).first.wait_for()
    assert unharmed(one, ".se-dialog img")


def test_a_server_that_fails_is_said_in_words_and_retried(visit):
    page = visit(
        "board",
        expected="Failed to load|ERR_FAILED|503",
        ready=f"{BOARD}[data-ready=error]",
        before=lambda page: page.route("**/data/board/*", lambda route: route.fulfill(status=503, body="{}")),
    )
    assert "did not load" in page.locator(BOARD).inner_text()
    page.unroute("**/data/board/*")
    page.get_by_role("button", name="Retry").click()
    idle(page)


# ---- the table


CLIPPED = "(cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"


def test_nothing_moves_while_it_loads_and_every_category_has_room(board):
    """Layout shift is the browser's own measure, summed: it calls up to 0.1 good. On a phone: test_pages.py."""
    page = board("suite=mieb", width=1360, before=SHIFTS)
    settle(page, READY)
    assert page.evaluate("window.shifted") < 0.02
    for width in (1360, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("(width) => document.querySelector('.lk-grid').clientWidth > width - 80", arg=width)
        page.wait_for_function(IN_VIEW, arg="Zero-shot Classification")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.locator(".lk-body .lk-cell:not(.lk-model), .lk-titles .lk-sort").evaluate_all(CLIPPED) == []


def test_by_keyboard_alone_and_the_card_of_a_model_by_the_pointer_too(board):
    """From the search box by Tab into the grid, up to the header, sideways, Enter and Space; then a cell."""
    page = board()
    card = page.locator(".lk-card")
    page.locator(".lk-body .lk-model").nth(1).hover()
    card.get_by_text("864 M").wait_for()
    card.hover()
    assert card.is_visible(), "the pointer may go to it"
    page.mouse.move(5, 5)
    card.wait_for(state="hidden")
    header(page, "title").get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    card.locator("h4").wait_for()
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.get_by_label("Search models", exact=True).focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("!!document.activeElement.closest('[role=grid]')"):
            break
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowUp")
    focused = "document.activeElement.closest('[role=columnheader]')?.dataset.key"
    for _ in range(12):
        if page.evaluate(focused) == "IQA":
            break
        page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "IQA" and header(page, "IQA").get_attribute("aria-sort") == "none"
    page.keyboard.press("Enter")
    page.wait_for_selector('.lk-titles [data-key="IQA"][aria-sort=descending]')
    assert page.evaluate(focused) == "IQA", "the focus was lost by sorting"
    page.keyboard.press("Space")
    page.wait_for_selector('.lk-titles [data-key="IQA"][aria-sort=ascending]')
    wait_query(page, "sort", "IQA")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    source = dialog.get_by_role("link", name=re.compile(r"UniSim-Bench Table \d")).first
    assert source.get_attribute("href").startswith("https://arxiv.org/abs/") and "As printed" in dialog.inner_text()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    assert page.evaluate("!!document.activeElement.closest('[role=gridcell]')"), "the focus was lost by closing"


def test_a_missing_number_says_why_and_only_cells_in_view_are_drawn(board):
    page = board("suite=mieb&coverage=0&columns=all")
    missing = page.locator(".lk-body .lk-missing").first
    assert missing.inner_text() == "—" and re.match(r"No value: \w.{8,}", missing.get_attribute("aria-label"))
    page.evaluate("document.querySelector('.lk-grid').scrollTo(9e5, 9e5)")
    last = page.locator(".lk-grid").get_attribute("aria-colcount")
    page.locator(f".lk-body [aria-colindex='{last}']").first.wait_for()
    assert int(last) > 130 and page.evaluate("document.querySelectorAll('*').length") <= 1500, "all cells are drawn"


MOVING = """() => [...document.querySelectorAll('.likeness-board *')].filter((node) => {
  const style = getComputedStyle(node);
  const longest = (text) => Math.max(...text.split(',').map(parseFloat));
  return style.animationName !== 'none' && longest(style.animationDuration) > 0.01
    || longest(style.transitionDuration) > 0.01;
}).map((node) => node.className)"""


def test_weights_change_ranks_and_filters_do_not(board):
    """Under "reduced motion", which is asked for on the way, nothing moves."""
    page = board()
    usual = {row["title"]: row["rank"] for row in page.evaluate(ROWS)}
    page.get_by_label("Search models").fill("clip")
    wait_query(page, "q", "clip")
    found = page.evaluate(ROWS)
    assert 0 < len(found) < len(usual) and all(usual.get(row["title"], row["rank"]) == row["rank"] for row in found)
    page.get_by_label("Search models").fill("")
    page.get_by_role("button", name="Weights", exact=True).click()
    slider = page.get_by_label("Weight of IQA", exact=True)
    slider.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    wait_query(page, "w", "IQA:3.25")
    idle(page)
    line = page.locator(".lk-changed")
    assert re.match(r"Your mean: IQA 3.25, others 1\s+· .*\d+ of \d+ ranks differ", line.inner_text(), re.DOTALL)
    assert page.locator(".lk-rank em").count() > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == []
    assert {row["title"]: row["rank"] for row in page.evaluate(ROWS)} != usual
    line.get_by_role("button", name="Reset").click()
    wait_query(page, "w", None)
    page.locator(".lk-about").wait_for()
    assert {row["title"]: row["rank"] for row in page.evaluate(ROWS)} == usual and not line.is_visible()


def test_private_test_sets_are_marked_and_one_choice_ranks_without_them(board):
    page = board("suite=vidore-v3&openness=show&untrained=show", width=2200)
    private = "vidore/vidore3telecomretrieval"
    assert "private" in header(page, private).inner_text()
    assert {header(page, key).count() for key in ("openness", "untrained")} == {1}
    page.get_by_label("Test sets").select_option(label="Public")
    page.wait_for_function("new URLSearchParams(location.search).get('tasks')?.split(',').length === 8")
    assert private not in page.url
    idle(page)
    assert page.locator(".lk-rank em").count() > 0
    page.get_by_label("Test sets").select_option(label="All")
    wait_query(page, "tasks", None)


def test_filters_and_a_pin_are_set_by_keyboard(board):
    """A range of sizes, a switch, and choices, which are chips and have counts."""
    page = board("suite=mieb&max_parameters=1000000000")
    filters = panel(page, "Filters")
    largest = filters.get_by_label("Largest number of parameters")
    assert largest.get_attribute("aria-valuetext") == "1.0 B"
    largest.press("ArrowLeft")
    wait_query(page, "max_parameters", "700000000")
    filters.get_by_label("Smallest number of parameters").press("End")  # the ends do not cross
    wait_query(page, "min_parameters", "700000000")
    filters.get_by_role("switch", name="Only models I can use").press("Space")
    wait_query(page, "usable", "yes")
    page.keyboard.press("Escape")
    page.locator(".lk-chips").get_by_role("button", name="Reset").click()
    wait_query(page, "usable", None)
    every = int(page.locator(BOARD).get_attribute("data-rows"))
    page.get_by_role("button", name="Filters", exact=True).press("Enter")
    training = filters.get_by_role("group", name="Trained on these data sets")
    counted = training.locator(".lk-option-note").all_inner_texts()
    assert sum(map(int, counted)) == every
    assert violations(page) == []
    training.get_by_label("Unknown").focus()
    page.keyboard.press("Space")
    wait_query(page, "trained", "unknown")
    assert page.locator(BOARD).get_attribute("data-rows") == counted[-1]
    filters.get_by_role("group", name="Licence").get_by_label("apache-2.0").check()
    wait_query(page, "license", "apache-2.0")
    left = int(page.locator(BOARD).get_attribute("data-rows"))
    assert 0 < left < int(counted[-1]) and f"{left} of" in page.locator(".lk-status").inner_text()
    page.keyboard.press("Escape")
    page.get_by_label("Remove the filter Trained on these data sets: Unknown").click()
    wait_query(page, "trained", None)
    page.locator(".lk-chips").get_by_role("button", name="Reset").click()
    wait_query(page, "license", None)
    assert int(page.locator(BOARD).get_attribute("data-rows")) == every
    first = page.evaluate(ROWS)[0]
    page.get_by_role("checkbox", name=f"Select {first['title']}").press("Space")
    page.get_by_role("button", name="Pin on top").press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).has('pin')")
    page.locator(".lk-grid").evaluate("(grid) => grid.scrollTo(0, 2000)")
    page.locator(".lk-body [aria-rowindex='2']").wait_for(state="detached")
    assert page.evaluate(ROWS)[0]["rank"] == first["rank"] and violations(page) == []
    page.get_by_label("Search models").fill("zzzz")
    wait_query(page, "q", "zzzz")
    assert [row["rank"] for row in page.evaluate(ROWS)] == [first["rank"]]
    page.reload()
    idle(page)
    assert [row["rank"] for row in page.evaluate(ROWS)] == [first["rank"]]


def test_columns_are_switched_and_the_sorted_one_is_in_view(board):
    board("suite=mieb&columns=all&sort=-mieb/stl10", width=390).wait_for_function(IN_VIEW, arg="mieb/stl10")
    page = board("columns=unisim/nights&sort=-unisim/nights", width=1920)
    page.wait_for_function(IN_VIEW, arg="unisim/nights")
    columns = panel(page, "Columns")
    columns.get_by_label("NIGHTS", exact=True).uncheck()
    wait_query(page, "columns", None)
    assert page.evaluate(IN_VIEW, "unisim/nights"), "the table is sorted by what is not shown"
    assert columns.get_by_label("Intervals of the mean").is_checked(), "they are drawn where there is room"
    columns.get_by_label("Dimension").check()
    wait_query(page, "dimension", "show")
    page.keyboard.press("Escape")
    assert header(page, "dimension").count() == 1 and page.locator(".lk-axis i").count() >= 2
    columns = panel(page, "Columns")
    columns.get_by_label("Intervals of the mean").uncheck()
    wait_query(page, "interval", "hide")
    assert not page.locator(".lk-axis").count()
    columns.get_by_role("button", name="Default columns").click()
    wait_query(page, "interval", None)
    assert header(page, "dimension").count() == 0
    page.keyboard.press("Escape")
    every = page.get_by_role("button", name="All tasks")
    every.click()
    wait_query(page, "columns", "all")
    assert header(page, "unisim/nights").count() == 1 and header(page, "Img-2AFC").count() == 0
    every.click()
    wait_query(page, "columns", None)


def test_pairbench_is_cut_by_condition_data_set_and_split(board):
    page = board("suite=pairbench&condition=blind", expected="400")
    assert "condition=blind" in page.locator(".lk-notice").inner_text()
    first = page.evaluate(ROWS)[0]["title"]
    scope = page.locator(".lk-scope")
    scope.get_by_label("Condition").select_option("invariant")
    wait_query(page, "condition", "invariant")
    idle(page)
    page.wait_for_function("(first) => document.querySelector('.lk-name').textContent !== first", arg=first)
    assert not page.locator(".lk-changed").is_visible(), "a condition is no mean of one's own"
    scope.get_by_label("Data set").select_option("COCO")
    page.get_by_text("Your mean: only COCO").wait_for()
    scope.get_by_label("Split").select_option("cj")
    page.get_by_text("Your mean: only COCO: colour jitter").wait_for()
    wait_query(page, "split", "cj")
    idle(page)
    assert header(page, "IN100").count() == 0
    page.get_by_role("button", name="Reset to the suite’s own mean").click()
    wait_query(page, "dataset", None)
    assert query(page) == {"suite": "pairbench", "condition": "invariant"}


# ---- files


def download(page, name, *, of, folder):
    export = panel(page, "Export")
    with page.expect_download() as waiting:
        export.get_by_role("button" if of == "view" else "link", name=name, exact=True).click()
    if of != "view":
        export.press("Escape")
    waiting.value.save_as(folder / waiting.value.suggested_filename)
    return folder / waiting.value.suggested_filename


def test_the_view_comes_as_files_that_open_again(board, tmp_path):
    """Its rows in its order; what is in the files is frozen in tests/golden."""
    page = board(
        "q=clip&sort=-mean&families=IQA&columns=unisim/nights&origin=published&w=Img-2AFC:0,IT-2AFC:0,Text-2AFC:0"
    )
    titles = [row["title"] for row in page.evaluate(ROWS)]
    names = ("CSV", "Parquet", "JSON", "Markdown", "LaTeX", "BibTeX")
    files = [download(page, name, of="view", folder=tmp_path) for name in names]
    assert [file.suffix for file in files] == [".csv", ".parquet", ".json", ".md", ".tex", ".bib"]
    frame = pd.read_csv(files[0])
    assert list(frame["title"]) == [row["title"] for row in json.loads(files[2].read_text())] == titles
    column = header(page, "IQA").get_attribute("aria-colindex")
    cells = page.locator(f".lk-body [aria-colindex='{column}']").all_text_contents()
    assert [rounded(value, 1) for value in frame["IQA"]] == cells
    assert ((frame["mean"] - frame["IQA"]).abs().dropna() < 0.01).all(), "only IQA counts, so the mean is IQA"
    file = download(page, "DuckDB file", of="everything", folder=tmp_path)
    with duckdb.connect(str(file), read_only=True) as database:
        assert database.sql("SELECT count(*) FROM leaderboard_scores").fetchall()[0][0] > 5000


# ---- a phone


def test_on_a_phone_names_are_told_apart_and_nothing_lies_over_anything(board):
    page = board("suite=mieb&origin=all", width=390, has_touch=True, is_mobile=True)
    covered = page.evaluate("""() => {
      const pressed = document.querySelectorAll('.lk-bar :is(button, input), .lk-row:nth-child(-n+4) .lk-check');
      return [...pressed].filter((node) => {
        const box = node.getBoundingClientRect();
        if (!box.width || box.bottom <= 0 || box.top >= innerHeight || box.right > innerWidth) return false;
        const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
        return !(node.contains(top) || top?.contains(node));
      }).map((node) => node.outerHTML);
    }""")
    assert covered == []
    page.evaluate("document.querySelector('.lk-grid').scrollLeft = 300")
    page.wait_for_selector(".lk-grid.lk-aside")
    check = page.locator(".lk-body .lk-select").first.bounding_box()
    assert check["x"] >= 0 and check["width"] >= 24 and check["height"] >= 24, "a row can be selected from anywhere"
    names = page.evaluate(NAMES)
    assert len(names) > 8 and len({shown for _, shown, _ in names}) == len(names)
    assert [title for title, _, fits in names if not fits] == []


def test_on_a_phone_rows_are_selected_and_compared_by_touch(board):
    page = board(width=390, has_touch=True, is_mobile=True)
    for at in (0, 2):
        page.locator(".lk-body .lk-row").nth(at).locator(".lk-select").tap()
    bar = page.locator(".lk-selection")
    box = bar.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 900
    assert violations(page) == []
    bar.get_by_role("link", name="Compare 2").tap()
    page.locator(".bc-comparison").wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390


def test_doubtful_scores_are_left_out_on_request(board):
    page = board("suite=mieb&columns=mieb/imagenet1k&q=EVA02-CLIP L/14")
    cell = page.locator(".lk-body [data-mark*='?']").last
    assert "doubtful" in cell.get_attribute("title")
    page.get_by_role("button", name="No doubtful").click()
    wait_query(page, "doubtful", "hide")
    page.wait_for_selector(READY)
    said = page.locator(".lk-changed").inner_text()
    assert "doubtful" in said and "in Linear Probing" in said
    assert page.locator(".lk-body .lk-model small").first.inner_text().startswith("needs all")
    page.get_by_role("button", name="Reset", exact=False).first.click()
    wait_query(page, "doubtful", None)
