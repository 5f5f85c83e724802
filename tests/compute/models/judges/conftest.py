"""A stand-in at the endpoint that the environment names, and answers in a folder of the test's own."""

import pytest

from tests.compute.models.chat_server import running


@pytest.fixture(autouse=True)
def answers(tmp_path, monkeypatch):
    """Where answers are stored; openai's client waits only briefly before it asks again."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    return tmp_path / "answers"


@pytest.fixture
def server(monkeypatch):
    for name in ("LIKENESS_ENDPOINT_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        yield server
