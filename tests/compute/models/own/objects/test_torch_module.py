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
    SIDE,
    Eye,
    embedded,
    of_image,
    of_text,
    pixels,
    small_open_clip,
    wrapped,
)


class Flat(torch.nn.Module):
    def __init__(self, *, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.project = torch.nn.Linear(SIDE * SIDE * 3, DIM)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self.project(batch.flatten(1))


class Words(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(49408, DIM)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.table(tokens).sum(dim=1)


def direct(model: torch.nn.Module) -> np.ndarray:
    with torch.inference_mode():
        return model(torch.stack([pixels(image) for image in probing.images()])).numpy()


def test_a_module_of_images():
    model = Flat()
    own = wrapped(model, preprocess=pixels)
    np.testing.assert_allclose(embedded(own, "image", probing.images()), direct(model), atol=1e-6)
    assert (own.row.abilities, own.row.embed_dim, own.row.key) == (("embed_image",), DIM, "own/flat")


def test_half_precision_is_given_its_own_and_taken_up_to_float32():
    model = Flat().to(torch.bfloat16)
    own = wrapped(model, preprocess=pixels)
    vectors = embedded(own, "image", probing.images())
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, direct(Flat()), atol=0.05)
    assert own.identity(own.row, hardware=None)["dtype"] == "bfloat16"


def test_a_module_of_texts():
    model, tokenizer = Words(), open_clip.get_tokenizer("", context_length=16)
    own = wrapped(model, tokenizer=tokenizer)
    with torch.inference_mode():
        expected = model(tokenizer(probing.texts())).numpy()
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), expected, atol=1e-5)
    assert own.row.modalities == ("text",)


def test_a_processor_may_give_arrays_and_mappings():
    class ByName(Flat):
        def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
            return super().forward(pixel_values)

    own = wrapped(ByName(), preprocess=lambda image: {"pixel_values": pixels(image).numpy()})
    np.testing.assert_allclose(embedded(own, "image", probing.images()), direct(Flat()), atol=1e-6)


def test_a_module_needs_its_preprocessing():
    with pytest.raises(BadInput, match="pass preprocess="):
        wrapped(Flat())


def test_an_object_with_methods_of_lists():
    own = wrapped(Eye())
    images, texts = probing.images(), probing.texts()
    np.testing.assert_array_equal(embedded(own, "image", images), np.stack([of_image(image) for image in images]))
    np.testing.assert_array_equal(embedded(own, "text", texts), np.stack([of_text(text) for text in texts]))


def test_an_object_with_methods_of_tensors():
    """As OpenAI's own package and many others have it: the preprocessing is what tells."""
    model, tokenizer = small_open_clip(), open_clip.get_tokenizer("", context_length=16)

    class Other(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def encode_image(self, batch: torch.Tensor) -> torch.Tensor:
            return self.model.encode_image(torch.nn.functional.interpolate(batch, size=32))

        def encode_text(self, tokens: torch.Tensor) -> torch.Tensor:
            return self.model.encode_text(tokens)

    other = Other().eval()
    own = wrapped(other, preprocess=pixels, tokenizer=tokenizer)
    with torch.inference_mode():
        expected = other.encode_image(torch.stack([pixels(image) for image in probing.images()])).numpy()
    np.testing.assert_allclose(embedded(own, "image", probing.images()), expected, atol=1e-5)
    np.testing.assert_allclose(
        embedded(own, "text", probing.texts()), model.encode_text(tokenizer(probing.texts())).detach(), atol=1e-5
    )
    with pytest.raises(BadInput, match="pass preprocess= and tokenizer="):
        wrapped(other)


@pytest.mark.parametrize("model", [object(), 3, None, Flat], ids=["object", "number", "none", "class"])
def test_what_is_no_model_is_refused_with_all_that_are(model):
    with pytest.raises(BadInput, match=r"no model that can be evaluated\. There are: an open_clip model"):
        wrapped(model)
