"""A small world to run in, new for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compute.engine.run import Outcome
from tests.compute.small_bench import World, executed


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(folder=tmp_path)


@pytest.fixture
def execute(world: World) -> Callable[..., list[Outcome]]:
    return lambda *models, **given: executed(world, *models, **given)
