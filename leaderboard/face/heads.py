"""What a page's head tells browsers, search engines and the sites where its address is shared."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlencode

from markupsafe import Markup

from compute.types import LikenessError, shortened
from leaderboard.html.templates import render
from leaderboard.page import SITE, Described, Site, View

LONGEST_QUERY = 2000  # characters of a query that are read; a longer one names no view
MOST_PARAMETERS = 60
LONGEST_TITLE = 110  # characters
LONGEST_SENTENCE = 300
PICTURES = "share"  # the folder of the addresses of share pictures
FIRST = "overview"  # the name of the first page's picture, whose key is empty
log = logging.getLogger(__name__)


class Heads:
    """The descriptions of the site's views, and the markup of their heads."""

    def __init__(self, site: Site, views: Sequence[View]) -> None:
        self.site = site
        self.views = {view.key: view for view in views}

    def describe(self, key: str, query: str) -> Described:
        """What the view with this key shows under a query string: the page's own words where the query names nothing.

        `key` is one of a view's. It reads the database, so it is nothing for the event loop.
        """
        view = self.views[key]
        with self.site.db.snapshot():
            described = self._describe(view, _parameters(query)) or self._describe(view, {})
        if described is None:
            described = Described(title=view.title if key else SITE, sentence=view.sentence)
        return replace(
            described,
            title=shortened(described.title, LONGEST_TITLE),
            sentence=shortened(described.sentence, LONGEST_SENTENCE),
        )

    def _describe(self, view: View, query: Mapping[str, str]) -> Described | None:
        try:
            return view.describe(self.site, query)
        except LikenessError:
            return None  # the page says what is wrong with the address
        except Exception:
            log.exception("A view of the page %r could not be described", view.key)
            return None

    def markup(self, key: str, query: str, *, root: str) -> Markup:
        """The elements of the head of a page. `root`: the app's whole address, or empty."""
        described = self.describe(key, query)
        return render(
            "html/head.html",
            site=SITE,
            title=described.title if described.title == SITE else f"{described.title} · {SITE}",
            described=described,
            address=root and root + address(key, described.query),
            picture=root and root + picture_address(key, described.query),
        )


def address(key: str, query: Sequence[tuple[str, str]]) -> str:
    """The address of a view below the app's root."""
    return key + (f"?{urlencode(query, quote_via=quote, safe='/:~')}" if query else "")


def picture_address(key: str, query: Sequence[tuple[str, str]]) -> str:
    """The address of a view's share picture below the app's root."""
    return address(f"{PICTURES}/{key or FIRST}.png", query)


def _parameters(query: str) -> Mapping[str, str]:
    if len(query) > LONGEST_QUERY:
        return {}
    try:
        return dict(parse_qsl(query, max_num_fields=MOST_PARAMETERS))
    except ValueError:
        return {}
