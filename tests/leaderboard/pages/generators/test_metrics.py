"""cFreD's metrics against people: what the shipped tables give, and how little may be said of it."""

from __future__ import annotations

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.generators.metrics import METRIC_MODELS, MetricComparison, compare_metrics


@pytest.fixture(scope="module")
def comparisons(suite_cache: SuiteCache) -> dict[str, MetricComparison]:
    return {
        key: compare_metrics(suite_cache.db, suite_cache.table(f"cfred-{key}")) for key in ("hpdv2", "parti", "coco")
    }


def test_every_metric_is_compared_on_every_set(comparisons):
    for comparison, generators in zip(comparisons.values(), (10, 4, 9), strict=True):
        assert [metric.column.metric for metric in comparison.metrics] == list(METRIC_MODELS)
        assert {metric.agreement.generators for metric in comparison.metrics} == {generators}


def test_printed_values_that_reproduce(comparisons):
    metric = comparisons["hpdv2"].metric("cfred")
    assert (metric.printed_rho, metric.printed_accuracy) == ("0.97", "91.1")
    assert round(metric.agreement.rho_squared.value, 2) == 0.97
    assert round(100 * metric.agreement.accuracy_by_ranks.value, 1) == 91.1
    assert metric.reading == "follows people"


def test_the_sign_that_the_square_hides(comparisons):
    metric = comparisons["hpdv2"].metric("clipscore")
    assert metric.agreement.rho_squared.value > 0.6
    assert not metric.agreement.right_way
    assert metric.reading == "against people"


def test_four_generators_prove_nothing(comparisons):
    for metric in comparisons["parti"].metrics:
        assert metric.reading.endswith("too few")
        assert not metric.proven
        assert metric.printed_accuracy == ""
        assert np.isnan(metric.agreement.accuracy_by_ranks.low)


def test_what_is_trained_on_preferences_is_marked(comparisons):
    trained = {metric.column.metric for metric in comparisons["hpdv2"].metrics if metric.trained}
    assert trained == {"aesthetic", "imagereward", "hpsv2", "mps"}
    assert comparisons["hpdv2"].metric("hpsv2").reading == "follows people, trained on this set"
    assert not comparisons["coco"].metric("hpsv2").trained_on_set


def test_a_misprint_shows_as_a_gap_between_printed_and_recomputed(comparisons):
    metric = comparisons["coco"].metric("mps")
    assert metric.printed_rho == "0.48"
    assert metric.agreement.rho_squared.value == pytest.approx(0.02, abs=0.005)


def test_unknown_metric(comparisons):
    with pytest.raises(BadInput, match="no metric 'kid'"):
        comparisons["coco"].metric("kid")
