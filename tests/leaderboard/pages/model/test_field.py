"""One model among its field, and one row a model, on the shipped figures."""

from __future__ import annotations

import numpy as np

from leaderboard.pages.model import field as fields


def test_the_field_is_of_one_origin(imported_suite_cache):
    model = "google/siglip-so400m-patch14-224"
    table = imported_suite_cache.table("unisim-core")
    assert sorted(fields.origins_of(table, model=model)) == ["imported", "published"]
    shown = fields.field(imported_suite_cache, suite="unisim-core", model=model)
    assert shown.origin == "published"
    assert {table.rows[row].origin for row in shown.rows} == {"published"}
    other = fields.field(imported_suite_cache, suite="unisim-core", model=model, origin="imported")
    assert len(other.rows) == 1
    assert np.isnan(other.standing.z).all()


def test_one_row_a_model_takes_the_fullest(imported_suite_cache):
    table = imported_suite_cache.table("unisim-core")
    rows = table.fullest_rows()
    models = [table.rows[row].model for row in rows]
    assert len(models) == len(set(models)) == len({row.model for row in table.rows})
    assert all(table.rows[row].origin == "published" for row in rows)


def test_nearest_asks_for_half_of_the_tasks(suite_cache):
    shown = fields.field(suite_cache, suite="unisim-core", model="unisim-vit-l-14")
    near = fields.nearest(shown)
    own = int((~np.isnan(shown.table.scores.values[shown.row, shown.columns])).sum())
    assert (near.shared[~np.isnan(near.distance)] >= max(5, own / 2)).all()
    closest = shown.table.rows[shown.rows[int(np.nanargmin(near.distance))]].model
    assert closest.startswith("unisim-")
