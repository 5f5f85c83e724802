"""A torch module, or an object's own methods, with preprocessing and a tokenizer of the caller's."""

from __future__ import annotations

import numpy as np
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
    small_open_clip,
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
    vectors, dtype = embedded(own, "image", probing.images()), next(model.parameters()).dtype
    with torch.inference_mode():
        expected = Flat()(batch()).numpy()
    np.testing.assert_allclose(vectors, expected, atol=0.05 if dtype == torch.bfloat16 else 1e-6)
    assert vectors.dtype == np.float32
    assert own.identity(own.row, hardware=None)["dtype"] == str(dtype).removeprefix("torch.")
    assert (own.row.abilities, own.row.embed_dim) == (("embed_image",), DIM)


def test_a_module_of_texts():
    model, tokenizer = Words(), open_clip.get_tokenizer("", context_length=16)
    own = wrapped(model, tokenizer=tokenizer)
    with torch.inference_mode():
        expected = model(tokenizer(probing.texts())).numpy()
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), expected, atol=1e-5)
    assert own.row.modalities == ("text",)


def test_a_module_needs_its_preprocessing():
    with pytest.raises(BadInput, match="preprocess="):
        wrapped(Flat())


def test_an_object_with_methods_of_lists():
    own, images, texts = versioned(Eye()), probing.images(), probing.texts()
    np.testing.assert_array_equal(embedded(own, "image", images), Eye().encode_image(images))
    np.testing.assert_array_equal(embedded(own, "text", texts), Eye().encode_text(texts))


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
    own = versioned(other, preprocess=pixels, tokenizer=tokenizer)
    with torch.inference_mode():
        seen, read = other.encode_image(batch()).numpy(), model.encode_text(tokenizer(probing.texts())).numpy()
    np.testing.assert_allclose(embedded(own, "image", probing.images()), seen, atol=1e-5)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), read, atol=1e-5)
    with pytest.raises(BadInput, match="preprocess="):
        wrapped(other)


@pytest.mark.parametrize("model", [3, Flat], ids=["number", "class"])
def test_what_is_not_a_model_is_refused_with_all_that_are(model):
    with pytest.raises(BadInput, match="an open_clip model"):
        wrapped(model)
