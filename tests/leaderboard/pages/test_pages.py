"""Every page of a model, a task and a set of generators can be drawn, and says what the figures say."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from compute.analysis.saturation import saturation
from leaderboard.data import item_queries, model_queries, suite_queries
from leaderboard.pages.generators import page as generators
from leaderboard.pages.generators.metrics import JUDGES, jury
from leaderboard.pages.model import page as model
from leaderboard.pages.task import blocks, protocols
from leaderboard.pages.task import page as task

KINDS = ("royokong/e5-v", "xswu/hpsv2", "gpt-4o-2024-11-20", "black-forest-labs/flux.1-dev", "cfred")


@pytest.fixture(scope="module")
def site(suite_cache) -> SimpleNamespace:
    return SimpleNamespace(db=suite_cache.db, suite_cache=suite_cache)


@pytest.fixture(scope="module")
def related(site):
    found = {}

    def ask(suite: str):
        if suite not in found:
            found[suite] = task.correlations(site.suite_cache.table(suite))
        return found[suite]

    return ask


@pytest.mark.parametrize("by", ["category", "task"])
def test_models_of_every_kind(site, by):
    listed = set(model_queries.listed_models(site.db)["key"])
    for key in KINDS:
        assert key in listed
        head, figure, rest = model.page(site, model=key, suite="", by=by)
        assert f"<code>{key}</code>" in head
        assert f"data/model?model={key}" in rest
        assert figure["visible"] is (key != "cfred")


def test_a_suite_without_the_model_says_so(site):
    head, figure, _ = model.page(site, model="unisim-vit-l-14", suite="mieb", by="task")
    assert "It has no score in MIEB" in head
    assert figure["visible"]


def test_a_guessed_alias_is_marked(site):
    head, *_ = model.page(site, model="gemini-1.5-flash", suite="", by="category")
    assert "guess</strong>" in head


def test_one_task_of_every_benchmark(site, related):
    for key in ("unisim/nights", "pairbench/coco-cj", "mieb/stl10", "cfred/parti"):
        head, figure, items, foot = task.page(site, task=key, related=related)
        assert f"<code>{key}</code>" in head
        assert figure["visible"]
        assert f"data-task='{key}'" in items
        assert f"data/task?task={key}" in foot
    assert (
        "correlations?suites=mieb&amp;level=tasks&amp;pair=mieb/stl10,"
        in task.page(site, task="mieb/stl10", related=related)[2]
    )


def test_the_points_of_a_task_are_ranked_with_intervals(site):
    table = site.suite_cache.table("unisim-core")
    points = task.ranked_points(table, 0, limits=suite_queries.metrics(site.db).loc[table.columns[0].metric])
    assert points["value"].is_monotonic_decreasing
    assert (points["low"] < points["value"]).all() and (points["high"] <= 100).all()


def test_saturation_is_only_claimed_where_it_shows():
    crowded = saturation(scores=[0.8] * 9, stderr=[0.02] * 9, chance=0.5, ceiling=1.0)
    assert blocks.verdict(crowded).startswith("Close to saturated")
    few = saturation(scores=[0.8] * 4, stderr=[0.02] * 4, chance=0.5, ceiling=1.0)
    assert not blocks.verdict(few).startswith("Close to saturated")
    full = saturation(scores=[0.99, 0.5, 0.4, 0.3], stderr=[0.001] * 4, chance=0.1, ceiling=1.0)
    assert blocks.verdict(full).startswith("Close to its ceiling")
    wide = saturation(scores=[0.7, 0.5, 0.4, 0.3], stderr=[0.001] * 4, chance=0.1, ceiling=1.0)
    assert blocks.verdict(wide).startswith("Still tells models apart")
    unknown = saturation(scores=[0.7, 0.5], ceiling=1.0)
    assert "without a known noise" in blocks.verdict(unknown)


def test_every_procedure_has_words(site):
    kinds = site.db.ask("SELECT DISTINCT procedure, benchmark FROM tasks")
    for row in kinds.itertuples():
        assert (row.procedure, row.benchmark) in protocols.SENTENCES


def test_settings_in_words():
    assert (
        protocols.settings({"samples_per_label": 8, "n_experiments": 10}) == "8 images a class to learn from; 10 draws"
    )
    assert "first hit" in protocols.settings({"skip_first_result": True})
    assert protocols.settings({"skip_first_result": False, "custom_load_data": True}) == ""


@pytest.mark.parametrize("chosen", list(generators.SETS))
def test_generators_by_every_metric(site, chosen):
    held = {key: jury(site.db, site.suite_cache.table(f"cfred-{key}")) for key in generators.SETS}.__getitem__
    for metric in JUDGES:
        head, slope, scatter, rest = generators.page(site, held, chosen=chosen, metric=metric)
        assert (generators.BUILT_IN in head) is (chosen == "parti")
        assert len(slope.data) == len(held(chosen).human)
        assert sum(len(trace.x) for trace in scatter.data) == len(held(chosen).human)
    assert "Which metric can be trusted where" in rest


def test_likely_misprints_are_marked(site):
    shown = jury(site.db, site.suite_cache.table("cfred-coco"))
    assert sum(generators.suspects(site, shown, "mps")) == 1
    assert sum(generators.suspects(site, shown, "cmmd")) == 1
    assert sum(generators.suspects(site, shown, "hpsv2")) == 0


def test_a_computed_run_can_be_opened_from_task_and_model(stand_in_suite_cache):
    there = SimpleNamespace(db=stand_in_suite_cache.db, suite_cache=stand_in_suite_cache)
    made = task.correlations(stand_in_suite_cache.table("unisim-core"))
    *_, foot = task.page(there, task="unisim/nights", related=lambda suite: made)
    for key in ("eye", "dim", "judge"):
        assert f"data-run='computed/example/{key}/unisim/nights/" in foot
    *_, rest = model.page(there, model="example/eye", suite="", by="category")
    assert rest.count("class='lk-run'") == len(item_queries.computed_runs(there.db, model="example/eye"))
    assert "not the one on the board" in rest
    *_, printed = model.page(there, model="royokong/e5-v", suite="", by="category")
    assert "lk-run" not in printed


def test_the_map_of_a_task_is_shown_where_there_is_one(stand_in_suite_cache):
    there = SimpleNamespace(db=stand_in_suite_cache.db, suite_cache=stand_in_suite_cache)
    shown, choice, figure, words = task.images(there, task="mieb/cifar10", model="")
    assert shown["visible"] and "Example Eye" in words
    assert choice["choices"] == [("Example Eye", "")] and choice["value"] == ""
    assert len(figure.data) == 4
    hidden, *_ = task.images(there, task="mieb/stl10", model="example/eye")
    assert not hidden["visible"]
