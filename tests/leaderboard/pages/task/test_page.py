"""A task's page can be drawn for every benchmark, and says what the figures say."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from compute.analysis.saturation import saturation
from leaderboard.html.formatting import model_url
from leaderboard.html.labels import SUSPECT, TRAINED
from leaderboard.pages.task import page as task
from leaderboard.pages.task import protocols


@pytest.fixture
def site(papers_site):
    return papers_site


@pytest.fixture(scope="module")
def related(papers_cache):
    return functools.cache(lambda suite: task.correlations(papers_cache.table(suite)))


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
    column = table.scores.values[:, table.headline("mieb/stl10zeroshot")]
    best = table.rows[int(np.nanargmax(column))]
    assert model_url(best.model) in lead and f"{np.nanmax(column) * 100:.1f}" in lead and "(published)" in lead
    assert f"{int((~np.isnan(column)).sum())} models" in lead and "Close to its ceiling" in lead


def test_the_page_opens_with_what_the_first_were_trained_on(site, related):
    """DreamSim and five others were tuned on NIGHTS; the score between them is in doubt."""
    table = site.suite_cache.table("unisim-core")
    index = table.headline("unisim/nights")
    sound = np.where(table.marks[:, index] & SUSPECT, np.nan, table.scores.values[:, index])
    order = np.argsort(-np.nan_to_num(sound))
    trained = table.marks[order, index] & TRAINED > 0
    first = int(np.argmin(trained))
    lead = task.page(site, task="unisim/nights", related=related)[0].partition("pg-lead")[2].partition("</p>")[0]
    assert first == 6 and f"The first {first} were trained on this data" in lead
    assert model_url(table.rows[order[first]].model) in lead


def test_the_points_of_a_task_are_ranked_with_intervals(site):
    table = site.suite_cache.table("unisim-core")
    points = task.ranked_points(table, 0)
    assert points["value"].is_monotonic_decreasing
    assert (points["low"] < points["value"]).all() and (points["high"] <= 100).all()


@pytest.mark.parametrize(
    ("scores", "noise", "said"),
    [
        ([0.8] * 9, 0.02, "Close to saturated"),
        ([0.3] * 9, 0.02, "Too hard to tell the best"),
        ([0.09] * 9, 0.02, "Too hard to tell models apart"),
        ([0.12, 0.1, 0.05, 0.04], 0.02, "Too hard to tell models apart"),
        ([0.99, 0.5, 0.4, 0.3], 0.001, "Close to its ceiling"),
        ([0.7, 0.5, 0.4, 0.3], 0.001, "Still separates models"),
    ],
)
def test_saturation_is_only_claimed_where_it_shows(scores, noise, said):
    assert task.verdict(saturation(scores=scores, stderr=[noise] * len(scores), chance=0.1, ceiling=1.0)).startswith(
        said
    )


def test_saturation_needs_several_models_with_a_known_noise():
    assert not task.verdict(saturation(scores=[0.8] * 4, stderr=[0.02] * 4, ceiling=1.0)).startswith(
        "Close to saturated"
    )
    assert "without a known noise" in task.verdict(saturation(scores=[0.7, 0.5], ceiling=1.0))


def test_every_procedure_has_words(site):
    kinds = site.db.ask("SELECT DISTINCT procedure, benchmark FROM tasks")
    for row in kinds.itertuples():
        assert protocols.sentence(row.procedure, row.benchmark), row
