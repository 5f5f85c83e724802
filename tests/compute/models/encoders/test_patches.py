"""Patch tokens beside the library's own hidden states, on tiny checkpoints; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
import transformers
from PIL import Image

from compute.catalog import shipped
from compute.models import has_patches, load
from compute.models.encoders import framing, patches
from compute.types import CannotDo, Model
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, SIDE, images, row

LAYERS = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": 8,
}


def pixels(folder: Path, image: Image.Image) -> dict[str, torch.Tensor]:
    return dict(transformers.AutoImageProcessor.from_pretrained(folder)(images=image, return_tensors="pt"))


def laid(tokens: torch.Tensor) -> np.ndarray:
    """The tokens of one square image, row by row."""
    side = round(tokens.shape[1] ** 0.5)
    return tokens[0].reshape(side, side, -1).numpy()


def last(model: Any, **inputs: torch.Tensor) -> torch.Tensor:
    """The states after the last layer, before any norm, as the library hands out all layers' states."""
    return model(**inputs, output_hidden_states=True).hidden_states[-1]


def clip(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    states = model.vision_model.post_layernorm(last(model.vision_model, **pixels(folder, image)))
    return laid(model.visual_projection(states)[:, 1:])


def siglip(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.SiglipModel.from_pretrained(folder).eval()
    return laid(model.vision_model.post_layernorm(last(model.vision_model, **pixels(folder, image))))


def align(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.AlignModel.from_pretrained(folder).eval()
    return model.vision_model(**pixels(folder, image)).last_hidden_state[0].numpy().transpose(1, 2, 0)


def blip(folder: Path, image: Image.Image) -> np.ndarray:
    model = transformers.BlipForImageTextRetrieval.from_pretrained(folder).eval()
    states = last(model.vision_model, **pixels(folder, image))
    return laid(model.vision_proj(model.vision_model.post_layernorm(states))[:, 1:])


def own_clip(folder: Path, image: Image.Image) -> np.ndarray:
    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    visual = model.eval().visual
    states = visual.transformer(visual._embeds(transform(image)[None]))
    return laid((visual.ln_post(states) @ visual.proj)[:, 1:])


DUAL: dict[str, tuple[str, Callable[[Path], Path], Callable[[Path, Image.Image], np.ndarray]]] = {
    "clip": ("clip", checkpoints.clip, clip),
    "siglip": ("siglip", checkpoints.siglip, siglip),
    "align": ("align", checkpoints.align, align),
    "blip": ("blip", checkpoints.blip, blip),
    "open_clip": ("open_clip", checkpoints.open_clip, own_clip),
}


@pytest.mark.parametrize("kind", list(DUAL))
def test_a_dual_encoders_patches_are_the_librarys_states_projected(tmp_path: Path, kind: str) -> None:
    """Reference: the library's states of the last layer through the modules that the pooled token goes through."""
    adapter, write, by_library = DUAL[kind]
    folder = write(tmp_path / kind)
    encoder = load(row(folder, adapter), hardware=CPU)
    for image in images():
        found = encoder.patches(image)
        with torch.no_grad():
            expected = by_library(folder, image)
        assert found.dtype == np.float32
        assert found.shape == expected.shape
        assert np.std(expected, axis=(0, 1)).max() > 1e-3, "the reference tells patches apart"
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def vision(folder: Path, kind: str, config: transformers.PretrainedConfig) -> Path:
    """A checkpoint of one more kind than the shared ones."""
    folder.mkdir(parents=True)
    checkpoints.image_processor(folder, "ViTImageProcessor")
    torch.manual_seed(11)
    checkpoints._lively(getattr(transformers, kind)(config)).save_pretrained(folder)
    return folder


VISION: dict[str, tuple[int, Callable[[Path], Path]]] = {
    "dinov2": (1, lambda folder: checkpoints.vision(folder, "dinov2")),
    "vit_mae": (1, lambda folder: checkpoints.vision(folder, "vit_mae")),
    "dinov2_with_registers": (
        4,
        lambda folder: vision(
            folder, "Dinov2WithRegistersModel", transformers.Dinov2WithRegistersConfig(**LAYERS, num_register_tokens=3)
        ),
    ),
    "dinov3_vit": (
        3,
        lambda folder: vision(folder, "DINOv3ViTModel", transformers.DINOv3ViTConfig(**LAYERS, num_register_tokens=2)),
    ),
    "deit": (2, lambda folder: vision(folder, "DeiTModel", transformers.DeiTConfig(**LAYERS))),
    "siglip_vision_model": (
        0,
        lambda folder: vision(folder, "SiglipVisionModel", transformers.SiglipVisionConfig(**LAYERS)),
    ),
}


@pytest.mark.parametrize("kind", list(VISION))
def test_a_vision_models_patches_come_after_those_tokens_that_stand_before(tmp_path: Path, kind: str) -> None:
    """Reference: the library's last states, normed, without class token, distillation token and registers."""
    before, write = VISION[kind]
    folder = write(tmp_path / kind)
    encoder = load(row(folder, "vision"), hardware=CPU)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    asked: dict[str, Any] = {}
    if kind == "vit_mae":  # the seeded draw that hides patches is told to hide none and to keep their order
        model.config.mask_ratio = 0.0
        asked["noise"] = torch.linspace(0, 1, 16)[None]
    for image in images()[:3]:
        with torch.no_grad():
            states = model(**pixels(folder, image), **asked).last_hidden_state
        assert states.shape[1] == before + 16
        np.testing.assert_allclose(encoder.patches(image), laid(states[:, before:]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["resnet", "convnext"])
def test_the_last_map_of_a_convolutional_network_of_transformers(tmp_path: Path, kind: str) -> None:
    """ConvNeXt's through the norm of its pooled vector; the mean over a map of ResNet is its pooled vector."""
    if kind == "resnet":
        folder = checkpoints.vision(tmp_path / kind, kind)
    else:
        folder = vision(
            tmp_path / kind,
            "ConvNextModel",
            transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, image_size=SIDE),
        )
    encoder = load(row(folder, "vision"), hardware=CPU)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = model(**pixels(folder, images()[0])).last_hidden_state
        expected = states if kind == "resnet" else model.layernorm(states.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    found = encoder.patches(images()[0])
    np.testing.assert_allclose(found, expected[0].permute(1, 2, 0).numpy(), rtol=1e-3, atol=1e-4)
    if kind == "resnet":
        pooled = encoder.embed("image", [encoder.prepare("image", images()[0])])[0]
        np.testing.assert_allclose(found.mean(axis=(0, 1)), pooled, atol=1e-4)


def test_tokens_that_are_no_grid_are_refused() -> None:
    shown = torch.zeros(1, 3, 20, 33)
    assert patches.grid(torch.arange(48.0).reshape(1, 8, 6), pixels=shown, patch=(8, 8), of="m").shape == (1, 2, 4, 6)
    with pytest.raises(CannotDo, match="9 tokens"):
        patches.grid(torch.zeros(1, 9, 6), pixels=shown, patch=(8, 8), of="m")
    with pytest.raises(CannotDo, match="0 tokens"):
        patches.grid(torch.zeros(1, 0, 6), pixels=shown, patch=(64, 64), of="m")
    with pytest.raises(CannotDo, match="no map"):
        patches.channels_last(torch.zeros(1, 4, 6), of="m")


def test_what_has_no_grid_is_refused(tmp_path: Path) -> None:
    flexible = load(row(checkpoints.siglip2(tmp_path / "siglip2"), "siglip"), hardware=CPU)
    words = load(row(checkpoints.text(tmp_path / "bert", "bert"), "bert"), hardware=CPU)
    for encoder in (flexible, words):
        with pytest.raises(CannotDo, match=encoder.name):
            encoder.patches(images()[0])
        assert encoder.seen(images()[0]) == framing.UNKNOWN


def test_which_rows_may_have_patches_is_known_without_loading() -> None:
    rows = {model.key: has_patches(model) for model in shipped().models}
    assert rows["tiny"] and rows["facebook/dinov2-base"] and not rows["ssim"]
    assert not has_patches(Model(key="m", title="m", adapter="open_clip", abilities=("embed_text",)))
