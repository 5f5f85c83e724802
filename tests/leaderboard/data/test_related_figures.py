"""Published figures beside a live answer: the right column, as the board shows it, and nothing where there is none."""

from __future__ import annotations

import math

import pytest

from leaderboard.data import payload
from leaderboard.data.related_figures import COLUMNS, RelatedFigure, related_figures
from leaderboard.data.suite_cache import SuiteCache

DREAMSIM, QWEN, CLIP = "dreamsim-ensemble", "qwen/qwen2-vl-7b-instruct", "laion/clip-vit-b-32-laion2b-s34b-b79k"


@pytest.fixture(scope="session")
def suite_cache(papers_cache: SuiteCache) -> SuiteCache:
    """The papers' figures alone, of which these tests are."""
    return papers_cache


def test_one_figure_whole(suite_cache) -> None:
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


def test_a_category_reads_as_on_the_board(suite_cache) -> None:
    table = suite_cache.table("mieb")
    shown = payload.board(suite_cache.db, table, suite_cache.ranked("mieb"))
    column = next(at for at, one in enumerate(shown["columns"]) if one["key"] == "Retrieval")
    models = [row["model"] for row in shown["rows"]]
    found = related_figures(suite_cache, models=models, mode="choice", kinds=["image", "image"])
    pairs = [
        (next((one for one in found[row["model"]] if one.title.startswith("MIEB retrieval")), None), cells[column])
        for row, cells in zip(shown["rows"], shown["cells"], strict=True)
    ]
    checked = [(float(one.shown.rstrip("%")), cell / 10) for one, cell in pairs if one is not None]
    assert len(checked) > 20
    assert all(mine == pytest.approx(theirs) for mine, theirs in checked)
    printed = [one for one, _ in pairs if one is not None and one.note == "the mean that the paper prints"]
    assert printed and {one.source for one in printed} == {"MIEB Table 22"}
    assert all(one.interval == "" for one in printed)  # nothing is known of its tasks' errors


def test_a_task_has_the_interval_of_its_items_and_its_place(suite_cache) -> None:
    found = related_figures(suite_cache, models=[CLIP], mode="quality", kinds=["image"], question="sharpness")[CLIP][0]
    assert found.address == "task?task=unisim/koniq-10k-sharpness"
    share, n = found.value / 100, 5000
    half = 100 * 1.96 * math.sqrt(share * (1 - share) / n)
    assert (found.low, found.high) == (
        pytest.approx(found.value - half, abs=0.02),
        pytest.approx(found.value + half, abs=0.02),
    )
    table = suite_cache.table("unisim-ood")
    column = next(at for at, one in enumerate(table.columns) if one.task == "unisim/koniq-10k-sharpness")
    values = [value for value in table.scores.values[:, column] if not math.isnan(value)]
    assert (found.rank, found.of) == (1 + sum(value > share for value in values), len(values))


def test_the_mean_of_independent_tasks_has_a_smaller_error_than_one(suite_cache) -> None:
    found = related_figures(suite_cache, models=[CLIP], mode="quality", kinds=["image"], question="sharpness")[CLIP]
    mean = next(one for one in found if one.title == COLUMNS["paa"].title)
    table = suite_cache.table("unisim-ood")
    row = next(at for at, one in enumerate(table.rows) if one.model == CLIP)
    places = [at for at, one in enumerate(table.columns) if one.group == "PAA"]
    half = 100 * 1.96 * math.sqrt(float((table.scores.stderr[row, places] ** 2).sum())) / len(places)
    assert mean.high - mean.value == pytest.approx(half, rel=1e-3)
    assert mean.high - mean.value < found[0].high - found[0].value


def test_a_choice_goes_by_what_the_reference_is(suite_cache) -> None:
    by_text = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["text", "image", "image"])[CLIP]
    by_image = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["image", "text", "text"])[CLIP]
    assert (by_text[0].title, by_image[0].title) == (COLUMNS["it-2afc"].title, COLUMNS["text-2afc"].title)
    assert by_text[0].value != by_image[0].value
