"""Every page, visited once from its address alone and seen in every look; what holds of all pages is asserted there."""

import re
from urllib.parse import parse_qsl

import pytest

from leaderboard.pages import VIEWS
from tests.browser.conftest import query, settle, violations
from tests.serving import whole

TABLE = ".likeness-board[data-ready=true]:not([aria-busy])"
# Address and what stands there once its answer does.
PAGES = {
    "": "#overview table",
    "board": TABLE,
    "board?suite=mieb": TABLE,
    "compare?models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus": ".bc-comparison",
    "try?mode=choice&inputs=cat,cat-face,cat-cheek&models=tiny,ssim": ".cp-result[data-done=yes] .cp-strip",
    "correlations": "#correlations-figure [data-listens=pair]",
    "map": "#map-figure [data-listens=selection]",
    "models?size=1b": ".lk-catalogue[data-ready]",
    "tasks": ".lk-catalogue[data-ready]",
    "choose": "#shortlist .pg-lead",
    "model?model=example/eye": ".lk-run",
    "task?task=unisim/imagenet-ooo": ".lk-items[data-ready] .lk-item",
    "task?task=mini/pairs-cj&items=example/leaning": ".lk-items[data-ready] .lk-item",
    "judges?suite=mini-pairs&judge=example/leaning": ".jd-detail .jd-flips",
    "generators": "#generators-figures .textpoint text",
    "generators?set=generators-pictures&metric=clipscore": ".gn-first",
    "smaller-suite": ".js-plotly-plot",
    "cost": "#cost-figure .main-svg",
    "replication": ".js-plotly-plot",
    "claims": ".lk-claims[data-ready]",
    "moved": ".pg-section",
    "sql": ".lk-sql[data-ready]",
    "eyes": "[data-screen=start]",
    "about": ".pg-table",
}
PHONE, DESKTOP = 390, 1280
TOOLS = {"board", "try", "eyes", "choose", "compare", "replication", "sql"}  # controls first: the page is for them
SHOWN_BADLY = re.compile(r"Traceback|Exception|Something failed|\bundefined\b|\bNaN\b|\[object|\bcommon\.\w+")
# Keeps where the parts of the first screen, and then those of Gradio's page in its place, begin.
# Sums up the layout's shifts by session (less than 1 s apart, at most 5 s), as web.dev/articles/cls has it, and keeps
# every name of a text that Gradio has in no language, as soon as it stands or is spoken anywhere.
WATCH = r"""
window.shift = 0; window.moved = []; window.keys = []; window.starts = [[], []];
const remove = Element.prototype.remove;
Element.prototype.remove = function () {
  const tops = (all) => [...document.querySelectorAll(all)].filter((node) => node.offsetHeight || node.dataset.early)
    .map((node) => (node.dataset.early ? 0 : Math.round(node.getBoundingClientRect().top + scrollY)));
  const { id } = this;
  if (id === 'first') window.starts[0] = tops('.first-column > *').slice(0, 3);
  window.starts[0] = window.starts[0].slice(0, window.starts[0].concat(0).indexOf(0)); // up to one that is gone
  remove.call(this);
  if (id === 'first') window.starts[1] = tops('gradio-app .contain > .column > *').slice(0, window.starts[0].length);
};
let first = -1e9, last = -1e9, total = 0;
new PerformanceObserver((list) => list.getEntries().filter((one) => !one.hadRecentInput).forEach((one) => {
  if (one.startTime - last > 1000 || one.startTime - first > 5000) [first, total] = [one.startTime, 0];
  last = one.startTime; total += one.value; window.shift = Math.max(window.shift, total);
  window.moved.push(...one.sources.map(({ node, previousRect, currentRect }) =>
    `${node?.nodeName} ${node?.id ?? ''} ${node?.className ?? ''} from ${previousRect.y} to ${currentRect.y}`));
})).observe({ type: 'layout-shift', buffered: true });
new MutationObserver((all) => all.forEach(({ target, addedNodes }) => [target, ...addedNodes].forEach((node) => {
  if (node === target && addedNodes.length || node.querySelector?.('script')) return;
  if ((node.nodeType === 3 ? node.parentElement : node)?.closest?.('head, script, style')) return;
  const text = node.nodeType === 3 ? node.nodeValue : node.outerHTML ?? '';
  window.keys.push(...text.match(/\bcommon\.\w+|__i18n__\w*/g) ?? []);
}))).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
"""
# What can be measured of any page: the tops of its parts, its headings, what of its figures cannot be read.
MEASURE = r"""() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((node) => {
    const { width, height } = node.getBoundingClientRect();
    return width && height && getComputedStyle(node).visibility !== 'hidden';
  });
  const top = (selector) => Math.min(...shown(selector).map((node) => node.getBoundingClientRect().top + scrollY));
  const box = (node) => node.getBoundingClientRect();
  const numbers = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => numbers(colour).slice(0, 3).map((byte) => byte / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (node) => {
    const [low, high] = [luminance(getComputedStyle(node).fill), ground].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const words = ['.xtick text', '.ytick text', '.xtitle', '.ytitle', '.legendtext'];
  const labels = shown(words.map((one) => `.js-plotly-plot ${one}`).join());
  const names = shown(':is(#cost-figure, #generators-figures) :is(.textpoint text, .annotation-text)');
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2;
  const meta = (name) => document.querySelector(`meta[property="${name}"], meta[name="${name}"]`)?.content ?? '';
  const answer = '.pg-lead, .pg-findings, .pg-name, .jd-leads';
  return {
    tops: ['h1', answer, '.js-plotly-plot, .jd-panels, .pg-controls'].map(top),
    title: document.title, shared: ['og:title', 'og:description', 'og:image', 'description'].map(meta),
    canonical: document.querySelector('link[rel=canonical]')?.href,
    headings: document.querySelectorAll('h1').length,
    sentence: document.querySelector('h1 + p')?.innerText ?? '',
    dark: document.body.classList.contains('dark'),
    wide: document.scrollingElement.scrollWidth - innerWidth,
    text: document.body.innerText,
    current: [...document.querySelectorAll('.site-bar [aria-current=page]')].map((node) => node.textContent.trim()),
    bar: box(document.querySelector('.site-bar')).height,
    tabbed: shown('[tabindex]').filter((node) => node.tabIndex > 0).map((node) => node.outerHTML),
    bars: [shown('.nav-holder').length, shown('.js-plotly-plot .modebar').length],
    plots: document.querySelectorAll('.js-plotly-plot').length,
    pale: labels.filter((node) => contrast(node) < 4.5).map((node) => node.textContent),
    small: labels.filter((node) => parseFloat(getComputedStyle(node).fontSize) < 9).map((node) => node.textContent),
    cut: [...labels, ...names].filter((node) => box(node).left < -1 || box(node).right > innerWidth + 1)
      .map((node) => node.textContent),
    covered: names.filter((one) => names.some((other) => other !== one && meet(box(one), box(other))))
      .map((node) => node.textContent),
    broken: shown('img').filter((image) => image.complete && !image.naturalWidth).map((image) => image.src),
    links: [...document.querySelectorAll('a[href]')].map((link) => link.href)
      .filter((href) => href.startsWith(document.baseURI)).map((href) => href.slice(document.baseURI.length)),
  };
}"""
KNOWN = {view.key for view in VIEWS} | {"export", "docs", "data", "published", "moved.atom"}


def settled(page, address):
    """Until the page, and its figures in a window of another width, are drawn."""
    page.wait_for_function("""() => [...document.querySelectorAll('.js-plotly-plot')].every((plot) =>
      !plot.offsetParent || !plot._fullLayout || Math.abs(plot._fullLayout.width - plot.clientWidth) < 2)""")
    settle(page, PAGES[address])


@pytest.mark.parametrize("address", PAGES, ids=[address[:30] or "overview" for address in PAGES])
def test_a_page(visit, server, address):
    """On a phone whose language Gradio does not speak, then in a wide window, then in the other theme."""
    whole(server + address)
    page = settle(visit(address, before=WATCH, width=PHONE, locale="sw", dark=None), PAGES[address])
    shift, (sent, stood) = page.evaluate("[[window.shift, ...window.moved], window.starts]")
    wrong = {f"phone, {name}": what for name, what in faults(page, address, width=PHONE).items()}
    page.set_viewport_size({"width": DESKTOP, "height": 900})
    settled(page, address)
    wrong |= faults(page, address, width=DESKTOP)
    page.locator(".site-bar-theme").click()
    settled(page, address)
    wrong |= {f"dark, {name}": what for name, what in faults(page, address, width=DESKTOP, dark=True).items()}
    page.evaluate("localStorage.clear()")
    wrong |= {
        "first screen": [] if sent == pytest.approx(stood, abs=2) else [sent, stood],  # pixels
        "layout shift": shift if shift[0] >= 0.02 else [],
        "untranslated": page.evaluate("window.keys"),
        "search fetched before it is used": any(path.endswith("/data/search") for path in page.watch.paths),
    }
    report = "\n".join(f"{name}: {what}" for name, what in wrong.items() if what)
    assert not report, report


def faults(page, address, *, width, dark=False):
    """What is wrong with a page as it is shown now; nothing where all is well."""
    found, phone = page.evaluate(MEASURE), width == PHONE
    # Contrast, half of axe's time, is of colours, not of width; what else axe finds is not of colours.
    rules = {"runOnly": ["color-contrast"]} if dark else {"rules": {"color-contrast": {"enabled": not phone}}}
    key = address.partition("?")[0]
    view = next(view for view in VIEWS if view.key == key)
    tops = [top for top in found["tops"] if top is not None]
    several = sum(other.group == view.group for other in VIEWS) > 1
    title = "Likeness" if key == "" else view.title if several else view.group
    links = {link.partition("?")[0].partition("#")[0].strip("/").partition("/")[0] for link in found["links"]}
    og_title, og_sentence, og_image, sentence = found["shared"]
    return {
        "accessibility": violations(page, **rules),
        "headings": found["headings"] != 1,
        "sentence": len(found["sentence"].split()) < 5 or not found["sentence"].strip().endswith("."),
        "theme": found["dark"] != dark,
        "scrolls sideways by": max(0, found["wide"]),
        "order of answer, then picture and controls": [] if key in TOOLS or tops == sorted(tops) else tops,
        "shown badly": SHOWN_BADLY.findall(found["text"]),
        "marked in the bar": [] if found["current"] == [title] * view.listed else found["current"],
        "height of the bar": found["bar"] if phone and found["bar"] > 60 else 0,
        "own order of Tab": found["tabbed"],
        "Gradio's list of pages": found["bars"][0],
        "plotly's bar on a phone": phone and found["bars"][1],
        "plotly without a figure": not found["plots"] and any("plotly" in path for path in page.watch.paths),
        "pale in a figure": found["pale"],
        "small in a figure": found["small"],
        "cut in a figure": found["cut"],
        "names over each other": found["covered"],
        "broken images": found["broken"],
        "links to no page": sorted(links - KNOWN),
        "share head": not (og_title.endswith("Likeness") and og_sentence == sentence != "" and "/picture." in og_image)
        or found["title"] != og_title
        or f"/{key}" not in found["canonical"],
        "address": query(page).items() ^ dict(parse_qsl(address.partition("?")[2])).items(),
    }  # fmt: skip


@pytest.mark.parametrize(
    "address, shown",
    [
        ("board?suite=mieb", f"#first {TABLE} .lk-body .lk-row"),
        ("claims", "#first .lk-claims[data-ready] .lk-body .lk-row"),
        ("models", "#first .lk-catalogue[data-ready] .lk-body .lk-row"),
        ("eyes", "#first [data-screen=start] .ey-own"),
        ("try", "#first .likeness-tray[data-ready=true] .tr-slot[data-id] img"),
        ("map", "#first .pg-lead"),
        ("choose", "#first .pg-lead"),
    ],
)
def test_a_page_stands_before_gradio_does(contexts, server, address, shown):
    """As if Gradio's scripts were still under way."""
    whole(server + address)
    page = contexts(locale="sw").new_page()
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.route("**/assets/*.js", lambda route: None)
    page.goto(server + address, wait_until="commit")
    page.locator(shown).first.wait_for()
    page.close()


def test_every_page_has_its_first_section_without_scripts(contexts, server):
    page = contexts(java_script_enabled=False).new_page()
    page.set_viewport_size({"width": PHONE, "height": 844})
    for view in VIEWS:
        whole(server + view.key)
        page.goto(server + view.key)
        title, sentence = page.locator("#first h1"), page.locator("#first h1 + p")
        assert title.is_visible() and sentence.is_visible(), view.key
        rest = page.locator("#first").inner_text().partition(sentence.inner_text())[2]
        assert len(rest.split()) > 15, f"{view.key}: {rest}"
    page.close()


def test_every_page_is_visited():
    assert {view.key for view in VIEWS} == {address.partition("?")[0] for address in PAGES}
