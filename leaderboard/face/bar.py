"""The bar above every page: the entry of each page, and its markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup

from leaderboard.html.templates import FOLDER, macros
from leaderboard.page import BAR, View

SCRIPTS = ("js/bar.js", "search/search.js")
FONTS = "face/fonts"
DOCS = "docs/quickstart"


def entries(views: Sequence[View]) -> list[dict[str, Any]]:
    """Returns the bar's entries that have pages: `title`, `pages` as (title, key) in the order of `views`, and
    `inside`, the keys of all pages below it, listed or not. Docs begins with the documentation.
    """
    below = {title: [view for view in views if view.group == title] for title in BAR}
    docs = {"Docs": [("Documentation", DOCS)]}
    return [
        {
            "title": title,
            "pages": docs.get(title, []) + [(view.title, view.key) for view in inside if view.listed],
            "inside": {key for _, key in docs.get(title, [])} | {view.key for view in inside},
        }
        for title, inside in below.items()
        if inside
    ]


def bar(shown: Sequence[Mapping[str, Any]], root: str, *, current: str | None, assets: str) -> Markup:
    """Returns the bar on the page with the key `current`, None for a page that is not in it.

    `root`: the address of the app's root, relative to the page; `assets`: that of the scripts' folders, below the root.
    """
    parts = macros("html/bar.html")
    scripts = [f"{root}{assets}{script}" for script in SCRIPTS]
    return (
        parts.early() + parts.typeface(f"{root}{assets}{FONTS}/") + style() + parts.bar(shown, current, root, scripts)
    )


@cache
def style() -> Markup:
    """Returns the bar's style sheet in its own element."""
    return Markup("<style>{}</style>").format(Markup((FOLDER / "html" / "bar.css").read_text()))
