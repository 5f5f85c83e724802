"""A suite as a table: one row a model and origin, marks and reasons where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from compute.catalog import shipped
from leaderboard.data.board_table import DISPUTED, SUSPECT, TRAINED
from leaderboard.data.suite_cache import SuiteCache

MODEL = "google/siglip-so400m-patch14-224"
SUITES = tuple(suite.key for suite in shipped().suites)


@pytest.mark.parametrize("suite", SUITES)
def test_shapes_agree(suite_cache: SuiteCache, suite: str) -> None:
    table = suite_cache.table(suite)
    shape = (len(table.rows), len(table.columns))
    assert (
        table.scores.values.shape
        == table.scores.stderr.shape
        == table.marks.shape
        == table.scores.missing.shape
        == shape
    )
    assert table.scores.printed.shape == (len(table.rows), len(table.scores.categories))
    assert np.isfinite(table.scores.values).any(axis=1).all(), "a row without a figure"
    assert len(table.scores.codes) == len(table.columns) and table.scores.codes.max() <= len(table.scores.categories)
    assert (table.marks[np.isnan(table.scores.values)] == 0).all()
    for column, values in zip(table.columns, table.scores.values.T, strict=True):
        if column.scale == 100:
            assert (values[~np.isnan(values)] >= -1).all() and (values[~np.isnan(values)] <= 1).all(), column.key


def test_printed_figures_stand_where_the_paper_prints_them(suite_cache: SuiteCache) -> None:
    """UniSim-Bench Table 2, first row: CLIP ViT-B/32 scores 85.1 on NIGHTS and 74.4 on PIPAL."""
    table = suite_cache.table("unisim-core")
    keys = [column.key for column in table.columns]
    model = next(
        row.id
        for row in table.rows
        if table.models.loc[row.model]["title"] == "CLIP ViT-B/32 LAION-2B"
        or row.model == "laion/clip-vit-b-32-laion2b-s34b-b79k"
    )
    assert len(keys) == 16
    assert table.scores.values[table.row(model), keys.index("unisim/nights")] == pytest.approx(0.851)
    assert table.scores.values[table.row(model), keys.index("unisim/pipal")] == pytest.approx(0.744)


def test_an_import_is_a_row_of_its_own_and_changes_no_other(
    suite_cache: SuiteCache, imported_suite_cache: SuiteCache
) -> None:
    before, after = suite_cache.table("unisim-core"), imported_suite_cache.table("unisim-core")
    assert {row.id for row in after.rows} - {row.id for row in before.rows} == {f"{MODEL}~imported"}
    for row in before.rows:
        np.testing.assert_array_equal(before.scores.values[before.row(row.id)], after.scores.values[after.row(row.id)])
    imported = after.scores.values[after.row(f"{MODEL}~imported")]
    assert (imported[:-1] == 0.5).all() and np.isnan(imported[-1])
    assert after.scores.reasons[after.scores.missing[after.row(f"{MODEL}~imported"), -1]] == "No figure in this source"


@pytest.mark.parametrize("suite", SUITES)
def test_training_has_three_states_and_silence_is_unknown(suite_cache: SuiteCache, suite: str) -> None:
    table = suite_cache.table(suite)
    seen = {
        str(model)
        for model in suite_cache.db.ask(
            "SELECT DISTINCT model FROM trained_tasks JOIN suite_tasks USING (task) WHERE suite = ?", [suite]
        )["model"]
    }
    for index, row in enumerate(table.rows):
        stated = len(table.models.loc[row.model, "trained_on"]) > 0
        expected = "yes" if row.model in seen else "no" if stated else "unknown"
        assert table.trained(index) == expected, row.model
        if (table.marks[index] & TRAINED).any():
            assert table.trained(index) == "yes"


def test_marks_are_on_the_cells_they_concern(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("unisim-core")
    marks = {bit: np.argwhere(table.marks & bit) for bit in (TRAINED, SUSPECT, DISPUTED)}
    assert all(len(found) for found in marks.values())
    for r, c in marks[TRAINED]:
        model, column = table.models.loc[table.rows[r].model], table.columns[c]
        assert len(model["trained_on"]) > 0, (model["key"], column.key)
