"""Maps of a task's items: neighbours are kept, the same seed gives the same map, nonsense is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from compute.analysis.maps.images import project_items, sampled
from compute.types import BadInput, Undefined


@pytest.fixture(scope="module")
def grouped():
    """90 items in 3 groups of directions, of very unlike lengths, which a cosine does not see."""
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2], 30)
    directions = 6 * rng.normal(size=(3, 32))
    return (directions[group] + rng.normal(size=(90, 32))) * rng.uniform(0.1, 50, (90, 1)), group


def test_items_of_a_group_stay_together_and_the_same_seed_gives_the_same_map(grouped):
    """Reference: scikit-learn's nearest neighbours by cosine of the vectors themselves."""
    pytest.importorskip("umap")
    from sklearn.neighbors import NearestNeighbors

    vectors, group = grouped
    (xy, settings), (again, _) = (project_items(vectors=vectors, seed=4) for _ in range(2))
    assert_array_equal(xy, again)
    nearest = NearestNeighbors(n_neighbors=6).fit(xy).kneighbors(xy, return_distance=False)[:, 1:]
    assert (group[nearest] == group[:, None]).mean() > 0.98
    by_cosine = NearestNeighbors(n_neighbors=16, metric="cosine").fit(vectors)
    true = by_cosine.kneighbors(vectors, return_distance=False)[:, 1:]
    ranks = np.argsort(np.argsort(np.linalg.norm(xy[:, None] - xy[None], axis=2), axis=1), axis=1)
    shared = np.mean([(ranks[at, row] <= 15).mean() for at, row in enumerate(true)])
    assert shared > 0.5 and settings["trustworthiness"] > 0.9
    assert np.ptp(xy, axis=0)[0] > np.ptp(xy, axis=0)[1] / 2 and xy[:, 0].var() >= xy[:, 1].var()
    assert settings["seed"] == 4 and settings["n_neighbors"] == 15


def test_which_items_are_drawn():
    assert_array_equal(sampled(5, most=5, seed=0), np.arange(5))
    drawn = sampled(1000, most=40, seed=1)
    assert len(set(drawn.tolist())) == 40 and (np.diff(drawn) > 0).all() and drawn.max() < 1000
    assert_array_equal(drawn, sampled(1000, most=40, seed=1))
    assert drawn.tolist() != sampled(1000, most=40, seed=2).tolist()


@pytest.mark.parametrize(
    ("vectors", "settings", "error", "words"),
    [
        (np.eye(4), {}, Undefined, "Only 4 items"),
        (np.ones((9, 3)), {}, Undefined, "the same embedding"),
        (np.eye(9), {"n_neighbors": 1}, BadInput, "n_neighbors"),
        (np.eye(9), {"min_dist": 2.0}, BadInput, "min_dist"),
    ],
)
def test_what_makes_no_map_is_refused(vectors, settings, error, words):
    with pytest.raises(error, match=words):
        project_items(vectors=vectors, **settings)
