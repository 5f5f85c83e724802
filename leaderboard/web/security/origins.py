"""Which requests come from the app's own pages or from programs, and which from other sites' pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.web.responses import refusal
from leaderboard.web.security.access import Access, host_name
from leaderboard.web.security.headers import SecurityHeaders

READING = frozenset({"GET", "HEAD"})
# What is read here also starts, continues or ends something of a visitor's. Searched anywhere in a path, since a
# proxy's root path may come first.
ACTING = re.compile(r"/gradio_api/+(mcp|queue|call|heartbeat|monitoring|dev)\b")
OWN = frozenset({"same-origin", "none"})  # Sec-Fetch-Site; none: the visitor typed the address
Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]


class HostCheck:
    """Refuses requests whose Host is none of the app's names: another name may have been made to lead here."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers 403."""
        if scope["type"] == "http":
            names = Headers(scope=scope).getlist("host")
            if len(names) != 1 or host_name(names[0]) not in self.hosts:
                name = (names or ["none"])[0][:80]
                sentence = (
                    f"This server does not answer under the name {name!r}. Open it as localhost, or start it with "
                    "LIKENESS_HOSTS set to its name"
                )
                await refusal(sentence, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class OriginCheck:
    """Refuses what a page of another site sends: anything but reading, and any use of Gradio's queue or of MCP.

    Programs send neither Origin nor Sec-Fetch-Site. Where such a page reads what anyone may read, its
    Origin is taken out of the request, so that Gradio does not permit it to see the answer.
    """

    def __init__(self, app: ASGIApp, *, named: frozenset[str] = frozenset()) -> None:
        self.app, self.named = app, named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers 403."""
        if scope["type"] == "http" and is_foreign(headers := Headers(scope=scope), named=self.named):
            acting = ACTING.search(scope["path"]) and headers.get("sec-fetch-mode") != "navigate"
            if scope["method"] not in READING or acting:
                sentence = "This was sent by a page of another site. Use this app's own pages, or a program"
                await refusal(sentence, 403)(scope, receive, send)
                return
            scope = {**scope, "headers": [*scope["headers"]]}
            del MutableHeaders(scope=scope)["origin"]
        await self.app(scope, receive, send)


def is_foreign(headers: Headers, *, named: frozenset[str] = frozenset()) -> bool:
    """Whether a page of another site sent a request, or a page whose site is hidden (Origin: null).

    Scripts cannot set any of the headers read here, but for x-forwarded-host, for which the browser asks first, and is
    refused. `named`: hosts that are the app's too.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin == "null":
        return True
    if site is not None:
        return site not in OWN
    if origin is None:
        return False
    host = origin.partition("://")[2].lower()
    seen = [headers.get("host", ""), *headers.get("x-forwarded-host", "").split(",")]
    return host_name(host) not in named and host not in [each.strip().lower() for each in seen]


def guarded(lifespan: Lifespan, access: Access, *, shown: Callable[[ASGIApp], ASGIApp] | None = None) -> Lifespan:
    """`lifespan` of an app which from then on refuses what `access` does not admit, and whose every answer has the
    headers. `shown` wraps what may refuse, to change how a refusal is shown.

    Gradio puts middleware of its own around what it is handed, which would answer some requests first; so the checks
    are wrapped around the whole once it is put together.
    """

    @asynccontextmanager
    async def run(app: Starlette) -> AsyncIterator[Any]:
        checked: ASGIApp = OriginCheck(app.middleware_stack, named=access.named)
        if access.hosts is not None:
            checked = HostCheck(checked, hosts=access.hosts)
        if shown is not None:
            checked = shown(checked)
        app.middleware_stack = SecurityHeaders(checked, frame_hosts=access.frame_hosts)
        async with lifespan(app) as state:
            yield state

    return run
