"""Sets of generators: the paper's from its tables, computed ones from runs; and how little may be said of them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from compute.analysis.generators.agreement import TOO_FEW
from compute.engine.generators.features import METRICS
from leaderboard.pages.generators.page import page
from leaderboard.pages.generators.sets import MetricColumn, load
from leaderboard.pages.task.items import listing
from tests.leaderboard.generator_stand_ins import GENERATORS, SUITE


@pytest.fixture(scope="module")
def rated(stand_in_suite_cache):
    return stand_in_suite_cache.db


def drawn(db, key, *, metric, backbone=""):
    """Every output of the page of a computed set."""
    return page(SimpleNamespace(db=db), load(db)[key], metric=metric, backbone=backbone)


def test_a_stored_comparison_is_a_set_where_only_proven_differences_move_a_generator_from_the_first_rank(rated):
    own = load(rated)[SUITE]
    assert list(own.titles) == sorted(GENERATORS) and (own.images, own.paired) == (60, True)
    assert list(own.columns) == [metric for metric in METRICS if metric in ("fd", "cfred", "kid", "clipscore")]
    column, scores = own.column("fd"), own.column("clipscore")
    low, high = column.interval
    assert (column.subset, column.higher, scores.higher) == ("tiny", False, True)
    assert (low < column.values).all() and (column.values < high).all()
    good, same, worst = (own.titles.index(name) for name in ("good", "same", "worst"))
    assert set(column.first) == {good, same} and column.differences.pairs == 6
    assert column.differences.better[good, worst] and scores.differences.better[good, worst]


def test_a_backbone_that_a_metric_does_not_have_gives_its_nearest(suite_cache):
    mini = load(suite_cache.db)["mini-generators"]
    asked = ("fd", ""), ("fd", "efficientnet-lite0"), ("fd", "tiny|wordllama"), ("cfred", "efficientnet-lite0")
    found = [mini.column(metric, backbone=backbone).subset for metric, backbone in asked]
    assert found == ["tiny", "efficientnet-lite0", "tiny", "efficientnet-lite0|tiny"]
    assert np.isfinite(mini.column("fd").interval).all()  # from the values without each group of prompts


def test_people_are_compared_with_the_metrics_where_they_rated(rated):
    own = load(rated)[SUITE]
    readings = {reading.column.metric: reading for reading in own.readings()}
    assert own.people.metric == "human_rate" and set(readings) == set(own.columns)
    assert readings["fd"].verdict == TOO_FEW and readings["fd"].agreement.pearson.value < -0.8  # of four generators
    assert "too few generators" in drawn(rated, SUITE, metric="fd")[0]
    few = replace(own, people=replace(own.people, values=np.where(np.arange(4) < 2, own.people.values, np.nan)))
    assert all(reading.agreement is None and "three generators" in reading.reason for reading in few.readings())


def test_a_value_without_an_interval_has_no_bounds_of_its_metric_in_its_stead():
    facts = {"metric": "fd", "title": "FD", "higher": False, "scale": 1.0, "digits": 1, "values": np.array([1.0, 2.0])}
    column = MetricColumn(**facts, stated=(np.array([0.5, np.nan]), np.array([9.0, np.nan])), bounds=(0.0, 5.0))
    np.testing.assert_equal(column.interval, [[0.5, np.nan], [5.0, np.nan]])


def test_the_page_of_a_set_says_what_stands_in_and_leads_to_its_images(rated):
    head, *_, metric = drawn(rated, SUITE, metric="mps", backbone="nope")[:5]
    assert "MPS is not computed for this set: cFreD is shown instead." in head and "No features of" in head
    assert metric["value"] == "cfred" and "synthetic" not in head
    items = listing(SimpleNamespace(db=rated), task=load(rated)[SUITE].task, models=("own/good", "own/worst"))
    assert ([show["key"] for show in items["shows"]], items["order"], items["scored"]) == (["all"], "apart", False)
    assert all(part["image"] for item in items["items"] for part in item["parts"] if not part["text"])
