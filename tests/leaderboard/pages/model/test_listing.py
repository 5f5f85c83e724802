"""The table of one model's scores: all are there, in shown units, with their marks and links."""

from __future__ import annotations

import numpy as np
import pytest

from compute.catalog import shipped
from compute.types import UnknownKey
from leaderboard.data.board_table import TRAINED
from leaderboard.pages.model.listing import model_scores
from leaderboard.pages.task.listing import task_scores
from tests.leaderboard.served import rows_of


def test_a_models_scores(suite_cache):
    rows = rows_of(model_scores(suite_cache, model="unisim-vit-l-14"))
    nights = next(row for row in rows if row["link"] == "unisim/nights")
    assert (nights["value"], nights["printed"], nights["n"], nights["chance"]) == (90.7, "90.7", 1824, 50.0)
    assert nights["low"] < 90.7 < nights["high"]
    assert nights["high"] - nights["low"] == pytest.approx(2 * 196 * (0.907 * 0.093 / 1824) ** 0.5, abs=0.2)
    assert "† trained on" in nights["marks"]
    assert nights["source"] == "UniSim-Bench Table 2"
    better = sum(
        row.model != "unisim-vit-l-14" and suite_cache.table("unisim-core").scores.values[at, 0] > 0.907
        for at, row in enumerate(suite_cache.table("unisim-core").rows)
    )
    assert nights["place"] == better + 1


def test_an_unknown_model(suite_cache):
    with pytest.raises(UnknownKey):
        model_scores(suite_cache, model="nobody/nothing")


def test_training_on_a_data_set_marks_the_tasks_made_of_it(suite_cache):
    """COCO in training data: MIEB's retrieval on COCO is marked on the board, the model's page and the task's."""
    task = "mieb/mscocoi2tretrieval"
    table = suite_cache.table("mieb")
    column = next(place for place, column in enumerate(table.columns) if column.task == task)
    scored = ~np.isnan(table.scores.values[:, column])
    marked = {row.model for place, row in enumerate(table.rows) if table.marks[place, column] & TRAINED}
    on_coco = {row.key for row in shipped().models if "coco" in row.trained_on}
    assert len(marked) > 2 and marked == on_coco & {table.rows[place].model for place in np.flatnonzero(scored)}
    one = sorted(marked)[0]
    for rows, link in (
        (rows_of(model_scores(suite_cache, model=one)), task),
        (rows_of(task_scores(suite_cache.db, task=task)), one),
    ):
        assert all("† trained on" in row["marks"] for row in rows if row["link"] == link)
