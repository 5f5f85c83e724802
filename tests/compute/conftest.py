"""What a command sets for its whole process is taken back after each test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

SET = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS", "OMP_WAIT_POLICY")


@pytest.fixture(autouse=True, scope="session")
def own_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Digests of the tests' files are noted in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKENESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """The environment and the hub library's own switch, as they were."""
    from huggingface_hub import constants

    before, offline = {name: os.environ.get(name) for name in SET}, constants.HF_HUB_OFFLINE
    yield
    constants.HF_HUB_OFFLINE = offline
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
