"""The live part as pages and programs have it: rates, distributions, records, and faults as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live import panel as module
from leaderboard.live.live import TooMany
from leaderboard.live.panel import Panel
from leaderboard.pages.compare import page
from tests.compute.models.chat_server import Running, running


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


JUDGE = "gpt-4o-2024-11-20"


def comparing(**more: object) -> dict:
    inputs = [{"kind": "example", "key": key} for key in ("cat", "cat-face")]
    return {"session": "0123456789abcdef", "inputs": inputs, "mode": "pair", "models": ["ssim", JUDGE], **more}


@pytest.fixture
def endpoint(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A stand-in for the host's endpoint, which counts what it is asked."""
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        yield server


def last(panel: Panel, payload: dict) -> str:
    site = SimpleNamespace(panel=panel, db=panel.suite_cache.db, suite_cache=panel.suite_cache)
    return str([markup for markup, _ in page.answered(site, payload, asking())][-1])


@pytest.mark.parametrize("pressed", [None, False, "true", 1])
def test_no_judge_is_asked_without_a_press(panel: Panel, endpoint: Running, pressed: object) -> None:
    markup = last(panel, comparing(pressed=pressed))
    assert "asked only when Compare is pressed" in markup and markup.count("cp-problem") == 1  # the other answers
    assert endpoint.requests() == 0


def test_a_press_asks_them_once_in_each_order(panel: Panel, endpoint: Running) -> None:
    (listed,) = [one for one in panel.live.roster.plan(kinds=["image"] * 2)["models"] if one["key"] == JUDGE]
    assert "asked only when" not in last(panel, comparing(pressed=True))
    assert endpoint.requests() == listed["requests"] == 2
    last(panel, comparing(pressed=False))  # the answer is there, so nobody is asked
    assert endpoint.requests() == 2


def test_judges_are_counted_with_and_without_a_rate(
    panel: Panel, endpoint: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert panel.rate is None and panel.judge_rate.a_minute == 30
    monkeypatch.setattr(module, "JUDGE_BURST", 2)
    panel.judge_rate = module.judge_rate()
    pairs = [("cat", "cat-face"), ("cat", "coffee"), ("cat", "rocket")]
    markups = [
        last(panel, comparing(pressed=True) | {"inputs": [{"kind": "example", "key": key} for key in pair]})
        for pair in pairs
    ]
    assert ["limited number of questions a minute" in markup for markup in markups] == [False, False, True]
    (record,) = panel.score([("example", "cat"), ("example", "heart-left")], [JUDGE], asking())
    assert "limited number of questions a minute" in record["problem"] and endpoint.requests() == 4
    monkeypatch.setenv("LIKENESS_JUDGE_RATE", "0")
    assert module.judge_rate() is None
    monkeypatch.setenv("LIKENESS_JUDGE_RATE", "often")
    with pytest.raises(BadInput, match="LIKENESS_JUDGE_RATE is a number"):
        module.judge_rate()


def test_curves_and_ready_comparisons_ask_no_judge(panel: Panel, endpoint: Running) -> None:
    question, rows = panel.live.read(comparing(pressed=True))
    curves = panel.live.curves(
        question.inputs[0], None, rows[1:], kind="rotate", calibrations=panel.calibrations(), session=""
    )
    assert [curve for _, curve in curves] == [
        "It answers in words through the host's endpoint, which is asked in comparisons only"
    ]
    assert "asked only when" in panel.ask(question, rows[1]).answer.problem
    assert endpoint.requests() == 0
