"""Patch tokens beside the libraries' own modules and hidden states, on tiny checkpoints; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import timm
import torch
import transformers
from PIL import Image

from compute.catalog import shipped
from compute.models import has_patches, load
from compute.models.encoders import framing, patches
from compute.types import CannotDo, Model
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, PATCHED, SIDE, images, row


def pixels(folder: Path, image: Image.Image) -> dict[str, torch.Tensor]:
    return dict(transformers.AutoImageProcessor.from_pretrained(folder)(images=image, return_tensors="pt"))


def laid(tokens: torch.Tensor) -> np.ndarray:
    """The tokens of one square image, row by row."""
    side = round(tokens.shape[1] ** 0.5)
    return tokens[0].reshape(side, side, -1).numpy()


def last(model: Any, **inputs: torch.Tensor) -> torch.Tensor:
    """The states after the last layer, normed."""
    return model.post_layernorm(model(**inputs, output_hidden_states=True).hidden_states[-1])


def clip(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    return laid(model.visual_projection(last(model.vision_model, **pixels(folder, image)))[:, 1:])


def align(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.AlignModel.from_pretrained(folder).eval()
    return model.vision_model(**pixels(folder, image)).last_hidden_state[0].numpy().transpose(1, 2, 0)


def blip(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.BlipForImageTextRetrieval.from_pretrained(folder).eval()
    return laid(model.vision_proj(last(model.vision_model, **pixels(folder, image)))[:, 1:])


def own_clip(folder: Path, image: Image.Image) -> np.ndarray:
    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    visual = model.eval().visual
    states = visual.transformer(visual._embeds(transform(image)[None]))
    return laid((visual.ln_post(states) @ visual.proj)[:, 1:])


DUAL: dict[str, tuple[Callable[[Path], Path], Callable[[Path, Image.Image], np.ndarray]]] = {
    "clip": (checkpoints.clip, clip),
    "align": (checkpoints.align, align),
    "blip": (checkpoints.blip, blip),
    "open_clip": (checkpoints.open_clip, own_clip),
}


@pytest.mark.parametrize("adapter", list(DUAL))
def test_a_dual_encoders_patches_are_the_librarys_states_projected(tmp_path: Path, adapter: str) -> None:
    """Reference: the library's states of the last layer through the modules that the pooled token goes through."""
    write, by_library = DUAL[adapter]
    folder = write(tmp_path / adapter)
    encoder = load(row(folder, adapter), hardware=CPU)
    for image in images()[:2]:
        with torch.no_grad():
            expected = by_library(folder, image)
        assert np.std(expected, axis=(0, 1)).max() > 1e-3, "the reference tells patches apart"
        np.testing.assert_allclose(encoder.patches(image), expected, rtol=1e-3, atol=1e-5)


def vision(kind: str, config: transformers.PretrainedConfig) -> Callable[[Path], Path]:
    """A checkpoint of one more kind than the shared ones."""

    def write(folder: Path) -> Path:
        folder.mkdir(parents=True)
        checkpoints.image_processor(folder, "ViTImageProcessor")
        torch.manual_seed(11)
        checkpoints._lively(getattr(transformers, kind)(config)).save_pretrained(folder)
        return folder

    return write


VISION: dict[str, tuple[int, Callable[[Path], Path]]] = {
    "vit_mae": (1, lambda folder: checkpoints.vision(folder, "vit_mae")),
    "dinov3_vit": (3, vision("DINOv3ViTModel", transformers.DINOv3ViTConfig(**PATCHED, num_register_tokens=2))),
    "siglip_vision_model": (0, vision("SiglipVisionModel", transformers.SiglipVisionConfig(**PATCHED))),
}


@pytest.mark.parametrize("kind", list(VISION))
def test_a_vision_models_patches_come_after_those_tokens_that_stand_before(tmp_path: Path, kind: str) -> None:
    """Reference: the library's last states, normed, without class token and registers."""
    before, write = VISION[kind]
    folder = write(tmp_path / kind)
    encoder = load(row(folder, "vision"), hardware=CPU)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    asked: dict[str, Any] = {}
    if kind == "vit_mae":  # the seeded draw that hides patches is told to hide none and to keep their order
        model.config.mask_ratio = 0.0
        asked["noise"] = torch.linspace(0, 1, 16)[None]
    with torch.no_grad():
        states = model(**pixels(folder, images()[1]), **asked).last_hidden_state
    np.testing.assert_allclose(encoder.patches(images()[1]), laid(states[:, before:]), rtol=1e-3, atol=1e-4)


def test_the_last_map_of_a_convolutional_network_of_transformers(tmp_path: Path) -> None:
    """ConvNeXt's through the norm of its pooled vector; the mean over a map of ResNet is its pooled vector."""
    config = transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, image_size=SIDE)
    folder = vision("ConvNextModel", config)(tmp_path / "convnext")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = model(**pixels(folder, images()[0])).last_hidden_state.permute(0, 2, 3, 1)
        expected = model.layernorm(states)[0].numpy()
    found = load(row(folder, "vision"), hardware=CPU).patches(images()[0])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    resnet = load(row(checkpoints.vision(tmp_path / "resnet", "resnet"), "vision"), hardware=CPU)
    pooled = resnet.embed("image", [resnet.prepare("image", images()[0])])[0]
    np.testing.assert_allclose(resnet.patches(images()[0]).mean(axis=(0, 1)), pooled, atol=1e-4)


SMALL = {"img_size": SIDE, "embed_dim": 32, "depth": 2, "num_heads": 2, "patch_size": 8}
WINDOWS = {"patch_size": 4, "window_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 1]}
TIMM: dict[str, tuple[str, dict[str, Any], int | None]] = {  # the tokens before the patches; none of a map
    "dinov2 with registers": ("vit_small_patch14_reg4_dinov2", {**SMALL, "num_classes": 0}, 5),
    "eva02": ("eva02_tiny_patch14_224", {**SMALL, "num_classes": 10}, 1),
    "convnext": ("convnext_atto", {"depths": [1] * 4, "dims": [8, 16, 16, 24], "num_classes": 10}, None),
    "swin": ("swin_tiny_patch4_window7_224", {**WINDOWS, "img_size": SIDE, "num_classes": 10}, None),
}


@pytest.mark.parametrize("kind", list(TIMM))
def test_timms_patches_are_its_features_through_the_models_own_norm(tmp_path: Path, kind: str) -> None:
    """Reference: timm's forward_features; of EVA and ConvNeXt, which norm what they pool, that norm after it."""
    architecture, arguments, before = TIMM[kind]
    folder = checkpoints.timm_folder(tmp_path / "tiny", architecture=architecture, **arguments)
    side = 64 if kind == "convnext" else SIDE
    encoder = load(row(folder, "timm", **({"image_size": side} if side != SIDE else {})), hardware=CPU)
    model = timm.create_model(f"local-dir:{folder}", pretrained=True, num_classes=0).eval()
    config = timm.data.resolve_model_data_config(model, args={"input_size": (3, side, side)})
    with torch.no_grad():
        states = model.forward_features(timm.data.create_transform(**config, is_training=False)(images()[1])[None])
        if before is not None:
            expected = laid(model.fc_norm(states)[:, before:])
        else:
            expected = (model.head.norm(states).permute(0, 2, 3, 1) if kind == "convnext" else states)[0].numpy()
    np.testing.assert_allclose(encoder.patches(images()[1]), expected, rtol=1e-3, atol=1e-4)


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
        assert patches.open_clip_patch(trunk) is None and patches.open_clip_patch(after) == (8, 8)

        resnet = tower(layers=[1, 1, 1, 1], width=8)
        expected = resnet.layer4(resnet.layer3(resnet.layer2(resnet.layer1(resnet.stem(shown)))))
        np.testing.assert_allclose(patches.of_open_clip(resnet, shown, of="m"), expected.permute(0, 2, 3, 1), atol=1e-4)
        with pytest.raises(CannotDo, match="pools"):
            coca = tower(attentional_pool=True, attn_pooler_queries=4, attn_pooler_heads=2)
            patches.of_open_clip(coca, shown, of="m")


def test_what_has_no_grid_is_refused(tmp_path: Path) -> None:
    flexible = load(row(checkpoints.siglip2(tmp_path / "siglip2"), "siglip"), hardware=CPU)
    words = load(row(checkpoints.text(tmp_path / "bert", "bert"), "bert"), hardware=CPU)
    for encoder in (flexible, words):
        with pytest.raises(CannotDo, match=encoder.name):
            encoder.patches(images()[0])
        assert encoder.seen(images()[0]) == framing.UNKNOWN
    with pytest.raises(CannotDo, match="9 tokens"):
        patches.grid(torch.zeros(1, 9, 6), pixels=torch.zeros(1, 3, 20, 33), patch=(8, 8), of="m")


def test_which_rows_may_have_patches_is_known_without_loading() -> None:
    rows = {model.key: has_patches(model) for model in shipped().models}
    assert rows["tiny"] and rows["facebook/dinov2-base"] and not rows["ssim"]
    assert not has_patches(Model(key="m", title="m", adapter="open_clip", abilities=("embed_text",)))
