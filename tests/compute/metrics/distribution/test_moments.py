"""Streaming moments: batches and shards in any order give the moments of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined


def features(n: int, d: int, *, seed: int = 0, offset: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return offset + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def exact(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scatter in extended precision."""
    long = values.astype(np.longdouble)
    rest = long - long.mean(axis=0)
    return long.mean(axis=0), rest.T @ rest


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("sizes", [(1000,), (3, 1, 496, 250, 250)])
def test_merged_shards_are_the_whole(offset: float, sizes: tuple[int, ...]) -> None:
    rows = features(1000, 12, offset=offset)
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


def test_covariance_is_numpys() -> None:
    rows = features(50, 6)
    np.testing.assert_allclose(Moments.of(rows).covariance(), np.cov(rows, rowvar=False, ddof=0), rtol=1e-12)
    np.testing.assert_allclose(Moments.of(rows).covariance(ddof=1), np.cov(rows, rowvar=False), rtol=1e-12)


def test_cross_moments_merge_to_the_whole() -> None:
    images, texts = features(700, 9, offset=100.0), features(700, 5, seed=1, offset=-3.0)
    shards = [
        CrossMoments.of(images=images[part], condition=texts[part])
        for part in (slice(0, 1), slice(1, 300), slice(300, 700))
    ]
    total = CrossMoments.empty(9, 5)
    for shard in shards:
        total.merge(shard)
    whole = np.cov(np.hstack([images, texts]), rowvar=False, ddof=0)
    np.testing.assert_allclose(total.cross / total.n, whole[:9, 9:], rtol=1e-10, atol=1e-10 * np.abs(whole).max())
    np.testing.assert_allclose(total.images.covariance(), whole[:9, :9], rtol=1e-10, atol=1e-10 * whole.max())
    np.testing.assert_allclose(total.condition.covariance(), whole[9:, 9:], rtol=1e-10, atol=1e-10 * whole.max())
    assert total.n == 700


def test_what_is_left_without_a_shard_is_exact() -> None:
    rows, texts = features(500, 6) * 3 + 7, features(500, 4)
    at = np.arange(500) % 20 == 3
    rest, shard = np.flatnonzero(~at), np.flatnonzero(at)
    left = Moments.of(rows).without(Moments.of(rows, rows=shard))
    expected = Moments.of(rows[rest])
    assert left.n == expected.n == 475
    np.testing.assert_allclose(left.mean, expected.mean, rtol=1e-12)
    assert np.abs(left.scatter - expected.scatter).max() <= 1e-10 * np.abs(expected.scatter).max()
    pairs = CrossMoments.of(images=rows, condition=texts)
    both = pairs.without(CrossMoments.of(images=rows, condition=texts, rows=shard))
    expected = CrossMoments.of(images=rows[rest], condition=texts[rest])
    assert np.abs(both.cross - expected.cross).max() <= 1e-10 * np.abs(expected.cross).max()
    assert both.n == 475 and np.abs(both.condition.scatter - expected.condition.scatter).max() < 1e-8


def test_float32_is_summed_in_float64() -> None:
    rows = (features(2000, 4) + 1e4).astype(np.float32)
    _, scatter = exact(rows)
    assert np.abs(Moments.of(rows).scatter - scatter).max() <= 1e-10 * np.abs(scatter).max()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones(3), r"array \(n, d\)"),
        (np.ones((0, 3)), "at least one row"),
        (np.ones((3, 0)), "at least one row and one column"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.ones((2, 2), complex), "real numbers"),
        (np.ones((2, 2), bool), "real numbers"),
    ],
)
def test_what_is_no_features(rows: np.ndarray, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Moments.of(rows)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_named_by_its_number_in_the_stream(bad: float) -> None:
    rows = features(10, 3)
    moments = Moments.of(rows)
    before = moments.scatter.copy()
    rows[4, 1] = bad
    with pytest.raises(BadInput, match="generated: row 14 "):
        moments.add(rows, argument="generated")
    assert moments.n == 10
    np.testing.assert_array_equal(moments.scatter, before)


def test_unlike_counts_are_refused() -> None:
    with pytest.raises(BadInput, match="generated has 5 rows and condition 6"):
        CrossMoments.of(images=features(5, 3), condition=features(6, 2), argument="generated")


def test_a_covariance_needs_rows() -> None:
    with pytest.raises(Undefined, match="more than 1 rows, got 1"):
        Moments.of(features(1, 3)).covariance(ddof=1)
    with pytest.raises(Undefined, match="more than 0 rows"):
        Moments.empty(3).covariance()
    np.testing.assert_array_equal(Moments.of(features(1, 3)).covariance(), np.zeros((3, 3)))
