"""A suite as a table: one row a model and origin, marks and reasons where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from compute.catalog import shipped
from leaderboard.data.board_table import DISPUTED, SUSPECT, TRAINED

MODEL = "google/siglip-so400m-patch14-224"
SUITES = tuple(suite.key for suite in shipped().suites)


def test_an_import_is_a_row_of_its_own_and_changes_no_other(suite_cache, imported_suite_cache):
    before, after = suite_cache.table("unisim-core"), imported_suite_cache.table("unisim-core")
    assert {row.id for row in after.rows} - {row.id for row in before.rows} == {f"{MODEL}~imported"}
    for row in before.rows:
        np.testing.assert_array_equal(before.scores.values[before.row(row.id)], after.scores.values[after.row(row.id)])
    imported = after.scores.values[after.row(f"{MODEL}~imported")]
    assert (imported[:-1] == 0.5).all() and np.isnan(imported[-1])
    assert after.scores.reasons[after.scores.missing[after.row(f"{MODEL}~imported"), -1]] == "No score in this source"


def test_a_mean_that_differs_from_the_printed_scores_is_no_doubtful_score(suite_cache):
    """Only the cells concerned are marked, and none where rounding explains the difference."""
    table = suite_cache.table("pairbench")
    marked = [(table.rows[r].model, table.columns[c].metric, table.marks[r, c]) for r, c in np.argwhere(table.marks)]
    conflicts = suite_cache.db.ask(
        "SELECT key FROM claims WHERE verdict = 'conflict' AND \"where\" = 'Table 1' AND paper = 'PairBench'"
    )
    of_means = {(model, metric) for model, metric, bits in marked if bits & DISPUTED}
    assert {f"pairbench-{metric}/{metric}-of-{model}-all-splits" for model, metric in of_means} == set(conflicts["key"])
    doubtful = {model for model, _, bits in marked if bits & SUSPECT}
    assert doubtful == {"allenai/molmo-7b-o-0924"}, "a remark on symmetry is none on MMScore"
    assert (suite_cache.table("cfred-coco").marks & SUSPECT).any(), "a score of generators in doubt stays so"


@pytest.mark.parametrize("suite", SUITES)
def test_training_has_three_states_and_silence_is_unknown(suite_cache, suite):
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
