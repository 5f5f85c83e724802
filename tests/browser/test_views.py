"""What visitors do on the other pages: the bar, the search, lists, figures, claims, SQL, judges, items, errors."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from leaderboard.pages import VIEWS
from tests.browser.conftest import query, settle, unharmed, violations, wait_query
from tests.leaderboard.web.test_pages import FAILED, NONSENSE

MESSAGE = ".pg-message:visible"
CORRELATIONS, MAP = "#correlations-figure [data-listens=pair]", "#map-figure [data-listens=selection]"
CATALOGUE, CLAIMS, SQL = ".lk-catalogue[data-ready]", ".lk-claims[data-ready]", ".lk-sql[data-ready]"
TASK = "task?task=unisim/imagenet-ooo"
ITEMS = ".lk-items[data-ready] .lk-item"


def choose(page, label, typed, option=""):
    """Types into one of Gradio's lists and takes an option by keyboard."""
    box = page.get_by_label(label)
    box.focus()
    box.fill(typed)
    page.get_by_role("option", name=option or typed).first.wait_for()
    page.keyboard.press("Enter")


def in_view(page, selector):
    """Waits until the beginning of an element stands within the window."""
    page.wait_for_function(
        """(selector) => {
          const top = document.querySelector(selector)?.getBoundingClientRect().top;
          return top >= -1 && top < innerHeight - 100;
        }""",
        arg=selector,
    )


# ---- the bar and the search


def test_the_bar_by_keyboard_and_its_theme_and_the_menu_on_a_phone(visit):
    page = settle(visit("about", width=390))
    bar = page.locator("header.site-bar")
    bar.get_by_role("button", name="Menu").click()
    bar.get_by_role("button", name="Insights").click()
    box = bar.bounding_box()
    assert page.locator("h1").bounding_box()["y"] >= box["y"] + box["height"], "the menu lies over the page"
    assert violations(page) == [] and page.evaluate("document.scrollingElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expanded, focused = bar.locator("[aria-expanded=true]"), "document.activeElement.textContent.trim()"
    assert bar.bounding_box()["height"] < 60 and expanded.count() == 0
    page.set_viewport_size({"width": 1280, "height": 900})
    below = [view.title for view in VIEWS if view.group == "Insights" and view.listed]
    bar.get_by_role("button", name="Insights").focus()
    page.keyboard.press("Enter")
    assert expanded.all_inner_texts() == ["Insights"]
    page.keyboard.press("Escape")
    assert expanded.count() == 0 and page.evaluate(focused) == "Insights"
    for key, name in (("ArrowDown", below[0]), ("End", below[-1]), ("ArrowDown", below[0]), ("ArrowUp", below[-1])):
        page.keyboard.press(key)
        assert page.evaluate(focused) == name
    bar.get_by_role("button", name="Docs").click()
    assert expanded.all_inner_texts() == ["Docs"] and violations(page) == []
    page.locator("h1").click(position={"x": 5, "y": 5})
    assert expanded.count() == 0
    page.get_by_role("button", name="Dark theme").click()
    page.goto(page.url.replace("about?__theme=dark", "claims"))
    page.wait_for_function("document.body.classList.contains('dark')")
    page.evaluate("localStorage.clear()")
    page.set_viewport_size({"width": 390, "height": 900})
    bar.get_by_role("button", name="Menu").click()
    bar.get_by_role("link", name="Choose").click()
    page.wait_for_url("**/choose*")


def test_the_search_by_keyboard(visit):
    page = visit("claims", ready=".site-bar-search[data-ready]", expected="Failed to load|ERR_FAILED")
    field = page.get_by_label("Search claims")
    field.fill("Table 2")
    field.press("/")
    assert field.input_value() == "Table 2/" and page.locator(".se-dialog[open]").count() == 0
    page.route("**/data/search", lambda route: route.abort())
    button = page.get_by_role("button", name="Search the site")
    button.press("Enter")
    page.get_by_text("The search could not be loaded.").wait_for()
    page.unroute("**/data/search")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "site-bar-search", "the focus comes back"
    page.keyboard.press("/")

    def search(text):
        page.locator(".se-input").fill(text)
        page.wait_for_function("(text) => document.querySelector('.se-dialog').dataset.query === text", arg=text[:100])
        return page.locator(".se-dialog .se-title").all_inner_texts()

    def active():
        return page.locator(".se-option[aria-selected=true] .se-title").inner_text()

    titles = search("clip l/14")
    assert "CLIP ViT-L/14" in titles and active() == titles[0] and violations(page) == []
    page.keyboard.press("ArrowDown")
    assert active() == titles[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert active() == titles[-1], "the list goes round"
    assert search("lacks in symmetry and smoothness") and search("<b>" + "x" * 150) == []
    assert len(page.locator(".se-input").input_value()) == 100
    search("SigLIP SO400M/14 384 px")
    page.keyboard.press("ArrowRight")
    assert page.locator(".se-option[aria-selected=true]").inner_text() == "Compare" and violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?models=google/siglip-so400m-patch14-384*")
    page.locator(".site-bar-search[data-ready]").wait_for()
    page.keyboard.press("/")
    search("swahili")
    page.keyboard.press("Enter")
    page.wait_for_url("**/board?suite=mieb&language=swa*")
    page.locator(".lk-scope").get_by_label("Language").wait_for()
    page.keyboard.press("/")
    search("what is a tie class")
    page.keyboard.press("Enter")
    page.wait_for_url("**/about*#tie-classes")
    in_view(page, "#tie-classes")


# ---- lists


def test_a_list_filters_sorts_and_opens_a_model_by_keyboard_without_storage(visit):
    """A visitor may forbid a site to store anything: a look at the storage is an error then."""
    forbid = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })"
    page = settle(visit("models?suite=unisim-core&sort=rank", before=forbid), CATALOGUE)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate("document.body.classList.contains('dark')")
    whole = page.locator(CATALOGUE).get_attribute("data-rows")
    ranks = [text.split()[0] for text in page.locator(".lk-body a[href^='board?']").all_inner_texts()]
    ranks = [int(rank) for rank in ranks if rank.isdecimal()]
    assert ranks[0] == 1 and ranks == sorted(ranks) and len(set(ranks)) > 5
    page.get_by_role("button", name="Model", exact=True).click()
    wait_query(page, "sort", "title")
    page.get_by_label("Licence").select_option("permissive")
    page.get_by_label("Filter models by name").fill("siglip")
    wait_query(page, "q", "siglip")
    wait_query(page, "license", "permissive")
    assert 0 < int(page.locator(CATALOGUE).get_attribute("data-rows")) < int(whole)
    page.get_by_role("button", name="Show all").click()
    wait_query(page, "license", None)
    page.get_by_label("Filter models by name").fill("siglpi")
    page.locator(".lk-empty button", has_text="SigLIP").click()
    assert "SigLIP" in page.locator(".lk-catalogue-name").first.inner_text()
    page.locator(".lk-body [aria-rowindex='2'] [role=gridcell]").first.focus()
    page.keyboard.press("Enter")
    page.locator("h1", has_text="SigLIP").wait_for()
    assert "/model?model=" in page.url


# ---- figures


def test_correlations_follow_controls_and_a_click_opens_two_columns(visit):
    page = settle(visit("correlations", ready=CORRELATIONS), CORRELATIONS)
    page.get_by_label("Method").click()
    page.get_by_role("option", name="Pearson r").click()
    wait_query(page, "method", "pearson")
    page.get_by_text("Pearson").first.wait_for()
    with page.expect_navigation(wait_until="commit"):
        page.get_by_text("MIEB's tasks").click()
    settle(page, CORRELATIONS)
    places = page.locator(".lk-data").first
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    places.scroll_into_view_if_needed()
    page.locator(".lk-data[data-ready] [role=columnheader] button").first.press("Enter")
    page.locator(".lk-data :is([aria-sort=ascending], [aria-sort=descending])").first.wait_for()


def test_on_a_phone_what_a_press_brings_comes_into_view(visit):
    page = settle(visit("correlations", ready=CORRELATIONS, width=390), CORRELATIONS)
    area = page.locator("#correlations-figure .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.click(box["x"] + 0.05 * box["width"], box["y"] + 0.55 * box["height"])
    page.locator("[data-pair]").wait_for()
    in_view(page, "[data-pair]")
    page.wait_for_function("document.activeElement.matches('[data-pair]')")  # and is read aloud
    assert "," in query(page)["pair"]
    page = visit("claims", ready=CLAIMS, width=390)
    page.get_by_label("The answer").get_by_role("link").first.click()
    in_view(page, ".lk-detail")
    page = visit("sql", ready=SQL, width=390)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".lk-sql[data-state=answered]").wait_for()
    in_view(page, ".lk-result")


def test_the_map_recolours_and_finds_a_model_with_its_nearest(visit):
    page = settle(visit("map", ready=MAP), MAP)
    page.get_by_role("radio", name="Models").check()
    wait_query(page, "of", "models")
    page.get_by_label("Colour by").click()
    page.get_by_role("option", name="Family", exact=True).click()
    wait_query(page, "colour", "family")
    settle(page, MAP)
    find = page.get_by_label("Find a model")
    find.fill("dinov2 giant")
    find.press("Enter")
    near = page.locator(".pg-near")
    near.get_by_role("link", name="DINOv2 giant").wait_for()
    assert near.locator("tbody tr").count() == 6 and "DINOv2 large" in near.inner_text()
    wait_query(page, "point", "facebook/dinov2-giant")
    again = visit(f"map?{urlsplit(page.url).query}".replace("__theme=light&", ""), ready=".pg-near tbody tr", width=390)
    find = again.get_by_label("Find a model")
    find.fill("nothing of this name")
    find.press("Enter")
    again.get_by_text("Nothing on this map is called").wait_for()


def test_judges_show_examples_and_lead_to_their_pages(visit):
    page = settle(visit("judges?suite=mini-pairs&judge=example/leaning"), ".jd-flips li")
    first = page.locator(".jd-flips li").first
    first.scroll_into_view_if_needed()
    page.wait_for_function(
        "[...document.querySelectorAll('.jd-flips li:first-child img')].every((i) => i.naturalWidth)"
    )
    replies = first.locator(".jd-replies dd").all_inner_texts()
    assert len(replies) == 2 and all(reply.startswith("Score: ") and "Reason:" in reply for reply in replies)
    assert "<img src=x" in replies[0], "markup in a reply is text"
    assert unharmed(page)
    choose(page, "Judge in detail (type to search)", "Steady", "Steady Judge")
    page.locator(".jd-detail h2", has_text="Steady Judge on Mini pairs").wait_for()
    wait_query(page, "judge", "example/steady")
    page.locator(".jd-panel a", has_text="Example Eye").first.click()
    page.locator(".jd-detail h2", has_text="Example Eye on Mini pairs").wait_for()
    page.get_by_role("link", name="Everything about Example Eye").click()
    page.get_by_role("link", name="As a judge").wait_for()


# ---- claims and SQL


def test_claims_filter_and_each_has_an_address(visit):
    page = visit("claims", ready=CLAIMS)
    page.get_by_role("button", name="cFreD, conflict").click()
    wait_query(page, "verdict", "conflict")
    page.locator("[role=gridcell][aria-colindex='3']", has_text="UniSim").first.wait_for(state="detached")
    assert set(page.locator("[role=gridcell][aria-colindex='3']").all_inner_texts()) == {"cFreD"}
    headline = page.get_by_label("The answer").get_by_role("link").first
    name = headline.inner_text()
    headline.click()
    page.wait_for_function("new URLSearchParams(location.search).has('claim')")
    card = page.get_by_label("The chosen claim")
    card.get_by_role("heading", name=name, exact=True).wait_for()
    page.reload()
    card.get_by_role("heading", name=name, exact=True).wait_for()


def test_sql_from_a_link_runs_by_a_press_alone_and_is_saved(visit):
    page = settle(visit("sql?query=SELECT%20'%3D1%2B1'%20AS%20risky,%20-2%20AS%20n", expected="400"), SQL)
    assert "came with the link" in page.locator(".lk-said").inner_text() and page.get_by_role("grid").count() == 0
    assert page.watch.paths.count("/data/sql") == 1, "more than its examples and tables was asked for"
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("gridcell", name="=1+1").wait_for()
    assert violations(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    assert Path(saved.value.path()).read_text() == "risky,n\n'=1+1,-2\n"
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    assert json.loads(Path(saved.value.path()).read_text())["rows"] == [["=1+1", -2]]
    written = page.get_by_label("SQL query")
    written.fill("FROM read_text('/etc/passwd')")
    written.press("ControlOrMeta+Enter")
    page.locator(".lk-said", has_text="'read_text'").wait_for()
    written.fill("SELECT '<img src=x onerror=window.harmed=1>' AS text")
    written.press("ControlOrMeta+Enter")
    page.get_by_role("gridcell", name="<img src=x").wait_for()
    assert unharmed(page)


# ---- single items


def test_items_of_two_models_by_group_and_page(visit):
    page = settle(visit(TASK), ITEMS)
    first = page.locator(".lk-item").first
    assert page.locator(".lk-group-of[aria-pressed=true]").inner_text().startswith("Wrong")
    assert "✗ wrong" in first.inner_text() and first.locator("img").count() == 3
    page.get_by_label("Compare with").select_option("example/judge")
    page.locator(".lk-group-of", has_text="Only Example Judge right").click()
    wait_query(page, "show", "second")
    page.locator(".lk-group-of[aria-pressed=true]", has_text="Only Example Judge right").wait_for()
    page.wait_for_function("/✗ wrong[^]*✓ right/.test(document.querySelector('.lk-item').innerText)")
    page.locator(".lk-run summary").first.click()
    page.locator(".lk-run-body dl").first.wait_for()
    assert "Fingerprint" in page.locator(".lk-run").first.inner_text()
    page = settle(visit(f"{TASK}&items=example/judge&show=all", expected="ERR_FAILED|Failed to load"), ITEMS)
    page.locator(".lk-item blockquote", has_text="<img src=x onerror='window.harmed=1'> (A)").first.wait_for()
    assert unharmed(page)
    names = page.locator(".lk-item-name").all_inner_texts()
    page.get_by_role("button", name="Next").press("Enter")
    wait_query(page, "part", "2")
    page.wait_for_function("(name) => document.querySelector('.lk-item-name').innerText !== name", arg=names[0])
    assert not set(names) & set(page.locator(".lk-item-name").all_inner_texts())
    assert page.evaluate("document.activeElement.textContent") == "Next"
    page.route("**/data/items*", lambda route: route.abort())
    page.locator(".lk-group-of", has_text="Unread").click()
    page.locator(".lk-items", has_text="The server did not answer").wait_for()
    page.unroute("**/data/items*")
    page.locator(".lk-items").get_by_role("button", name="Try again").click()
    page.locator(".lk-item blockquote", has_text="Both look alike to me.").first.wait_for()


# ---- what does not exist, fails, or would do harm


@pytest.mark.parametrize("address", ["task?task=mieb/stl11", "correlations?suites=mieb-light"])
def test_in_place_of_what_does_not_exist_stands_a_list(visit, address):
    page = settle(visit(address), MESSAGE.replace(":visible", ""))
    assert "Did you mean" in page.locator(MESSAGE).first.inner_text()
    tops = [page.locator(one).first.bounding_box()["y"] for one in ("h1", MESSAGE, ".pg-index")]
    assert tops == sorted(tops), "the message stands above the list"
    assert page.locator(".js-plotly-plot:visible").count() == 0, "another thing is shown"
    page.locator(".pg-index a").first.click()
    page.locator(".pg-index").first.wait_for(state="detached")
    assert page.locator(MESSAGE).count() == 0


INJECTED = """() => {
  window.violations = 0;
  addEventListener('securitypolicyviolation', () => { window.violations += 1; });
  const node = document.body.appendChild(document.createElement('div'));
  node.innerHTML = '<img src="data:," onerror="window.harmed = 1"><a href="javascript:window.harmed = 1">x</a>';
  node.querySelector('a').click();
  node.appendChild(document.createElement('script')).textContent = 'window.harmed = 1';
  node.appendChild(document.createElement('script')).src = 'data:text/javascript,window.harmed = 1';
}"""


def test_nonsense_in_the_address_stops_no_script_of_a_page_and_markup_runs_none(visit):
    """The pages whose scripts read the address; all are asked for in tests/leaderboard/web/test_pages.py."""
    page = visit("about", expected="400|Content Security Policy")
    page.evaluate(INJECTED)
    page.wait_for_function("window.violations >= 4")
    assert unharmed(page)
    root = page.url.partition("about")[0]
    for key in ("board", "claims", "models", "map", "task", "try", "sql"):
        page.goto(f"{root}{key}?{NONSENSE}", wait_until="commit")
        settle(page)
        assert not re.search(FAILED, page.locator("body").inner_text()), key
        assert unharmed(page)


def test_a_page_whose_event_fails_keeps_what_it_has_and_can_be_tried_again(visit):
    events = "**/gradio_api/run/**"

    def refuse(page):
        page.route(events, lambda route: route.fulfill(status=503, json={"error": "Many visitors"}))

    page = visit("", expected="503", before=refuse)
    page.locator("main .pg-message", has_text="could not be loaded. The server could not answer.").wait_for()
    assert page.locator("main .pg-starts a, main .pg-lead a").count() > 3 and page.locator(".pg-waiting").count() == 0
    page.unroute(events)
    page.get_by_role("link", name="Try again").click()
    settle(page, "#overview table")
    assert page.locator("main .pg-message").count() == 0
    page = visit("correlations?suites=mini&origin=published")  # nobody published these
    page.wait_for_selector(".pg-message")
    page.get_by_label("Scores").first.click()
    page.get_by_role("option", name="Computed").click()
    page.locator("#correlations-figure .main-svg").first.wait_for()
