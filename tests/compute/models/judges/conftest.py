"""openai's client waits only briefly before it asks again."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def brief_waits(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
