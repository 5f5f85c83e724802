"""The page of judges can be drawn for every suite and judge, and says what it does not know."""

from __future__ import annotations

import re
from html import unescape

from leaderboard.pages.judges.page import Judging, page


def drawn(judging: Judging, **choice: str) -> tuple[str, str]:
    return page(judging, **{"suite": "pairbench", "splits": "all", "judge": ""} | choice)


def test_the_published_tables(judging: Judging) -> None:
    head, detail = drawn(judging)
    assert "no judge leads all four metrics" in head and "over the splits" in head
    assert "Unknown whether significant" not in head
    assert "Gemini 1.5 Flash on PairBench" in detail and "Only this judge's tables are published" in detail
    assert "--data pairs.parquet --models gemini-1.5-flash" in detail and "<figure>" not in detail
    assert detail.count("pairbench/") == 24 and "thumbnails/" not in detail


def test_the_answer_names_the_most_symmetric_judge_and_the_next(judging: Judging) -> None:
    head, _ = drawn(judging)
    answer = re.search(r'<ul class="pg-list jd-leads">(.*?)</ul>', head, re.DOTALL)[1]
    text = " ".join(unescape(re.sub("<[^>]+>", "", answer)).split())
    symmetric = sorted(
        (row.values["relax_sym"].value, row.title, row.model)
        for row in judging.compare("pairbench", "all").rows
        if row.complete and "relax_sym" in row.values
    )
    (second, rival, rival_key), (first, leader, _) = symmetric[-2:]
    assert f"{leader} is the most symmetric: 1-RelaxSym {100 * first:.2f}%; next is {rival} with" in text
    assert f"with {100 * second:.2f}% (10 judges)." in text and f"judge={rival_key}&amp;suite=pairbench" in answer
    assert head.index("jd-leads") < head.index("jd-panels") < head.index("Spearman's correlation over judges")


def test_a_judge_with_pairs_in_detail(judging: Judging) -> None:
    head, detail = drawn(judging, suite="mini-pairs", judge="example/leaning")
    assert "synthetic" in head and "Significantly better than every other judge." in head
    assert detail.count('class="jd-bars"') == 6 and detail.count("<img ") == 24
    assert "Pairs whose order mattered" in detail and "Refused" in detail
    _, steady = drawn(judging, suite="mini-pairs", judge="example/steady")
    assert "None: every pair with two scores got the same score in both orders." in steady
    assert "<img src=x" not in detail and "&lt;img src=x onerror=" in detail


def test_a_judge_of_another_suite_is_shown_there(judging: Judging) -> None:
    _, detail = drawn(judging, judge="example/eye")
    assert "Example Eye on Mini pairs" in detail and "It has no score in PairBench" in detail
