"""The board's layout: how soon its rows begin, which columns it shows, what its edges and names tell, and a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compute.catalog import shipped
from tests.browser.axe_rules import grave_violations
from tests.browser.boards import BOARD, ROWS, header, idle, own_query, wait_query
from tests.browser.conftest import PATIENCE

SUITES = tuple(suite.key for suite in shipped().suites)
PHONE = {"width": 390, "height": 844}
# Every row of the table, drawn one screen after another.
EVERY_ROW = """async (read) => {
  const grid = document.querySelector('.lk-grid');
  const rows = new Map();
  const take = new Function('row', `return (${read})(row)`);
  const settle = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let top = 0; ; top += grid.clientHeight / 2) {
    grid.scrollTop = top;
    await settle();
    for (const row of grid.querySelectorAll('.lk-body .lk-row')) rows.set(row.getAttribute('aria-rowindex'), take(row));
    if (top + grid.clientHeight >= grid.scrollHeight) break;
  }
  grid.scrollTop = 0;
  await settle();
  return [...rows.values()];
}"""
CELLS = """(row) => Object.fromEntries([...row.querySelectorAll('[aria-colindex]')].map((cell) =>
  [cell.getAttribute('aria-colindex'), cell.textContent]))"""
NAMES = """(row) => {
  const cell = row.querySelector('.lk-model');
  const name = row.querySelector('.lk-name');
  const range = document.createRange();
  range.selectNodeContents(name.firstElementChild ?? name);
  const text = range.getBoundingClientRect();
  const around = cell.getBoundingClientRect();
  return { model: new URL(name.href).searchParams.get('model'), title: cell.title.split(' · ')[0],
    shown: (name.firstElementChild ?? name).textContent.replace(/\\s+/g, ' '),
    inside: name.scrollWidth <= name.clientWidth && text.bottom <= around.bottom + 1 && text.top >= around.top - 1 };
}"""
EDGES = """() => Object.fromEntries(['before', 'after'].map((side) => {
  const style = getComputedStyle(document.querySelector('.lk-edges'), `::${side}`);
  return [side, style.display === 'none' ? '' : style.backgroundImage];
}))"""
IN_VIEW = """(key) => {
  const grid = document.querySelector('.lk-grid').getBoundingClientRect();
  const cell = document.querySelector(`.lk-titles [data-key="${key}"]`)?.getBoundingClientRect();
  const ends = [...document.querySelectorAll('.lk-titles .lk-pin')].map((one) => one.getBoundingClientRect().right);
  const pinned = Math.max(grid.left, ...ends);
  return !!cell && cell.left >= pinned - 1 && cell.right <= grid.right + 1;
}"""


def every_row(page: Any, read: str) -> list[Any]:
    return page.evaluate(EVERY_ROW, read)


# ---- the first screen


@pytest.mark.parametrize("suite", SUITES)
def test_rows_begin_early_and_no_column_is_empty(open_board: Callable, suite: str) -> None:
    page = open_board(f"suite={suite}", width=1360)
    idle(page)
    first = page.locator(".lk-body .lk-row").first.bounding_box()
    assert first["y"] <= 260
    rows = every_row(page, CELLS)
    titles = page.eval_on_selector_all(
        ".lk-titles [role=columnheader]",
        "(cells) => cells.map((cell) => [cell.getAttribute('aria-colindex'), cell.dataset.key])",
    )
    assert rows and len(titles) > 4
    empty = [key for at, key in titles if key != "select" and all(row.get(at, "—") == "—" for row in rows)]
    assert empty == []
    keys = {key for _, key in titles}
    assert "title" in keys and not {"borda", "interval"} & keys


def test_a_rank_its_range_and_its_class_are_columns_with_headers_and_hints(open_board: Callable) -> None:
    page = open_board("suite=pairbench", width=1360)
    for key, title in (("rank", "Rank"), ("range", "Range"), ("class", "Class")):
        cell = header(page, key)
        assert cell.inner_text() == title and len(cell.get_attribute("title")) > 10
    rows = every_row(page, CELLS)
    at = {key: header(page, key).get_attribute("aria-colindex") for key in ("rank", "range", "class")}
    ranked = [row for row in rows if row[at["rank"]] != "—"]
    assert len(ranked) > 15
    assert all(re.fullmatch(r"\d+", row[at["rank"]]) for row in ranked)
    assert all(re.fullmatch(r"\(?\d+(–\d+)?\)?", row[at["range"]]) for row in ranked)
    assert all(re.fullmatch("[A-Z]+", row[at["class"]]) for row in ranked)
    page = open_board("suite=mieb", width=1360)  # no interval is known: none of its ranks has a range
    assert header(page, "range").count() == 0 and header(page, "class").count() == 0
    assert "Ranks have no range or class here" in page.locator(".lk-legend").inner_text()


# ---- columns that are switched on


def test_borda_points_and_intervals_are_switched_on_and_shared(open_board: Callable) -> None:
    page = open_board(width=1360)
    assert header(page, "borda").count() == 0 and header(page, "interval").count() == 0
    page.get_by_role("button", name=re.compile("^Columns")).click()
    panel = page.get_by_role("dialog", name="Columns")
    panel.get_by_label("Borda points").check()
    panel.get_by_label("Intervals of the mean").check()
    wait_query(page, "interval", "show")
    wait_query(page, "borda", "show")
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector(f"{BOARD}[data-ready=true]")
    assert header(page, "borda").count() == 1 and header(page, "interval").count() == 1
    page.get_by_role("button", name=re.compile("^Columns")).click()
    page.get_by_role("dialog", name="Columns").get_by_role("button", name="Default columns").click()
    wait_query(page, "interval", None)
    assert own_query(page) == {} and header(page, "borda").count() == 0


AXIS = """() => ({
  ticks: [...document.querySelectorAll('.lk-axis i')].map((tick) => [tick.textContent, tick.style.left]),
  bars: Object.fromEntries([...document.querySelectorAll('.lk-body .lk-row')].map((row) => {
    const style = row.querySelector('.lk-interval')?.style;
    const ends = ['--from', '--to', '--mean'].map((name) => style?.getPropertyValue(name));
    return [row.querySelector('.lk-model').title, ends.join()];
  })),
})"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_axis_of_the_intervals_stays_when_rows_are_filtered(open_board: Callable, dark: bool) -> None:
    page = open_board("interval=show&origin=published", width=1360, dark=dark)
    idle(page)
    before = page.evaluate(AXIS)
    assert len(before["ticks"]) >= 2
    assert [float(text) for text, _ in before["ticks"]] == sorted({float(text) for text, _ in before["ticks"]})
    assert grave_violations(page) == []
    page.get_by_label("Search models").fill("clip")
    wait_query(page, "q", "clip")
    after = page.evaluate(AXIS)
    assert after["ticks"] == before["ticks"]
    common = before["bars"].keys() & after["bars"].keys()
    assert len(common) > 3 and len(after["bars"]) < len(before["bars"])
    assert {name: after["bars"][name] for name in common} == {name: before["bars"][name] for name in common}
    page.get_by_role("button", name="Filters", exact=True).click()
    page.get_by_role("dialog", name="Filters").get_by_label("Perceptual metric").check()
    wait_query(page, "kind", "metric")
    assert page.evaluate(AXIS)["ticks"] == before["ticks"]


# ---- the edges


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_edge_fades_where_the_table_goes_on_beyond_it(open_board: Callable, dark: bool) -> None:
    page = open_board("suite=mieb", width=1360, dark=dark)
    ground = page.evaluate("getComputedStyle(document.querySelector('.lk-body .lk-pin')).backgroundColor")
    edges = page.evaluate(EDGES)
    assert ground in edges["after"] and not edges["before"]
    page.evaluate("document.querySelector('.lk-grid').scrollLeft = 100")
    page.wait_for_selector(".lk-grid.lk-aside.lk-beyond")
    edges = page.evaluate(EDGES)
    assert ground in edges["after"] and ground in edges["before"]
    page.evaluate("document.querySelector('.lk-grid').scrollLeft = 9999")
    page.wait_for_selector(".lk-grid.lk-aside:not(.lk-beyond)")
    edges = page.evaluate(EDGES)
    assert not edges["after"] and ground in edges["before"]
    page = open_board("suite=cfred-coco", width=1360, dark=dark)
    assert page.evaluate(
        "(({scrollWidth, clientWidth}) => scrollWidth <= clientWidth)(document.querySelector('.lk-grid'))"
    )
    assert page.evaluate(EDGES) == {"before": "", "after": ""}


# ---- names


@pytest.mark.parametrize("suite", SUITES)
def test_no_two_names_are_shown_alike_on_a_phone(open_board: Callable, suite: str) -> None:
    page = open_board(f"suite={suite}&origin=all", width=390)
    idle(page)
    names = every_row(page, NAMES)
    assert len(names) == int(page.locator(BOARD).get_attribute("data-rows"))
    assert [name for name in names if not name["inside"]] == []
    of: dict[str, set[str]] = {}
    for name in names:
        of.setdefault(name["shown"], set()).add(name["title"])
    assert {shown: titles for shown, titles in of.items() if len(titles) > 1} == {}


def test_the_word_that_tells_two_models_apart_is_read_on_a_phone(open_board: Callable) -> None:
    page = open_board("q=clip+vit&origin=published", width=390)
    idle(page)
    shown = {name["title"]: name["shown"] for name in every_row(page, NAMES)}
    told = re.compile(r"ViT-\w+/\d+")
    assert len(shown) >= 4
    for title, text in shown.items():
        assert told.search(title).group() in text.replace(" ", ""), (title, text)


# ---- the column that the table is sorted by


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("suite=mieb&sort=-mieb/stl10", "mieb/stl10"),
        ("suite=mieb&columns=all&sort=-mieb/stl10", "mieb/stl10"),
        ("suite=mieb&sort=-Zero-shot%20Classification", "Zero-shot Classification"),
        ("sort=-borda", "borda"),
        ("suite=cfred-coco&sort=-mean", "mean"),
    ],
    ids=["behind Columns", "far right", "last", "off by default", "not repeated"],
)
def test_a_link_shows_the_column_it_sorts_by(open_board: Callable, query: str, key: str, width: int) -> None:
    page = open_board(query, width=width)
    idle(page)
    page.wait_for_function(IN_VIEW, arg=key)
    assert header(page, key).get_attribute("aria-sort") == "descending"
    assert own_query(page)["sort"] == f"-{key}"


def test_unticking_the_sorted_column_leaves_it_in_view(open_board: Callable) -> None:
    page = open_board("columns=unisim/nights&sort=-unisim/nights", width=1360)
    page.get_by_role("button", name=re.compile("^Columns")).click()
    page.get_by_role("dialog", name="Columns").get_by_label("NIGHTS", exact=True).uncheck()
    wait_query(page, "columns", None)
    assert page.evaluate(IN_VIEW, "unisim/nights")
    page.keyboard.press("Escape")
    header(page, "rank").get_by_role("button").click()
    wait_query(page, "sort", None)
    assert header(page, "unisim/nights").count() == 0


# ---- a phone


@pytest.fixture
def phone(browser: Any, server: str) -> Iterator[Callable[..., Any]]:
    """Opens the board on a phone with a touch screen."""
    contexts: list[Any] = []

    def open_phone(query: str = "", *, dark: bool = False) -> Any:
        contexts.append(browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.goto(f"{server}board?{query}&__theme={'dark' if dark else 'light'}", wait_until="commit")
        page.wait_for_selector(f"{BOARD}:not([aria-busy])[data-ready=true]")
        return page

    yield open_phone
    for context in contexts:
        context.close()


ON_TOP = """(selector) => [...document.querySelectorAll(selector)].filter((node) => {
  const box = node.getBoundingClientRect();
  if (!box.width || box.bottom <= 0 || box.top >= innerHeight) return false;
  const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return !(node.contains(top) || top?.contains(node));
}).map((node) => node.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_rows_are_selected_and_compared_by_touch(phone: Callable, dark: bool) -> None:
    page = phone(dark=dark)
    rows = page.evaluate(ROWS)
    bar = page.locator(".lk-selection")
    assert bar.is_hidden()
    for at in (0, 2):
        page.locator(".lk-body .lk-row").nth(at).locator(".lk-select").tap()
    page.wait_for_function("new URLSearchParams(location.search).get('select')?.split(',').length === 2")
    assert page.locator("[role=checkbox][aria-checked=true]").count() == 2
    box = bar.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] and box["y"] + box["height"] <= PHONE["height"]
    assert page.evaluate(ON_TOP, ".lk-selection button") == [], "the bar can be reached"
    assert rows[0]["title"].split()[0] in bar.inner_text()
    assert grave_violations(page) == []
    bar.get_by_role("button", name="Compare 2").tap()
    verdict = page.locator("#comparison h2")
    verdict.wait_for()
    page.wait_for_function("document.querySelector('#comparison h2').getBoundingClientRect().top < innerHeight")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("suite", ["unisim-core", "pairbench", "mieb", "cfred-hpdv2"])
def test_nothing_lies_over_anything_on_a_phone(phone: Callable, suite: str) -> None:
    page = phone(f"suite={suite}")
    bar = page.locator(".site-bar").bounding_box()
    assert bar["height"] <= 56, "the bar of the site is one row"
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    assert (
        page.evaluate(ON_TOP, ".lk-bar :is(button, input, select), .lk-suite[aria-current], .lk-body .lk-check") == []
    )
    # Titles of columns keep to their cells, and the pinned name leaves half of the screen to figures.
    assert (
        page.evaluate("""() => [...document.querySelectorAll('.lk-titles .lk-th')].filter((cell) => {
      const text = cell.querySelector('.lk-sort > span') ?? cell.querySelector('.lk-sort');
      return text && text.scrollWidth > cell.clientWidth + 1;
    }).map((cell) => cell.textContent)""")
        == []
    )
    pinned = page.eval_on_selector_all(
        ".lk-titles .lk-pin", "(cells) => cells.reduce((sum, cell) => sum + cell.offsetWidth, 0)"
    )
    assert pinned <= 180
    assert page.evaluate(IN_VIEW, "rank")
    page.evaluate("document.querySelector('.lk-grid').scrollLeft = 300")
    page.wait_for_selector(".lk-grid.lk-aside")
    check = page.locator(".lk-body .lk-select").first.bounding_box()
    assert check["x"] >= 0 and check["width"] >= 24 and check["height"] >= 24, "a row can be selected from anywhere"


def test_the_row_of_suites_fades_where_more_follow(open_board: Callable[..., Any]) -> None:
    suites = open_board(width=390).locator(".lk-suites")

    def wait_for(*ends: str) -> None:
        suites.page.wait_for_function(
            "ends => ['lk-before', 'lk-after'].every((end) => "
            "document.querySelector('.lk-suites').classList.contains(end) === ends.includes(end))",
            arg=ends,
        )

    wait_for("lk-after")
    for left, ends in (("100", ("lk-before", "lk-after")), ("node.scrollWidth", ("lk-before",)), ("0", ("lk-after",))):
        suites.evaluate(f"node => {{ node.scrollLeft = {left}; }}")
        wait_for(*ends)
