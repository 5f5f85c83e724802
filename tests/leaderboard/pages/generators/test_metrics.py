"""cFreD's metrics against people: what the shipped tables give, and how little may be said of it."""

from __future__ import annotations

import pytest

from compute.analysis.generators.agreement import REVERSED, SIGNIFICANT, TOO_FEW
from compute.types import BadInput
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.generators.metrics import MetricComparison, compare_metrics


@pytest.fixture(scope="module")
def comparisons(suite_cache: SuiteCache) -> dict[str, MetricComparison]:
    return {
        key: compare_metrics(suite_cache.db, suite_cache.table(f"cfred-{key}")) for key in ("hpdv2", "parti", "coco")
    }


def test_printed_values_are_recomputed_and_read(comparisons):
    metric = comparisons["hpdv2"].metric("cfred")
    assert (metric.printed_rho, metric.printed_accuracy, metric.verdict) == ("0.97", "91.1", SIGNIFICANT)
    assert round(metric.agreement.rho_squared.value, 2) == 0.97
    wrong_way = comparisons["hpdv2"].metric("clipscore")
    assert wrong_way.agreement.rho_squared.value > 0.6 and wrong_way.verdict == REVERSED, "the square hides a sign"
    misprint = comparisons["coco"].metric("mps")
    assert misprint.printed_rho == "0.48" and misprint.agreement.rho_squared.value == pytest.approx(0.02, abs=0.005)
    assert all(one.verdict == TOO_FEW and not one.significant for one in comparisons["parti"].metrics)


def test_what_is_trained_on_preferences_is_marked(comparisons):
    trained = {metric.column.metric for metric in comparisons["hpdv2"].metrics if metric.trained}
    assert trained == {"aesthetic", "imagereward", "hpsv2", "mps"}
    assert comparisons["hpdv2"].metric("hpsv2").trained_on_set
    assert not comparisons["coco"].metric("hpsv2").trained_on_set


def test_unknown_metric(comparisons):
    with pytest.raises(BadInput, match="no metric 'kid'"):
        comparisons["coco"].metric("kid")
