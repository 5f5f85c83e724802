"""The index of the search has everything, leads to what exists, and is small."""

from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from leaderboard.html import docs_page
from leaderboard.pages import VIEWS
from leaderboard.pages.about.page import body
from leaderboard.search import index as searched
from leaderboard.server import page_titles


@pytest.fixture(scope="module")
def entries(suite_cache):
    return searched.index(suite_cache, pages=page_titles())["entries"]


def test_every_entry_leads_to_a_page(entries, suite_cache):
    pages = {view.key for view in VIEWS} | {"./"} | {f"docs/{name}" for name in docs_page.NAMES}
    about = body(SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache, data=None))
    for entry in entries:
        kind, _, _, key, *_ = entry
        _, base = searched.KINDS[kind]
        parts = urlsplit(f"{base}{quote(key, safe='/:~')}" if base else key or "./")
        assert parts.path in pages and not parts.netloc, entry
        drawn = docs_page.markup(parts.path[5:]) if parts.path.startswith("docs/") else about
        assert not parts.fragment or f'id="{parts.fragment}"' in drawn, entry
        assert all(values[0] for values in parse_qs(parts.query, keep_blank_values=True).values()), entry
