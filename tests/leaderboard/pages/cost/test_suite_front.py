"""The front of score and cost where little is known; what the page shows is frozen in tests/golden."""

import pytest

from compute.types import BadInput, UnknownKey
from leaderboard.data.fronts import OFF, ON, UNKNOWN
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import macros
from leaderboard.pages.cost.suite_front import suite_front, suites


@pytest.fixture(scope="module")
def papers_cache(changed):
    """The papers' figures alone."""
    return SuiteCache(changed("UPDATE runs SET main = false WHERE origin <> 'published'"))


def test_where_nothing_can_be_tested_nothing_is_on_or_off(papers_cache):
    """MIEB's paper prints means in place of some figures: no difference of two means has a known error."""
    front = suite_front(papers_cache, suite="mieb")
    assert {point.state for point in front.points} == {UNKNOWN, ""}
    assert all(point.unknown for point in front.of(UNKNOWN))
    texts = macros("pages/cost/page.html")
    text = texts.answer(front, "") + texts.notes(front) + texts.table(front)
    assert "because printed means" in text and "On the front" not in text and "not tested" not in text
    assert "Document Understanding" in front.testable and "Retrieval" not in front.testable
    of_category = suite_front(papers_cache, suite="mieb", category="Document Understanding")
    assert of_category.of(ON) and of_category.of(OFF) and not of_category.testable
    assert suite_front(papers_cache, suite="mieb", category="Retrieval").of(ON) == []


def test_suites_that_people_rank_have_no_front(papers_cache):
    assert not {"cfred-hpdv2", "mini-generators"} & {key for _, key in suites(papers_cache.db)}
    with pytest.raises(BadInput, match="no scores that make a mean"):
        suite_front(papers_cache, suite="cfred-hpdv2")
    with pytest.raises(UnknownKey):
        suite_front(papers_cache, suite="nowhere")
