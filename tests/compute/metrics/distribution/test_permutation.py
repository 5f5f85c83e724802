"""Random splits of pooled sets: the distribution of a metric where there is no difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.permutation import SPLITS, random_splits
from compute.types import BadInput


def shift(*, real: np.ndarray, generated: np.ndarray) -> float:
    return float(generated.mean() - real.mean())


def permuted(metric: Callable[..., float], **sides: Any) -> np.ndarray:
    return np.array([metric(**split) for split in random_splits(**sides)])


def sets(n: int, m: int, *, seed: int = 0, by: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"real": rng.normal(size=(n, 4)), "generated": rng.normal(by, 1, size=(m, 4))}


def test_every_split_has_the_sizes_of_the_sets_and_all_their_rows() -> None:
    sides = sets(7, 5)
    rows = np.sort(np.concatenate(list(sides.values())), axis=0)
    made = list(random_splits(**sides))
    assert len(made) == SPLITS
    for split in made:
        assert (len(split["real"]), len(split["generated"])) == (7, 5)
        assert np.array_equal(np.sort(np.concatenate([split["real"], split["generated"]]), axis=0), rows)


def test_the_same_seed_gives_the_same_splits_and_another_other_ones() -> None:
    sides = sets(9, 9)
    first, again, other = (permuted(shift, **sides, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_alike_sets_are_beyond_all_splits_as_rarely_as_stated() -> None:
    many = [sets(12, 10, seed=seed) for seed in range(400)]
    beyond = sum(shift(**sides) > permuted(shift, **sides).max() for sides in many)
    assert 2 <= beyond <= 20  # 1 in 40 of 400 is 10, with a standard deviation of 3.1


def test_unlike_sets_are_beyond_and_the_bias_of_few_images_is_in_the_splits() -> None:
    def distance(*, real: np.ndarray, generated: np.ndarray) -> float:
        return frechet(real=real, generated=generated).value

    unlike = sets(20, 20, by=3.0)
    assert distance(**unlike) > permuted(distance, **unlike).max()
    few, many = (permuted(distance, **sets(n, n)).mean() for n in (10, 200))
    assert few > 5 * many > 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadInput, match="splits 0: take 1 or more"):
        next(random_splits(**sets(3, 3), splits=0))
    with pytest.raises(BadInput, match="same backbone"):
        next(random_splits(real=np.ones((3, 2)), generated=np.ones((3, 4))))
