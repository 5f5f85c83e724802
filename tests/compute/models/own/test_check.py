"""What the check of an object refuses, with a remedy; and what the engine makes of an object's failures."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from compute.content import items
from compute.features.store import FeatureStore
from compute.features.subject import LoadedSubject
from compute.models.own import probing
from compute.models.own.objects.placement import hardware_of
from compute.models.own.own_model import OwnModel
from compute.types import BadInput, BadItem
from tests.compute.features.standin import file
from tests.compute.models.own.small_objects import CPU, DIM, Eye, Flat, embedded, of_image, pixels, versioned


class Made(Eye):
    """Its images go through `make` first: a function of the (n, DIM) vectors and of the images."""

    def __init__(self, make) -> None:
        self.make = make

    def encode_image(self, images):
        return self.make(super().encode_image(images), images)


def of_batch(vectors, images):
    """As padding that is seen: the vector depends on the largest image beside it."""
    return vectors * max(image.width for image in images)


def partly_nan(vectors, images):
    vectors[0, 0] = np.nan
    return vectors


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda vectors, images: vectors + np.random.default_rng().normal(size=vectors.shape), "not deterministic"),
        (lambda vectors, images: vectors + np.arange(len(vectors))[:, None], "depends on"),
        (of_batch, "batch_size=1"),
        (partly_nan, "not finite"),
        (lambda vectors, images: vectors[:-1], r"\(7, 6\)"),
        (lambda vectors, images: vectors[:, None], "pool them"),
        (lambda vectors, images: None, "NoneType"),
        (lambda vectors, images: {"image": vectors}, "dict"),
        (lambda vectors, images: [[1.0], [1.0, 2.0]], "list"),
        (lambda vectors, images: vectors.astype(complex), "real numbers"),
        (lambda vectors, images: images[0].missing, "AttributeError"),
        (lambda vectors, images: vectors[:, :3], "cannot be compared"),
    ],
    ids=["random", "order", "batch", "nan", "fewer", "tokens", "none", "mapping", "ragged", "complex", "raises", "dim"],
)
def test_a_fault_is_named(make, problem):
    with pytest.raises(BadInput, match=problem):
        versioned(Made(make))


@pytest.mark.parametrize(
    "give",
    [
        lambda vectors: vectors.tolist(),
        lambda vectors: [torch.from_numpy(vector) for vector in vectors],
        lambda vectors: torch.from_numpy(vectors).to(torch.bfloat16),
        lambda vectors: torch.from_numpy(vectors).requires_grad_(True) * 1,
        lambda vectors: vectors.astype(np.float64),
    ],
    ids=["lists", "tensors", "bfloat16", "gradients", "float64"],
)
def test_numbers_in_any_form_are_taken_as_float32(give):
    vectors = embedded(versioned(Made(lambda vectors, images: give(vectors))), "image", probing.images())
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, Eye().encode_image(probing.images()), rtol=1e-2, atol=2e-2)


def test_equal_vectors_of_all_items_are_remarked_on_and_not_refused():
    assert "images" in versioned(Made(lambda vectors, images: np.ones_like(vectors))).remark
    assert versioned(Made(lambda vectors, images: 1 + 1e-4 * vectors)).remark == "", "close, and yet not the same"


def test_a_batch_size_of_one_allows_what_depends_on_the_batch():
    assert versioned(Made(of_batch), batch_size=1).row.embed_dim == DIM


def test_random_preprocessing_is_told_from_a_random_model():
    with pytest.raises(BadInput, match="preprocessing"):
        versioned(Flat(), preprocess=lambda image: pixels(image) * np.random.default_rng().uniform(0.2, 1))


@pytest.mark.parametrize("layer", [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(DIM)])
def test_training_mode_is_named_and_nothing_of_the_model_changes(layer):
    model = torch.nn.Sequential(Flat(), layer).train()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(BadInput, match=r"\.eval\(\)"):
        versioned(model, preprocess=pixels)
    assert all(part.training for part in model.modules())
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    versioned(model.eval(), preprocess=pixels)


def test_nothing_is_moved():
    model = Flat()
    for named in ({"device": "cuda"}, {"dtype": "bf16"}):
        with pytest.raises(BadInput, match="move|model.to"):
            hardware_of(model, **named)
    assert hardware_of(model, device="cpu", dtype="fp32") == hardware_of(model)


def test_the_probe_is_small_and_its_items_differ():
    """Thirteen items a modality: what a sound model costs before its evaluation begins."""
    counts = []
    versioned(Made(lambda vectors, images: counts.append(len(images)) or vectors))
    assert sum(counts) == 13
    assert len(np.unique(Eye().encode_image(probing.images()).round(3), axis=0)) == probing.COUNT
    assert len(set(probing.texts())) == probing.COUNT


RED = 200  # of the images that the model fails on


class Failing(Eye):
    """Fails on images with much red in the way named."""

    def __init__(self, way: str) -> None:
        self.way = way

    def encode_image(self, images):
        red = np.array([image.getpixel((0, 0))[0] == RED for image in images])
        if self.way == "raises" and red.any():
            raise ZeroDivisionError("no contrast")
        vectors = super().encode_image(images)
        if self.way == "nan":
            vectors[red] = np.nan
        return vectors


def fussy(image) -> torch.Tensor:
    if image.getpixel((0, 0))[0] == RED:
        raise KeyError("exif")
    return pixels(image)


def subject(own: OwnModel, folder: Path, *, skip_bad: bool = False) -> LoadedSubject:
    return LoadedSubject(
        own.row,
        store=FeatureStore(folder),
        hardware=CPU,
        batch_size=5,
        skip_bad=skip_bad,
        threads=2,
        load=own.load,
        identity=own.identity,
    )


def pictures(*colours: int):
    return items.images([file(colour) for colour in colours], of="squares")


@pytest.mark.parametrize(
    ("model", "given", "reason"),
    [
        (Failing("raises"), {}, "ZeroDivisionError"),
        (Failing("nan"), {}, "not finite"),
        (Flat(), {"preprocess": fussy}, "KeyError"),
    ],
    ids=["raises", "nan", "preprocessing"],
)
def test_one_item_fails_and_the_others_are_stored(tmp_path, model, given, reason):
    own = versioned(model, **given)
    column = pictures(1, 2, 3, RED, 4)
    with pytest.raises(BadItem, match=reason) as caught:
        subject(own, tmp_path).embed(column)
    assert caught.value.item == "squares, image 3"
    skipping = subject(own, tmp_path, skip_bad=True)
    skipping.prepare([column])
    assert len(skipping.bad) == 1
    assert skipping.embed(column.take(np.array([0, 1, 2, 4]))).shape == (4, DIM)


def test_a_metric_that_raises_on_a_pair_names_it(tmp_path):
    def distance(a, b) -> float:
        if a.getpixel((0, 0))[0] == RED:
            raise ValueError("too red")
        return float(np.abs(of_image(a) - of_image(b)).sum())

    own = versioned(distance, higher_is_better=False)
    first, second = pictures(1, 2, RED), pictures(1, 2, 3)
    with pytest.raises(BadItem, match="image 2"):
        subject(own, tmp_path).compare(first, second)
    rows = np.arange(2)
    assert subject(own, tmp_path).compare(first.take(rows), second.take(rows)) == pytest.approx(0)
