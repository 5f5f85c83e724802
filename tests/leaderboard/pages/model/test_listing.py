"""The table of one model's scores: all are there, in shown units, with their marks and links."""

from __future__ import annotations

import pytest

from compute.types import UnknownKey
from leaderboard.pages.model.listing import model_scores
from tests.leaderboard.served import rows_of


def test_a_models_scores(suite_cache):
    rows = rows_of(model_scores(suite_cache, model="unisim-vit-l-14"))
    nights = next(row for row in rows if row["link"] == "unisim/nights")
    assert (nights["value"], nights["printed"], nights["n"], nights["chance"]) == (90.7, "90.7", 1824, 50.0)
    assert nights["low"] < 90.7 < nights["high"]
    assert nights["high"] - nights["low"] == pytest.approx(2 * 196 * (0.907 * 0.093 / 1824) ** 0.5, abs=0.2)
    assert "† trained on" in nights["marks"]
    assert nights["source"] == "UniSim-Bench Table 2"
    assert nights["place"] == 1 + (suite_cache.table("unisim-core").scores.values[:, 0] > 0.907).sum()
    with pytest.raises(UnknownKey):
        model_scores(suite_cache, model="nobody/nothing")
