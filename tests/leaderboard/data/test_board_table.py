"""A suite as a table: one row a model and origin, marks and reasons where they belong."""

import numpy as np

MODEL = "google/siglip-so400m-patch14-224"


def test_an_import_is_a_row_of_its_own_and_changes_no_other(suite_cache, imported_suite_cache):
    before, after = suite_cache.table("unisim-core"), imported_suite_cache.table("unisim-core")
    assert {row.id for row in after.rows} - {row.id for row in before.rows} == {f"{MODEL}~imported"}
    for row in before.rows:
        np.testing.assert_array_equal(before.scores.values[before.row(row.id)], after.scores.values[after.row(row.id)])
    imported = after.scores.values[after.row(f"{MODEL}~imported")]
    assert (imported[:-1] == 0.5).all() and np.isnan(imported[-1])
    assert after.scores.reasons[after.scores.missing[after.row(f"{MODEL}~imported"), -1]] == "No score in this source"
