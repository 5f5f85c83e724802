"""A function of two images: pairs or batches as it takes them, lists or tensors, and which way it counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compute.models.own import probing
from compute.models.own.own_model import OwnModel
from compute.types import BadInput, CannotDo
from tests.compute.models.own.small_objects import CPU, of_image, pixels, versioned, wrapped


def compared(own: OwnModel, first, second) -> np.ndarray:
    return own.load(own.row, hardware=CPU).compare(first, second)


def of_pair(a, b) -> float:
    return float(np.abs(of_image(a) - of_image(b)).sum())


def of_lists(a, b) -> list[float]:
    return [of_pair(x, y) for x, y in zip(a, b, strict=True)]


def of_tensors(a, b) -> torch.Tensor:
    return (a - b).abs().mean(dim=(1, 2, 3))


def of_two_tensors(a, b) -> torch.Tensor:
    """A mean over everything: of a batch it would be one number."""
    return (a - b).abs().mean()


class Metric(torch.nn.Module):
    def forward(self, a, b):
        return of_tensors(a, b)


@pytest.fixture
def pairs():
    images = probing.images()
    return images[:4], images[4:]


@pytest.mark.parametrize(
    ("function", "preprocess", "title"),
    [
        (of_pair, None, "single PIL images"),
        (of_lists, None, "lists of PIL images"),
        (of_tensors, pixels, "batches of tensors"),
        (of_two_tensors, pixels, "single tensors"),
        (Metric(), pixels, "batches of tensors"),
    ],
    ids=["pair", "lists", "batch", "tensors", "module"],
)
def test_it_is_called_as_it_can_be(pairs, function, preprocess, title):
    own = versioned(function, higher_is_better=False, preprocess=preprocess)
    assert own.load(own.row, hardware=CPU).settings["called_with"] == title
    ready = [[preprocess(image)[None] if preprocess else image for image in side] for side in pairs]
    one = of_pair if preprocess is None else of_two_tensors
    expected = [-float(one(a, b)) for a, b in zip(*ready, strict=True)]
    np.testing.assert_allclose(compared(own, *pairs), expected, rtol=1e-6)
    assert (own.row.kind, own.row.abilities, own.row.modalities) == ("metric", ("compare",), ("image",))
    with pytest.raises(CannotDo, match="alone"):
        compared(own, None, pairs[0])


def test_a_similarity_is_not_negated(pairs):
    own = versioned(lambda a, b: 1 / (1 + of_pair(a, b)), higher_is_better=True)
    np.testing.assert_allclose(compared(own, *pairs), [1 / (1 + of_pair(a, b)) for a, b in zip(*pairs, strict=True)])


def test_it_must_say_which_way_it_counts():
    with pytest.raises(BadInput, match="higher_is_better=False"):
        wrapped(of_pair)


@pytest.mark.parametrize(
    ("function", "higher", "problem"),
    [
        (of_pair, True, "higher_is_better=False"),
        (lambda a, b: np.nan, False, "NaN"),
        (lambda a, b: np.random.default_rng().random(), False, "not deterministic"),
        (lambda a, b: 1 / 0, False, "ZeroDivisionError"),
        (lambda a: 1.0, False, "two images"),
    ],
    ids=["wrong way", "nan", "random", "raises", "one input"],
)
def test_what_cannot_be_a_metric_is_refused_with_the_reason(function, higher, problem):
    with pytest.raises(BadInput, match=problem):
        versioned(function, higher_is_better=higher)
