"""Random splits of pooled sets: the distribution of a metric where there is no difference."""

from __future__ import annotations

import numpy as np
import pytest

from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.permutation import SPLITS, permuted
from compute.types import BadInput, Undefined


def size_of_first(*, real: np.ndarray, generated: np.ndarray) -> float:
    return float(len(real) * 1000 + len(generated))


def shift(*, real: np.ndarray, generated: np.ndarray) -> float:
    return float(generated.mean() - real.mean())


def sets(n: int, m: int, *, seed: int = 0, by: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"real": rng.normal(size=(n, 4)), "generated": rng.normal(by, 1, size=(m, 4))}


def test_every_split_has_the_sizes_of_the_sets_and_all_their_rows() -> None:
    sums = []

    def total(*, real: np.ndarray, generated: np.ndarray) -> float:
        sums.append(float(np.concatenate([real, generated]).sum()))
        return size_of_first(real=real, generated=generated)

    sides = sets(7, 5)
    values = permuted({"sizes": total}, **sides)["sizes"]
    assert values.tolist() == [7005.0] * SPLITS
    assert sums == pytest.approx([sum(float(side.sum()) for side in sides.values())] * SPLITS)


def test_the_same_seed_gives_the_same_splits_and_another_other_ones() -> None:
    sides = sets(9, 9)
    first, again, other = (permuted({"shift": shift}, **sides, seed=seed)["shift"] for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_alike_sets_are_beyond_all_splits_as_rarely_as_stated() -> None:
    beyond = [shift(**sides) > permuted({"shift": shift}, **sides)["shift"].max() for sides in _many(400)]
    # 1 in 40 of 400 is 10, with a standard deviation of 3.1
    assert 2 <= sum(beyond) <= 20


def _many(count: int) -> list[dict[str, np.ndarray]]:
    return [sets(12, 10, seed=seed) for seed in range(count)]


def test_unlike_sets_are_beyond_and_the_bias_of_few_images_is_in_the_splits() -> None:
    def distance(*, real: np.ndarray, generated: np.ndarray) -> float:
        return frechet(real=real, generated=generated).value

    unlike = sets(20, 20, by=3.0)
    assert distance(**unlike) > permuted({"fd": distance}, **unlike)["fd"].max()
    few, many = (permuted({"fd": distance}, **sets(n, n))["fd"].mean() for n in (10, 200))
    assert few > 5 * many > 0


def test_bad_input_is_refused_and_an_undefined_metric_says_so() -> None:
    with pytest.raises(BadInput, match="splits 0: take 1 or more"):
        permuted({"shift": shift}, **sets(3, 3), splits=0)
    with pytest.raises(BadInput, match="same backbone"):
        permuted({"shift": shift}, real=np.ones((3, 2)), generated=np.ones((3, 4)))
    with pytest.raises(Undefined):
        permuted({"fd": lambda *, real, generated: frechet(real=real, generated=generated).value}, **sets(1, 3))
