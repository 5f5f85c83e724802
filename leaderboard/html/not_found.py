"""The page of an address that has none: the app's look without Gradio, and the ways on."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import PurePosixPath

from markupsafe import Markup

from leaderboard.html.templates import render

LONGEST = 80  # characters of an address that the page repeats


def not_found(path: str, *, site: str, pages: Sequence[tuple[str, str]], look: str) -> Markup:
    """The page for a path below the app's root. pages: titles and keys; look: the style sheet of all pages."""
    by_name = {name.lower(): (title, key) for title, key in pages for name in (title, key) if name}
    near = difflib.get_close_matches(PurePosixPath(path).name.lower()[:LONGEST], by_name, n=1, cutoff=0.6)
    return render(
        "html/not_found.html",
        path=path.strip("/")[:LONGEST],
        root="../" * path.lstrip("/").count("/") or "./",
        near=by_name[near[0]] if near else None,
        pages=pages,
        site=site,
        look=Markup(look),
    )
