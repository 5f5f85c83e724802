"""A torch module, an object's own methods, or an open_clip model, with or without the caller's preprocessing."""

from __future__ import annotations

import copy

import open_clip
import pytest
import torch

from compute.models.own import probing
from compute.types import BadInput
from tests.compute.models.own.small_objects import (
    DIM,
    Eye,
    Flat,
    embedded,
    pixels,
    same,
    small_open_clip,
    transform_of,
    versioned,
    wrapped,
)


class Words(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(49408, DIM)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.table(tokens).sum(dim=1)


class ByName(Flat):
    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return super().forward(pixel_values)


def batch() -> torch.Tensor:
    return torch.stack([pixels(image) for image in probing.images()])


@pytest.mark.parametrize(
    ("model", "preprocess"),
    [
        (Flat(), pixels),
        (Flat().to(torch.bfloat16), pixels),
        (ByName(), lambda image: {"pixel_values": pixels(image).numpy()}),
    ],
    ids=["tensors", "half precision", "mappings of arrays"],
)
def test_a_module_of_images(model, preprocess):
    own = versioned(model, preprocess=preprocess)
    dtype = next(model.parameters()).dtype
    with torch.inference_mode():
        same(own, images=Flat()(batch()).numpy(), atol=0.05 if dtype == torch.bfloat16 else 1e-6)
    assert own.identity(own.row, hardware=None)["dtype"] == str(dtype).removeprefix("torch.")


def test_a_module_of_texts():
    model, tokenizer = Words(), open_clip.get_tokenizer("", context_length=16)
    with torch.inference_mode():
        same(wrapped(model, tokenizer=tokenizer), texts=model(tokenizer(probing.texts())).numpy())


def test_a_module_needs_its_preprocessing():
    with pytest.raises(BadInput, match="preprocess="):
        wrapped(Flat())


def test_an_object_with_methods_of_lists():
    images, texts = probing.images(), probing.texts()
    same(versioned(Eye()), images=Eye().encode_image(images), texts=Eye().encode_text(texts))


def test_an_object_with_methods_of_tensors():
    """As OpenAI's own package and many others have it: the preprocessing is what tells."""
    model, tokenizer = small_open_clip(), open_clip.get_tokenizer("", context_length=16)

    class Other(torch.nn.Module):
        def encode_image(self, images: torch.Tensor) -> torch.Tensor:
            return images.flatten(1)[:, :DIM]

        def encode_text(self, tokens: torch.Tensor) -> torch.Tensor:
            return model.encode_text(tokens)

    other = Other().eval()
    other.model = model
    with torch.inference_mode():
        seen, read = other.encode_image(batch()).numpy(), model.encode_text(tokenizer(probing.texts())).numpy()
    same(versioned(other, preprocess=pixels, tokenizer=tokenizer), images=seen, texts=read)
    with pytest.raises(BadInput, match="preprocess="):
        wrapped(other)


@pytest.mark.parametrize("model", [3, Flat], ids=["number", "class"])
def test_what_is_not_a_model_is_refused_with_all_that_are(model):
    with pytest.raises(BadInput, match="an open_clip model"):
        wrapped(model)


# A model of open_clip


def test_an_open_clip_models_vectors_are_those_of_its_own_methods():
    model = small_open_clip()
    own = wrapped(model)
    transform, tokenizer = transform_of(model), open_clip.get_tokenizer("", context_length=16)
    with torch.inference_mode():
        images = model.encode_image(torch.stack([transform(image) for image in probing.images()])).numpy()
        texts = model.encode_text(tokenizer(probing.texts())).numpy()
    same(own, images=images, texts=texts)
    assert own.row.key == "own/clip"
    assert own.row.parameters_m == pytest.approx(sum(weight.numel() for weight in model.parameters()) / 1e6, abs=1e-3)


def test_a_tokenizer_or_preprocessing_that_the_model_does_not_tell_is_asked_for():
    with pytest.raises(BadInput, match="tokenizer="):
        wrapped(small_open_clip(vocabulary=32000))
    model = copy.deepcopy(small_open_clip())
    model.visual.preprocess_cfg = {}
    with pytest.raises(BadInput, match="preprocess="):
        wrapped(model)
    own = versioned(model, preprocess=lambda image: torch.nn.functional.interpolate(pixels(image)[None], size=32)[0])
    assert embedded(own, "image", probing.images()).shape == (probing.COUNT, DIM)


def test_the_training_flag_stays_and_gradients_and_random_state_too():
    state = torch.random.get_rng_state()
    model = copy.deepcopy(small_open_clip()).train()
    wrapped(model)
    assert all(part.training for part in model.modules())
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), state)
