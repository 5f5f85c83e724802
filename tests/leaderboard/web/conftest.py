"""The whole app, launched once for each file of tests that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.leaderboard.web.launched import Served, launched


@pytest.fixture(scope="module")
def app(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The whole app on the shipped figures."""
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        blocks, launch = server.build(database)
        yield from launched(blocks, launch, tmp_path_factory.mktemp("app"))
