"""The shortlist is never surer than its evidence, and what is not known meets no condition."""

import numpy as np
import pytest

from compute.types import LikenessError
from leaderboard.data.mean_rule import RankChoice
from leaderboard.data.models.model_facts import PERMISSIVE
from leaderboard.data.scope import Scope
from leaderboard.data.shortlist import MOST, NEEDS, Conditions, shortlist

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
    assert result.fitting or not result.choices and result.runner_up is None
    if not result.choices:
        return
    for choice in result.choices:
        size, license = choice.facts["parameters_m"], choice.facts["license"]
        assert not conditions.max_parameters or size * 1e6 <= conditions.max_parameters
        assert not conditions.license or license in PERMISSIVE or conditions.license == "stated" and license
    best, *others = result.choices
    assert best.test is None and all(choice.mean <= best.mean for choice in others)
    same = others[: result.ties - 1]
    assert [each.reading for each in others] == ["same"] * len(same) + ["unknown"] * (len(others) - len(same))
    ranked = suite_cache.ranked(NEEDS[need].suite, RankChoice(tasks=result.tasks))
    rows = [result.table.row(choice.row) for choice in result.choices]
    assert not ranked.better[np.ix_(rows[:1], rows)].any()
    order = []
    for each in same:
        assert each.test.low <= each.test.difference <= each.test.high
        order.append((not each.loads, each.rank, each.facts["license"] not in PERMISSIVE, not each.facts["license"]))
    assert order == sorted(order), "the higher mean first: over few tasks a model far behind is not worse either"
    assert result.usable.row == best.row if best.loads else result.usable.facts["title"] in result.answer()


def test_of_several_languages_the_mean_is_over_tasks_in_each_and_the_weakest_is_named(suite_cache):
    together = shortlist(suite_cache, need="search", conditions=Conditions(language="German,swa,ja"))
    [task] = together.tasks
    alone = {
        name: suite_cache.ranked("mieb", RankChoice(tasks=together.tasks, scope=Scope(language=code)))
        for name, code in {"German": "deu", "Swahili": "swa", "Japanese": "jpn"}.items()
    }
    for choice in together.choices:
        model = choice.facts["key"]
        means = {name: 100 * of.mean[of.table.models.index(model)] for name, of in alone.items()}
        assert choice.weakest == (min(means, key=means.get), pytest.approx(min(means.values())))
        assert choice.mean == pytest.approx(np.mean(list(means.values())))  # of one task, whose parts count alike
    assert task == "mieb/xm3600t2iretrieval" and together.language in together.answer()


@pytest.mark.parametrize("need, suite", [("search", "vidore-v3"), ("judge", "mieb"), ("documents", "mieb-lite")])
def test_a_suite_without_such_tasks_is_no_evidence(suite_cache, need, suite):
    found = shortlist(suite_cache, need=need, conditions=ANY, suite=suite)
    assert not found.choices and found.table.suite["title"] in found.answer()


def test_none_is_called_the_smallest_where_a_size_is_not_known(suite_cache):
    for need in ("similarity", "judge", "clustering"):
        found = shortlist(suite_cache, need=need, conditions=ANY, smallest=True)
        assert found.smallest is None and "smallest" not in found.answer()


@pytest.mark.parametrize(
    "wrong, key",
    [
        ({"conditions": Conditions(language="many,swa")}, "many"),
        ({"conditions": Conditions(language="ara,ces,deu,fra,jpn,spa,swa")}, "at most"),
        ({"suite": "mieb-light"}, "mieb-lite"),
        ({"need": "serch"}, "search"),
        ({"conditions": Conditions(language="klingon")}, "language"),
        ({"conditions": Conditions(license="permisive")}, "permissive"),
    ],
)
def test_an_unknown_answer_is_an_error_with_the_known_ones(suite_cache, wrong, key):
    with pytest.raises(LikenessError, match=key):
        shortlist(suite_cache, **({"need": "search", "conditions": ANY} | wrong))
