"""The front of score and cost: on the shipped figures, beside the pairwise tests and the run folders themselves."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict

import numpy as np
import pytest

from compute import tasks
from compute.analysis.pareto import OFF, ON, UNKNOWN
from compute.catalog import shipped
from compute.paths import ROOT
from compute.rounding import size
from compute.tasks.source import Source
from compute.types import BadInput, UnknownKey
from leaderboard.data import payload
from leaderboard.data.fronts import AGE, COSTS, DIMENSION, MEMORY, SIZE
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import macros
from leaderboard.pages.cost.suite_front import CostQuery, SuiteFront, SuiteFronts, suite_items
from leaderboard.pages.model import page as model_page

TESTED = ("unisim-core", "unisim-ood", "pairbench")  # suites whose differences can be tested


@pytest.fixture(scope="session")
def suite_cache(papers_cache):
    """The papers' figures alone, of which these tests are."""
    return papers_cache


@pytest.fixture(scope="session")
def suite_fronts(suite_cache):
    return SuiteFronts(suite_cache)


def get(suite_fronts: SuiteFronts, suite: str, *, axis: str = SIZE, category: str = "") -> SuiteFront:
    return suite_fronts.get(CostQuery(suite=suite, category=category, axis=axis))


def text_of(suite_front: SuiteFront, *, category: str = "") -> str:
    texts = macros("pages/cost/page.html")
    markup = texts.answer(suite_front, category) + texts.notes(suite_front) + texts.table(suite_front)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def better_than(suite_cache: SuiteCache, suite: str) -> dict[str, set[str]]:
    """By model, which others are significantly better on the board."""
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    models = np.array(table.scores.models)
    rows = [row for row in table.rows_of(table.rows[0].origin) if ranked.rank[row] > 0]
    return {table.rows[row].model: set(models[ranked.better[:, row]]) for row in rows}


@pytest.mark.parametrize(
    ("suite", "axis"),
    [*((suite, SIZE) for suite in TESTED), ("unisim-core", MEMORY), ("unisim-core", DIMENSION), ("pairbench", AGE)],
)
def test_off_the_front_is_who_is_significantly_worse_than_a_cheaper_model(suite_fronts, suite, axis):
    suite_front, better = get(suite_fronts, suite, axis=axis), better_than(suite_fronts.suite_cache, suite)
    facts = suite_fronts.suite_cache.table(suite).models
    cost = facts[COSTS[axis]].replace("", None)
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


def test_where_nothing_can_be_tested_nothing_is_on_or_off(suite_fronts):
    """MIEB's paper prints means in place of some figures: no difference of two means has a known error."""
    suite_front = get(suite_fronts, "mieb")
    assert {point.state for point in suite_front.points} == {UNKNOWN, ""}
    assert all(point.unknown for point in suite_front.of(UNKNOWN))
    text = text_of(suite_front)
    assert "cannot be tested for most of them because printed means" in text
    assert "On the front" not in text and "not tested" not in text, (
        "no column says of every model that nothing is known"
    )
    assert "Document Understanding" in suite_front.testable and "Retrieval" not in suite_front.testable
    of_category = get(suite_fronts, "mieb", category="Document Understanding")
    assert of_category.of(ON) and of_category.of(OFF) and not of_category.testable
    assert get(suite_fronts, "mieb", category="Retrieval").of(ON) == []


def test_a_category_s_score_is_its_mean_on_the_board(suite_fronts):
    table, ranked = suite_fronts.suite_cache.table("mieb"), suite_fronts.suite_cache.ranked("mieb")
    category = "Visual STS (en)"
    code = table.scores.categories.index(category)
    board = {row.model: 100 * mean for row, mean in zip(table.rows, ranked.category_means[:, code], strict=True)}
    points = get(suite_fronts, "mieb", category=category).points
    assert len(points) > 30
    assert {point.model: point.mean for point in points} == pytest.approx(
        {key: board[key] for key in board if key in {p.model for p in points}}
    )


# ---- the calculator


def test_a_suite_is_counted_with_what_its_tasks_share_once_and_takes_hours_by_the_rate():
    lite, source = suite_items("mieb-lite"), Source(offline=True)
    needs = [tasks.needs(task, source=source) for task in shipped().tasks if "mieb-lite" in task.suites]
    assert max(need.images or 0 for need in needs) < lite.images < sum(need.images or 0 for need in needs)
    assert lite.uncounted == lite.questions == 0 and lite.bytes > 10e9
    texts = macros("pages/cost/page.html")
    for rate, hours in ((lite.images + lite.texts, "0.0"), ((lite.images + lite.texts) / 36000, "10.0")):
        markup = texts.calculator(lite, suite="mieb-lite", rate=rate, times=[], size=size)
        assert f"{hours} hours" in markup and f"{lite.images:,} images" in markup
    assert suite_items("pairbench").questions and not suite_items("pairbench").texts
    markup = texts.calculator(suite_items("mini"), suite="mini", rate=1.0, times=[], size=size)
    assert "--dry-run" in markup and " hours" not in markup, "drawn items are counted when they are drawn"


def passes_in_folders() -> dict[tuple[str, str], set[tuple[int, float]]]:
    """The passes over images that the shipped run folders record, each once: (images, seconds) by model and device."""
    out = defaultdict(set)
    for path in (ROOT / "assets" / "computed").rglob("run.json"):
        stored = json.loads(path.read_text())
        run = stored.get("run", stored)
        for one in run["settings"].get("encodings") or []:
            if one["title"] == f"{run['model']}, image" and one["encoded"]:
                out[run["model"], run["device"]].add((one["encoded"], one["seconds"]))
    return out


def test_a_time_is_that_of_all_passes_each_counted_once(suite_fronts):
    times, passes = suite_fronts.suite_cache.db.query("image_times"), passes_in_folders()
    assert {(row.model, row.device) for row in times.itertuples()} == set(passes) and len(passes) >= 3
    for row in times.itertuples():
        own = passes[row.model, row.device]
        images, seconds = (sum(values) for values in zip(*own, strict=True))
        assert row.images == images
        assert row.ms == pytest.approx(1000 * seconds / images)


# ---- errors, names, pictures


def test_suites_that_people_rank_have_no_front(suite_fronts):
    assert not {"cfred-hpdv2", "mini-generators"} & set(suite_fronts.suites()["key"])
    with pytest.raises(BadInput, match="no scores that make a mean"):
        get(suite_fronts, "cfred-hpdv2")
    with pytest.raises(UnknownKey):
        get(suite_fronts, "nowhere")


@pytest.mark.parametrize("suite", ["unisim-core", "unisim-ood", "pairbench", "mieb", "mini", "mini-pairs"])
def test_the_board_and_the_models_own_pages_mark_the_same_front(suite_fronts, suite):
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
