"""OpenCLIP's checkpoints, by their real path and beside the library's own call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch

from compute.models import load
from compute.types import BadInput
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, cosines, images, row


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoints.open_clip(tmp_path_factory.mktemp("open_clip") / "tiny")


def test_vectors_are_the_librarys(folder: Path) -> None:
    """Reference: open_clip's own factory, transform and tokenizer on the same images and texts."""
    encoder = load(row(folder, "open_clip"), hardware=CPU)
    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    model.eval()
    with torch.no_grad():
        seen = model.encode_image(torch.stack([transform(image) for image in images()])).numpy()
        read = model.encode_text(open_clip.get_tokenizer(f"local-dir:{folder}")([*TEXTS, LONG])).numpy()
    shown = [encoder.prepare("image", image) for image in images()]
    words = [encoder.prepare("text", text) for text in [*TEXTS, LONG]]
    assert [len(one) for one in words] == [7, 10, 3, 2, 20], "up to the end token"
    for modality, given, expected in (("image", shown, seen), ("text", words, read)):
        found = encoder.embed(modality, given)
        assert np.std(expected, axis=0).max() > 1e-3
        np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-5)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        np.testing.assert_allclose(np.concatenate([encoder.embed(modality, [one]) for one in given]), found, atol=1e-5)
    assert encoder.settings["image"] == {
        "size": [32, 32],
        "mean": [0.5, 0.4, 0.3],
        "std": [0.2, 0.25, 0.3],
        "interpolation": "bicubic",
        "resize_mode": "shortest",
        "fill_color": 0,
    }
    assert encoder.settings["text"]["max_tokens"] == 20
    assert encoder.settings["text"]["padding"] == "to the next of 8, 16, 20"


def test_bare_weights_of_an_architecture_that_the_library_knows(folder: Path, tmp_path: Path) -> None:
    """An older repository: a .bin and no configuration; the tag tells the preprocessing."""
    bare = checkpoints.open_clip(tmp_path / "bare", config=False, binary=True)
    with pytest.raises(BadInput, match="option architecture"):
        load(row(bare, "open_clip"), hardware=CPU)
    with pytest.raises(BadInput, match="ViT-tiny"):
        load(row(bare, "open_clip", architecture="ViT-tiny"), hardware=CPU)
    # The same weights with the library told of the architecture.
    known = tmp_path / "known" / "tiny-known.json"
    known.parent.mkdir()
    known.write_text((folder / "open_clip_config.json").read_text().split('"model_cfg": ')[1].split(', "preprocess')[0])
    open_clip.add_model_config(known)
    found = load(row(bare, "open_clip", architecture="tiny-known"), hardware=CPU)
    own = load(row(folder, "open_clip"), hardware=CPU)
    words = [own.prepare("text", text) for text in TEXTS]
    np.testing.assert_allclose(found.embed("text", words), own.embed("text", words), atol=1e-6)
    assert found.settings["configuration"] == "tiny-known"
    assert found.settings["image"]["mean"] == list(open_clip.OPENAI_DATASET_MEAN)


def test_a_prefix_stands_before_every_text(folder: Path) -> None:
    led, plain = (load(row(folder, "open_clip", text_prefix=prefix), hardware=CPU) for prefix in ("a photo of ", ""))
    assert led.prepare("text", "dog") == plain.prepare("text", "a photo of dog")
