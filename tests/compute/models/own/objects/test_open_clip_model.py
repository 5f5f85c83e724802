"""An open_clip model in memory: the vectors of its own methods, with preprocessing and tokenizer told by the model."""

from __future__ import annotations

import copy

import numpy as np
import open_clip
import pytest
import torch

from compute.models.own import probing
from compute.types import BadInput
from tests.compute.models.own.small_objects import (
    DIM,
    embedded,
    pixels,
    small_open_clip,
    transform_of,
    versioned,
    wrapped,
)


def test_vectors_are_those_of_its_own_methods():
    model = small_open_clip()
    own = wrapped(model)
    transform, tokenizer = transform_of(model), open_clip.get_tokenizer("", context_length=16)
    with torch.inference_mode():
        images = model.encode_image(torch.stack([transform(image) for image in probing.images()])).numpy()
        texts = model.encode_text(tokenizer(probing.texts())).numpy()
    np.testing.assert_allclose(embedded(own, "image", probing.images()), images, atol=1e-5)
    np.testing.assert_allclose(embedded(own, "text", probing.texts()), texts, atol=1e-5)
    assert own.row.key == "own/clip"
    assert own.row.embed_dim == DIM
    assert own.row.abilities == ("embed_image", "embed_text")
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
