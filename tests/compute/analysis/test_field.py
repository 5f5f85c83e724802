"""One model against the field: closed form, gaps, degenerate, and numpy's own quantities."""

import numpy as np
import pytest

from compute.analysis.field import neighbours, standing

NAN = np.nan


def test_standing_is_the_distance_from_the_others_in_their_deviations():
    """Ties count half and share a place."""
    others = np.array([1, 2, 2, 4.0])
    found = standing(np.array([2, *others])[:, None], row=0)
    assert found.z[0] == pytest.approx((2 - others.mean()) / others.std(ddof=1))
    assert (found.percentile[0], found.place[0], found.others[0]) == ((1 + 0.5 * 2) / 4, 2, 4)


def test_standing_is_undefined_without_a_score_or_a_field_or_a_spread():
    scores = np.array([[NAN, 5, 5], [1, NAN, 2], [2, 1, 2], [3, 2, 2], [4, 3, 2]])
    found = standing(scores, row=0)
    assert np.isnan(found.z).all()
    assert found.others.tolist() == [4, 3, 4]
    assert found.place.tolist() == [-1, 1, 1]


def test_neighbours_match_standardised_distances():
    """Of too few shared tasks there is none."""
    x = np.random.default_rng(0).normal(size=(6, 8))
    x[1, :4] = NAN
    found = neighbours(x, row=2)
    z = (x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)
    for other in (0, 3, 4, 5):
        assert found.distance[other] == pytest.approx(np.sqrt(((z[other] - z[2]) ** 2).mean()))
        assert found.correlation[other] == pytest.approx(np.corrcoef(z[other], z[2])[0, 1])
    assert np.isnan(found.distance[[1, 2]]).all() and found.shared.tolist() == [8, 4, 8, 8, 8, 8]
