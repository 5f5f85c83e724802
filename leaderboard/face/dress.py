"""Gradio's page with what every page of the site carries around its content."""

from __future__ import annotations

import re
from collections.abc import Callable

from markupsafe import Markup
from starlette.requests import Request

BODY = re.compile(r"<body[^>]*>")
BASE = "./"  # Gradio's own base address of every page: they all lie directly below the root


class Dress:
    """Puts the bar above Gradio's elements, so that it is there before any script has run."""

    def __init__(self, *, bar: Callable[..., Markup]) -> None:
        self.bar = bar

    async def dress(self, request: Request, key: str, page: str) -> str:
        """The page of the view with this key, dressed."""
        body = BODY.search(page)
        assert body
        return f"{page[: body.end()]}{self.bar(BASE, current=key)}{page[body.end() :]}"
