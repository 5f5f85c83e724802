"""The live part as pages and programs have it: rates, distributions, records, and faults as sentences."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live import live as module
from leaderboard.live.live import Live
from leaderboard.pages.try_it import page, perturb
from tests.compute.models.chat_server import running


def asking(address: str = "203.0.113.9") -> Request:
    return Request({"type": "http", "headers": [], "client": (address, 1)})


@pytest.fixture
def live(suite_cache, monkeypatch):
    monkeypatch.delenv("LIKENESS_RATE", raising=False)
    monkeypatch.delenv("SYSTEM", raising=False)
    return Live(partial(module.calibrations, suite_cache))


def test_no_limit_at_home_and_one_on_a_space(live, monkeypatch):
    assert live.rate is None and module.rate(files=module.FILES) is None
    for _ in range(100):
        live.admit(asking())
    monkeypatch.setenv("SYSTEM", "spaces")
    assert module.rate().a_minute == 20 and module.rate(files=module.FILES).a_minute == 80
    monkeypatch.setenv("LIKENESS_RATE", "0")
    assert module.rate() is None
    for wrong in ("many", "-1", "nan"):
        monkeypatch.setenv("LIKENESS_RATE", wrong)
        with pytest.raises(BadInput, match="LIKENESS_RATE is a number of requests a minute"):
            module.rate()


JUDGE = "gpt-4o-2024-11-20"


def comparing(**more: object) -> dict:
    inputs = [{"kind": "example", "key": key} for key in ("cat", "cat-face")]
    return {"session": "0123456789abcdef", "inputs": inputs, "mode": "pair", "models": ["ssim", JUDGE], **more}


@pytest.fixture
def endpoint(live, monkeypatch):
    """A stand-in for the host's endpoint, which counts what it is asked."""
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        yield server


def last(live: Live, suite_cache: SuiteCache, payload: dict) -> str:
    site = SimpleNamespace(live=live, db=suite_cache.db, suite_cache=suite_cache)
    return str([markup for markup, *_ in page.answered(site, payload, asking())][-1])


def test_a_press_asks_judges_once_in_each_order_and_nothing_else_does(live, suite_cache, endpoint):
    for pressed in (None, "true", 1):
        markup = last(live, suite_cache, comparing(pressed=pressed))
        assert "asked only when Compare is pressed" in markup and markup.count("cp-problem") == 1  # the other answers
    assert endpoint.requests() == 0
    (listed,) = [one for one in live.roster.plan(kinds=["image"] * 2)["models"] if one["key"] == JUDGE]
    assert "asked only when" not in last(live, suite_cache, comparing(pressed=True))
    last(live, suite_cache, comparing(pressed=False))  # the answer is there, so nobody is asked
    assert endpoint.requests() == listed["requests"] == 2


def test_judges_are_counted_with_and_without_a_rate(live, suite_cache, endpoint, monkeypatch):
    assert live.rate is None and live.judge_rate.a_minute == 30
    monkeypatch.setattr(module, "JUDGE_BURST", 2)
    live.judge_rate = module.rate(module.JUDGE_VARIABLE)
    pairs = [("cat", "cat-face"), ("cat", "coffee"), ("cat", "rocket")]
    markups = [
        last(live, suite_cache, comparing(pressed=True) | {"inputs": [{"kind": "example", "key": key} for key in pair]})
        for pair in pairs
    ]
    assert ["limited number of questions a minute" in markup for markup in markups] == [False, False, True]
    (record,) = live.score([("example", "cat"), ("example", "heart-left")], [JUDGE], asking())
    assert "limited number of questions a minute" in record["problem"] and endpoint.requests() == 4
    monkeypatch.setenv("LIKENESS_JUDGE_RATE", "0")
    assert module.rate(module.JUDGE_VARIABLE) is None


def test_curves_and_ready_comparisons_ask_no_judge(live, endpoint):
    question, rows = live.read(comparing(pressed=True))
    curves = live.curves(question.inputs[0], None, rows[1:], kind="rotate")
    assert [curve for _, curve in curves] == [
        "It answers in words through the host's endpoint, which is asked in comparisons only"
    ]
    assert "asked only when" in next(live.answers(question, rows[1:], cache={})).problem
    assert endpoint.requests() == 0


def test_the_playground_asks_a_judge_by_a_press_alone_in_both_orders(live, suite_cache, endpoint):
    site = SimpleNamespace(live=live, db=suite_cache.db, suite_cache=suite_cache)
    fields = {"view": {"image": 0, "by": "rotate", "amount": 45.0}, "judge": JUDGE}
    ask = partial(perturb.asked, site, comparing(models=[JUDGE]), asking(), keys=[JUDGE], turn=1)
    with pytest.raises(BadInput, match="press Ask the judges"):
        ask(fields=fields | {"pressed": False})
    for _ in range(2):
        markup, facts = ask(fields=fields | {"pressed": True})
        assert "not asked yet" not in str(markup) and json.loads(facts)["turn"] == 1
    assert endpoint.requests() == 4, "both orders under both conditions, once"
