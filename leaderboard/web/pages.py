"""The pages that a browser opens, each rendered once; the headers of every answer, and how people see an error.

Also which scripts a page may run: the Content-Security-Policy names those that it is sent with.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from urllib.parse import urlencode

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compute.types import LikenessError
from leaderboard.web.access import HUB, Access, public_root
from leaderboard.web.responses import (
    JSON,
    NO_STORE,
    compress,
    refusal,
    respond,
    retry_after_of,
    sentence_of,
    takes_brotli,
)

CSP = "content-security-policy"
SCRIPT = re.compile(rb"<script((?:\s[^>]*)?)>(.*?)</script", re.DOTALL | re.IGNORECASE)
SOURCE = re.compile(rb"\ssrc\s*=", re.IGNORECASE)
DENIED = ("camera", "microphone", "geolocation", "payment", "usb", "serial", "midi", "display-capture")
FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # links to other sites do not tell what was compared
    "permissions-policy": ", ".join(f"{feature}=()" for feature in DENIED),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PROGRAMS = ("/api/v1/", "/badge/", "/embed.js")  # what is read there, any site may load and its scripts read
OPEN = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag, retry-after, x-likeness-data, x-likeness-truncated",
    "cross-origin-resource-policy": "cross-origin",
}
UNEXPLAINED = "The server could not answer this. Check the address, or try again"
GRADIO_FETCHES = frozenset(
    {"gradio_api", "assets", "static", "svelte", "config", "theme.css", "manifest.json", "login", "monitoring"}
)
PLACE = "likeness.invalid"  # the host that Gradio renders a page for, once for all hosts
ORIGIN = f"http://{PLACE}"
# Gradio asks it whose Space this is. The second is where the hub's pictures of people lie.
HUB_SOURCES = f"'self' {HUB} https://cdn-avatars.huggingface.co"
MOST_RENDERED, MOST_STORED = 8_000_000, 16_000_000  # bytes of Gradio's pages, and of those that are ready to send


def policy(*, frame_hosts: Sequence[str] = (), scripts: Iterable[str] = ()) -> str:
    """Returns the Content-Security-Policy. `scripts`: hashes of the page's inline scripts.

    Gradio needs two exceptions: its components' templates are compiled in the browser ('unsafe-eval'), and both it and
    our own markup set styles inline. Scripts in markup that is added later, event handlers in attributes and addresses
    that begin with javascript: stay forbidden. Where the hub frames the app, on a Space, Gradio may ask it who the
    owner is.
    """
    sources = HUB_SOURCES if HUB in frame_hosts else "'self'"
    directives = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", "'unsafe-eval'", *scripts)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": f"{sources} data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' blob:",
        "connect-src": sources,
        "worker-src": "'self' blob:",
        "frame-src": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(("'self'", *frame_hosts)),
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def script_hashes(page: bytes) -> list[str]:
    """Returns the inline scripts of a page as sources of a policy, in order."""
    digests = (
        hashlib.sha256(content.replace(b"\r\n", b"\n")).digest()
        for attributes, content in SCRIPT.findall(page)
        if not SOURCE.search(attributes)
    )
    return list(dict.fromkeys(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests))


class Pages:
    """Answers Gradio's pages and its configuration, each rendered once, and completed once for an address, a host and
    a version of the database.

    `keys` are the pages' keys. `complete` completes the markup of the page with a key for a request, and says whether
    that is all, or what took too long is missing: then the next request completes it again. A visitor who types the
    app's own address is sent to the page `opens_on`, an address below its root; links of the app's own to its front
    page lead there. At the root, `?page=board&...` leads to that page, or another address in `by_query`: the Hub passes
    a Space the query alone. `state` holds the version of the data that the address of the request names, and
    `check_state` raises a LikenessError for one that cannot be read. `moved`: by path, the page that it leads to with
    its query, and the parameters of which it must have one, if any.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Collection[str],
        complete: Callable[[Request, str, str], Awaitable[tuple[str, bool]]],
        version: Callable[[], str] = str,
        state: ContextVar[str] | None = None,
        check_state: Callable[[str], None] = lambda data: None,
        access: Access = Access(),  # noqa: B008 (frozen)
        opens_on: str = "",
        by_query: Collection[str] = (),
        moved: Mapping[str, tuple[str, Collection[str]]] = {},  # noqa: B006 (never changed)
    ) -> None:
        self.app, self.keys, self.complete, self.version = app, keys, complete, version
        self.state, self.check_state = state, check_state
        self.access, self.opens_on = access, opens_on
        self.by_query = (frozenset(self.keys) | frozenset(by_query)) - {""}
        self.moved = moved
        self._rendered: LRUCache = LRUCache(MOST_RENDERED, getsizeof=len)
        self._stored: LRUCache = LRUCache(MOST_STORED, getsizeof=lambda page: len(page[0]) + len(page[1]))
        self._rendering = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request for a page, and passes others on."""
        if self.state and scope["type"] == "http" and (data := Request(scope).query_params.get("data")):
            try:
                await run_in_threadpool(self.check_state, data)
            except LikenessError as error:
                await refusal(str(error), 404)(scope, receive, send)
                return
            self.state.set(data)
        key = below_root(scope)[1:] if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else "/"
        key = "config" if key == "config/" else key
        if key != "config" and key not in self.keys and key not in self.moved:
            await self.app(scope, receive, send)
            return
        answer: ASGIApp
        typed = key == "" and not scope["query_string"] and Headers(scope=scope).get("sec-fetch-site") == "none"
        request = Request(scope)
        named = request.query_params.get("page", "") if key == "" else ""
        root, (leads_to, only_with) = scope.get("root_path", "").rstrip("/"), self.moved.get(key, ("", ()))
        if named in self.by_query or (self.opens_on and typed):
            rest = "&".join(part for part in request.url.query.split("&") if not part.startswith("page="))
            leads_to = f"{named}{'?' * bool(rest)}{rest}" if named in self.by_query else self.opens_on
            answer = RedirectResponse(f"{root}/{leads_to}", headers={"cache-control": NO_STORE})
        elif leads_to and (not only_with or not request.query_params.keys().isdisjoint(only_with)):
            joint = "&" if "?" in leads_to else "?"
            answer = RedirectResponse(f"{root}/{leads_to}{joint}{request.url.query}".rstrip("?&"), 301)
        else:
            answer = await self._answer(request, key)
        await answer(scope, receive, send)

    async def _answer(self, request: Request, key: str) -> Response:
        about = request.query_params.get("page")
        # Gradio takes `page` for the name of a page, and fails on an unknown one; and deep_link for a file's.
        query = urlencode({"page": about}).encode() if key == "config" and about in self.keys else b""
        root, headers = public_root(request.scope, self.access)
        name = (key, query if key == "config" else request.url.query, self.version(), root)
        made = self._stored.get(name)
        if made is None:
            page = await self._page(request, key, query)
            if isinstance(page, Response):
                return page
            origin = "/".join(root.split("/")[:3]) or ORIGIN
            page, is_whole = page.replace(ORIGIN.encode(), origin.encode()), True
            if key != "config":
                markup, is_whole = await self.complete(request, key, page.decode())
                page = markup.encode()
            own_policy = policy(frame_hosts=self.access.frame_hosts, scripts=script_hashes(page))
            made = page, await run_in_threadpool(compress, page), own_policy
            if is_whole:
                self._stored[name] = made
            else:
                headers["cache-control"] = NO_STORE
        plain, packed, own_policy = made
        media, packs = JSON if key == "config" else "text/html; charset=utf-8", takes_brotli(request)
        content = packed if packs else plain
        answer = respond(request, content, media=media, cache="", compressed=packs)
        answer.headers.update({**headers, "vary": ", ".join(filter(None, ("accept-encoding", headers.get("vary"))))})
        if key != "config":
            answer.headers[CSP] = own_policy  # of 304 too, whose headers a browser takes over
        return answer

    async def _page(self, request: Request, key: str, query: bytes) -> Response | bytes:
        """Returns a page as Gradio renders it, once, or Gradio's answer if it is not a page."""
        async with self._rendering:  # of many who ask at once, one renders
            if (key, query) not in self._rendered:
                # No other header: Gradio follows x-gradio-server and others, and everybody gets this page.
                plain = {"method": "GET", "scheme": "http", "headers": [(b"host", PLACE.encode())]}
                scope = {**request.scope, **plain, "query_string": query}
                status, start, body = await _whole(self.app, scope)
                if status != 200:
                    return Response(body, status, media_type=start.get("content-type"))
                self._rendered[key, query] = body
            return self._rendered[key, query]


async def _whole(app: ASGIApp, scope: Scope) -> tuple[int, Headers, bytes]:
    """Returns status, headers and body of the answer to a request without a body."""
    start: Message = {}
    body = bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
        else:
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    return start["status"], Headers(raw=start["headers"]), bytes(body)


class Answers:
    """The outermost layer: adds the security headers to every answer, and shows errors in a form for their reader.

    A person who opened an address is shown a page where the answer is an error; programs and scripts get the JSON. An
    address that leads nowhere is a page for everyone, except below `fetched`: first parts of paths that only scripts
    and programs use. `page` makes the markup for a path below the app's root, a status and a sentence, which is empty
    if nothing is there.
    """

    def __init__(
        self,
        app: ASGIApp,
        page: Callable[[str, int, str], str],
        *,
        fetched: Collection[str] = (),
        frame_hosts: Sequence[str] = (),
    ) -> None:
        self.app, self.page, self.frame_hosts = app, page, tuple(frame_hosts)
        self.fetched = frozenset(fetched) | GRADIO_FETCHES
        self.headers = FIXED | {CSP: policy(frame_hosts=frame_hosts)}
        if not frame_hosts:  # for old browsers; it cannot list hosts, so if there are some the policy alone says
            self.headers["x-frame-options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on and completes its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), below_root(scope)
        reads = scope["method"] in ("GET", "HEAD")
        reads_pages = reads and "text/html" in headers.get("accept", "")
        fixed = {**self.headers, **(OPEN if reads and path.startswith(PROGRAMS) else {})}
        replaced: Message | None = None
        change: Callable[[Message, bytes], Response] | None = None
        body = bytearray()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in fixed.items():
                    own.setdefault(name, value)
            await send(message)

        def reader(start: Message) -> Callable[[Message, bytes], Response] | None:
            """Returns a function that replaces the whole of this answer by another."""
            own, status = Headers(raw=start["headers"]), start["status"]
            is_page = own.get("content-type", "").startswith("text/html")
            nowhere = status == 404 and path.split("/")[1] not in self.fetched
            if reads and status >= 400 and (nowhere or (reads_pages and not is_page)):
                return partial(self._shown, path=path)
            return self._hashed if is_page and scope["method"] == "GET" and CSP not in own else None

        async def watch(message: Message) -> None:
            nonlocal replaced, change
            if message["type"] == "http.response.start" and (change := reader(message)):
                replaced = message
            elif replaced is None or message["type"] != "http.response.body":
                await send_with_headers(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    answer = change(replaced, bytes(body))
                    await answer(scope, receive, send_with_headers)

        await self.app(scope, receive, watch)

    def _hashed(self, start: Message, body: bytes) -> Response:
        answer = Response(body, start["status"])
        kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        answer.raw_headers = [*kept, (b"content-length", str(len(body)).encode())]
        answer.headers[CSP] = policy(frame_hosts=self.frame_hosts, scripts=script_hashes(body))
        return answer

    def _shown(self, start: Message, body: bytes, *, path: str) -> Response:
        status = start["status"]
        markup = self.page(path, status, sentence_of(body) or ("" if status == 404 else UNEXPLAINED))
        own = policy(frame_hosts=self.frame_hosts, scripts=script_hashes(markup.encode()))
        return HTMLResponse(markup, status, headers={**retry_after_of(start), "vary": "accept", CSP: own})


def below_root(scope: Scope) -> str:
    """Returns the path without the prefix under which a proxy serves the app; it begins with a slash."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    return "/" + (path[len(root) :] if path.startswith(f"{root}/") else path).lstrip("/")
