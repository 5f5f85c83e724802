"""The page of generators for every set and metric: what the tables give, and how little may be said of it."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import pytest

from compute.analysis.generators.agreement import NOT_SIGNIFICANT, REVERSED, SIGNIFICANT
from compute.types import BadInput
from leaderboard.data.database import Database
from leaderboard.pages.generators import computed_page
from leaderboard.pages.generators.computed import ComputedSet, load
from leaderboard.pages.generators.metrics import MetricComparison, compare_metrics
from leaderboard.pages.generators.page import SETS, answer
from leaderboard.pages.task.items import ItemQuery, listing
from tests.leaderboard import generator_stand_ins


@pytest.fixture(scope="module")
def comparisons(suite_cache):
    return {key: compare_metrics(suite_cache.db, suite_cache.table(f"cfred-{key}")) for key in SETS}


def words(markup: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", "", markup)).split())


def as_if(comparison: MetricComparison, verdict: str) -> MetricComparison:
    return replace(comparison, metrics=tuple(replace(metric, verdict=verdict) for metric in comparison.metrics))


def test_the_answer_follows_the_verdicts(comparisons):
    agree = {key: as_if(comparison, SIGNIFICANT) for key, comparison in comparisons.items()}
    text = words(answer(agree.__getitem__))
    assert text.startswith("On all 3 sets FID, ") and "agree significantly with people." in text
    text = words(answer({**agree, "parti": as_if(comparisons["parti"], NOT_SIGNIFICANT)}.__getitem__))
    assert "on all 3 sets; on more than one: FID, " in text and "none of the 9 metrics agrees" in text
    text = words(answer({key: as_if(comparison, REVERSED) for key, comparison in comparisons.items()}.__getitem__))
    assert text.count("significantly disagree.") == 3 and "wide" not in text


def test_unknown_metric(comparisons):
    with pytest.raises(BadInput, match="no metric 'kid'"):
        comparisons["coco"].metric("kid")


def test_a_computed_set_without_people_shows_what_is_significant(tmp_path):
    db = generator_stand_ins.opened(tmp_path)
    head, intervals, beside, tables, metric, *_ = drawn(db, own(db), metric="mps", backbone="nope")
    assert "MPS is not computed for this set: cFreD is shown instead." in head and "No features of" in head
    assert metric["value"] == "cfred" and {key for _, key in metric["choices"]} == {"fd", "cfred", "kid", "clipscore"}
    assert sum(len(trace.x) for trace in intervals["value"].data) == 4
    assert beside["visible"] is False
    assert "Which metric separates them" in tables and "Do the metrics agree with people?" not in tables
    assert f'href="task?task={own(db).task}"' in tables
    page = listing(SimpleNamespace(db=db), ItemQuery(task=own(db).task, models=("own/good", "own/worst")))
    assert ([show["key"] for show in page["shows"]], page["order"], page["scored"]) == (["all"], "apart", False)
    assert all(part["image"] for item in page["items"] for part in item["parts"] if not part["text"])
    head, *_ = drawn(db, own(db), metric="fd")
    assert "2 of 4 generators share the first rank by FD" in head
    assert "of 6</strong> pairs" in head and "synthetic" not in head


def test_a_computed_set_with_people_and_its_mark_where_synthetic(tmp_path):
    rates = dict(zip(generator_stand_ins.GENERATORS, (0.6, 0.55, 0.3, 0.1), strict=True))
    db = generator_stand_ins.opened(tmp_path, human=rates)
    head, _, beside, tables, *_ = drawn(db, own(db), metric="fd")
    assert "too few generators" in head and "Do the metrics agree with people?" in tables
    assert len(beside["value"].data[0].x) == 4
    head, *_ = drawn(db, load(db)["mini-generators"], metric="fd")
    assert "pg-synthetic" in head and "generated from a fixed seed" in head


def own(db: Database) -> ComputedSet:
    return load(db)[generator_stand_ins.SUITE]


def drawn(db: Database, chosen: ComputedSet, *, metric: str, backbone: str = ""):
    """Every output of the page of a computed set."""
    return computed_page.page(SimpleNamespace(db=db), chosen, metric=metric, backbone=backbone)
