"""Sets of generators: the paper's from its tables, computed ones from runs; and how little may be said of them."""

import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

from compute.analysis.generators.agreement import NOT_SIGNIFICANT, REVERSED, SIGNIFICANT, TOO_FEW
from compute.engine.generators.features import METRICS
from compute.types import BadInput
from leaderboard.pages.generators.page import answer, page
from leaderboard.pages.generators.sets import SETS, MetricColumn, load, of_paper
from leaderboard.pages.task.items import listing
from tests.leaderboard import generator_stand_ins
from tests.leaderboard.generator_stand_ins import GENERATORS, SUITE


@pytest.fixture(scope="module")
def paper(suite_cache):
    return {key: of_paper(suite_cache.db, suite_cache.table(f"cfred-{key}")) for key in SETS}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return generator_stand_ins.opened(tmp_path_factory.mktemp("plain"))


def words(markup):
    return " ".join(unescape(re.sub("<[^>]+>", "", markup)).split())


def as_if(chosen, verdict):
    made = replace(chosen)
    made.__dict__["usual"] = tuple(replace(reading, verdict=verdict) for reading in chosen.usual)
    return made


def drawn(db, key, *, metric, backbone=""):
    """Every output of the page of a computed set."""
    return page(SimpleNamespace(db=db), load(db)[key], metric=metric, backbone=backbone)


def test_the_answer_follows_the_verdicts(paper):
    agree = {key: as_if(each, SIGNIFICANT) for key, each in paper.items()}
    text = words(answer(agree.__getitem__))
    assert text.startswith("On all 3 sets FID, ") and "agree significantly with people." in text
    text = words(answer({**agree, "parti": as_if(paper["parti"], NOT_SIGNIFICANT)}.__getitem__))
    assert "on all 3 sets; on more than one: FID, " in text and "none of the 9 metrics agrees" in text
    text = words(answer({key: as_if(each, REVERSED) for key, each in paper.items()}.__getitem__))
    assert text.count("significantly disagree.") == 3 and "wide" not in text
    with pytest.raises(BadInput, match="no metric 'kid'"):
        paper["coco"].column("kid")


def test_a_stored_comparison_is_a_set_where_only_proven_differences_move_a_generator_from_the_first_rank(plain):
    own = load(plain)[SUITE]
    assert list(own.titles) == sorted(GENERATORS) and (own.images, own.paired, own.people) == (60, True, None)
    assert list(own.columns) == [metric for metric in METRICS if metric in ("fd", "cfred", "kid", "clipscore")]
    column, scores = own.column("fd"), own.column("clipscore")
    low, high = column.interval
    assert (column.subset, column.higher, scores.higher) == ("tiny", False, True)
    assert (low < column.values).all() and (column.values < high).all()
    good, same, worst = (own.titles.index(name) for name in ("good", "same", "worst"))
    assert set(column.first) == {good, same} and column.differences.pairs == 6
    assert column.differences.better[good, worst] and scores.differences.better[good, worst]
    assert own.readings() == ()


def test_a_backbone_that_a_metric_does_not_have_gives_its_nearest(plain):
    mini = load(plain)["mini-generators"]
    asked = ("fd", ""), ("fd", "efficientnet-lite0"), ("fd", "tiny|wordllama"), ("cfred", "efficientnet-lite0")
    found = [mini.column(metric, backbone=backbone).subset for metric, backbone in asked]
    assert found == ["tiny", "efficientnet-lite0", "tiny", "efficientnet-lite0|tiny"]
    assert np.isfinite(mini.column("fd").interval).all()  # from the values without each group of prompts


def test_people_are_compared_with_the_metrics_where_they_rated(stand_in_suite_cache):
    rated = stand_in_suite_cache.db
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


def test_the_page_of_a_set_without_people_shows_what_is_significant(plain):
    head, intervals, beside, tables, metric, *_ = drawn(plain, SUITE, metric="mps", backbone="nope")
    assert "MPS is not computed for this set: cFreD is shown instead." in head and "No features of" in head
    assert metric["value"] == "cfred" and {key for _, key in metric["choices"]} == {"fd", "cfred", "kid", "clipscore"}
    assert sum(len(trace.x) for trace in intervals["value"].data) == 4 and beside["visible"] is False
    assert "Which metric separates them" in tables and "Do the metrics agree with people?" not in tables
    task = load(plain)[SUITE].task
    assert f'href="task?task={task}"' in tables
    items = listing(SimpleNamespace(db=plain), task=task, models=("own/good", "own/worst"))
    assert ([show["key"] for show in items["shows"]], items["order"], items["scored"]) == (["all"], "apart", False)
    assert all(part["image"] for item in items["items"] for part in item["parts"] if not part["text"])
    head, *_ = drawn(plain, SUITE, metric="fd")
    assert "2 of 4 generators share the first rank by FD" in head
    assert "of 6</strong> pairs" in head and "synthetic" not in head
