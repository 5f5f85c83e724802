"""The shortlist is never surer than its evidence, and what is not known meets no condition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compute.analysis.comparison import compared
from compute.analysis.table import ScoreTable
from leaderboard.data.cut import Cut
from leaderboard.data.model_queries import PERMISSIVE
from leaderboard.pages.choose.needs import HARDWARE, LICENSES, NEEDS, SIZES
from leaderboard.pages.choose.page import shown
from leaderboard.pages.choose.shortlist import MOST, Conditions, shortlist

WITH_SUITE = [need for need in NEEDS if need.suite]
ANY = Conditions()
SMALL = Conditions(size="1b", license="permissive")


@pytest.mark.parametrize("conditions", [ANY, SMALL, Conditions(hardware="cpu")], ids=["any", "small", "cpu"])
@pytest.mark.parametrize("need", WITH_SUITE, ids=[need.key for need in WITH_SUITE])
def test_the_best_leads_and_nobody_proved_worse_follows(suite_cache, need, conditions):
    result = shortlist(suite_cache, need=need, conditions=conditions)
    assert len(result.choices) <= MOST and result.fitting <= result.ranked
    if not result.choices:
        assert result.fitting == 0
        return
    best, *others = result.choices
    assert best.best and not any(choice.best for choice in others)
    assert all(choice.mean <= best.mean for choice in others)
    tested = [choice for choice in others if not math.isnan(choice.low)]
    assert all(choice.low <= choice.difference <= choice.high for choice in tested)
    ranked = suite_cache.ranked(need.suite, (), need.tasks(result.table, language=""))
    rows = [result.table.row(choice.row) for choice in result.choices]
    assert not ranked.better[np.ix_(rows[:1], rows)].any()
    unknown = np.isnan(ranked.p[rows[0], rows[1:]])  # one of the two has no interval there
    assert not any(choice.high < 0 for choice, alone in zip(others, unknown, strict=True) if alone)
    assert len(tested) == min(result.ties - 1, MOST - 1)
    assert others == [*tested, *(choice for choice in others if math.isnan(choice.low))], "untested ones come last"
    order = [
        (choice.rank, not choice.permissive, not choice.license, choice.parameters or math.inf) for choice in tested
    ]
    assert order == sorted(order), (
        "the higher mean first: over few tasks a model far behind is not significantly worse either"
    )


@pytest.mark.parametrize("need", WITH_SUITE, ids=[need.key for need in WITH_SUITE])
def test_an_unknown_size_or_licence_meets_no_condition(suite_cache, need):
    for limit in (*SIZES, *HARDWARE):
        field = "size" if limit in SIZES else "hardware"
        for choice in shortlist(suite_cache, need=need, conditions=Conditions(**{field: limit.key})).choices:
            assert choice.parameters is not None and choice.parameters <= limit.most
    for key, _ in LICENSES:
        for choice in shortlist(suite_cache, need=need, conditions=Conditions(license=key)).choices:
            assert choice.license and (key == "stated" or choice.license in PERMISSIVE)
    both = Conditions(size="10b", hardware="cpu")
    assert both.most == 500, "the narrower of two limits holds"


def test_a_difference_is_the_paired_one_over_the_tasks_that_both_have(suite_cache):
    need = next(need for need in NEEDS if need.key == "quality")
    result = shortlist(suite_cache, need=need, conditions=ANY)
    table = result.table
    tasks = need.tasks(table, language="")
    columns = [index for index, column in enumerate(table.columns) if column.task in tasks]
    rows = {table.rows[index].id: index for index in range(len(table.rows))}
    best, other = result.choices[0], result.choices[1]
    pair = [rows[other.row], rows[best.row]]
    expected = compared(ScoreTable(values=table.scores.values[np.ix_(pair, columns)]), 0, 1)
    assert other.shared == len(columns) == result.tasks
    assert (other.difference, other.low, other.high) == pytest.approx(
        (expected.difference * 100, expected.low * 100, expected.high * 100)
    )


def test_what_nobody_can_be_compared_with_is_not_called_better(suite_cache):
    text = shown(suite_cache, need="search", conditions=Conditions(language="swa"))
    assert "its lead may be chance" in text and "Not tested:" in text
    assert "board?suite=mieb&amp;language=swa" in text
    assert "significantly worse." not in text.split("What is not known")[0]


def test_a_single_language_is_chosen_by_its_own_scores(suite_cache):
    search, judge = (next(need for need in NEEDS if need.key == key) for key in ("search", "judge"))
    result = shortlist(suite_cache, need=search, conditions=Conditions(language="swa"))
    table, ranked = suite_cache.table("mieb", result.table.cut), suite_cache.ranked("mieb", cut=Cut(language="swa"))
    assert result.origin == "imported" and result.ranked >= 40
    assert ranked.rank[table.row(result.choices[0].row)] == 1
    assert not shortlist(suite_cache, need=judge, conditions=Conditions(language="swa")).choices


def test_generators_are_sent_to_their_page(suite_cache):
    text = shown(suite_cache, need="generators", conditions=ANY)
    assert 'href="generators"' in text and "<li>" not in text


def test_a_single_model_that_fits_is_the_only_one(suite_cache):
    """PairBench ranks one model of at most a billion parameters."""
    text = shown(suite_cache, need="judge", conditions=Conditions(size="1b"))
    assert "is the only model that fits, with a mean of" in text and "The only model that fits." in text
    assert "1 models" not in text
