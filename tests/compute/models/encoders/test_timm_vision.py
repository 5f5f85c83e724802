"""timm's image encoders and MoCo v3, by their real path and beside the library's own call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file
from torchvision import transforms

from compute.models import load
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, SIDE, cosines, images, row

SMALL = {"img_size": SIDE, "embed_dim": 32, "depth": 2, "num_heads": 2, "patch_size": 8}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("vit_tiny_patch16_224", {**SMALL, "num_classes": 10}),
    "siglip gap": ("vit_base_patch16_siglip_gap_224", {**SMALL, "num_classes": 0}),
    "sam": (
        "samvit_base_patch16",
        {**SMALL, "neck_chans": 16, "global_attn_indexes": [1], "window_size": 2, "num_classes": 0},
    ),
    "convnext": ("convnext_atto", {"depths": [1, 1, 1, 1], "dims": [8, 16, 24, 32], "num_classes": 10}),
}


def by_library(folder: Path, **asked: Any) -> np.ndarray:
    """timm's own factory on the folder, and the evaluation transform of the folder's configuration."""
    model = timm.create_model(f"local-dir:{folder}", pretrained=True, **asked).eval()
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)
    with torch.no_grad():
        return model(torch.stack([transform(image) for image in images()])).numpy()


@pytest.mark.parametrize("kind", list(KINDS))
def test_vectors_are_the_librarys(tmp_path: Path, kind: str) -> None:
    """Reference: timm called directly with the classifier taken off."""
    architecture, arguments = KINDS[kind]
    folder = checkpoints.timm_folder(tmp_path / "tiny", architecture=architecture, **arguments)
    encoder = load(row(folder, "timm"), hardware=CPU)
    shown = [encoder.prepare("image", image) for image in images()]
    found, expected = encoder.embed("image", shown), by_library(folder, num_classes=0)
    assert np.std(expected, axis=0).max() > 1e-3
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([encoder.embed("image", [one]) for one in shown]), found, atol=1e-4)
    assert encoder.settings["image"]["mean"] == [0.5, 0.4, 0.3]
    assert encoder.settings["image"]["crop_pct"] == 0.9


def test_another_size(tmp_path: Path) -> None:
    folder = checkpoints.timm_folder(tmp_path / "tiny", **{**SMALL, "num_classes": 24})
    larger = load(row(folder, "timm", image_size=48), hardware=CPU)
    one = larger.prepare("image", images()[0])
    assert one["pixel_values"].shape == (3, 48, 48)
    assert larger.settings["image"]["input_size"] == [3, 48, 48]
    assert larger.embed("image", [one]).shape == (1, 32)


def test_moco_v3_is_a_plain_vit(tmp_path: Path) -> None:
    """Reference: timm's ViT of the same weights, and torchvision's transforms of MIEB's preprocessing."""
    torch.manual_seed(9)
    # The narrowest published width, as deep as needed to be the architecture that the width tells.
    model = timm.create_model("vit_small_patch16_224", num_classes=0).eval()
    state = {**model.state_dict(), "head.weight": torch.zeros(10, 384), "head.bias": torch.zeros(10)}
    save_file(state, tmp_path / "model.safetensors")
    encoder = load(row(tmp_path, "moco_v3"), hardware=CPU)
    by_hand = transforms.Compose(
        [
            transforms.Resize(248, transforms.InterpolationMode.BICUBIC),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize((0.5,) * 3, (0.5,) * 3),
        ]
    )
    shown = encoder.prepare("image", images()[3])
    np.testing.assert_allclose(shown["pixel_values"].numpy(), by_hand(images()[3]).numpy(), atol=1e-5)
    with torch.no_grad():
        expected = model(by_hand(images()[3])[None]).numpy()
    np.testing.assert_allclose(cosines(encoder.embed("image", [shown]), expected), 1, atol=1e-5)
    assert encoder.patches(images()[0]).shape == (14, 14, 384)
