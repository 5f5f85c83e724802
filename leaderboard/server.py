"""The app: pages, routes, middleware and warm-up come together here."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Thread, main_thread
from typing import Any

import gradio as gr
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from compute.eyes.folder import StudyFolder
from compute.live.decoder import POOL
from compute.paths import DATABASE
from compute.processes import return_freed_regularly
from compute.types import Model
from leaderboard.api import backlinks, endpoints, mcp
from leaderboard.api import routes as api
from leaderboard.data.database import STATE, Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.face import bar
from leaderboard.face.heads import ICON_PNG, ROUTES, Face
from leaderboard.host.hub_data import HubData
from leaderboard.host.rebuilt import RebuiltData
from leaderboard.html import docs_page
from leaderboard.html.error_page import error_page
from leaderboard.live.live import Live, calibrations
from leaderboard.page import SITE, Site
from leaderboard.pages import MOVED, VIEWS
from leaderboard.search import index as search
from leaderboard.web import connections, static
from leaderboard.web.access import Access
from leaderboard.web.gradio_app import ERRORS, Lifespan, StatelessBlocks, UnknownEvents
from leaderboard.web.limits import ClientLimits
from leaderboard.web.pages import Answers, Pages

LOOK = Path(__file__).parent / "html" / "look.css"
FONTS = [
    "Inter",
    "As wide as Inter",
    "As narrow as Inter",
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "Roboto",
    "Helvetica",
    "Arial",
    "sans-serif",
]
WORDS = {"common.complete": "Done"}  # what Gradio tells screen readers, and has in no language
WARM_AFTER = 1.0  # seconds; the server is up by then
log = logging.getLogger(__name__)


def theme() -> gr.themes.Base:
    """Calm and typographic: one typeface, one accent, nearly square corners; the rest is in look.css."""
    return gr.themes.Base(
        primary_hue="teal",
        neutral_hue="slate",
        font=FONTS,
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
        radius_size="sm",
        spacing_size="sm",
    )


def build(
    source: Path | Database = DATABASE,
    *,
    data: HubData | None = None,
    access: Access | None = None,
    opens_on: str = "",
    own_models: Sequence[Model] = (),
    study: StudyFolder | None = None,
    study_key: str = "",
) -> tuple[gr.Blocks, dict[str, Any]]:
    """Returns the app and what `launch` needs to serve it; a rebuild, and `data`, update its database while it runs.

    `source` is the database's file, or the database where the caller closes it, after the app. `opens_on` is the
    address of the page that a visitor who opens the app comes to, in place of the front page: `board?suite=...`.
    `own_models` are the host's own, which visitors can try besides the catalogue's. `study`: what /eyes asks about,
    with `study_key` only those whose address has it.

    Without `access` it answers under any host, and no other site may frame it.

    Raises DatabaseError when the database cannot be opened.
    """
    db = source if isinstance(source, Database) else Database(source)
    suite_cache = SuiteCache(db)
    live = Live(partial(calibrations, suite_cache), own=own_models)
    with StatelessBlocks(title=SITE, analytics_enabled=False) as blocks:
        first, *others = VIEWS
        site = Site(
            db=db,
            suite_cache=suite_cache,
            blocks=blocks,
            assets=static.address(),
            live=live,
            data=data,
            study=study,
            study_key=study_key,
        )
        first.build(site)
    for view in others:
        with blocks.route(view.title, f"/{view.key}", show_in_navbar=False):
            view.build(site)
    access = access or Access()
    look = LOOK.read_text()
    site_bar = partial(bar.bar, bar.entries(VIEWS), assets=site.assets)
    face = Face(site, VIEWS, bar=site_bar, access=access)
    documents = docs_page.route(site=SITE, bar=partial(site_bar, current=bar.DOCS), look=look)
    served = [*routes(site), *ROUTES, Route("/picture.png", face.picture), documents]
    site.ahead.append(face.ahead)  # last: it replaces the first screens of the file that is served until the swap
    pages = Middleware(
        Pages,
        keys=frozenset(view.key for view in VIEWS),
        complete=face.complete,
        version=lambda: db.version,
        state=STATE,
        check_state=db.check_version,
        access=access,
        opens_on=opens_on,
        by_query=(*MOVED, *(f"docs/{name}" for name in docs_page.NAMES)),
        moved=MOVED,
    )
    if data:
        data.renew(db)
    db.prepare = partial(_make, site)
    RebuiltData(db).start()
    Thread(target=_warm, args=(site,), daemon=False).start()  # not cut off within a library's own code at exit
    launch = {
        "theme": theme(),
        "favicon_path": ICON_PNG,
        "i18n": gr.I18n(en=WORDS),
        "footer_links": ["gradio"],
        "ssr_mode": False,
        "enable_monitoring": False,  # Gradio would print its secret address to anyone
        "run_history": False,  # Gradio would keep what visitors ask in their browser
        "app_kwargs": {
            "openapi_url": None,  # it lists Gradio's own routes
            "routes": served,
            "middleware": [pages, Middleware(UnknownEvents, blocks=blocks)],
            "exception_handlers": ERRORS,
        },
    }
    mcp.Tools(endpoints.functions(suite_cache, live)).into(launch)
    answers = partial(
        Answers,
        page=partial(error_page, site=SITE, pages=page_titles(), bar=partial(site_bar, current=None), look=look),
        fetched=[route.path.split("/")[1] for route in served],
        frame_hosts=access.frame_hosts,
    )
    lifespan = guarded(launch["app_kwargs"]["lifespan"], lambda app: answers(ClientLimits(app, access=access)))
    launch["app_kwargs"]["lifespan"] = blocks.serve(lifespan)
    return blocks, launch


def guarded(lifespan: Lifespan, wrap: Callable[[ASGIApp], ASGIApp]) -> Lifespan:
    """Returns a `lifespan` that wraps the whole app, because Gradio puts its own middleware around the given one, which
    would answer some requests first.
    """

    @asynccontextmanager
    async def run(app: Starlette) -> AsyncIterator[Any]:
        app.middleware_stack = wrap(app.middleware_stack)
        async with lifespan(app) as state:
            yield state

    return run


def serve(blocks: gr.Blocks, launch: dict[str, Any]) -> None:
    """Serves the app until it is interrupted. `launch` is the result of `build`, with the address to listen on."""
    start(blocks, launch)
    print(f"* Running on local URL:  {blocks.local_url.rstrip('/')}", flush=True)
    Thread(target=return_freed_regularly, daemon=True).start()
    blocks.block_thread()


def start(blocks: gr.Blocks, launch: dict[str, Any]) -> None:
    """Serves the app in the background. Raises OSError if the port is taken."""
    blocks.launch(**launch, prevent_thread_lock=True, quiet=True)  # its lines advise to set share=True
    connections.bound(blocks.server)


def page_titles() -> list[tuple[str, str]]:
    """Returns the titles and keys of the pages that can be opened without choosing what to show."""
    return [(view.title, view.key) for view in VIEWS if view.listed]


def routes(site: Site) -> list[Route]:
    """Returns the routes that the browser fetches outside Gradio's events: static files, the search's index, and each
    page's data.
    """
    return [
        *static.routes(),
        site.table("search", lambda: search.index(site.suite_cache, pages=page_titles())),
        *backlinks.routes(site),
        *api.routes(site.db, endpoints.functions(site.suite_cache, site.live)),
        *(route for view in VIEWS for route in view.routes(site)),
    ]


def _warm(site: Site) -> None:
    """Prepares what the first visitors need, while nobody waits; a failure recurs when the result is needed."""
    time.sleep(WARM_AFTER)
    if not site.db.is_closed:
        POOL.start()
        _make(site)


def _make(site: Site) -> None:
    boards = [partial(site.suite_cache.board, suite) for suite in site.db.query("suites")["key"]]
    for make in (*boards, site.suite_cache.languages, static.warm, *site.ahead):
        if site.db.is_closed or not main_thread().is_alive():  # the app or the program ends
            return
        try:
            make()
        except Exception:
            log.exception("Something could not be prepared in advance")
