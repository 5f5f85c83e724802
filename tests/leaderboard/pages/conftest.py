"""What a page needs to draw itself, without a Gradio app."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import duckdb
import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache

NO_OWN = SimpleNamespace(own=())  # models of the host's own on the Try page


@pytest.fixture(scope="session")
def site(suite_cache):
    return SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache, data=None, live=NO_OWN)


@pytest.fixture(scope="session")
def papers_site(papers_cache):
    """The papers' figures alone."""
    return SimpleNamespace(db=papers_cache.db, suite_cache=papers_cache, data=None, live=NO_OWN)


@pytest.fixture(scope="session")
def stand_in_site(stand_in_suite_cache):
    return SimpleNamespace(db=stand_in_suite_cache.db, suite_cache=stand_in_suite_cache, data=None, live=NO_OWN)


HOSTILE = "<img src=x onerror=alert(1)>'\"&{{7*7}} "
NAMES = {
    "models": ("title", "organisation", "family", "license", "released"),
    "tasks": ("title", "category", "license", "notes", "split"),
    "datasets": ("title", "url", "citation"),
    "benchmarks": ("title", "bibtex"),
    "suites": ("title",),
    "metrics": ("title", "description"),
    "aliases": ("printed", "note"),
    "notes": ("note",),
    "runs": ("device", "dtype"),
}


@pytest.fixture(scope="session")
def hostile_site(stand_in_database, tmp_path_factory):
    """A site whose every name and text begins with markup."""
    path = tmp_path_factory.mktemp("hostile") / "likeness.duckdb"
    shutil.copy(stand_in_database, path)
    with duckdb.connect(path) as connection:
        for table, columns in NAMES.items():
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = ? || {column} WHERE {column} <> ''", [HOSTILE])
    db = Database(path)
    return SimpleNamespace(db=db, suite_cache=SuiteCache(db), live=NO_OWN)
