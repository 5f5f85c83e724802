"""Models whose weights Python packages carry: EfficientNet-Lite0, WordLlama, and ConSE, which is made of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import timm
import torch
from PIL import Image

from compute.catalog import shipped
from compute.models import load
from compute.models.encoders import conse, efficientnet_lite
from compute.models.encoders.towers import Towers
from compute.models.files import weights
from compute.types import BadInput, NotHere
from tests.compute.models.checkpoints import CPU, cosines, embedded
from tests.compute.models.photographs import FILES, photograph

EFFICIENTNET, WORDLLAMA, CONSE = (shipped().model(key) for key in ("efficientnet-lite0", "wordllama", "conse"))
TEXTS = ["a photo of a cat", "A cup of coffee, please!", "Ein Fußgänger überquert die Straße", "cat " * 3000, "x", "猫"]


@pytest.fixture(scope="module")
def efficientnet() -> Towers:
    return load(EFFICIENTNET, hardware=CPU)


@pytest.fixture(scope="module")
def words() -> Towers:
    return load(WORDLLAMA, hardware=CPU)


def pixels(image: Image.Image) -> torch.Tensor:
    """FACTS' preprocessing written out: the shorter side to 256, the middle 224, mean 0.498, deviation 0.502."""
    scale = 256 / min(image.size)
    image = image.resize([int(side * scale) for side in image.size], Image.Resampling.BICUBIC)
    left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
    values = np.asarray(image.crop((left, top, left + 224, top + 224)), dtype=np.float32) / 255
    return torch.from_numpy((values - 0.498) / 0.502).permute(2, 0, 1)[None]


def test_efficientnets_vectors_are_timms_pooled_features_and_the_mean_of_a_map(efficientnet: Towers) -> None:
    """Reference: timm's network filled by position, as the package's file has it."""
    network = timm.create_model("efficientnet_lite0").eval()
    state = torch.load(weights.own_folder(EFFICIENTNET) / efficientnet_lite.FILE, weights_only=True)
    network.load_state_dict(dict(zip(network.state_dict(), state.values(), strict=True)))
    images = [photograph(name) for name in FILES]
    with torch.inference_mode():
        expected = torch.cat(
            [network.forward_head(network.forward_features(pixels(image)), pre_logits=True) for image in images]
        ).numpy()
    vectors = embedded(efficientnet, "image", images)
    assert vectors.shape == (4, 1280)
    np.testing.assert_allclose(vectors, expected, rtol=1e-3, atol=1e-3)
    grid = efficientnet.patches(images[0])
    assert grid.shape == (7, 7, 1280)
    np.testing.assert_allclose(grid.mean(axis=(0, 1)), vectors[0], rtol=1e-3, atol=1e-3)


def test_wordllamas_vectors_are_the_packages_own(words: Towers) -> None:
    from wordllama import WordLlama

    reference = WordLlama.load(cache_dir=weights.own_folder(WORDLLAMA), disable_download=True)
    vectors = embedded(words, "text", TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    np.testing.assert_allclose(vectors, reference.embed(TEXTS), rtol=1e-4, atol=1e-5)


def test_the_order_of_words_decides_nothing_to_the_last_bit(words: Towers) -> None:
    left, right = "a red circle left of a large blue square", "a large blue square left of a red circle"
    one, other, among = (embedded(words, "text", texts) for texts in ([left], [right], [right, "cat " * 40]))
    assert (one == other).all() and (one[0] == among[0]).all()


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(NotHere, match="no-such-words"):
        weights.local_folder(replace(WORDLLAMA, weights="package:no-such-words"), required=weights.RequiredFiles())
    assert not weights.is_downloaded(
        replace(WORDLLAMA, weights="package:no-such-words"), required=weights.RequiredFiles()
    )


def test_conse_puts_a_cat_near_its_caption_alone() -> None:
    captions = ["a photo of a cat", "a cup of coffee", "a photo of an astronaut", "a recipe for lentil soup"]
    encoder = load(CONSE, hardware=CPU)
    image, texts = embedded(encoder, "image", [photograph("cat")]), embedded(encoder, "text", captions)
    caption, *others = cosines(texts, image)
    assert caption == pytest.approx(0.63, abs=0.02)
    assert max(others) <= 0.10


def test_an_image_is_the_weighted_mean_of_ten_classes_texts() -> None:
    """Written out with numpy for three images and twelve classes of two dimensions."""
    rng = np.random.default_rng(0)
    logits, classes = rng.normal(size=(3, 12)), rng.normal(size=(12, 2))
    expected = []
    for row in logits:
        shares = np.exp(row) / np.exp(row).sum()
        best = np.argsort(-shares)[:10]
        expected.append((shares[best, None] * classes[best]).sum(axis=0) / shares[best].sum())
    found = conse.combined(torch.from_numpy(logits), torch.from_numpy(classes)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_other_texts_than_the_rows_are_refused() -> None:
    texts = {"weights": "package:wordllama", "revision": "files-0"}
    with pytest.raises(BadInput, match="files-0"):
        load(replace(CONSE, options={"texts": texts}), hardware=CPU)
