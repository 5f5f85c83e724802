"""What a map is made of and how it is named; the projection itself is tested beside it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from compute.analysis.maps.suites import COLUMNS, Recipe, project
from compute.analysis.table import ScoreTable
from compute.types import BadInput


@pytest.mark.parametrize(
    "wrong",
    [{"noun": "dogs"}, {"origin": "guessed"}, {"suites": ()}, {"n_neighbors": 1}, {"min_dist": 2.0}, {"seed": -1}],
)
def test_a_recipe_that_makes_no_map_is_refused(wrong):
    with pytest.raises(BadInput):
        Recipe(**wrong)


def test_a_map_says_how_it_was_made_and_leaves_out_what_has_no_place():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(9, 1)) + rng.normal(size=(9, 12))
    values[8] = np.nan
    scores = ScoreTable(
        models=tuple(f"m{place}" for place in range(9)), tasks=tuple(f"t{place}" for place in range(12)), values=values
    )
    recipe = Recipe(noun="models", suites=("made-up",), origin="computed", seed=7)
    frame = project([scores], recipe)
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["key"]) == [f"m{place}" for place in range(8)]
    settings = json.loads(frame["settings"].iloc[0])
    assert (settings["seed"], settings["points"], settings["left_out"], settings["from"]) == (7, 8, 1, 12)
    assert settings["origin"] == "computed" and 0 <= settings["trustworthiness"] <= 1 and settings["umap-learn"]
