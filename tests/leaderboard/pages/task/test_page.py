"""A task's page can be drawn for every benchmark, and says what the figures say."""

from __future__ import annotations

import gradio as gr
import numpy as np
import pytest

from compute.analysis.saturation import saturation
from leaderboard.data import suite_queries
from leaderboard.html.formatting import model_url
from leaderboard.html.labels import SUSPECT
from leaderboard.pages.task import page as task
from leaderboard.pages.task import protocols


@pytest.fixture(scope="module")
def related(site):
    found = {}

    def ask(suite: str):
        if suite not in found:
            found[suite] = task.correlations(site.suite_cache.table(suite))
        return found[suite]

    return ask


def test_one_task_of_every_benchmark(site, related):
    for key in ("unisim/nights", "pairbench/coco-cj", "mieb/stl10", "cfred/parti"):
        head, figure, items, foot = task.page(site, task=key, related=related)
        assert f"<code>{key}</code>" in head
        assert figure["visible"]
        assert f'data-task="{key}"' in items
        assert f"data/task?task={key}" in foot
    assert (
        "correlations?suites=mieb&amp;level=tasks&amp;pair=mieb/stl10,"
        in task.page(site, task="mieb/stl10", related=related)[2]
    )


def test_the_page_opens_with_who_is_best_and_what_that_says(site, related):
    head, *_ = task.page(site, task="mieb/stl10zeroshot", related=related)
    lead = head[head.index("pg-lead") :].partition("</p>")[0]
    table = site.suite_cache.table("mieb")
    column = table.values[:, table.headline("mieb/stl10zeroshot")]
    best = table.rows[int(np.nanargmax(column))]
    assert model_url(best.model) in lead and f"{np.nanmax(column) * 100:.1f}" in lead and "(published)" in lead
    assert f"{int((~np.isnan(column)).sum())} models" in lead and "Close to its ceiling" in lead


def test_the_points_of_a_task_are_ranked_with_intervals(site):
    table = site.suite_cache.table("unisim-core")
    points = task.ranked_points(table, 0, limits=suite_queries.metrics(site.db).loc[table.columns[0].metric])
    assert points["value"].is_monotonic_decreasing
    assert (points["low"] < points["value"]).all() and (points["high"] <= 100).all()


def test_a_doubtful_figure_is_not_among_the_best(site, related):
    """On WU-IT (b) of PairBench the highest figure is one in doubt."""
    table = site.suite_cache.table("pairbench")
    index = table.headline("pairbench/wu-it-b")
    limits = suite_queries.metrics(site.db).loc[table.columns[index].metric]
    points = task.ranked_points(table, index, limits=limits)
    doubtful = points[points["marks"] & SUSPECT > 0]
    assert points["marks"].iloc[0] & SUSPECT and len(doubtful) == 10
    rest = task.page(site, task="pairbench/wu-it-b", related=related)[2]
    best = rest[rest.index("Best ten") : rest.index("Single items")]
    sound = points[points["marks"] & SUSPECT == 0]
    assert "Doubtful figures (10," in best
    assert best.index(f">{sound['title'].iloc[0]}</a>") < best.index(f">{sound['title'].iloc[1]}</a>")
    reading = task._reading(table, index, ceiling=limits["upper"])
    assert reading["saturation"].best * table.columns[index].scale == pytest.approx(sound["value"].iloc[0])


def test_saturation_is_only_claimed_where_it_shows():
    crowded = saturation(scores=[0.8] * 9, stderr=[0.02] * 9, chance=0.5, ceiling=1.0)
    assert task.verdict(crowded).startswith("Close to saturated")
    few = saturation(scores=[0.8] * 4, stderr=[0.02] * 4, chance=0.5, ceiling=1.0)
    assert not task.verdict(few).startswith("Close to saturated")
    full = saturation(scores=[0.99, 0.5, 0.4, 0.3], stderr=[0.001] * 4, chance=0.1, ceiling=1.0)
    assert task.verdict(full).startswith("Close to its ceiling")
    wide = saturation(scores=[0.7, 0.5, 0.4, 0.3], stderr=[0.001] * 4, chance=0.1, ceiling=1.0)
    assert task.verdict(wide).startswith("Still separates models")
    unknown = saturation(scores=[0.7, 0.5], ceiling=1.0)
    assert "without a known noise" in task.verdict(unknown)


def test_every_procedure_has_words(site):
    kinds = site.db.ask("SELECT DISTINCT procedure, benchmark FROM tasks")
    for row in kinds.itertuples():
        assert protocols.sentence(row.procedure, row.benchmark), row


def test_settings_in_words():
    assert (
        protocols.settings({"samples_per_label": 8, "n_experiments": 10}) == "8 images a class to learn from; 10 draws"
    )
    assert "first hit" in protocols.settings({"skip_first_result": True})
    assert protocols.settings({"skip_first_result": False, "custom_load_data": True}) == ""


def test_a_computed_run_can_be_opened(stand_in_site):
    made = task.correlations(stand_in_site.suite_cache.table("unisim-core"))
    *_, foot = task.page(stand_in_site, task="unisim/nights", related=lambda suite: made)
    for key in ("eye", "dim", "judge"):
        assert f'data-run="computed/example/{key}/unisim/nights/' in foot


def test_the_map_of_a_task_is_shown_where_there_is_one(stand_in_site):
    shown, choice, figure, words = task.images(stand_in_site, task="mieb/cifar10", model="")
    assert shown["visible"] and "Example Eye" in words
    assert choice["choices"] == [("Example Eye", "")] and choice["value"] == ""
    assert len(figure["value"].data) == 4
    hidden, *_ = task.images(stand_in_site, task="mieb/stl10", model="example/eye")
    assert not hidden["visible"]


def test_no_other_models_map_stands_in_place_of_a_missing_one(stand_in_site):
    shown, choice, figure, words = task.images(stand_in_site, task="mieb/cifar10", model="example/eyes")
    assert shown["visible"] and choice["visible"] and choice["value"] is None
    assert figure == gr.update(value=None, visible=False)
    assert "No map of &#39;example/eyes&#39;. Did you mean &#39;example/eye&#39;?" in words


def test_every_task_is_listed_once(site):
    listed = task.every_task(site)
    for _, key in task.tasks(site):
        assert listed.count(f'href="task?task={key}"') == 1


@pytest.mark.parametrize("key", ["mieb/cifar10", "cfred/coco"])
def test_names_are_text(hostile_site, key):
    made = task.correlations(hostile_site.suite_cache.table("mieb"))
    head, _, rest, *_, words, foot = task.whole(hostile_site, task=key, model="", related=lambda suite: made)
    for markup in (head, rest, foot):
        assert "&lt;img src=x" in markup and "<img" not in markup and "{{7*7}}" in markup
    assert "<img" not in words


@pytest.mark.parametrize("key", ["mieb/winoground", "pairbench/wu-it-a", "mini/pages"])
def test_a_drawn_example_of_its_type_stands_on_the_page(site, related, key):
    head, *_ = task.page(site, task=key, related=related)
    assert 'class="pg-example"' in head and "drawn example" in head and head.count("<image ") >= 1
