"""cFreD's metrics against people: what the shipped tables give, and how little may be said of it."""

from __future__ import annotations

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.generators.metrics import JUDGES, Jury, jury


@pytest.fixture(scope="module")
def juries(suite_cache: SuiteCache) -> dict[str, Jury]:
    return {key: jury(suite_cache.db, suite_cache.table(f"cfred-{key}")) for key in ("hpdv2", "parti", "coco")}


def test_every_metric_is_judged_on_every_set(juries):
    for shown, generators in zip(juries.values(), (10, 4, 9), strict=True):
        assert [judge.column.metric for judge in shown.judges] == list(JUDGES)
        assert {judge.agreement.generators for judge in shown.judges} == {generators}


def test_printed_values_that_reproduce(juries):
    found = juries["hpdv2"].judge("cfred")
    assert (found.printed_rho, found.printed_accuracy) == ("0.97", "91.1")
    assert round(found.agreement.rho_squared, 2) == 0.97
    assert round(100 * found.agreement.accuracy, 1) == 91.1
    assert found.reading == "follows people"


def test_the_sign_that_the_square_hides(juries):
    found = juries["hpdv2"].judge("clipscore")
    assert found.agreement.rho_squared > 0.6
    assert not found.agreement.right_way
    assert found.reading == "against people"


def test_four_generators_prove_nothing(juries):
    for judge in juries["parti"].judges:
        assert judge.reading.endswith("too few")
        assert not judge.proven
        assert judge.printed_accuracy == ""
        assert np.isnan(judge.agreement.accuracy_low)


def test_what_is_trained_on_preferences_is_marked(juries):
    trained = {judge.column.metric for judge in juries["hpdv2"].judges if judge.trained}
    assert trained == {"aesthetic", "imagereward", "hpsv2", "mps"}
    assert juries["hpdv2"].judge("hpsv2").reading == "follows people, trained on this set"
    assert not juries["coco"].judge("hpsv2").trained_here


def test_a_misprint_shows_as_a_gap_between_printed_and_recomputed(juries):
    found = juries["coco"].judge("mps")
    assert found.printed_rho == "0.48"
    assert found.agreement.rho_squared == pytest.approx(0.02, abs=0.005)


def test_unknown_metric(juries):
    with pytest.raises(BadInput, match="no metric 'kid'"):
        juries["coco"].judge("kid")
