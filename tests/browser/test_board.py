"""The board in a browser: its state in the address, keys, cells, weights, files, and what it says to nonsense."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.browser.boards import BOARD, ROWS, header, idle, own_query, wait_query

CHOSEN = "google/siglip-so400m-patch14-224~published,dreamsim-ensemble~published"
QUERIES = {
    "suite": "suite=mieb-lite",
    "search": "q=clip",
    "filters": "kind=encoder&origin=all",
    "size": "suite=mieb&size=1b-5b",
    "licence, year and training": "suite=mieb&license=mit,unknown&released=2023,2024&trained=no,unknown",
    "sort": "sort=-title",
    "sort by a task": "sort=-unisim/nights",
    "columns": "families=IQA&columns=unisim/nights,unisim/bapps",
    "weights": "w=Img-2AFC:0.5,IQA:2",
    "coverage": "suite=mieb&coverage=0.5",
    "selection": f"select={CHOSEN}",
}


# ---- the address


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_the_address_alone_gives_the_view_and_stays(open_board: Callable, query: str) -> None:
    """Whatever the address says is shown, nothing of it is refused, and a change and its undoing lead back to it."""
    page = open_board(query)
    wanted = {key: values[0] for key, values in parse_qs(query).items()}
    idle(page)
    assert page.locator(".lk-notice").is_hidden(), page.locator(".lk-notice").inner_text()
    assert page.locator(BOARD).get_attribute("data-suite") == wanted.get("suite", "unisim-core")
    search = page.get_by_label("Search models")
    before = search.input_value()
    search.fill("zzzz")
    wait_query(page, "q", "zzzz")
    search.fill(before)
    wait_query(page, "q", before or None)
    assert own_query(page) == wanted


def test_an_address_with_a_selected_row_opens_where_it_stands(open_board: Callable) -> None:
    """Of MIEB's rows, many more than the table has room for, the one at the bottom is in view when it is selected."""
    page = open_board("suite=mieb")
    payload = page.evaluate("fetch('data/board/mieb').then((answer) => answer.json())")
    ranks, ids = payload["ranking"]["rank"], [row["id"] for row in payload["rows"]]
    last = max((rank, name) for rank, name in zip(ranks, ids, strict=True) if rank and name.endswith("~published"))
    page = open_board(f"suite=mieb&select={last[1]}")
    ticked = page.locator(".lk-body").get_by_role("checkbox", checked=True)
    assert ticked.count() == 1
    box, table = ticked.bounding_box(), page.locator(".lk-grid").bounding_box()
    assert table["y"] < box["y"] and box["y"] + box["height"] < table["y"] + table["height"]
    assert page.locator(".lk-grid").evaluate("node => node.scrollTop") > 0


def test_what_is_done_on_the_page_is_in_the_address_and_survives_a_reload(open_board: Callable) -> None:
    page = open_board()
    page.get_by_role("button", name="MIEB-lite", exact=True).click()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb-lite][data-ready=true]")
    page.get_by_label("Search models").fill("siglip")
    wait_query(page, "q", "siglip")
    header(page, "title").get_by_role("button").click()
    wait_query(page, "sort", "title")
    page.get_by_role("checkbox").first.click()
    page.wait_for_function("new URLSearchParams(location.search).has('select')")
    query, rows = own_query(page), page.evaluate(ROWS)
    assert query["suite"] == "mieb-lite"
    assert query["select"].endswith(("~published", "~imported"))
    assert 0 < len(rows) < 20
    assert all("siglip" in row["title"].lower() for row in rows)
    page.reload()
    page.wait_for_selector(f"{BOARD}[data-suite=mieb-lite][data-ready=true]")
    assert page.evaluate(ROWS) == rows
    assert own_query(page) == query
    assert page.locator("[role=checkbox][aria-checked=true]").count() == 1


def test_back_returns_to_the_suite_before(open_board: Callable) -> None:
    page = open_board()
    page.get_by_role("button", name="PairBench", exact=True).click()
    page.wait_for_selector(f"{BOARD}[data-suite=pairbench][data-ready=true]")
    page.go_back()
    page.wait_for_selector(f"{BOARD}[data-suite=unisim-core][data-ready=true]")
    assert "suite" not in own_query(page)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("suite=nowhere", "nowhere"),
        ("models=nobody/nothing", "models"),
        ("select=<script>window.harmed=1</script>", "select"),
        ("sort=-<img src=x onerror=window.harmed=1>", "sort"),
        ("w=IQA:1e9,Nope:2,IQA:-1,IQA:nan&coverage=7", "coverage"),
        ("columns=__proto__,constructor&families=toString", "columns"),
        ("released=9999-&trained=maybe&kind=spoon", "released"),
    ],
    ids=lambda value: value if "=" not in value else value.partition("=")[0],
)
def test_nonsense_in_the_address_gives_the_default_and_a_sentence(open_board: Callable, query: str, named: str) -> None:
    page = open_board(query.replace(" ", "%20"), expected="400")
    assert page.locator(BOARD).get_attribute("data-suite") == "unisim-core"
    rows = page.evaluate(ROWS)
    assert rows[0]["rank"] == "1"
    notice = page.locator(".lk-notice").inner_text()
    assert named in notice and "Ignored in the address" in notice
    assert page.evaluate("window.harmed") is None
    assert page.locator(f"{BOARD} img, {BOARD} script").count() == 0


def test_a_title_out_of_a_file_stays_text(open_board: Callable) -> None:
    page = open_board("origin=imported")
    page.get_by_text("<img src=x").first.wait_for()  # the middle of a long name is left out
    assert page.evaluate("window.harmed") is None
    page.locator(".lk-model", has_text="<img").click()
    dialog = page.locator("dialog[open]")
    assert "<img src=x" in dialog.inner_text() and "Imported" in dialog.inner_text()
    assert page.locator(f"{BOARD} img").count() == 0
    assert page.evaluate("window.harmed") is None


# ---- the keyboard


def test_escape_clears_the_filter_by_name(open_board: Callable) -> None:
    page = open_board()
    page.get_by_label("Search models", exact=True).focus()
    page.keyboard.type("clip/")
    wait_query(page, "q", "clip/")
    page.keyboard.press("Escape")
    wait_query(page, "q", None)


def test_sorting_by_keyboard_alone(open_board: Callable) -> None:
    """From the search box by Tab into the grid, up to the header, sideways, Enter and Space."""
    page = open_board()
    page.get_by_label("Search models", exact=True).focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("!!document.activeElement.closest('[role=grid]')"):
            break
    assert page.evaluate("!!document.activeElement.closest('[role=grid]')"), "Tab does not reach the grid"
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowUp")
    focused = "document.activeElement.closest('[role=columnheader]')?.dataset.key"
    for _ in range(12):
        if page.evaluate(focused) == "IQA":
            break
        page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "IQA"
    assert header(page, "IQA").get_attribute("aria-sort") == "none"
    page.keyboard.press("Enter")
    page.wait_for_selector('.lk-titles [data-key="IQA"][aria-sort=descending]')
    assert page.evaluate(focused) == "IQA", "the focus was lost by sorting"
    page.keyboard.press("Space")
    page.wait_for_selector('.lk-titles [data-key="IQA"][aria-sort=ascending]')
    page.wait_for_selector('.lk-titles [data-key="rank"][aria-sort=none]')
    wait_query(page, "sort", "IQA")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('[role=gridcell]') !== null")


def test_a_cell_opens_and_closes_by_keyboard_and_gives_the_focus_back(open_board: Callable) -> None:
    page = open_board()
    page.locator(".lk-body .lk-row[aria-rowindex='3'] .lk-model").focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    assert page.evaluate("!!document.activeElement.closest('[role=grid]')")


# ---- the table


def test_sorting_orders_numbers_and_keeps_the_missing_last(open_board: Callable) -> None:
    page = open_board("suite=mieb&coverage=0&sort=mean&families=none&columns=mieb/stl10")
    for column, down in (("mieb/stl10", True), ("mieb/stl10", False)):
        header(page, column).get_by_role("button").click()
        state = "descending" if down else "ascending"
        page.wait_for_selector(f'.lk-titles [data-key="{column}"][aria-sort={state}]')
        place = header(page, column).get_attribute("aria-colindex")
        cells = page.locator(f".lk-body [aria-colindex='{place}']").all_inner_texts()
        order = [float(cell) for cell in cells if cell != "—"]
        assert len(order) > 5
        assert order == sorted(order, reverse=down)
        assert "—" not in cells[: len(order)]


def test_the_model_stays_in_view_after_scrolling_sideways(open_board: Callable) -> None:
    for width in (1280, 390):
        page = open_board("suite=mieb&columns=all", width=width)
        page.evaluate("document.querySelector('.lk-grid').scrollLeft = 4000")
        page.wait_for_selector(".lk-grid.lk-aside")
        seen = page.evaluate("""() => {
          const grid = document.querySelector('.lk-grid').getBoundingClientRect();
          const cell = document.querySelector('.lk-body .lk-model').getBoundingClientRect();
          const top = document.elementFromPoint(cell.left + 30, cell.top + cell.height / 2);
          return {inside: cell.left >= grid.left - 1 && cell.right <= grid.right + 1, on: !!top?.closest('.lk-model')};
        }""")
        assert seen == {"inside": True, "on": True}, f"at {width} px: {seen}"


def test_columns_out_of_view_are_not_drawn(open_board: Callable) -> None:
    page = open_board("suite=mieb&columns=all")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    assert nodes <= 1500
    grid = page.locator(".lk-grid")
    assert int(grid.get_attribute("aria-colcount")) > 130
    assert int(grid.get_attribute("aria-rowcount")) > 20
    page.evaluate("document.querySelector('.lk-grid').scrollTo(9e5, 9e5)")
    last = grid.get_attribute("aria-colcount")
    page.locator(f".lk-body [aria-colindex='{last}']").first.wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") <= 1500


def test_a_missing_figure_is_a_dash_with_its_reason(open_board: Callable) -> None:
    page = open_board("suite=mieb&coverage=0&columns=all")
    page.locator(".lk-missing").first.wait_for()
    for cell in page.locator(".lk-body .lk-missing").all()[:20]:
        assert cell.inner_text() == "—"
        assert re.match(r"No value: \w.{8,}", cell.get_attribute("aria-label"))


def test_a_cell_tells_where_its_figure_comes_from(open_board: Callable) -> None:
    page = open_board("families=none&columns=unisim/nights&origin=published")
    place = header(page, "unisim/nights").get_attribute("aria-colindex")
    cell = page.locator(f".lk-body .lk-row[aria-rowindex='3'] [aria-colindex='{place}']")
    figure = cell.inner_text()
    cell.click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_text("UniSim-Bench Table").first.wait_for()
    text = dialog.inner_text()
    assert figure in text and "As printed" in text and "Published" in text and "NIGHTS" in text
    dialog.get_by_label("Close").click()
    dialog.wait_for(state="detached")


def test_weights_change_ranks_and_filters_do_not(open_board: Callable) -> None:
    page = open_board()
    usual = {row["title"]: row["rank"] for row in page.evaluate(ROWS)}
    page.get_by_label("Search models").fill("clip")
    wait_query(page, "q", "clip")
    found = page.evaluate(ROWS)
    assert 0 < len(found) < len(usual)
    assert all(usual.get(row["title"], row["rank"]) == row["rank"] for row in found)
    assert [row["rank"] for row in found] != [str(place + 1) for place in range(len(found))], "ranks were dealt anew"
    page.get_by_label("Search models").fill("")
    page.get_by_role("button", name="Weights", exact=True).click()
    page.get_by_label("Weight of IQA, number").fill("5")
    page.keyboard.press("Enter")
    wait_query(page, "w", "IQA:5")
    page.wait_for_function("[...document.querySelectorAll('.lk-rank em')].length > 0")
    idle(page)
    weighed = {row["title"]: row["rank"] for row in page.evaluate(ROWS)}
    assert weighed != usual
    page.get_by_role("button", name="The suite’s own mean", exact=True).click()
    wait_query(page, "w", None)
    page.wait_for_function("document.querySelectorAll('.lk-rank em').length === 0")
    assert {row["title"]: row["rank"] for row in page.evaluate(ROWS)} == usual


def test_a_filter_is_a_chip_and_counts(open_board: Callable) -> None:
    page = open_board()
    page.get_by_role("button", name="Filters", exact=True).click()
    panel = page.get_by_role("dialog", name="Filters")
    panel.get_by_label("Perceptual metric").check()
    panel.get_by_role("button", name="Close").click()
    wait_query(page, "kind", "metric")
    chip = page.get_by_label("Remove the filter Kind: Perceptual metric")
    shown = int(page.locator(BOARD).get_attribute("data-rows"))
    assert 0 < shown < 25
    assert f"{shown} of" in page.locator(".lk-status").inner_text()
    chip.click()
    wait_query(page, "kind", None)


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_licence_year_and_training_filter_by_keyboard(open_board: Callable, look: dict[str, Any]) -> None:
    """Unknown is a choice of its own, tallied beside yes and no; nothing is called zero-shot; Reset takes all away."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_board("suite=mieb", **look)
    every = int(page.locator(BOARD).get_attribute("data-rows"))
    page.get_by_role("button", name="Filters", exact=True).press("Enter")
    panel = page.get_by_role("dialog", name="Filters")
    training = panel.get_by_role("group", name="Trained on these data sets")
    words, tallies = training.locator("label").all_inner_texts(), training.locator(".lk-tally").all_inner_texts()
    assert [text.partition(",")[0].split("\n")[0] for text in words][-1] == "Unknown" and len(words) >= 2
    assert sum(map(int, tallies)) == every
    assert not re.search(r"zero.?shot", panel.inner_text(), re.IGNORECASE)
    found = axe.Axe().run(page).response["violations"]
    grave = [f"{one['id']}: {one['nodes'][0]['target']}" for one in found if one["impact"] in ("serious", "critical")]
    assert grave == []
    unknown = training.get_by_label("Unknown")
    unknown.focus()
    page.keyboard.press("Space")
    wait_query(page, "trained", "unknown")
    assert page.locator(BOARD).get_attribute("data-rows") == tallies[-1]
    panel.get_by_role("group", name="Licence").get_by_label("apache-2.0").check()
    wait_query(page, "license", "apache-2.0")
    year = panel.get_by_role("group", name="Released").get_by_label("2024")
    year.scroll_into_view_if_needed()
    year.check()
    wait_query(page, "released", "2024")
    left = int(page.locator(BOARD).get_attribute("data-rows"))
    assert 0 < left < int(tallies[-1])
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector(f"{BOARD}[data-ready=true]")
    assert int(page.locator(BOARD).get_attribute("data-rows")) == left
    assert page.get_by_label("Remove the filter Trained on these data sets: Unknown").count() == 1
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    page.locator(".lk-chips").get_by_role("button", name="Reset").click()
    for key in ("trained", "license", "released"):
        wait_query(page, key, None)
    assert int(page.locator(BOARD).get_attribute("data-rows")) == every


def test_no_match_says_so_and_offers_the_way_back(open_board: Callable) -> None:
    page = open_board("q=zzzzzz")
    assert "No model matches" in page.locator(".lk-empty").inner_text()
    page.locator(".lk-empty").get_by_role("button", name="Reset").click()
    wait_query(page, "q", None)
    assert len(page.evaluate(ROWS)) > 10


def test_a_server_that_fails_is_said_in_words_and_retried(open_board: Callable, visit: Callable) -> None:
    page = visit(
        "board",
        expected="Failed to load|ERR_FAILED|503",
        ready=f"{BOARD}[data-ready=error]",
        before=lambda page: page.route("**/data/board/*", lambda route: route.fulfill(status=503, body="{}")),
    )
    assert "did not load" in page.locator(BOARD).inner_text()
    page.unroute("**/data/board/*")
    page.get_by_role("button", name="Retry").click()
    page.wait_for_selector(f"{BOARD}[data-ready=true]")


def test_a_double_click_on_a_cell_leaves_its_dialog_open(open_board: Callable) -> None:
    page = open_board("suite=unisim-core")
    cells = page.locator(".lk-body .lk-num")
    cells.first.click()
    dialog = page.locator("dialog.lk-dialog[open]")
    around = dialog.bounding_box()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    boxes = [box for cell in cells.all() if (box := cell.bounding_box()) and 0 < box["y"] < 680]
    # Where the second click hits no dialog, but the page behind it.
    left, right, top, bottom = (
        around["x"], around["x"] + around["width"], around["y"], around["y"] + around["height"],
    )  # fmt: skip
    box = next(
        box
        for box in boxes
        if 0 < box["x"] < left - box["width"]
        or right < box["x"] < 1280 - box["width"]
        or box["y"] + box["height"] < top
        or box["y"] > bottom
    )
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    dialog.wait_for()
    page.wait_for_timeout(300)
    assert dialog.count() == 1
    page.wait_for_timeout(600)  # a click of its own, after the time of a double-click
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    dialog.wait_for(state="detached")
