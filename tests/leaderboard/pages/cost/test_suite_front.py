"""The front of score and cost: on the shipped figures, beside the pairwise tests and the run folders themselves."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from compute.analysis.pareto import OFF, ON, UNKNOWN
from compute.analysis.ranks.ties import holm, paired_differences
from compute.paths import ROOT
from compute.types import BadInput, UnknownKey
from leaderboard.data import model_queries, payload, suite_queries
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import macros
from leaderboard.pages.cost import figures
from leaderboard.pages.cost.suite_front import (
    AGE,
    AXES,
    NO_RIVAL,
    SIZE,
    STATES,
    TIME,
    CostQuery,
    Point,
    SuiteFront,
    SuiteFronts,
)
from leaderboard.pages.model import page as model_page

TESTED = ("unisim-core", "unisim-ood", "pairbench")  # suites whose differences can be tested


@pytest.fixture(scope="session")
def suite_fronts(suite_cache: SuiteCache) -> SuiteFronts:
    return SuiteFronts(suite_cache)


def get(suite_fronts: SuiteFronts, suite: str, *, axis: str = SIZE, category: str = "", device: str = "") -> SuiteFront:
    return suite_fronts.get(CostQuery(suite=suite, category=category, axis=axis, device=device))


def text_of(suite_front: SuiteFront, *, category: str = "") -> str:
    texts = macros("pages/cost/page.html")
    markup = texts.answer(suite_front, category) + texts.notes(suite_front) + texts.table(suite_front, STATES)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def proved_better(suite_cache: SuiteCache, suite: str) -> dict[str, set[str]]:
    """By model, which others are significantly better: the comparison of two rows, pair by pair, and Holm's method.

    A second path to the same figures: `paired_differences` compares what two rows share, one pair at a time.
    """
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    assert ranked is not None
    rows = [index for index in table.rows_of(table.rows[0].origin) if ranked.rank[index] > 0]
    out = {}
    for row in rows:
        others = [other for other in rows if other != row]
        results = [
            paired_differences(
                a=ranked.scores[other],
                b=ranked.scores[row],
                stderr_a=table.stderr[other],
                stderr_b=table.stderr[row],
                categories=table.codes,
                aggregate=table.suite["aggregate"],
                task_weights=ranked.counted.astype(float),
            )
            for other in others
        ]
        claimed = holm([result.p / 2 for result in results])
        out[table.rows[row].model] = {
            table.rows[other].model
            for other, result, significant in zip(others, results, claimed, strict=True)
            if significant and result.mean > 0
        }
    return out


@pytest.mark.parametrize("axis", [SIZE, AGE])
@pytest.mark.parametrize("suite", TESTED)
def test_off_the_front_is_who_a_pairwise_test_proves_worse_than_a_cheaper_model(
    suite_fronts: SuiteFronts, suite: str, axis: str
) -> None:
    suite_front, better = get(suite_fronts, suite, axis=axis), proved_better(suite_fronts.suite_cache, suite)
    facts = suite_fronts.suite_cache.table(suite).models
    cost = facts["parameters_m"] if axis == SIZE else facts["released"].replace("", None)
    assert suite_front.with_cost
    for point in suite_front.points:
        if cost.isna()[point.model]:
            assert point.state == ""
            continue
        beaten_by = {
            other.model
            for other in suite_front.with_cost
            if cost[other.model] <= cost[point.model] and other.model in better[point.model]
        }
        assert {model for model, _ in point.beaten_by} == beaten_by
        assert point.state == (OFF if beaten_by else ON)


def test_the_answer_counts_the_table(suite_fronts: SuiteFronts) -> None:
    suite_front = get(suite_fronts, "unisim-core")
    text = text_of(suite_front)
    on, off, without = (len(suite_front.of(state)) for state in (ON, OFF, ""))
    assert min(on, off, without) > 0
    assert f"{off} of the {on + off} models with a known size in UniSim-Bench core are proved worse than one" in text
    assert f"that is no larger ; {on} are on the front." in text
    assert f"{without} models without a known size are left out: " in text
    assert (
        text.count(" On the front ") == on + text.count("On the front means") and text.count("Off: proved worse") == off
    )
    assert text.count("Size not known unknown") == without
    smallest = min((point for point in suite_front.of(ON)), key=lambda point: (point.cost, point.rank))
    assert f"The smallest on the front is {smallest.title} (" in text
    for point in suite_front.of(OFF):
        assert point.beaten_by[0][1] in text


def test_where_nothing_can_be_tested_nothing_is_on_or_off(suite_fronts: SuiteFronts) -> None:
    """MIEB's paper prints means in place of some figures: no difference of two means has a known error."""
    suite_front = get(suite_fronts, "mieb")
    assert {point.state for point in suite_front.points} == {UNKNOWN, ""}
    assert all(point.unknown for point in suite_front.of(UNKNOWN))
    text = text_of(suite_front)
    assert "is not known : no difference of their means can be tested, for most of them because printed means" in text
    assert "Off: proved worse" not in text and "On the front On" not in text
    assert "Document Understanding" in suite_front.testable and "Retrieval" not in suite_front.testable
    of_category = get(suite_fronts, "mieb", category="Document Understanding")
    assert of_category.of(ON) and of_category.of(OFF) and not of_category.testable
    assert get(suite_fronts, "mieb", category="Retrieval").of(ON) == []


@pytest.mark.parametrize("category", ["", "Zero-shot Classification", "Linear Probing", "Visual STS (en)"])
def test_the_head_counts_as_the_page_does(suite_cache: SuiteCache, category: str) -> None:
    """Off, on and untested are all of the models: none is counted as a success of the test that it never had."""
    suite = "mieb" if category else "unisim-core"
    suite_front = get(SuiteFronts(suite_cache), suite, category=category)
    off, on, unknown = (len(suite_front.of(state)) for state in (OFF, ON, UNKNOWN))
    assert off and on and bool(unknown) == (category in ("Zero-shot Classification", "Linear Probing"))
    assert off + on + unknown == len(suite_front.with_cost)
    text = text_of(suite_front)
    assert re.match(rf".*\b{off} of the {off + on + unknown} models with a known size", text)
    assert re.search(rf"; {on} (is|are) on the front", text)
    assert (f"; {unknown} cannot be tested" in text) == bool(unknown)


def test_where_no_pair_can_be_tested_nobody_is_on_the_front(suite_fronts: SuiteFronts) -> None:
    """Of two models of one size only one has an interval: there is nothing to compare it with."""
    suite_front = get(suite_fronts, "mini-pairs")
    assert [point.state for point in suite_front.with_cost] == [UNKNOWN, UNKNOWN]
    table, ranked = suite_fronts.suite_cache.table("mini-pairs"), suite_fronts.suite_cache.ranked("mini-pairs")
    assert (ranked.rank_low > 0).any() and payload.ranking(table, ranked)["front"] == []
    assert suite_front.reason in text_of(suite_front) and NO_RIVAL in text_of(suite_front)
    assert suite_front.reason != NO_RIVAL and suite_front.reasons == 1


def test_the_mark_names_how_many_cannot_be_tested(suite_fronts: SuiteFronts) -> None:
    category = "Linear Probing"
    table = suite_fronts.suite_cache.table("mieb")
    weights = tuple((name, 0.0) for name in table.categories if name != category)
    answer = payload.ranking(table, suite_fronts.suite_cache.ranked("mieb", weights))
    points = get(suite_fronts, "mieb", category=category).points
    untested = {table.rows[index].model: n for index, n in zip(answer["front"], answer["front_untested"], strict=True)}
    assert untested == {point.model: point.untested for point in points if point.state == ON}
    assert {0} < set(untested.values())


def test_a_database_without_suites_has_none_to_choose_from(
    suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = suite_queries.suites(suite_cache.db).iloc[:0]
    monkeypatch.setattr(suite_queries, "suites", lambda db: none)
    own = SuiteFronts(SuiteCache(Database(suite_cache.db.path)))
    assert list(own.suites()["key"]) == []


def test_times_are_read_once_and_only_for_their_axis(suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    image_times = model_queries.image_times
    monkeypatch.setattr(model_queries, "image_times", lambda db: asked.append(db) or image_times(db))
    own = SuiteCache(Database(suite_cache.db.path))
    get(SuiteFronts(own), "mini"), get(SuiteFronts(own), "mini", axis=AGE)
    assert asked == []
    get(SuiteFronts(own), "mini", axis=TIME), get(SuiteFronts(own), "mini-pairs", axis=TIME)
    assert len(asked) == 1


def test_suites_are_read_once(suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    suites = suite_queries.suites
    monkeypatch.setattr(suite_queries, "suites", lambda db: asked.append(db) or suites(db))
    own = SuiteCache(Database(suite_cache.db.path))
    assert [len(SuiteFronts(own).suites()) for _ in range(3)][0] > 3 and len(asked) == 1


def test_a_category_that_a_suite_does_not_have_is_told(suite_fronts: SuiteFronts) -> None:
    suite_front = get(suite_fronts, "unisim-core", category="Clustering")
    assert suite_front.category == "" and repr(suite_front.points) == repr(get(suite_fronts, "unisim-core").points)
    assert "has no category “Clustering”; its mean is shown." in text_of(suite_front, category="Clustering")


def test_a_category_s_score_is_its_mean_on_the_board(suite_fronts: SuiteFronts) -> None:
    table, ranked = suite_fronts.suite_cache.table("mieb"), suite_fronts.suite_cache.ranked("mieb")
    category = "Visual STS (en)"
    code = table.categories.index(category)
    board = {row.model: 100 * mean for row, mean in zip(table.rows, ranked.category_means[:, code], strict=True)}
    points = get(suite_fronts, "mieb", category=category).points
    assert len(points) > 30
    assert {point.model: point.mean for point in points} == pytest.approx(
        {key: board[key] for key in board if key in {p.model for p in points}}
    )


# ---- times


def passes_in_folders() -> dict[tuple[str, str], set[tuple[int, float]]]:
    """The passes over images that the shipped run folders record, each once: (images, seconds) by model and device."""
    out = defaultdict(set)
    for path in (ROOT / "assets" / "computed").rglob("run.json"):
        run = (
            json.loads(path.read_text())["run"]
            if "run" in json.loads(path.read_text())
            else json.loads(path.read_text())
        )
        for one in run["settings"].get("encodings") or []:
            if one["title"] == f"{run['model']}, image" and one["encoded"]:
                out[run["model"], run["device"]].add((one["encoded"], one["seconds"]))
    return out


def test_a_time_is_that_of_all_passes_each_counted_once(suite_fronts: SuiteFronts) -> None:
    times, passes = suite_fronts.times(), passes_in_folders()
    assert {(row.model, row.device) for row in times.itertuples()} == set(passes) and len(passes) >= 3
    for row in times.itertuples():
        own = passes[row.model, row.device]
        images, seconds = (sum(values) for values in zip(*own, strict=True))
        assert (row.images, row.passes) == (images, len(own))
        assert row.ms == pytest.approx(1000 * seconds / images)
        assert row.low <= row.ms <= row.high


def test_a_model_that_never_ran_here_has_no_time(suite_fronts: SuiteFronts) -> None:
    suite_front = get(suite_fronts, "unisim-core", axis=TIME)
    assert not suite_front.with_cost and all(np.isnan(point.cost) for point in suite_front.points)
    text = text_of(suite_front)
    assert "has a measured encode time: a time is measured when a model is run, and none of these has been run" in text
    assert text.count("Not measured unknown") == len(suite_front.points)


def test_times_name_their_device_and_their_spread(suite_fronts: SuiteFronts) -> None:
    suite_front = get(suite_fronts, "mini", axis=TIME)
    assert suite_front.device == "cpu" and suite_front.with_cost
    text = text_of(suite_front)
    assert "on one device, cpu" in text and "Synthetic: every item is generated" in text
    assert all(point.spread in text and "images" in point.spread for point in suite_front.with_cost)


def test_times_of_another_device_are_never_mixed_in(
    suite_fronts: SuiteFronts, suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = SuiteFronts(suite_cache)
    times = suite_fronts.times()
    more = times[times["model"] == "tiny"].assign(device="cuda:0", ms=0.001)
    both = pd.concat([times, more])
    monkeypatch.setattr(own, "times", lambda: both)
    assert own.devices() == ["cpu", "cuda:0"]  # that with most models first
    on_cpu = own.get(CostQuery(suite="mini", category="", axis=TIME, device=""))
    assert repr(on_cpu.points) == repr(get(suite_fronts, "mini", axis=TIME).points)
    on_cuda = own.get(CostQuery(suite="mini", category="", axis=TIME, device="cuda:0"))
    assert {point.model: point.cost for point in on_cuda.with_cost} == {"tiny": 0.001}


# ---- errors, names, pictures


def test_suites_that_people_rank_have_no_front(suite_fronts: SuiteFronts) -> None:
    assert not {"cfred-hpdv2", "mini-generators"} & set(suite_fronts.suites()["key"])
    with pytest.raises(BadInput, match="no scores that make a mean"):
        get(suite_fronts, "cfred-hpdv2")
    with pytest.raises(UnknownKey):
        get(suite_fronts, "nowhere")


@pytest.mark.parametrize("axis", AXES)
def test_names_are_never_markup(hostile_site: SimpleNamespace, axis: str) -> None:
    suite_front = get(SuiteFronts(hostile_site.suite_cache), "unisim-core", axis=axis)
    texts = macros("pages/cost/page.html")
    markup = texts.answer(suite_front, "<img src=x>") + texts.notes(suite_front) + texts.table(suite_front, STATES)
    assert "<img" not in markup and "&lt;img src=x" in markup
    if suite_front.with_cost:
        assert "<img" not in figures.chart(suite_front).to_json().replace("\\u003c", "<")


@pytest.mark.parametrize(("suite", "axis"), [("unisim-core", SIZE), ("pairbench", AGE), ("mini", TIME), ("mieb", SIZE)])
def test_the_picture_has_every_model_once_with_its_state(suite_fronts: SuiteFronts, suite: str, axis: str) -> None:
    suite_front = get(suite_fronts, suite, axis=axis)
    line, *states = figures.chart(suite_front).data
    drawn = {trace.name: len(trace.x) for trace in states}
    assert drawn == {STATES[state]: len(suite_front.of(state)) for state in STATES if suite_front.of(state)}
    assert list(line.y) == sorted(line.y) and max(line.y) == max(point.mean for point in suite_front.with_cost)
    tops = [y + up for trace in states for y, up in zip(trace.y, trace.error_y.array, strict=True)]
    highs = [point.high if not np.isnan(point.high) else point.mean for point in suite_front.with_cost]
    assert sorted(tops) == pytest.approx(sorted(highs), abs=0.02)


@pytest.mark.parametrize("suite", ["unisim-core", "mieb", "pairbench"])
@pytest.mark.parametrize("axis", [SIZE, AGE])
def test_a_round_tick_stands_in_every_range(suite_fronts: SuiteFronts, suite: str, axis: str) -> None:
    suite_front = get(suite_fronts, suite, axis=axis)
    x = figures.chart(suite_front).layout.xaxis
    if axis == AGE:
        assert x.type == "date"
        return
    costs = [point.cost for point in suite_front.with_cost]
    assert 2 <= len(x.tickvals) <= 8 and min(costs) * 0.9 <= min(x.tickvals) and max(x.tickvals) <= max(costs) * 1.1


@pytest.mark.parametrize("suite", ["mini", "mini-pairs"])
@pytest.mark.parametrize("model", ["tiny", "tiny-random"])
def test_a_single_model_with_a_cost_is_compared_with_none(
    suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch, suite: str, model: str
) -> None:
    times = SuiteFronts(suite_cache).times()
    monkeypatch.setattr(SuiteFronts, "times", lambda self: times[times["model"] == model])
    suite_front = get(SuiteFronts(suite_cache), suite, axis=TIME)
    (point,) = suite_front.with_cost
    assert f"only {point.title} (" in text_of(suite_front) and "there is nothing to compare it with" in text_of(
        suite_front
    )


@pytest.mark.parametrize("suite", ["unisim-core", "unisim-ood", "pairbench", "mieb", "mini", "mini-pairs"])
def test_the_board_and_the_models_own_pages_mark_the_same_front(suite_fronts: SuiteFronts, suite: str) -> None:
    table, ranked = suite_fronts.suite_cache.table(suite), suite_fronts.suite_cache.ranked(suite)
    points = get(suite_fronts, suite).points
    on = {point.model for point in points if point.state == ON}
    answer = payload.ranking(table, ranked)
    marked = {table.rows[index].model for index in answer["front"]}
    assert marked == on
    untested = dict(zip(answer["front"], answer["front_untested"], strict=True))
    assert {table.rows[index].model: count for index, count in untested.items()} == {
        point.model: point.untested for point in points if point.state == ON
    }
    for point in points:
        (row,) = [row for row in model_page.ranks(suite_fronts.suite_cache, point.model, [suite]) if row["rank"] != "—"]
        expected = {ON: {"model": "", "title": "", "untested": point.untested}, UNKNOWN: None, "": None}
        first = dict(zip(("model", "title"), point.beaten_by[0], strict=True)) if point.beaten_by else {}
        first["untested"] = point.untested
        assert row["front"] == expected.get(point.state, first)


def test_each_origin_has_a_front_of_its_own(imported_suite_cache: SuiteCache) -> None:
    """One imported row beside the published ones is compared with none of them."""
    table, ranked = imported_suite_cache.table("unisim-core"), imported_suite_cache.ranked("unisim-core")
    (imported,) = [index for index, row in enumerate(table.rows) if row.origin == "imported"]
    assert not ranked.better[imported].any() and not ranked.better[:, imported].any()
    assert ranked.better.any()
    alone = payload.ranking(table, ranked)["front"]
    assert (imported in alone) == bool(ranked.rank_low[imported] > 0)


def test_points_are_sorted_and_distinct(suite_fronts: SuiteFronts) -> None:
    def key(point: Point) -> tuple[float, int]:
        return point.cost, point.rank

    suite_front = get(suite_fronts, "unisim-core")
    assert suite_front.of(OFF) == sorted(suite_front.of(OFF), key=key)
    assert len({point.model for point in suite_front.points}) == len(suite_front.points)
