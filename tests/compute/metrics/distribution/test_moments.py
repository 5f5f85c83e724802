"""Streaming moments: batches and shards in any order give the moments of the whole."""

import numpy as np
import pytest

from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput


def features(n, d, *, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return offset + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def exact(values):
    """Mean and scatter in extended precision."""
    long = values.astype(np.longdouble)
    rest = long - long.mean(axis=0)
    return long.mean(axis=0), rest.T @ rest


@pytest.mark.parametrize("offset, dtype", [(0.0, float), (1e6, float), (1e4, np.float32)])
@pytest.mark.parametrize("sizes", [(1000,), (3, 1, 496, 250, 250)])
def test_merged_shards_are_the_whole(offset, dtype, sizes):
    rows = features(1000, 12, offset=offset).astype(dtype)  # float32 is summed in float64
    mean, scatter = exact(rows)
    shards = [Moments.of(part) for part in np.split(rows, np.cumsum(sizes)[:-1])]
    for order in (shards, shards[::-1]):
        total = Moments.empty(12)
        for shard in order:
            total.merge(shard)
        assert total.n == 1000
        np.testing.assert_allclose(total.mean, mean.astype(float), rtol=1e-10)
        assert np.abs(total.scatter - scatter).max() <= 1e-10 * np.abs(scatter).max()
    assert sum(shard.n for shard in shards) == 1000  # shards stay as they are


def test_cross_moments_are_those_of_both_sides():
    images, texts = features(700, 9, offset=100.0), features(700, 5, seed=1, offset=-3.0)
    found, (mean, scatter) = CrossMoments.of(images=images, condition=texts), exact(np.hstack([images, texts]))
    sides = np.block([[found.images.scatter, found.cross], [found.cross.T, found.condition.scatter]])
    np.testing.assert_allclose(sides, scatter.astype(float), rtol=1e-10, atol=1e-10 * float(abs(scatter).max()))
    np.testing.assert_allclose([*found.images.mean, *found.condition.mean], mean.astype(float), rtol=1e-10)


@pytest.mark.parametrize(
    "rows, message",
    [
        (np.ones(3), r"array \(n, d\)"),
        (np.ones((3, 0)), "at least one row and one column"),
        (np.ones((2, 2), complex), "real numbers"),
    ],
)
def test_what_is_no_features(rows, message):
    with pytest.raises(BadInput, match=message):
        Moments.of(rows)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_named_by_its_number_in_the_stream(bad):
    rows = features(10, 3)
    moments = Moments.of(rows)
    before = moments.scatter.copy()
    rows[4, 1] = bad
    with pytest.raises(BadInput, match="generated: row 14 "):
        moments.add(rows, argument="generated")
    assert moments.n == 10
    np.testing.assert_array_equal(moments.scatter, before)
