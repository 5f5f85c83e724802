"""The bar above every page: which entry each page is under, and its markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from leaderboard.html.templates import FOLDER, macros
from leaderboard.page import BAR, View

SCRIPTS = ("js/bar.js", "search/search.js")
FONTS = "face/fonts"
DOCS = "docs/quickstart"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of the bar: a link where it has one page, a list of links where it has several."""

    title: str
    pages: tuple[tuple[str, str], ...]  # (title, key)
    inside: frozenset[str]  # keys of all pages that are under it, listed or not


def entries(views: Sequence[View]) -> tuple[Entry, ...]:
    """The entries that have pages, each with its pages in the order of `views`; Docs begins with the documentation."""
    below = {title: [view for view in views if view.group == title] for title in BAR}
    return tuple(
        Entry(
            title=title,
            pages=(("Documentation", DOCS),) * (title == "Docs")
            + tuple((view.title, view.key) for view in inside if view.listed),
            inside=frozenset((*(view.key for view in inside), *([DOCS] if title == "Docs" else []))),
        )
        for title, inside in below.items()
        if inside
    )


def bar(shown: Sequence[Entry], root: str, *, current: str | None, assets: str) -> Markup:
    """The bar on the page with the key `current`, None for a page that is not in it.

    `root`: the address of the app's root, relative to the page; `assets`: that of the scripts' folders, below the root.
    """
    parts = macros("html/bar.html")
    scripts = [f"{root}{assets}{script}" for script in SCRIPTS]
    return (
        parts.early() + parts.typeface(f"{root}{assets}{FONTS}/") + style() + parts.bar(shown, current, root, scripts)
    )


@cache
def style() -> Markup:
    """The bar's style sheet in its own element."""
    return Markup("<style>{}</style>").format(Markup((FOLDER / "html" / "bar.css").read_text()))
