"""What the check of an object refuses: each fault by its name, with a figure and a remedy; and what it leaves alone."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from compute.models.own import probing
from compute.models.own.objects.placement import hardware_of
from compute.types import BadInput
from tests.compute.models.own.objects.test_torch_module import Flat
from tests.compute.models.own.small_objects import (
    DIM,
    MATRIX,
    Eye,
    embedded,
    of_image,
    pixels,
    small_open_clip,
    wrapped,
)


class Made(Eye):
    """Its images go through `make` first: a function of the (n, DIM) vectors and of the images."""

    def __init__(self, make) -> None:
        self.make = make

    def encode_image(self, images):
        return self.make(super().encode_image(images), images)


def random(vectors, images):
    return vectors + np.random.default_rng().normal(size=vectors.shape)


def of_order(vectors, images):
    return vectors + np.arange(len(vectors))[:, None]


def of_batch(vectors, images):
    return vectors - vectors.mean(axis=0)


def partly_nan(vectors, images):
    vectors[0, 0] = np.nan
    return vectors


@pytest.mark.parametrize(
    "make, problem",
    [
        (random, r"is not deterministic: vectors of the same images differ by up to \d.*allowed: 0\.005.*fix its seed"),
        (of_order, "depends on the order of a batch: .*differ by up to"),
        (of_batch, "depends on (the order of|what else is in) a batch: .*differ by up to"),
        (partly_nan, r"not finite \(NaN or infinite\) for 1 of 8 images"),
        (lambda vectors, images: vectors * np.inf, "for 8 of 8 images"),
        (lambda vectors, images: vectors[0], r"shape \(6,\) for 8 items; expected \(8, d\)"),
        (lambda vectors, images: vectors[:-1], r"shape \(7, 6\) for 8 items"),
        (lambda vectors, images: vectors[:, None], r"shape \(8, 1, 6\) for 8 items.*pool them"),
        (lambda vectors, images: vectors[:, :0], r"shape \(8, 0\)"),
        (lambda vectors, images: None, "gave None"),
        (lambda vectors, images: {"image": vectors}, "gave a dict"),
        (lambda vectors, images: [[1.0], [1.0, 2.0]], "parts have the shapes"),
        (lambda vectors, images: vectors.astype(complex), "no array of real numbers"),
        (lambda vectors, images: images[0].missing, "AttributeError"),
    ],
    ids=[
        "random",
        "order",
        "batch",
        "nan",
        "infinite",
        "one",
        "fewer",
        "tokens",
        "empty",
        "none",
        "mapping",
        "ragged",
        "complex",
        "raises",
    ],
)
def test_a_fault_is_named(make, problem):
    with pytest.raises(BadInput, match=problem):
        wrapped(Made(make))


@pytest.mark.parametrize(
    "give",
    [
        lambda vectors, images: vectors.tolist(),
        lambda vectors, images: list(vectors),
        lambda vectors, images: [torch.from_numpy(vector) for vector in vectors],
        lambda vectors, images: torch.from_numpy(vectors).to(torch.bfloat16),
        lambda vectors, images: vectors.astype(np.float16),
        lambda vectors, images: torch.from_numpy(vectors).requires_grad_(True) * 1,
        lambda vectors, images: vectors.astype(np.float64),
        lambda vectors, images: torch.from_numpy(vectors).to_sparse(),
    ],
    ids=["lists", "arrays", "tensors", "bfloat16", "float16", "gradients", "float64", "sparse"],
)
def test_numbers_in_any_dress_are_taken_as_float32(give):
    vectors = embedded(wrapped(Made(give)), "image", probing.images())
    assert vectors.dtype == np.float32
    expected = np.stack([of_image(image) for image in probing.images()])
    np.testing.assert_allclose(vectors, expected, rtol=1e-2, atol=2e-2)


def test_equal_vectors_of_all_items_are_remarked_on_and_not_refused():
    remark = wrapped(Made(lambda vectors, images: np.ones_like(vectors))).remark
    assert "gives the same vector for all 8 images of the probe" in remark and "weights are loaded" in remark
    assert "images" in wrapped(Made(lambda vectors, images: vectors * 0)).remark
    assert wrapped(Eye()).remark == ""
    assert wrapped(Made(lambda vectors, images: 1 + 1e-4 * vectors)).remark == "", "close, and yet not the same"


def test_a_batch_size_of_one_allows_what_depends_on_the_batch():
    with pytest.raises(BadInput, match="batch_size=1"):
        wrapped(Made(of_batch_text), batch_size=None)
    assert wrapped(Made(of_batch_text), batch_size=1).row.embed_dim == DIM


def of_batch_text(vectors, images):
    """As padding that is seen: the vector depends on the largest image beside it."""
    return vectors * max(image.width for image in images)


def test_random_preprocessing_is_told_from_a_random_model():
    def augmented(image):
        return pixels(image) * np.random.default_rng().uniform(0.2, 1)

    with pytest.raises(BadInput, match="preprocessing gives another result each time.*transform of its evaluation"):
        wrapped(Flat(), preprocess=augmented)


def test_dropout_left_on_is_named_by_its_remedy():
    model = torch.nn.Sequential(Flat(), torch.nn.Dropout(0.5))
    with pytest.raises(BadInput, match=r"not deterministic.*training mode.*\.eval\(\)"):
        wrapped(model, preprocess=pixels)
    assert all(part.training for part in model.modules())
    wrapped(model.eval(), preprocess=pixels)


def test_batch_statistics_are_refused_before_they_change():
    model = torch.nn.Sequential(Flat(), torch.nn.BatchNorm1d(DIM))
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(BadInput, match=r"its layer 1 normalises each batch by itself.*\.eval\(\)"):
        wrapped(model, preprocess=pixels)
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())


def test_images_and_texts_need_one_length():
    class Uneven(Eye):
        def encode_text(self, texts):
            return np.ones((len(texts), 3)) * [[len(text), 1, 2] for text in texts]

    with pytest.raises(BadInput, match="6 numbers for images and 3 for texts"):
        wrapped(Uneven())


def test_images_of_several_sizes_need_a_crop():
    with pytest.raises(BadInput, match="tensors of different shapes, .*Resize"):
        wrapped(Flat(), preprocess=lambda image: torch.ones(3, image.height, image.width))


def test_nothing_is_moved():
    model = Flat()
    with pytest.raises(BadInput, match=r"is on cpu, not on cuda: move it first, model\.to\('cuda'\)"):
        hardware_of(model, device="cuda")
    with pytest.raises(BadInput, match=r"is in float32, not in bf16"):
        hardware_of(model, dtype="bf16")
    assert hardware_of(model, device="cpu", dtype="fp32") == hardware_of(model)


def test_the_probe_is_small():
    """Thirteen items a modality: what a sound model costs before its evaluation begins."""
    counts = []

    def counting(vectors, images):
        counts.append(len(images))
        return vectors

    wrapped(Made(counting))
    assert sum(counts) == 13


def test_gradients_and_random_state_stay():
    state = torch.random.get_rng_state()
    model = copy.deepcopy(small_open_clip())
    wrapped(model)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())


def test_probe_items_differ():
    vectors = np.stack([of_image(image) for image in probing.images()])
    assert len(np.unique(vectors.round(3), axis=0)) == probing.COUNT
    assert len(set(probing.texts())) == probing.COUNT
    assert MATRIX.shape[1] == DIM


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_tensors_on_cuda_are_moved():
    model = Flat()
    expected = embedded(wrapped(model, preprocess=pixels), "image", probing.images())
    own = wrapped(model.cuda(), preprocess=pixels)
    np.testing.assert_allclose(embedded(own, "image", probing.images()), expected, atol=2e-3)
    assert next(model.parameters()).device.type == "cuda"
    assert own.identity(own.row, hardware=None)["device"] == "cuda"
