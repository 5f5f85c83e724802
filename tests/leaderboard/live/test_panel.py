"""The live part as pages and programs have it: rates, distributions, records, and faults as sentences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.requests import Request

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live import panel as module
from leaderboard.live.panel import Panel, TooMany
from leaderboard.pages.compare import page


def asking(address: str = "203.0.113.9") -> Request:
    return Request({"type": "http", "headers": [], "client": (address, 1)})


@pytest.fixture
def panel(suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch) -> Panel:
    monkeypatch.delenv("LIKENESS_RATE", raising=False)
    monkeypatch.delenv("SYSTEM", raising=False)
    return Panel(suite_cache)


def test_no_limit_at_home_and_one_on_a_space(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert panel.rate is None and module.uploads_rate() is None
    for _ in range(100):
        panel.admit(asking())
    monkeypatch.setenv("SYSTEM", "spaces")
    assert module.rate().a_minute == 20 and module.uploads_rate().a_minute == 80
    monkeypatch.setenv("LIKENESS_RATE", "0")
    assert module.rate() is None
    for wrong in ("many", "-1", "nan", "inf"):
        monkeypatch.setenv("LIKENESS_RATE", wrong)
        with pytest.raises(BadInput, match="LIKENESS_RATE is a number of requests a minute"):
            module.rate()


def test_a_visitor_who_asks_too_often_is_told_when_to_come_back(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKENESS_RATE", "30")
    panel.rate = module.rate()
    for _ in range(module.BURST):
        panel.admit(asking())
    with pytest.raises(TooMany, match="Try again in [12] second"):
        panel.admit(asking())
    panel.admit(asking("203.0.113.10"))  # another one is not held back
    site = SimpleNamespace(panel=panel, db=panel.suite_cache.db, suite_cache=panel.suite_cache)
    ((markup, done),) = page.answered(site, {}, asking())
    assert "You have sent many questions" in markup and done is None


def test_the_shipped_distributions_are_read(panel: Panel) -> None:
    held = panel.references()
    assert {"tiny", "ssim", "psnr"} <= {model for model, _ in held}
    assert held["tiny", "image-text"].separation > 0.95 > 0.6 > held["tiny-random", "image-text"].separation
    assert all(reference.synthetic for reference in held.values())


def test_a_pair_of_a_program_comes_with_its_meaning(panel: Panel) -> None:
    (same,) = panel.score([("example", "cat"), ("example", "cat")], ["tiny"])
    (other,) = panel.score([("example", "cat"), ("example", "galaxies")], ["tiny"])
    assert same["reading"] == "as matching pairs" and same["percentile"] > other["percentile"]
    assert same["synthetic"] and same["calibrated_on"] and same["problem"] == "" and same["pairing"] == "image-image"


def test_a_fault_of_ours_is_a_sentence(
    panel: Panel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(panel.live, "read", lambda payload: 1 / 0)
    site = SimpleNamespace(panel=panel, db=panel.suite_cache.db, suite_cache=panel.suite_cache)
    ((markup, done),) = page.answered(site, {}, asking())
    assert "Something failed on the server" in markup and "division" not in markup and done is None
    assert "answered failed" in caplog.text
