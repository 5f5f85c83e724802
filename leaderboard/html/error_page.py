"""The page shown instead of an answer on an error: in the app's style without Gradio, and with links to continue."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from markupsafe import Markup

from leaderboard.html.templates import render

LONGEST = 80  # characters of an address that the page repeats
DEEPEST = 50  # folders that a link climbs; nobody writes a deeper address, and its links lead to the host's own root
HEADINGS = {403: "Not allowed", 404: "Page not found", 414: "Address too long", 429: "Too many requests"}


def error_page(
    path: str,
    status: int,
    sentence: str,
    *,
    site: str,
    pages: Sequence[tuple[str, str]],
    bar: Callable[[str], Markup],
    look: str,
) -> Markup:
    """Returns the page for a path below the app's root that is answered with an error status.

    An empty sentence stands for an address that leads nowhere, and the page offers the nearest. pages: titles and keys;
    bar: the bar above every page, for the address of the app's root; look: the style sheet of all pages.
    """
    by_name = {name.lower(): (title, key) for title, key in pages for name in (title, key) if name}
    near = difflib.get_close_matches(PurePosixPath(path).name.lower()[:LONGEST], by_name, n=1, cutoff=0.6)
    depth = path.lstrip("/").count("/")
    root = "/" if depth > DEEPEST else "../" * depth or "./"
    return render(
        "html/error_page.html",
        heading=HEADINGS.get(status, "The server failed" if status >= 500 else "This address cannot be opened"),
        sentence=sentence.rstrip(".") + "." if sentence else "",
        path=path.strip("/")[:LONGEST],
        root=root,
        near=by_name[near[0]] if near else None,
        bar=bar(root),
        site=site,
        look=Markup(look),
    )
