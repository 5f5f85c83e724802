"""The index of the search has everything, leads to what exists, and is small."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from leaderboard.data import model_queries, suite_queries
from leaderboard.html import docs_page
from leaderboard.pages import VIEWS
from leaderboard.pages.about.page import body
from leaderboard.search import index as searched
from leaderboard.server import page_titles


@pytest.fixture(scope="module")
def entries(suite_cache):
    return searched.index(suite_cache, pages=page_titles())["entries"]


def test_everything_is_in_it_once(entries, suite_cache):
    db = suite_cache.db
    keys = lambda kind: [entry[3] for entry in entries if entry[0] == kind]  # noqa: E731
    assert sorted(keys(searched.PAGE)) == sorted(view.key for view in VIEWS if view.listed)
    assert sorted(keys(searched.MODEL)) == sorted(model_queries.models(db)["key"])
    assert sorted(keys(searched.TASK)) == sorted(db.query("tasks")["key"])
    assert sorted(keys(searched.SUITE)) == sorted(db.query("suites")["key"])
    defined = {f"about#metric-{key}" for key in suite_queries.metrics(db)["key"] if not key.endswith("_rank")}
    assert defined < set(keys(searched.DOC)) and len(set(keys(searched.DOC))) == len(keys(searched.DOC))
    assert len(set(keys(searched.LANGUAGE))) == len(keys(searched.LANGUAGE)) > 30


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


def test_spellings_of_the_papers_are_other_names(entries):
    own = next(entry for entry in entries if entry[3] == "openai/clip-vit-large-patch14-336")
    assert "CLIP ViT-L/14" in own[4] or own[1].startswith("CLIP ViT-L/14")


def test_the_claims_are_the_databases_with_the_headlines_marked(entries, suite_cache):
    claims = suite_cache.db.query("claims")
    keys = {entry[3]: entry for entry in entries if entry[0] == searched.CLAIM}
    assert set(keys) == set(claims["key"])
    headlines = {key for key, entry in keys.items() if entry[5]}
    assert headlines == set(claims[claims["severity"] == "headline"]["key"]) and headlines


def test_a_suite_counts_the_tasks_that_its_board_ranks_by(suite_cache):
    for suite in suite_cache.db.query("suites").itertuples():
        table = suite_cache.table(suite.key)
        people = table.suite["aggregate"] == "human"
        counting = {column.task for column in table.columns if column.ranked or people}
        assert suite.tasks == len(counting), suite.key
