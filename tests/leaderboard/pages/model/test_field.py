"""One model among its field, and one row a model, on the shipped figures."""

import numpy as np

from leaderboard.pages.model import field as fields


def test_the_field_is_of_one_origin(imported_suite_cache):
    model = "google/siglip-so400m-patch14-224"
    table = imported_suite_cache.table("unisim-core")
    assert sorted(table.rows[row].origin for row in table.rows_of_model(model)) == ["imported", "published"]
    shown = fields.field(imported_suite_cache, suite="unisim-core", model=model)
    assert shown.origin == "published"
    assert {table.rows[row].origin for row in shown.rows} == {"published"}
    other = fields.field(imported_suite_cache, suite="unisim-core", model=model, origin="imported")
    assert len(other.rows) == 1
    assert np.isnan(other.standing.z).all()
