"""A small world to run in, new for each test."""

import pytest

from tests.compute.small_bench import World, executed


@pytest.fixture
def world(tmp_path):
    return World(folder=tmp_path)


@pytest.fixture
def execute(world):
    return lambda *models, **given: executed(world, *models, **given)
