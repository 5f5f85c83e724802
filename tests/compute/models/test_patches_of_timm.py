"""Patch tokens of timm's networks and of OpenCLIP's towers, beside what the libraries' own modules give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import timm
import torch
from PIL import Image

from compute.models import load
from compute.models.encoders import patches
from compute.types import CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, SIDE, images, row

SMALL = {"img_size": SIDE, "embed_dim": 32, "depth": 2, "num_heads": 2, "patch_size": 8}


def laid(tokens: torch.Tensor) -> np.ndarray:
    """The tokens of one square image, row by row."""
    side = round(tokens.shape[1] ** 0.5)
    return tokens[0].reshape(side, side, -1).numpy()


TIMM: dict[str, tuple[str, dict[str, Any], int]] = {  # the tokens before the patches
    "vit": ("vit_tiny_patch16_224", {**SMALL, "num_classes": 10}, 1),
    "dinov2 with registers": ("vit_small_patch14_reg4_dinov2", {**SMALL, "num_classes": 0}, 5),
    "distilled": ("deit_tiny_distilled_patch16_224", {**SMALL, "num_classes": 10}, 2),
    "eva02": ("eva02_tiny_patch14_224", {**SMALL, "num_classes": 10}, 1),
}


def timm_states(folder: Path, image: Image.Image, side: int = SIDE, **asked: Any) -> tuple[Any, torch.Tensor]:
    model = timm.create_model(f"local-dir:{folder}", pretrained=True, **asked).eval()
    config = timm.data.resolve_model_data_config(model, args={"input_size": (3, side, side)})
    transform = timm.data.create_transform(**config, is_training=False)
    return model, model.forward_features(transform(image)[None])


@pytest.mark.parametrize("kind", list(TIMM))
def test_timms_patches_are_its_features_normed(tmp_path: Path, kind: str) -> None:
    """Reference: timm's forward_features; of EVA, which norms what it pools, that norm after it."""
    architecture, arguments, before = TIMM[kind]
    folder = checkpoints.timm_folder(tmp_path / "tiny", architecture=architecture, **arguments)
    encoder = load(row(folder, "timm"), hardware=CPU)
    for image in images()[:3]:
        with torch.no_grad():
            model, states = timm_states(folder, image, num_classes=0)
            states = model.fc_norm(states)
        assert states.shape[1] == before + 16
        np.testing.assert_allclose(encoder.patches(image), laid(states[:, before:]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["convnext", "swin", "sam"])
def test_a_map_of_timms_goes_place_by_place_through_the_models_head(tmp_path: Path, kind: str) -> None:
    """Reference: the last map; of ConvNeXt with the norm that follows the pooling, of SAM as its neck leaves it."""
    architecture, arguments = {
        "convnext": ("convnext_atto", {"depths": [1] * 4, "dims": [8, 16, 16, 24], "num_classes": 10}),
        "swin": (
            "swin_tiny_patch4_window7_224",
            {
                "img_size": SIDE,
                "patch_size": 4,
                "window_size": 4,
                "embed_dim": 8,
                "depths": [1, 1],
                "num_heads": [1, 1],
                "num_classes": 10,
            },
        ),
        "sam": (
            "samvit_base_patch16",
            {**SMALL, "neck_chans": 16, "global_attn_indexes": [1], "window_size": 2, "num_classes": 0},
        ),
    }[kind]
    folder = checkpoints.timm_folder(tmp_path / "tiny", architecture=architecture, **arguments)
    side = 64 if kind == "convnext" else SIDE
    encoder = load(row(folder, "timm", **({"image_size": side} if side != SIDE else {})), hardware=CPU)
    for image in images()[:2]:
        with torch.no_grad():
            model, states = timm_states(folder, image, side=side, num_classes=0)
            if kind == "convnext":
                states = model.head.norm(states)
        expected = states[0] if kind == "swin" else states[0].permute(1, 2, 0)
        np.testing.assert_allclose(encoder.patches(image), expected.numpy(), rtol=1e-3, atol=1e-4)
    assert expected.shape == {"convnext": (2, 2, 24), "swin": (4, 4, 16), "sam": (4, 4, 16)}[kind]


def tower(**vision: Any) -> torch.nn.Module:
    """An image tower of OpenCLIP, with random weights that tell patches apart."""
    torch.manual_seed(12)
    size = {"image_size": SIDE, "layers": 2, "width": 64, "patch_size": 8, "head_width": 32}
    made = open_clip.CLIP(embed_dim=24, vision_cfg={**size, **vision}, text_cfg={"layers": 1, "width": 16, "heads": 2})
    return checkpoints._lively(made).eval().visual


def test_towers_of_open_clip_other_than_its_usual_one() -> None:
    """Reference: the tower's own modules, in the order in which it runs them."""
    shown = torch.randn(2, 3, SIDE, SIDE)
    with torch.no_grad():
        after = tower(pool_type="avg", final_ln_after_pool=True)  # CLIPA's: the norm is that of the mean
        states = after.transformer(after._embeds(shown))[:, 1:]
        found = patches.of_open_clip(after, shown, of="m")
        np.testing.assert_allclose(found.flatten(1, 2), after.ln_post(states) @ after.proj, atol=1e-4)

        trunk = tower(timm_model_name="convnext_atto", timm_pool="", timm_proj="linear")
        expected = trunk.head(trunk.trunk.head.norm(trunk.trunk.forward_features(shown)).permute(0, 2, 3, 1))
        np.testing.assert_allclose(patches.of_open_clip(trunk, shown, of="m"), expected, atol=1e-4)
        assert patches.open_clip_patch(trunk) is None

        eva = tower(timm_model_name="vit_tiny_patch16_224", timm_pool="token", timm_proj=None, image_size=224)
        large = torch.randn(1, 3, 224, 224)
        expected = eva.trunk.head(eva.trunk.forward_features(large)[:, 1:])
        found = patches.of_open_clip(eva, large, of="m")
        assert found.shape == (1, 14, 14, 24)
        np.testing.assert_allclose(found.flatten(1, 2), expected, atol=1e-4)
        assert patches.open_clip_patch(eva) == (16, 16)

        resnet = tower(layers=[1, 1, 1, 1], width=8, image_size=64)
        shown = torch.randn(1, 3, 64, 64)
        expected = resnet.layer4(resnet.layer3(resnet.layer2(resnet.layer1(resnet.stem(shown)))))
        np.testing.assert_allclose(patches.of_open_clip(resnet, shown, of="m"), expected.permute(0, 2, 3, 1), atol=1e-4)
        with pytest.raises(CannotDo, match="pools"):
            patches.of_open_clip(
                tower(attentional_pool=True, attn_pooler_queries=4, attn_pooler_heads=2),
                torch.randn(1, 3, SIDE, SIDE),
                of="m",
            )
