"""What a page needs to draw itself, without a Gradio app."""

from types import SimpleNamespace

import pytest

from tests.leaderboard.served import client as client_of

NO_OWN = SimpleNamespace(own=())  # models of the host's own on the Try page


@pytest.fixture(scope="session")
def site(suite_cache):
    return SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache, data=None, live=NO_OWN)


@pytest.fixture(scope="session")
def client(suite_cache):
    return client_of(suite_cache, raises=False)
