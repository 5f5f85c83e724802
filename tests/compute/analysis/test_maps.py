"""What a map is made of and how it is named, and where its points lie."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from compute.analysis.correlation import correlate
from compute.analysis.maps import COLUMNS, Recipe, distances, neighbours, project
from compute.analysis.table import ScoreTable
from compute.types import BadInput, Undefined
from tests.compute.commands import done, likeness

NAN = np.nan


@pytest.fixture(scope="module", autouse=True)
def uncompiled():
    """UMAP as it is written, for a tenth of its epochs: to compile it takes many times as long as these small maps."""
    import numba

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", True)
        import umap

        patch.setattr(umap, "UMAP", partial(umap.UMAP, n_epochs=50))
        yield


@pytest.fixture(scope="module")
def grouped():
    """30 models in 3 groups over 24 tasks in 2 kinds, with gaps."""
    rng = np.random.default_rng(0)
    group, kind = np.repeat([0, 1, 2], 10), np.repeat([0, 1], 12)
    levels = 4 * rng.normal(size=(3, 24))
    skills = rng.normal(size=(30, 2))
    scores = levels[group] + skills[:, kind] * 2 + 0.3 * rng.normal(size=(30, 24))
    scores[rng.random(scores.shape) < 0.05] = NAN
    return scores, group


def mapped(scores, **recipe):
    models = tuple(f"m{at:02}" for at in range(len(scores)))
    return project([ScoreTable(values=scores, models=models)], Recipe(suites=("made-up",), origin="computed", **recipe))


@pytest.mark.parametrize(
    "wrong",
    [{"noun": "dogs"}, {"origin": "guessed"}, {"suites": ()}, {"n_neighbors": 1}, {"min_dist": 2.0}, {"seed": -1}],
)
def test_a_recipe_that_makes_no_map_is_refused(wrong):
    with pytest.raises(BadInput):
        Recipe(**wrong)


def test_distances_are_over_what_both_have_and_scaled_up_to_all():
    scores = np.array([[1.0, 2, 3, 5], [4, NAN, 7, 5], [NAN] * 4, [0, 1, 4, 5]])
    found, r, columns = distances(scores, noun="models")
    z = (scores - np.nanmean(scores, axis=0)) / np.nanstd(scores, axis=0).clip(1e-9)
    assert columns == 3  # the last task tells no models apart
    assert_allclose(found[0, 1], np.sqrt(((z[0] - z[1])[[0, 2]] ** 2).sum() * 3 / 2))
    assert np.isnan(found[2]).all() and np.isnan(r).all()


def test_maps_find_the_groups(grouped):
    scores, group = grouped
    models = mapped(scores, noun="models", seed=7, n_neighbors=6)
    assert list(models["key"]) == [f"m{at:02}" for at in range(30)]
    assert all(models["cluster"][group == g].nunique() == 1 for g in range(3))
    assert json.loads(models["settings"][0])["trustworthiness"] > 0.8
    tasks = mapped(scores, noun="tasks", seed=7, n_neighbors=5)
    assert len(tasks) == 24 and np.isfinite(tasks[["x", "y"]].to_numpy()).all()
    settings = json.loads(tasks["settings"][0])
    assert (settings["correlation"], settings["from"]) == ("spearman", 30) and 0 < settings["trustworthiness"] <= 1


def test_maps_are_repeatable_and_what_has_no_place_is_left_off_and_said(grouped):
    bare = grouped[0][:8].copy()
    bare[3] = NAN
    frame, again, other = (mapped(bare, noun="models", n_neighbors=50, seed=seed) for seed in (7, 7, 8))
    assert frame.equals(again) and not frame["x"].equals(other["x"])
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["key"]) == [f"m{at:02}" for at in range(8) if at != 3]
    settings = json.loads(frame["settings"][0])
    known = (settings[name] for name in ("seed", "points", "left_out", "from", "n_neighbors", "origin"))
    assert tuple(known) == (7, 7, 1, 24, 6, "computed")
    assert {"umap-learn", "scikit-learn"} <= set(settings)


def test_too_few_points_are_refused(grouped):
    scores, _ = grouped
    with pytest.raises(Undefined, match="Only 4 models"):
        mapped(scores[:4], noun="models")
    with pytest.raises(Undefined, match="Only 0 tasks"):
        mapped(scores[:3, :6], noun="tasks")


def test_the_nearest_in_the_data_are_those_of_a_distance_matrix(grouped):
    scores, _ = grouped
    recipe, among = Recipe(noun="tasks", suites=("made-up",), origin="computed"), {str(at) for at in range(1, 24)}
    found = neighbours([ScoreTable(values=scores)], recipe, among=among, most=3)
    assert found.keys() == among
    r = correlate(scores=scores, method="spearman").r
    far = np.sqrt(((r[:, None] - r) ** 2).mean(axis=2))
    far[:, 0] = far[np.diag_indices(24)] = np.inf
    for key, near in found.items():
        nearest = np.argsort(far[int(key)])[:3]
        assert_array_equal([int(one.key) for one in near], nearest)
        assert_allclose([one.distance for one in near], far[int(key), nearest])
        assert_allclose([one.r for one in near], r[int(key), nearest])


def test_the_command_writes_one_map(database, tmp_path):
    target = tmp_path / "maps" / "map.csv"
    words = ("--suites", "pairbench", "--noun", "models", "--seed", 2, "--database", database, "--to", target)
    result = done(likeness("project", *words))
    frame = pd.read_csv(target)
    assert tuple(frame.columns) == COLUMNS
    assert set(frame["kind"]) == {"models:pairbench"} and len(frame) == 23
    assert "trustworthiness" in result.output and '"seed": 2' in frame["settings"].iloc[0]
