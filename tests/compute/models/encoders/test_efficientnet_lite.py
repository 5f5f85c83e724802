"""EfficientNet-Lite0 with its published weights on real photographs, beside timm's own forward pass."""

from __future__ import annotations

import numpy as np
import pytest
import timm
import torch
from PIL import Image

from compute.catalog import shipped
from compute.models import load
from compute.models.encoders import timm_vision
from compute.models.encoders.towers import Towers
from compute.models.files.weights import own_folder
from tests.compute.models.checkpoints import CPU, embedded
from tests.compute.models.photographs import FILES, photograph

ROW = shipped().model("efficientnet-lite0")


@pytest.fixture(scope="module")
def encoder() -> Towers:
    return load(ROW, hardware=CPU)


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    """timm's network filled by position, as the package's file has it."""
    model = timm.create_model("efficientnet_lite0").eval()
    state = torch.load(own_folder(ROW) / timm_vision.LITE_FILE, weights_only=True)
    model.load_state_dict(dict(zip(model.state_dict(), state.values(), strict=True)))
    return model


def pixels(image: Image.Image) -> torch.Tensor:
    """FACTS' preprocessing written out: the shorter side to 256, the middle 224, mean 0.498, deviation 0.502."""
    scale = 256 / min(image.size)
    image = image.resize([int(side * scale) for side in image.size], Image.Resampling.BICUBIC)
    left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
    values = np.asarray(image.crop((left, top, left + 224, top + 224)), dtype=np.float32) / 255
    return torch.from_numpy((values - 0.498) / 0.502).permute(2, 0, 1)[None]


def test_the_vectors_are_timms_pooled_features(encoder: Towers, network: torch.nn.Module) -> None:
    images = [photograph(name) for name in FILES]
    with torch.inference_mode():
        expected = torch.cat(
            [network.forward_head(network.forward_features(pixels(image)), pre_logits=True) for image in images]
        ).numpy()
    vectors = embedded(encoder, "image", images)
    assert vectors.shape == (4, 1280)
    np.testing.assert_allclose(vectors, expected, rtol=1e-3, atol=1e-3)


def test_the_mean_of_a_map_is_the_vector(encoder: Towers) -> None:
    cat = photograph("cat")
    grid = encoder.patches(cat)
    assert grid.shape == (7, 7, 1280)
    np.testing.assert_allclose(grid.mean(axis=(0, 1)), embedded(encoder, "image", [cat])[0], rtol=1e-3, atol=1e-3)
