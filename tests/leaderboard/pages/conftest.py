"""What a page needs to draw itself, without a Gradio app."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from leaderboard.data.suite_cache import SuiteCache


@pytest.fixture(scope="session")
def site(suite_cache: SuiteCache) -> SimpleNamespace:
    return SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache, data=None)


@pytest.fixture(scope="session")
def stand_in_site(stand_in_suite_cache: SuiteCache) -> SimpleNamespace:
    return SimpleNamespace(db=stand_in_suite_cache.db, suite_cache=stand_in_suite_cache, data=None)
