"""The page of judges, where its database holds pairs: examples, hostile replies, a judge of another suite."""

from __future__ import annotations

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.judges.page import page


def drawn(judging: SuiteCache, **choice: str) -> tuple[str, str]:
    return page(judging, **{"suite": "pairbench", "splits": "all", "judge": ""} | choice)


def test_a_judge_with_pairs_in_detail(judging):
    head, detail = drawn(judging, suite="mini-pairs", judge="example/leaning")
    assert "synthetic" in head and "Significantly better than every other judge." in head
    assert detail.count('class="jd-bars"') == 6 and detail.count("<img ") == 24
    assert "Pairs whose order mattered" in detail and "Refused" in detail
    _, steady = drawn(judging, suite="mini-pairs", judge="example/steady")
    assert "None: every pair with two scores got the same score in both orders." in steady
    assert "<img src=x" not in detail and "&lt;img src=x onerror=" in detail


def test_a_judge_of_another_suite_is_shown_there(judging):
    _, detail = drawn(judging, judge="example/eye")
    assert "Example Eye on Mini pairs" in detail and "It has no score in PairBench" in detail
