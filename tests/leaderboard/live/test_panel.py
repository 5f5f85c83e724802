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
    held = panel.calibrations()
    assert {"tiny", "ssim", "psnr", "efficientnet-lite0", "wordllama", "conse"} <= {
        one.model for one in held.references
    }
    drawn = [held.reference(model, "image-text", "drawn").separation for model in ("tiny", "tiny-random")]
    assert drawn[0] > 0.95 > 0.6 > drawn[1]
    assert all(one.synthetic == (one.domain == "drawn") for one in held.references)


def test_a_pair_of_a_program_comes_with_its_meaning(panel: Panel) -> None:
    hearts = [("example", "heart-left"), ("example", "heart-left-moved")]
    (same,) = panel.score(hearts, ["tiny"])
    (other,) = panel.score([hearts[0], ("text", "three green circles")], ["tiny"])
    assert same["reading"] == "as matching pairs" and same["percentile"] > other["percentile"]
    assert same["synthetic"] and same["calibrated_on"] and same["problem"] == "" and same["pairing"] == "image-image"
    assert same["no_percentile"] == "" and same["nearer_than_unrelated"] is None


def test_a_photograph_is_nothing_that_the_bundled_model_can_place(panel: Panel) -> None:
    (pair,) = panel.score([("example", "astronaut"), ("example", "coffee")], ["tiny"])
    assert (pair["percentile"], pair["reading"], pair["above_unrelated"]) == (None, "", None)
    assert pair["no_percentile"] == "outside what this model was calibrated on: drawn scenes"
    assert pair["score"] is not None and pair["nearer_than_unrelated"][1] == 7  # of 8, less the astronaut itself


def test_few_photographs_carry_no_percentile(panel: Panel) -> None:
    for pair in panel.score([("example", "cat"), ("example", "cat-face")], ["efficientnet-lite0", "ssim"]):
        assert pair["percentile"] is None and pair["nearer_than_unrelated"]
        assert pair["no_percentile"] == "calibrated on 14 photographs, and a percentile needs 40"


def test_a_fault_of_ours_is_a_sentence(
    panel: Panel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(panel.live, "read", lambda payload: 1 / 0)
    site = SimpleNamespace(panel=panel, db=panel.suite_cache.db, suite_cache=panel.suite_cache)
    ((markup, done),) = page.answered(site, {}, asking())
    assert "Something failed on the server" in markup and "division" not in markup and done is None
    assert "answered failed" in caplog.text
