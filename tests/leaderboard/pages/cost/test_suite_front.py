"""The front of score and cost where little is known; what the page shows is frozen in tests/golden."""

from __future__ import annotations

import pytest

from compute.analysis.pareto import OFF, ON, UNKNOWN
from compute.types import BadInput, UnknownKey
from leaderboard.data.fronts import SIZE
from leaderboard.html.templates import macros
from leaderboard.pages.cost.suite_front import CostQuery, SuiteFront, SuiteFronts


@pytest.fixture(scope="module")
def suite_fronts(papers_cache):
    """Of the papers' figures alone."""
    return SuiteFronts(papers_cache)


def get(suite_fronts: SuiteFronts, suite: str, *, category: str = "") -> SuiteFront:
    return suite_fronts.get(CostQuery(suite=suite, category=category, axis=SIZE))


def test_where_nothing_can_be_tested_nothing_is_on_or_off(suite_fronts):
    """MIEB's paper prints means in place of some figures: no difference of two means has a known error."""
    suite_front = get(suite_fronts, "mieb")
    assert {point.state for point in suite_front.points} == {UNKNOWN, ""}
    assert all(point.unknown for point in suite_front.of(UNKNOWN))
    texts = macros("pages/cost/page.html")
    text = texts.answer(suite_front, "") + texts.notes(suite_front) + texts.table(suite_front)
    assert "because printed means" in text and "On the front" not in text and "not tested" not in text
    assert "Document Understanding" in suite_front.testable and "Retrieval" not in suite_front.testable
    of_category = get(suite_fronts, "mieb", category="Document Understanding")
    assert of_category.of(ON) and of_category.of(OFF) and not of_category.testable
    assert get(suite_fronts, "mieb", category="Retrieval").of(ON) == []


def test_suites_that_people_rank_have_no_front(suite_fronts):
    assert not {"cfred-hpdv2", "mini-generators"} & set(suite_fronts.suites()["key"])
    with pytest.raises(BadInput, match="no scores that make a mean"):
        get(suite_fronts, "cfred-hpdv2")
    with pytest.raises(UnknownKey):
        get(suite_fronts, "nowhere")
