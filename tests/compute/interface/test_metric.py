"""Metrics on tensors: values of the evaluation path, gradients against finite differences, and refusals."""

import numpy as np
import pytest
import torch

import compute
import likeness
from compute.catalog import shipped
from compute.models import model_rows
from compute.types import BadInput, CannotDo, UnknownKey
from tests.compute.models.checkpoints import CPU, cosines, embedded
from tests.compute.models.metrics.test_pixels import photograph, worsened

PAIRS = ("psnr", "ssim", "ms-ssim")


def batch(images, dtype=torch.float64):
    """(N, 3, H, W) of 0 to 1."""
    return torch.from_numpy(np.stack([np.asarray(image) for image in images])).permute(0, 3, 1, 2).to(dtype) / 255


@pytest.fixture(scope="module")
def sides():
    """Three photographs of an odd size and noisier ones."""
    first = [photograph((51, 45), of=of) for of in ("astronaut", "coffee", "cat")]
    return first, [worsened(image, strength=8 * (place + 1)) for place, image in enumerate(first)]


@pytest.mark.parametrize("key", PAIRS)
def test_a_metric_is_that_of_the_evaluation(key, sides):
    """In both precisions; half precision is read as float32."""
    metric, (first, second) = compute.metric(key), sides
    expected = model_rows.load(shipped().model(key), hardware=CPU).compare(first, second)
    assert metric.differentiable and metric.higher_is_better
    assert metric(batch(first), batch(second)).tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    single = metric(batch(first, torch.float32), batch(second, torch.float32))
    assert single.dtype == torch.float32 and single.tolist() == pytest.approx(expected.tolist(), abs=2e-5)
    assert metric(*(batch(side, torch.float16) for side in sides)).dtype == torch.float32


@pytest.mark.parametrize("key", PAIRS)
def test_gradients_are_those_of_finite_differences(key):
    """Of both batches; finite for identical images, and for opposite ones, whose MS-SSIM is 0."""
    metric = likeness.metric(key)
    first, noise = torch.rand(2, 2, 3, 24, 23, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    first, second = first.requires_grad_(), (0.8 * first.detach() + 0.2 * noise).requires_grad_()
    assert torch.autograd.gradcheck(metric, (first, second), fast_mode=True)
    for other in (first.detach(), 1 - first.detach()):
        (slope,) = torch.autograd.grad(metric(first, other).sum(), first)
        assert slope.isfinite().all()


def test_an_encoder_is_its_cosine_without_gradients(sides):
    metric, (first, second) = compute.metric("tiny"), sides
    encoder = model_rows.load(shipped().model("tiny"), hardware=CPU)
    found = metric(batch(first).requires_grad_(), batch(second))
    assert not metric.differentiable and metric.higher_is_better and not found.requires_grad
    assert found.numpy() == pytest.approx(cosines(*(embedded(encoder, "image", side) for side in sides)), abs=1e-6)


IMAGES = torch.rand(2, 3, 16, 16)


@pytest.mark.parametrize(
    "first, word",
    [
        (IMAGES * 255, "from 0 to 1"),
        (IMAGES / 0, "clamp"),
        (IMAGES.byte(), "uint8"),
        (IMAGES.numpy(), "ndarray"),
        (IMAGES[0], "(N, 3, H, W)"),
        (IMAGES[:, :1], "(2, 1, 16, 16)"),
        (IMAGES[:0], "(0, 3, 16, 16)"),
        (IMAGES[:1], "one shape"),
        (IMAGES[:, :, :9], "11"),
    ],
)
def test_what_is_not_a_batch_of_images_is_refused(first, word):
    with pytest.raises(BadInput) as refused:
        compute.metric("ssim")(first, IMAGES)
    assert word in str(refused.value) and "ssim" in str(refused.value)


def test_a_model_that_compares_no_images_is_refused():
    with pytest.raises(UnknownKey, match="lpips-alex"):
        compute.metric("lpips")
    with pytest.raises(CannotDo, match="two images"):
        compute.metric("wordllama")
