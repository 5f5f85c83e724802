"""Closed forms and the error; procedures/test_clustering.py has scikit-learn as its reference."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from compute.metrics.figures import nmi
from compute.types import BadInput, Undefined


def test_perfect_clusters_and_a_single_one():
    perfect = nmi(labels=[0, 0, 1, 1], clusters=["x", "x", "y", "y"])
    assert (perfect.value, perfect.stderr) == pytest.approx((1, 0), abs=1e-12)
    assert nmi(labels=[0, 0, 1, 1], clusters=[5, 5, 5, 5]).value == 0


def test_errors():
    with pytest.raises(Undefined, match="one class"):
        nmi(labels=[1, 1], clusters=[2, 2])
    with pytest.raises(BadInput, match="same length"):
        nmi(labels=[1, 1], clusters=[2])


def test_its_error_is_the_spread_over_new_draws_of_items():
    """Reference: scikit-learn's NMI over 500 bootstrap draws, which agree with the first order at this size."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, 1500)
    clusters = np.where(rng.random(1500) < 0.4, rng.integers(0, 5, 1500), labels)
    draws = rng.integers(0, 1500, (500, 1500))
    spread = np.std([normalized_mutual_info_score(labels[draw], clusters[draw]) for draw in draws])
    assert nmi(labels=labels, clusters=clusters).stderr == pytest.approx(spread, rel=0.12)
