"""A function of two images: pairs or batches as it takes them, lists or tensors, and which way it counts."""

from __future__ import annotations

import lpips
import numpy as np
import pytest
import torch

from compute.models.own import probing
from compute.models.own.own_model import OwnModel
from compute.types import BadInput, CannotDo
from tests.compute.models.own.small_objects import CPU, identity, of_image, pixels, wrapped


def compared(own: OwnModel, first, second) -> np.ndarray:
    return own.load(own.row, hardware=CPU).compare(first, second)


def called_with(own: OwnModel) -> str:
    return own.load(own.row, hardware=CPU).settings["called_with"]


def of_pair(a, b) -> float:
    return float(np.abs(of_image(a) - of_image(b)).sum())


def of_lists(a, b) -> list[float]:
    return [of_pair(x, y) for x, y in zip(a, b, strict=True)]


def of_tensors(a, b) -> torch.Tensor:
    return (a - b).abs().mean(dim=(1, 2, 3))


def of_two_tensors(a, b) -> torch.Tensor:
    """A mean over everything: of a batch it would be one number."""
    return (a - b).abs().mean()


@pytest.fixture
def pairs():
    images = probing.images()
    return images[:4], images[4:]


@pytest.mark.parametrize(
    "function, preprocess, title",
    [
        (of_pair, None, "single PIL images"),
        (of_lists, None, "lists of PIL images"),
        (of_tensors, pixels, "batches of tensors"),
        (of_two_tensors, pixels, "single tensors"),
    ],
    ids=["pair", "lists", "batch", "tensors"],
)
def test_it_is_called_as_it_can_be(pairs, function, preprocess, title):
    own = wrapped(function, higher_is_better=False, preprocess=preprocess)
    assert called_with(own) == title
    first, second = pairs
    ready = [
        (preprocess(a)[None], preprocess(b)[None]) if preprocess else (a, b) for a, b in zip(first, second, strict=True)
    ]
    expected = [-float(function([a], [b])[0] if function is of_lists else function(a, b)) for a, b in ready]
    np.testing.assert_allclose(compared(own, first, second), expected, rtol=1e-6)
    assert (own.row.kind, own.row.abilities, own.row.modalities) == ("metric", ("compare",), ("image",))


def test_lpips(pairs):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        metric = lpips.LPIPS(net="squeeze", pnet_rand=True, verbose=False).eval()

    def ready(image):
        return torch.nn.functional.interpolate(pixels(image)[None] * 2 - 1, size=64)[0]

    own = wrapped(metric, higher_is_better=False, preprocess=ready)
    assert called_with(own) == "batches of tensors"
    first, second = (torch.stack([ready(image) for image in side]) for side in pairs)
    with torch.inference_mode():
        expected = -metric(first, second).flatten().numpy()
    np.testing.assert_allclose(compared(own, *pairs), expected, rtol=1e-4)
    assert own.row.parameters_m > 0


def test_a_similarity_is_not_negated(pairs):
    own = wrapped(lambda a, b: 1 / (1 + of_pair(a, b)), higher_is_better=True)
    np.testing.assert_allclose(compared(own, *pairs), [1 / (1 + of_pair(a, b)) for a, b in zip(*pairs, strict=True)])


@pytest.mark.parametrize("function", [of_pair, lambda first, second: 0.0], ids=["function", "lambda"])
def test_it_must_say_which_way_it_counts(function):
    with pytest.raises(BadInput, match="higher_is_better=False for a distance"):
        wrapped(function)


def test_a_torch_metric_must_say_so_too():
    class Metric(torch.nn.Module):
        def forward(self, a, b):
            return of_tensors(a, b)

    with pytest.raises(BadInput, match="higher_is_better=False for a distance"):
        wrapped(Metric(), preprocess=pixels)
    assert called_with(wrapped(Metric(), preprocess=pixels, higher_is_better=False)) == "batches of tensors"


def test_the_wrong_way_round_is_seen():
    with pytest.raises(BadInput, match=r"Pass higher_is_better=False"):
        wrapped(of_pair, higher_is_better=True)


@pytest.mark.parametrize(
    "function, problem",
    [
        (lambda a, b: np.nan, "are NaN"),
        (lambda a, b: np.random.default_rng().random(), "not deterministic"),
        (lambda a, b: [1.0, 2.0, 3.0], "gave 3 numbers"),
        (lambda a, b: "far", "no array of"),
        (lambda a, b: 1 / 0, "ZeroDivisionError"),
    ],
    ids=["nan", "random", "several", "text", "raises"],
)
def test_what_cannot_be_a_metric_is_refused_with_the_reason(function, problem):
    with pytest.raises(BadInput, match=problem):
        wrapped(function, higher_is_better=False)


def test_it_scores_no_single_image(pairs):
    own = wrapped(of_pair, higher_is_better=False)
    with pytest.raises(CannotDo, match="no single one"):
        compared(own, None, pairs[0])


def test_code_and_what_it_reads_identify_it():
    def scaled(factor):
        return lambda a, b: factor * of_pair(a, b)

    digests = [identity(wrapped(scaled(factor), higher_is_better=False))["digest"] for factor in (2.0, 2.0, 3.0)]
    assert digests[0] == digests[1] != digests[2]
