"""Gradio's page with what every page of the site carries: a head of its own, and the bar."""

from __future__ import annotations

import re
from collections.abc import Callable

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from leaderboard.face.addresses import public_root
from leaderboard.face.heads import Heads
from leaderboard.web.security.access import Access

BASE = "./"  # Gradio's own base address of every page: they all lie directly below the root
BODY = re.compile(r"<body[^>]*>")
# What Gradio says of itself, of every page alike. Its configuration, which comes first in a script, has no such text:
# signs of markup are escaped there.
GRADIO_OWN = re.compile(r"""\s*<meta\s+(?:property|name)="(?:og|twitter):[^>]*?/?>|\s*<title>[^<]*</title>""")
CHARSET = '<meta charset="utf-8" />'
HEAD_END = "</head>"


class Dress:
    """Puts the bar above Gradio's elements, so that it is there before any script has run, and names the page."""

    def __init__(self, heads: Heads, *, bar: Callable[..., Markup], access: Access) -> None:
        self.heads, self.bar, self.access = heads, bar, access

    async def dress(self, request: Request, key: str, page: str) -> str:
        """The page of the view with this key, dressed."""
        head, end, rest = page.partition(HEAD_END)
        body = BODY.search(rest)
        if not end or body is None:
            raise ValueError("Gradio's page has no head or no body: look at its template frontend/index.html")
        root = public_root(request.scope, self.access)
        described = await run_in_threadpool(self.heads.markup, key, request.url.query, root=root)
        start, charset, more = GRADIO_OWN.sub("", head).partition(CHARSET)
        named = f"{start}{charset}\n{described}{more}"
        return f"{named}{end}{rest[: body.end()]}{self.bar(BASE, current=key)}{rest[body.end() :]}"
