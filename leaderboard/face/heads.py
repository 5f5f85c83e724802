"""What a page's head tells browsers, search engines and the sites where its address is shared, and its picture there.

A page has one title, one sentence and one picture; a page about one model or task has that thing's name as its title.
"""

from __future__ import annotations

import asyncio
import io
import logging
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

from cachetools import LRUCache
from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from compute.types import shortened
from leaderboard.face.first_screen import first_screen
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site, View
from leaderboard.web.access import Access, public_root
from leaderboard.web.responses import refusal, respond

FOLDER = Path(__file__).parent
log = logging.getLogger(__name__)
ICON = FOLDER / "icon.svg"
ICON_PNG = ICON.with_suffix(".png")  # for browsers that show no SVG, and for home screens
DAY = "public, max-age=86400"
MOST_DRAWINGS = 200  # of about 50 kB
LONGEST_WAIT = 0.5  # seconds that a page is held back for its first screen
LONGEST_TITLE = 110  # characters
FIRST = "overview"  # the name of the first page's picture, whose key is empty
BASE = "./"  # Gradio's own base address of every page: all are directly below the root
# What Gradio says of itself on every page. Its configuration, which comes first in a script, has no such text:
# signs of markup are escaped there.
GRADIO_OWN = re.compile(r"""\s*<meta\s+(?:property|name)="(?:og|twitter):[^>]*?/?>|\s*<title>[^<]*</title>""")
CHARSET = '<meta charset="utf-8" />'
BODY = re.compile(r"</head>.*?<body[^>]*>", re.DOTALL)
WIDTH, HEIGHT, MARGIN = 1200, 630, 72  # of a picture: the size that the sites cut to
INK, QUIET, ACCENT, BAND = "#1e293b", "#55606f", "#0f766e", "#9fc9c5"


class Face:
    """What every page of the site carries, and what browsers, search engines and other sites fetch of the whole.

    `bar` makes the bar's markup for the page with a key, `current`.
    """

    def __init__(self, site: Site, views: Sequence[View], *, bar: Callable[..., Markup], access: Access) -> None:
        self.site, self.bar, self.access = site, bar, access
        self.views = {view.key: view for view in views}
        self._drawings: LRUCache = LRUCache(MOST_DRAWINGS)

    def routes(self) -> list[Route]:
        """Share pictures, the icon, the sitemap and robots.txt."""
        return [
            Route("/share/{name}.png", self.picture),
            Route("/static/icon.svg", icon),
            Route("/sitemap.xml", self.sitemap),
            Route("/robots.txt", self.robots),
        ]

    async def complete(self, request: Request, key: str, page: str) -> tuple[str, bool]:
        """Gradio's page of the view with this key, with the bar above its elements and a head that names the page."""
        root, _ = public_root(request.scope, self.access)
        view = self.views[key]
        named = request.query_params.get(view.about or key, "")
        head = await run_in_threadpool(self.head, key, named, root=root)
        start, charset, rest = page.partition(CHARSET)
        body = BODY.search(rest)
        if body is None:
            raise ValueError("Gradio's page has no head or no body: look at its template frontend/index.html")
        more, opening = rest[: body.start()], body.group()
        titled = f"{GRADIO_OWN.sub('', start)}{charset}\n{head}{GRADIO_OWN.sub('', more)}"
        drawing = self._drawing(key, request)
        await asyncio.wait({drawing}, timeout=LONGEST_WAIT)
        first = drawing.result() if drawing.done() else ""
        return f"{titled}{opening}{self.bar(BASE, current=key)}{first}{rest[body.end() :]}", drawing.done()

    def _drawing(self, key: str, request: Request) -> asyncio.Task[str]:
        """What draws the first screen of a page for this address, or has; where it cannot be, it is empty."""
        name = (key, request.url.query, self.site.db.version)
        if name not in self._drawings:

            def draw() -> str:
                try:
                    with self.site.db.snapshot():
                        query = dict(request.query_params)
                        return first_screen(self.site.blocks, key, query, assets=self.site.assets)
                except Exception:
                    log.exception("The first screen of %s cannot be drawn", key or "the front page")
                    return ""

            self._drawings[name] = asyncio.create_task(run_in_threadpool(draw))
        return self._drawings[name]

    def head(self, key: str, named: str, *, root: str) -> Markup:
        """The elements of the head of a page, about what is `named`. `root`: the app's whole address, or empty. Reads
        the database."""
        view = self.views[key]
        with self.site.db.snapshot():
            name = shortened(view.name_of(self.site, named), LONGEST_TITLE) if named else ""
        title = name or (view.title if key else SITE)
        return render(
            "html/head.html",
            site=SITE,
            title=title if title == SITE else f"{title} · {SITE}",
            sentence=view.sentence,
            address=root and root + (address(key, named, about=view.about) if name else key),
            picture=root and f"{root}share/{key or FIRST}.png",
        )

    async def picture(self, request: Request) -> Response:
        """The picture of a page, as PNG; the first page's for any other name."""
        view = self.views.get(request.path_params["name"], self.views[""])
        content = await run_in_threadpool(draw, view.title if view.key else "", view.sentence)
        answer = respond(request, content, media="image/png", cache=DAY)
        answer.headers["cross-origin-resource-policy"] = "cross-origin"
        return answer

    async def sitemap(self, request: Request) -> Response:
        """The address of every page, model and task as XML."""
        root, headers = public_root(request.scope, self.access)
        if not root:
            return refusal("This request does not name its host, so the sitemap cannot list full addresses", 400)
        text = await run_in_threadpool(lambda: render("html/sitemap.xml", root=root, addresses=list(self._listed())))
        return Response(text, media_type="application/xml", headers=headers)

    def _listed(self) -> Iterator[str]:
        yield from (view.key for view in self.views.values() if view.listed)
        for key, about, frame in (
            ("board", "suite", self.site.db.query("suites")),
            ("model", "", self.site.db.query("catalogue")),
            ("task", "", self.site.db.query("listed_tasks")),
        ):
            yield from (address(key, thing, about=about) for thing in frame["key"])

    async def robots(self, request: Request) -> Response:
        """Where the sitemap is, and what is not a page: downloads, and models to try."""
        root, headers = public_root(request.scope, self.access)
        lines = [
            "User-agent: *",
            "Disallow: /export/",
            "Disallow: /live/",
            *([f"Sitemap: {root}sitemap.xml"] * bool(root)),
        ]
        return PlainTextResponse("\n".join([*lines, ""]), headers=headers)


def address(key: str, thing: str, *, about: str = "") -> str:
    """The address of the page about one thing, below the app's root."""
    return f"{key}?{urlencode({about or key: thing}, quote_via=quote, safe='/:~')}"


async def icon(request: Request) -> Response:
    """The icon of the tab."""
    return respond(request, ICON.read_bytes(), media="image/svg+xml", cache=DAY)


@cache
def draw(title: str, sentence: str) -> bytes:
    """The picture as PNG: the site's motif and name, a title, and a sentence below."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "#ffffff")
    pen = ImageDraw.Draw(image)
    for start, point, y in ((72, 92, 68), (87, 105, 83)):  # two intervals that overlap
        pen.line((start, y, start + 33, y), fill=BAND, width=5)
        pen.ellipse((point - 7, y - 7, point + 7, y + 7), fill=ACCENT)
    pen.text((MARGIN + 70, 55), SITE, font=_font("SemiBold", 36), fill=INK)
    pen.text((MARGIN, 170), title, font=_font("SemiBold", 64), fill=INK)
    words = textwrap.fill(sentence, 58, max_lines=6, placeholder=" …")
    pen.text((MARGIN, 280 if title else 190), words, font=_font("Regular", 34), fill=QUIET, spacing=16)
    pen.rectangle((0, HEIGHT - 12, WIDTH, HEIGHT), fill=ACCENT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _font(weight: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FOLDER / "fonts" / f"Inter-{weight}.otf", size)
