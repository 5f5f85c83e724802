"""The shortlist is never surer than its evidence, and what is not known meets no condition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compute.analysis.comparison import compared
from compute.analysis.table import ScoreTable
from compute.types import BadInput
from leaderboard.data.model_queries import PERMISSIVE
from leaderboard.data.scope import Scope
from leaderboard.data.shortlist import MOST, NEEDS, Conditions, shortlist
from leaderboard.html.formatting import blank

ANY = Conditions()


@pytest.mark.parametrize(
    "conditions",
    [ANY, Conditions(max_parameters=1e9, license="permissive"), Conditions(max_parameters=5e8, license="stated")],
    ids=["any", "open", "small"],
)
@pytest.mark.parametrize("need", NEEDS)
def test_the_best_that_fits_leads_and_no_significantly_worse_model_follows(suite_cache, need, conditions):
    result = shortlist(suite_cache, need=need, conditions=conditions)
    assert len(result.choices) <= MOST and result.fitting <= result.ranked
    if not result.choices:
        assert result.fitting == 0 and result.runner_up is None
        return
    for choice in result.choices:
        size, license = choice.facts["parameters_m"], choice.facts["license"]
        assert not conditions.max_parameters or size * 1e6 <= conditions.max_parameters
        assert not conditions.license or license in PERMISSIVE or conditions.license == "stated" and license
    best, *others = result.choices
    tested, untested = others[: result.ties - 1], others[result.ties - 1 :]
    assert {choice.reading for choice in tested} <= {"same"} and {each.reading for each in untested} <= {"unknown"}
    assert best.test is None and all(choice.mean <= best.mean for choice in others)
    assert all(choice.test.low <= choice.test.difference <= choice.test.high for choice in tested)
    ranked = suite_cache.ranked(NEEDS[need].suite, (), result.tasks)
    rows = [result.table.row(choice.row) for choice in result.choices]
    assert not ranked.better[np.ix_(rows[:1], rows)].any()
    order = [
        (
            choice.rank,
            choice.facts["license"] not in PERMISSIVE,
            not choice.facts["license"],
            math.inf if blank(choice.facts["parameters_m"]) else choice.facts["parameters_m"],
        )
        for choice in tested
    ]
    assert order == sorted(order), "the higher mean first: over few tasks a model far behind is not worse either"
    if result.fitting > 1:
        second = result.table.row(result.runner_up.row)
        assert all(choice.mean <= result.runner_up.mean for choice in others)
        if ranked.decided[rows[0], second]:
            assert (result.runner_up.reading == "worse") == ranked.better[rows[0], second]


def test_a_difference_is_the_paired_one_over_the_tasks_that_both_have(suite_cache):
    result = shortlist(suite_cache, need="quality", conditions=ANY)
    table = result.table
    columns = [index for index, column in enumerate(table.columns) if column.task in result.tasks]
    best, other = result.choices[0], result.choices[1]
    pair = [table.row(other.row), table.row(best.row)]
    arrays = {name: getattr(table.scores, name)[np.ix_(pair, columns)] for name in ("values", "stderr")}
    expected = compared(ScoreTable(**arrays), 0, 1)
    test = other.test
    assert test.tasks == len(columns) == len(result.tasks)
    assert (test.difference, test.low, test.high) == pytest.approx(
        (expected.difference * 100, expected.low * 100, expected.high * 100)
    )


@pytest.mark.parametrize("language", ["swa", "Swahili"])
def test_a_single_language_is_chosen_by_its_own_scores(suite_cache, language):
    result = shortlist(suite_cache, need="search", conditions=Conditions(language=language))
    table, ranked = (
        suite_cache.table("mieb", result.table.scope),
        suite_cache.ranked("mieb", scope=Scope(language="swa")),
    )
    assert result.origin == "imported" and result.ranked >= 40
    assert ranked.rank[table.row(result.choices[0].row)] == 1
    assert not shortlist(suite_cache, need="judge", conditions=Conditions(language=language)).choices


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"need": "serch"}, "search"),
        ({"conditions": Conditions(language="klingon")}, "language"),
        ({"conditions": Conditions(license="permisive")}, "permissive"),
    ],
)
def test_an_unknown_answer_is_an_error_with_the_known_ones(suite_cache, wrong, key):
    with pytest.raises(BadInput, match=key):
        shortlist(suite_cache, **({"need": "search", "conditions": ANY} | wrong))
