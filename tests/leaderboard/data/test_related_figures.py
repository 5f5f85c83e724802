"""Published figures beside a live answer: the right column, as the board shows it, and nothing where there is none."""

from __future__ import annotations

import math

import pytest

from leaderboard.data.related_figures import COLUMNS, RelatedFigure, related_figures

DREAMSIM, QWEN, CLIP = "dreamsim-ensemble", "qwen/qwen2-vl-7b-instruct", "laion/clip-vit-b-32-laion2b-s34b-b79k"


@pytest.fixture(scope="session")
def suite_cache(papers_cache):
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def test_one_figure_whole(suite_cache):
    found = related_figures(suite_cache, models=[DREAMSIM], mode="choice", kinds=["image", "image", "image"])[DREAMSIM]
    assert found[0] == RelatedFigure(
        title="UniSim-Bench Img-2AFC: the nearer of two images",
        metric="Accuracy",
        value=pytest.approx(85.94, abs=0.1),
        low=pytest.approx(85.3, abs=0.2),
        high=pytest.approx(86.6, abs=0.2),
        chance=50.0,
        percent=True,
        digits=1,
        rank=1,
        of=23,
        origin="published",
        source="UniSim-Bench Table 2",
        note="mean of 3 tasks",
        trained_on=True,
        address="board?suite=unisim-core&select=dreamsim-ensemble~published",
    )
    assert (found[0].shown, found[0].shown_chance) == ("85.9%", "50.0%")
    assert found[0].interval.endswith("%") and " to " in found[0].interval


def test_the_mean_of_independent_tasks_has_a_smaller_error_than_one(suite_cache):
    found = related_figures(suite_cache, models=[CLIP], mode="quality", kinds=["image"], question="sharpness")[CLIP]
    mean = next(one for one in found if one.title == COLUMNS["paa"].title)
    table = suite_cache.table("unisim-ood")
    row = next(at for at, one in enumerate(table.rows) if one.model == CLIP)
    places = [at for at, one in enumerate(table.columns) if one.group == "PAA"]
    half = 100 * 1.96 * math.sqrt(float((table.scores.stderr[row, places] ** 2).sum())) / len(places)
    assert mean.high - mean.value == pytest.approx(half, rel=1e-3)
    assert mean.high - mean.value < found[0].high - found[0].value


def test_a_mean_that_the_paper_prints_names_its_table_and_has_no_interval(suite_cache):
    models = [row.model for row in suite_cache.table("mieb").rows]
    found = related_figures(suite_cache, models=models, mode="choice", kinds=["image", "image"])
    printed = [one for each in found.values() for one in each if one.note == "the mean that the paper prints"]
    assert {(one.source, one.interval) for one in printed} == {("MIEB Table 22", "")}


def test_a_choice_goes_by_what_the_reference_is(suite_cache):
    by_text = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["text", "image", "image"])[CLIP]
    by_image = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["image", "text", "text"])[CLIP]
    assert (by_text[0].title, by_image[0].title) == (COLUMNS["it-2afc"].title, COLUMNS["text-2afc"].title)
    assert by_text[0].value != by_image[0].value
