"""Published figures beside a live answer: the right column, as the board shows it, and nothing where there is none."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.data import payload, task_queries
from leaderboard.data.related_figures import (
    COLUMNS,
    MOST,
    NONE,
    QUESTIONS,
    RelatedFigure,
    kind_of_question,
    listed_sources,
    missing_sentence,
    related_figures,
)
from leaderboard.data.suite_table import TRAINED

DREAMSIM, QWEN, CLIP = "dreamsim-ensemble", "qwen/qwen2-vl-7b-instruct", "laion/clip-vit-b-32-laion2b-s34b-b79k"
EVERY = [(key, one) for key, listed in QUESTIONS.items() for one in listed]


@pytest.mark.parametrize(("key", "one"), EVERY, ids=[f"{key} {one.title}" for key, one in EVERY])
def test_every_line_of_the_table_is_a_column_with_figures(suite_cache, key, one) -> None:
    table = suite_cache.table(one.suite)
    assert bool(one.category) != bool(one.task)
    if one.category:
        assert one.category in table.categories
        values = suite_cache.ranked(one.suite).category_means[:, table.categories.index(one.category)]
    else:
        places = [
            at
            for at, column in enumerate(table.columns)
            if column.task == one.task and one.metric in ("", column.metric)
        ]
        assert len(places) == 1
        values = table.values[:, places[0]]
    assert (~np.isnan(values)).sum() >= 1


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
        marks=TRAINED,
        synthetic=False,
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
    values = [value for value in table.values[:, column] if not math.isnan(value)]
    assert (found.rank, found.of) == (1 + sum(value > share for value in values), len(values))


def test_the_mean_of_independent_tasks_has_a_smaller_error_than_one(suite_cache) -> None:
    found = related_figures(suite_cache, models=[CLIP], mode="quality", kinds=["image"], question="sharpness")[CLIP]
    mean = next(one for one in found if one.title == COLUMNS["paa"].title)
    table = suite_cache.table("unisim-ood")
    row = next(at for at, one in enumerate(table.rows) if one.model == CLIP)
    places = [at for at, one in enumerate(table.columns) if one.group == "PAA"]
    half = 100 * 1.96 * math.sqrt(float((table.stderr[row, places] ** 2).sum())) / len(places)
    assert mean.high - mean.value == pytest.approx(half, rel=1e-3)
    assert mean.high - mean.value < found[0].high - found[0].value


def test_judges_of_pairs_have_their_own_benchmark_first(suite_cache) -> None:
    found = related_figures(suite_cache, models=[QWEN], mode="pair", kinds=["image", "image"])[QWEN]
    assert len(found) == MOST
    assert [one.metric for one in found] == ["MMScore"] * 3
    found = related_figures(suite_cache, models=[QWEN], mode="pair", kinds=["text", "image"])[QWEN]
    assert [one.title for one in found][2] == COLUMNS["it-2afc"].title
    assert found[1].source == "PairBench Table 1"
    assert found[1].rank <= found[1].of == 10


def test_a_choice_goes_by_what_the_reference_is(suite_cache) -> None:
    by_text = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["text", "image", "image"])[CLIP]
    by_image = related_figures(suite_cache, models=[CLIP], mode="choice", kinds=["image", "text", "text"])[CLIP]
    assert (by_text[0].title, by_image[0].title) == (COLUMNS["it-2afc"].title, COLUMNS["text-2afc"].title)
    assert by_text[0].value != by_image[0].value


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("pair", ["text", "text"]),
        ("choice", ["text", "text", "text"]),
        ("choice", ["image", "text", "image"]),
        ("pair", ["image"]),
    ],
)
def test_what_no_benchmark_asks_has_no_figure_and_a_sentence(suite_cache, mode, kinds) -> None:
    assert kind_of_question(mode=mode, kinds=kinds) == ""
    found = related_figures(suite_cache, models=[CLIP, "no/such"], mode=mode, kinds=kinds)
    assert found == {CLIP: [], "no/such": []}
    assert missing_sentence(found[CLIP]) == NONE == "No published figure for this kind of question"


def test_an_unknown_mode_or_question_is_an_error(suite_cache) -> None:
    with pytest.raises(BadInput, match="no mode 'pairs'; there are: pair, choice, odd, quality"):
        related_figures(suite_cache, models=[CLIP], mode="pairs", kinds=["image", "image"])
    with pytest.raises(BadInput, match="no question 'beauty'; there are: quality, brightness"):
        related_figures(suite_cache, models=[CLIP], mode="quality", kinds=["image"], question="beauty")


def test_published_before_imported(imported_suite_cache) -> None:
    model = "google/siglip-so400m-patch14-224"
    found = related_figures(imported_suite_cache, models=[model], mode="quality", kinds=["image"])[model]
    assert [one.origin for one in found] == ["published"]
    assert found[0].value != pytest.approx(50)  # what was imported


def test_computed_figures_on_drawings_come_last_and_say_so(stand_in_suite_cache) -> None:
    found = related_figures(stand_in_suite_cache, models=["tiny"], mode="odd", kinds=["image"] * 3)["tiny"]
    assert [(one.origin, one.synthetic) for one in found] == [("computed", True)]
    assert missing_sentence(found) == NONE
    eye = related_figures(stand_in_suite_cache, models=["example/eye"], mode="choice", kinds=["image"] * 3)[
        "example/eye"
    ]
    assert eye and {(one.origin, one.synthetic) for one in eye} == {("computed", False)}
    every = related_figures(
        stand_in_suite_cache, models=[CLIP, DREAMSIM, QWEN, "tiny"], mode="pair", kinds=["image", "image"]
    )
    order = ["published", "imported", "computed"]
    for listed in every.values():
        places = [order.index(one.origin) for one in listed]
        assert places == sorted(places) and len(places) <= MOST


def test_twelve_models_take_one_question_and_little_time(suite_cache, monkeypatch) -> None:
    asked = []
    real = task_queries.sources
    monkeypatch.setattr(task_queries, "sources", lambda db, *, tasks: asked.append(tasks) or real(db, tasks=tasks))
    models = [row.model for row in suite_cache.table("unisim-core").rows[:12]]
    related_figures(suite_cache, models=models, mode="odd", kinds=["image"] * 4)
    taken = []
    for _ in range(5):
        started = time.thread_time()
        related_figures(suite_cache, models=models, mode="odd", kinds=["image"] * 3)
        taken.append(time.thread_time() - started)
    assert len(asked) <= 1
    assert min(taken) < 0.03


def test_sources_stand_once_in_their_order_and_runs_are_counted() -> None:
    tables = ["MIEB Table 10", "MIEB Table 9", "MIEB Table 9", "MIEB Table 21"]
    assert listed_sources(tables, origin="published") == "MIEB Table 9; MIEB Table 10 and 1 more"
    assert listed_sources(tables, origin="published", most=3) == "MIEB Table 9; MIEB Table 10; MIEB Table 21"
    assert listed_sources(["results/a", "results/b"], origin="computed") == "2 computed runs"
    assert listed_sources(["results/a"], origin="computed") == "results/a"
