"""The real app in a real browser: one server and one Chromium a process, every tab watched.

Both end with the last test of this package: Playwright keeps an event loop in this thread, which others may start.
"""

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests import serving as programs
from tests.leaderboard.web import uvicorn_server

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no name resolves: nothing gets out
)
PATIENCE = 90_000  # ms for anything to appear: on a busy machine a page or a model takes many seconds
STREAMS = re.compile(r"/heartbeat/|/queue/data")  # requests that end with the page
BUSY = ".likeness-board[data-ready=false], [aria-busy=true], .progress-text, .pg-waiting, .empty.large"
SETTLED = """([ready, busy]) => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.offsetParent);
  shown('.empty.large')[0]?.scrollIntoView(); // a figure is drawn once it comes into view
  return document.querySelector(ready) && !document.getElementById('first')
    && document.querySelector('.site-bar-theme')?.dataset.ready === 'true'
    && !shown(busy).length && document.fonts.status === 'loaded'
    && shown('.js-plotly-plot').every((plot) => plot.querySelector('.main-svg'));
}"""


def pytest_collection_modifyitems(items):
    """A browser test that fails is tried once more, in a fresh page, and the summary names it.

    On a starved machine a page may be read before its answer is drawn. What is wrong with the page itself fails twice.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="package")
def server(app_database):
    """The app's address, ending in a slash."""
    with serving(app_database) as address:
        yield address


@contextmanager
def serving(database, *options, environment=None):
    """`python app.py` on a database in a process of its own, on the first port that it gets; its address.

    Fails at the end where the server's log holds a traceback.
    """
    place = {
        "LIKENESS_DATABASE": str(database),
        "LIKENESS_RESULTS": str(database.with_name("results")),
        "GRADIO_SERVER_PORT": str(20_000 + os.getpid() % 120 * 100),  # where Gradio begins to look for a free one
    } | (environment or {})
    with programs.serving("--host", "127.0.0.1", *options, place=os.environ | place) as server:
        yield server.address


@contextmanager
def in_thread(app):
    """Serves another site from a thread of its own, on a port that the system gives; its address, without a slash."""
    with uvicorn_server.serving(app) as port:
        yield f"http://127.0.0.1:{port}"


# Sizes its frames as iframe-resizer's page around a frame does with its default options: it says how to measure, and
# takes every height that a frame reports. Source: its documentation, and the part within the frame that Gradio has.
SIZER = """
const frames = [...document.querySelectorAll('iframe')];
const begin = (frame) => {
  const options = '0:false:false:32:true:true::bodyOffset:::0:false:child:scroll';
  frame.contentWindow.postMessage(`[iFrameSizer]${frame.id}:${options}`, '*');
};
for (const frame of frames) frame.addEventListener('load', () => begin(frame));
addEventListener('message', ({ data, source }) => {
  const frame = frames.find((one) => one.contentWindow === source);
  if (data === '[iFrameResizerChild]Ready') begin(frame);
  const [, id, height] = /^\\[iFrameSizer\\](\\w+):([\\d.]+):/.exec(data) ?? [];
  if (height) document.getElementById(id).style.height = `${height}px`;
});
"""
# Whether the frames' heights have not changed for as long as a page needs to answer.
STEADY = """() => {
  const heights = [...document.querySelectorAll('iframe')].map((frame) => frame.clientHeight);
  if (`${window.seen?.heights}` !== `${heights}`) window.seen = { heights, since: performance.now() };
  return performance.now() - window.seen.since > 5000;
}"""
# How far down the page goes: its last line, of what does not scroll in a box of its own.
CONTENT = (
    "Math.max(...[...document.querySelectorAll('footer, article')].map((last) => last.getBoundingClientRect().bottom))"
)


def framed(visit, addresses):
    """Frames of pages on another site, whose script sizes them, once their heights have settled."""
    html = "<title>Other</title><link rel=icon href='data:,'>" + "".join(
        f"<iframe id=f{at} style='border: 0; width: 100%' src='{address}'></iframe>"
        for at, address in enumerate(addresses)
    )
    html += f"<script>{SIZER}</script>"
    with in_thread(Starlette(routes=[Route("/", lambda request: HTMLResponse(html))])) as other:
        page = visit(site=other + "/", ready="iframe", expected="request to|postMessage|404")
        frames = [each.content_frame() for each in page.query_selector_all("iframe")]
        for frame in frames:
            frame.locator("footer, article").first.wait_for(state="attached")
        page.wait_for_function(STEADY, polling=100)
        return frames


@contextmanager
def installed():
    """Playwright's part for Chromium, and how it is started, from CHROMIUM or the path; skipped where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed: pip install -r tests/requirements.txt")
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.skip("no Chromium found: install the package chromium, or name the program in CHROMIUM")
    with sync_playwright() as playwright:
        yield playwright.chromium, {"executable_path": path, "args": list(ARGUMENTS)}


@contextmanager
def chromium():
    """A browser without a profile."""
    with installed() as (program, how):
        made = program.launch(**how)
        yield made
        made.close()


@pytest.fixture(scope="package")
def program():
    with installed() as found:
        yield found


@pytest.fixture(scope="package")
def browser(program):
    made = program[0].launch(**program[1])
    yield made
    made.close()


class Watch:
    """What one tab asked for, and what it did that it must not: requests elsewhere, errors of scripts or console."""

    def __init__(self, page, *, host, expected):
        self.page, self.host, self.expected = page, host, expected
        self.paths = []
        self.offences = []
        self.open = set()
        page.on("request", self.request)
        page.on("requestfinished", lambda request: self.open.discard(request))
        page.on("requestfailed", lambda request: self.open.discard(request))
        page.on("pageerror", lambda error: self.offend(f"script error: {error}"))
        page.on("console", lambda message: message.type == "error" and self.offend(f"console: {message.text}"))

    def request(self, request):
        parts = urlsplit(request.url)
        self.paths.append(parts.path)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.offend(f"request to {request.url}")
        if not STREAMS.search(request.url):
            self.open.add(request)

    def offend(self, text):
        if not (self.expected and re.search(self.expected, text)):
            self.offences.append(text)


def settle(page, ready="h1"):
    """Waits until `ready` is in the page, nothing is being asked for or drawn, and styles have followed."""
    page.wait_for_function(SETTLED, arg=[ready, BUSY])
    while page.watch.open:
        page.wait_for_timeout(20)
    page.wait_for_function(SETTLED, arg=[ready, BUSY])
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page


@pytest.fixture(scope="package")
def contexts(program, tmp_path_factory):
    """One browser profile a set of options, on disk: later tabs find the files in its cache, and scripts compiled."""
    made, (kind, how) = {}, program

    def context(**options):
        name = str(options)
        if name not in made:
            made[name] = kind.launch_persistent_context(tmp_path_factory.mktemp("profile"), **how, **options)
            made[name].set_default_timeout(PATIENCE)
            made[name].grant_permissions(["clipboard-read", "clipboard-write"])
        return made[name]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def visit(request, contexts):
    """Opens a path of the app in a new tab: visit("board?suite=mieb", ready=TABLE, width=390, dark=True).

    Waits until Gradio's page is in the place of the first screen. `dark=None` leaves the address as it is; other
    options are the browser profile's. Fails at the end of the test on a request to another host and on any error that
    `expected` (a pattern) does not name.
    """
    watches = []

    def open_page(
        path="",
        *,
        ready="h1",
        site="",
        width=1280,
        dark=False,
        expected="",
        before=None,
        **options,
    ):
        site = site or request.getfixturevalue("server")
        page = contexts(**options).new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.watch = Watch(page, host=urlsplit(site).netloc, expected=expected)
        watches.append(page.watch)
        if isinstance(before, str):
            page.add_init_script(before)
        elif before:
            before(page)
        theme = f"{'&' if '?' in path else '?'}__theme={'dark' if dark else 'light'}"
        page.goto(site + path + theme * (dark is not None), wait_until="commit")
        page.locator(ready).first.wait_for(state="attached")
        page.locator("#first").wait_for(state="detached")
        return page

    yield open_page
    offences = [offence for watch in watches for offence in watch.offences]
    for watch in watches:
        watch.page.close()
    assert not offences, "\n".join(offences)


def violations(page, **options):
    """What axe finds, but for its lightest class, a line each; `options` are axe's own. Skips without its package."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    # What still fades in has too little contrast for a moment.
    page.wait_for_function(
        "!document.querySelector('.pending') && document.getAnimations().every((one) => one.playState !== 'running')"
    )
    return [
        f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in axe.Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        if rule["impact"] != "minor"
        for node in rule["nodes"][:4]
    ]


def unharmed(page, images="img[src=x]"):
    """Whether no markup out of files, addresses or replies ran a script or became an image."""
    return page.evaluate("window.harmed") is None and page.locator(images).count() == 0


def query(page):
    """The address's parameters, the theme apart."""
    given = parse_qs(page.evaluate("location.search.slice(1)"))  # Playwright hears of a change later
    return {key: values[0] for key, values in given.items() if key != "__theme"}


def wait_query(page, key, value):
    """Until the address carries the parameter (or, with None, does not)."""
    page.wait_for_function(
        "([key, value]) => new URLSearchParams(location.search).get(key) === value", arg=[key, value]
    )
