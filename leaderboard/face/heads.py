"""The head of a page, for browsers, search engines and sites where its address is shared.

A page has one title and one sentence; a page about one model or task has that thing's.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlencode

from cachetools import LRUCache
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from compute.types import shortened
from leaderboard.face.first_screen import first_screen, sheet
from leaderboard.face.picture import SIZE, picture
from leaderboard.html.templates import macros, render
from leaderboard.page import SITE, Site, View
from leaderboard.web.access import Access, public_root
from leaderboard.web.responses import CHECK, FOREVER, respond

log = logging.getLogger(__name__)
ICON = Path(__file__).with_name("icon.svg")
ICON_PNG = ICON.with_suffix(".png")  # for browsers that show no SVG, and for home screens
DAY = "public, max-age=86400"
LONGEST_WAIT = 0.4  # seconds that a page is held back for its first screen
WAITING, MOST_DRAWINGS = 8, 64  # first screens that wait to be drawn; and those that nobody has asked for again
LONGEST_TITLE = 110  # characters
BASE = "./"  # Gradio's own base address of every page: all are directly below the root
# What Gradio says of itself on every page. Its configuration, which comes first in a script, has no such text:
# signs of markup are escaped there.
GRADIO_OWN = re.compile(r"""\s*<meta\s+(?:property|name)="(?:og|twitter):[^>]*?/?>|\s*<title>[^<]*</title>""")
# Gradio's own scripts and style sheet wait until the first screen is painted and its parts have begun. They follow
# Gradio's element: one that is parsed after its class was defined has no attributes yet, and shows itself as embedded.
AFTER_FIRST = r"""<script>window.likenessFirst.begun.then(() => {
  document.head.prepend(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: "\2" }));
  import("\1");
});</script>"""
# A first screen is painted once, whole. Before the base address, from which the fragment would lead to another page.
AT_ONCE = '<link rel="expect" href="#first-end" blocking="render">'
CHARSET = '<meta charset="utf-8" />'
CONFIGURED = "<script>window.gradio_config"  # the first of Gradio's own scripts
GRADIO_START = re.compile(
    r'<script type="module" crossorigin src="([^"]+)"></script>\s*<link rel="stylesheet" crossorigin href="([^"]+)">'
)
BODY = re.compile(r"</head>.*?<body[^>]*>", re.DOTALL)


class Face:
    """The parts that every page carries. `bar` makes the bar's markup for the page with key `current`."""

    def __init__(self, site: Site, views: Sequence[View], *, bar: Callable[..., Markup], access: Access) -> None:
        self.site, self.bar, self.access = site, bar, access
        self.views = {view.key: view for view in views}
        self._drawings: LRUCache = LRUCache(MOST_DRAWINGS)
        self._made: dict[tuple[str, str, str], str] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="first-screens")  # several would hold memory each

    async def complete(self, request: Request, key: str, page: str) -> tuple[str, bool]:
        """Returns Gradio's page of the view with this key, with the bar above its elements and a head that names the
        page.
        """
        root, _ = public_root(request.scope, self.access)
        query = request.query_params
        head = await run_in_threadpool(self.head, key, query, root=root, state=query.get("data", ""))
        start, charset, rest = page.partition(CHARSET)
        body = BODY.search(rest)
        if body is None:
            raise ValueError("Gradio's page has no head or no body: look at its template frontend/index.html")
        look, configured, scripts = rest[: body.start()].partition(CONFIGURED)
        look = GRADIO_OWN.sub("", look)
        titled = f"{GRADIO_OWN.sub('', start)}{charset}{AT_ONCE}\n{head}{look}{sheet(self.site.blocks)}"
        first, is_whole = await self._first_screen(key, request)
        scripts = GRADIO_START.sub(AFTER_FIRST, configured + scripts) if first else configured + scripts
        app, end, rest = rest[body.end() :].partition("</gradio-app>")
        state = await run_in_threadpool(self.state, request)
        shown = f"{titled}{body.group()}{self.bar(BASE, current=key)}{state}{first}{app}{end}"
        return f"{shown}{scripts}{rest}", is_whole

    def state(self, request: Request) -> Markup:
        """Says which version of the data the page shows, and links to today's if that differs."""
        today, named = self.site.db.data, request.query_params.get("data", "")
        earlier = named if named != today else ""
        dates = {one["version"]: one["date"] for one in self.site.db.records("stored_versions")} if earlier else {}
        query = urlencode({**request.query_params, "data": ""})
        return macros("html/bar.html").state(today, earlier, dates, f"{request.url.path.rpartition('/')[2]}?{query}")

    async def _first_screen(self, key: str, request: Request) -> tuple[str, bool]:
        """Returns the first screen of a page for this address, and whether it is complete. If it is not drawn in time,
        it has only the static content of the page, and is complete on the next request.
        """
        query = {name: value for name, value in request.query_params.items() if name != "__theme"}
        name = (key, urlencode(query), self.site.db.version)
        if name in self._made:
            return self._made[name], True
        if name not in self._drawings and sum(not each.done() for each in self._drawings.values()) < WAITING:
            self._drawings[name] = asyncio.get_running_loop().run_in_executor(self._thread, self._drawn, key, query)
        if drawing := self._drawings.get(name):
            await asyncio.wait({drawing}, timeout=LONGEST_WAIT)
            if drawing.done():
                self._drawings.pop(name, None)  # the whole page is stored, or it is drawn again
                return drawing.result(), _is_whole(drawing.result())
        return await run_in_threadpool(self._drawn, key, query, filled=False), False

    def _drawn(self, key: str, query: Mapping[str, str], *, filled: bool = True) -> str:
        try:
            with self.site.db.snapshot(query.get("data", "")):
                return first_screen(self.site.blocks, key, query, assets=self.site.assets, filled=filled)
        except Exception:
            log.exception("The first screen of %s cannot be drawn", key or "the front page")
            return ""

    def ahead(self) -> None:
        """Draws the first screens of addresses without a query before anybody requests them."""
        version = self.site.db.version
        self._made = {(key, "", version): drawn for key in self.views if _is_whole(drawn := self._drawn(key, {}))}

    def head(self, key: str, query: Mapping[str, str], *, root: str, state: str = "") -> Markup:
        """Returns the elements of the head of a page, about what this query names. `root`: the app's whole address, or
        empty; `state`: the version of the data that the address names. Reads the database."""
        title, sentence, identifies = self._about(key, query)
        named = identifies | ({"data": state} if state not in ("", self.site.db.data) else {})
        about = f"?{urlencode(named, quote_via=quote, safe='/:~,')}" if named else ""
        return render(
            "html/head.html",
            site=SITE,
            title=title if title == SITE else f"{title} · {SITE}",
            sentence=sentence,
            address=root and f"{root}{key}{about}",
            picture=root and f"{root}picture.png?{urlencode({'page': key, **identifies})}",
            size=SIZE,
        )

    def picture(self, request: Request) -> Response:
        """Returns the picture of the page that `page` in the query names, about what the rest of the query names."""
        asked = request.query_params
        title, sentence, _ = self._about(asked.get("page", ""), asked)
        return respond(request, picture(SITE, title, sentence), media="image/png", cache=DAY)

    def _about(self, key: str, query: Mapping[str, str]) -> tuple[str, str, dict[str, str]]:
        """Returns the title and the sentence of a page, or of what a query is about, and the parameters that name it;
        those of the front page if no page has this key.
        """
        view = self.views.get(key) or self.views[""]
        named = {name: value for name in view.about or (view.key,) if (value := query.get(name))}
        with self.site.db.snapshot():
            subject = view.subject(self.site, next(iter(named.values()))) if named else None
        name, sentence = subject or (view.title if view.key else SITE, view.sentence)
        return shortened(name, LONGEST_TITLE), sentence, named if subject else {}


def _is_whole(screen: str) -> bool:
    """Returns whether a first screen was drawn without an error; an error is not shown to the next visitor."""
    return bool(screen) and "pg-message" not in screen


async def icon(request: Request) -> Response:
    """Returns the icon of the tab."""
    return respond(request, ICON.read_bytes(), media="image/svg+xml", cache=DAY)


async def robots(request: Request) -> Response:
    """Returns the addresses that are not pages: downloads, and models to try."""
    return PlainTextResponse("User-agent: *\nDisallow: /export/\nDisallow: /live/\n")


async def theme(request: Request) -> Response:
    """Returns Gradio's theme, which its scripts request by its hash."""
    content = request.app.get_blocks().theme_css.encode()
    return respond(
        request, content, media="text/css; charset=utf-8", cache=FOREVER if "v" in request.query_params else CHECK
    )


ROUTES = (Route("/static/icon.svg", icon), Route("/theme.css", theme), Route("/robots.txt", robots))
