import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from compute.analysis.correlation import correlate
from compute.analysis.maps.suites import Settings, nan_distances, project_models, project_tasks
from compute.types import Undefined

NAN = np.nan


@pytest.fixture(scope="module")
def grouped():
    """30 models in 3 groups over 24 tasks in 2 kinds, with gaps."""
    rng = np.random.default_rng(0)
    group, kind = np.repeat([0, 1, 2], 10), np.repeat([0, 1], 12)
    levels = 4 * rng.normal(size=(3, 24))
    skills = rng.normal(size=(30, 2))
    scores = levels[group] + skills[:, kind] * 2 + 0.3 * rng.normal(size=(30, 24))
    scores[rng.random(scores.shape) < 0.05] = NAN
    return scores, group, kind


def test_distances_are_over_shared_columns_and_scaled_up_to_all():
    found = nan_distances(rows=np.array([[1.0, 2.0, 3.0], [4.0, NAN, 7.0], [NAN, NAN, NAN]]))
    assert_allclose(found[0, 1], np.sqrt((3**2 + 4**2) * 3 / 2))
    assert_array_equal(np.isnan(found), [[False, False, True], [False, False, True], [True, True, True]])
    assert np.isnan(nan_distances(rows=np.empty((3, 0)))).all()


def test_maps_are_repeatable_and_find_the_groups(grouped):
    scores, group, kind = grouped
    first = project_models(scores=scores, settings=Settings(seed=7, n_neighbors=6))
    again = project_models(scores=scores, settings=Settings(seed=7, n_neighbors=6))
    assert_array_equal(first.xy, again.xy)
    assert first.placed.all() and first.trustworthiness > 0.8
    assert first.settings["seed"] == 7 and {"umap-learn", "scikit-learn", "n_neighbors"} <= set(first.settings)
    for g in range(3):
        assert len(set(first.labels[group == g])) == 1
    r = correlate(scores=scores, method="spearman").r
    tasks = project_tasks(correlation=r, settings=Settings(seed=7, n_neighbors=5))
    assert tasks.xy.shape == (24, 2) and np.isfinite(tasks.xy).all()
    assert tasks.labels.shape == (24,) and 0 < tasks.trustworthiness <= 1


def test_what_cannot_be_placed_is_left_off_the_map(grouped):
    scores, _, _ = grouped
    bare = scores[:8].copy()
    bare[3] = NAN
    found = project_models(scores=bare, settings=Settings(n_neighbors=50))
    assert not found.placed[3] and np.isnan(found.xy[3]).all() and found.labels[3] == -1
    assert found.settings["n_neighbors"] == 6
    assert np.isfinite(np.delete(found.xy, 3, axis=0)).all()


def test_bad_or_too_little_input_is_refused(grouped):
    scores, _, _ = grouped
    with pytest.raises(Undefined, match="Only 4 models"):
        project_models(scores=scores[:4])
    with pytest.raises(Undefined, match="Only 0 tasks"):
        project_tasks(correlation=np.full((6, 6), NAN))
