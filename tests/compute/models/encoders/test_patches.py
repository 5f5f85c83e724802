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

from compute.analysis.maps import patches as patch_map
from compute.models import ADAPTERS, has_patches, load
from compute.models.encoders import framing, patches
from compute.models.encoders.towers import ImageTower, Towers
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


def test_the_first_token_through_the_same_modules_is_the_pooled_vector(tmp_path: Path) -> None:
    """So that patches lie in the space of the vectors: with one state in place of all, both are the same."""
    folder = checkpoints.clip(tmp_path / "clip")
    encoder = load(row(folder, "clip"), hardware=CPU)
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    inputs = pixels(folder, images()[0])
    with torch.no_grad():
        first = model.visual_projection(model.vision_model.post_layernorm(last(model.vision_model, **inputs)))[:, 0]
    pooled = encoder.embed("image", [encoder.prepare("image", images()[0])])
    np.testing.assert_allclose(pooled, first.numpy(), atol=1e-5)
    assert encoder.patches(images()[0]).shape == (4, 4, pooled.shape[1])


def vision(folder: Path, kind: str, config: transformers.PretrainedConfig) -> Path:
    """A checkpoint of one more kind than the shared ones."""
    folder.mkdir(parents=True)
    checkpoints.image_processor(folder, "ViTImageProcessor")
    torch.manual_seed(11)
    checkpoints._lively(getattr(transformers, kind)(config)).save_pretrained(folder)
    return folder


VISION: dict[str, tuple[int, Callable[[Path], Path]]] = {
    "dinov2": (1, lambda folder: checkpoints.vision(folder, "dinov2")),
    "ijepa": (0, lambda folder: checkpoints.vision(folder, "ijepa")),
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
    "vit": (1, lambda folder: vision(folder, "ViTModel", transformers.ViTConfig(**LAYERS))),
    "vit_msn": (1, lambda folder: vision(folder, "ViTMSNModel", transformers.ViTMSNConfig(**LAYERS))),
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


def marked(place: tuple[int, int]) -> Image.Image:
    """A grey image with one bright patch."""
    shown = np.full((SIDE, SIDE, 3), 90, np.uint8)
    shown[place[0] * 8 : place[0] * 8 + 8, place[1] * 8 : place[1] * 8 + 8] = (250, 40, 200)
    return Image.fromarray(shown)


@pytest.mark.parametrize(
    "kind", ["clip", "siglip", "blip", "dinov2", "ijepa", "vit_mae", "dinov2_with_registers", "deit"]
)
def test_what_changes_in_a_place_changes_the_patch_of_that_place_most(tmp_path: Path, kind: str) -> None:
    """No library's layout is trusted: rows, columns and their order are told by the image. Its crops leave it whole."""
    adapter, write = (DUAL[kind][0], DUAL[kind][1]) if kind in DUAL else ("vision", VISION[kind][1])
    encoder = load(row(write(tmp_path / kind), adapter), hardware=CPU)
    plain = encoder.patches(Image.new("RGB", (SIDE, SIDE), (90, 90, 90)))
    for place in ((0, 3), (2, 1), (3, 3)):
        moved = np.linalg.norm(encoder.patches(marked(place)) - plain, axis=2)
        assert np.unravel_index(moved.argmax(), moved.shape) == place


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


def test_what_has_no_grid_is_refused_in_words(tmp_path: Path) -> None:
    flexible = load(row(checkpoints.siglip2(tmp_path / "siglip2"), "siglip"), hardware=CPU)
    with pytest.raises(CannotDo, match="tiny-siglip: .*no fixed grid"):
        flexible.patches(images()[0])
    assert flexible.seen(images()[0]) == framing.UNKNOWN
    words = load(row(checkpoints.text(tmp_path / "bert", "bert"), "bert"), hardware=CPU)
    with pytest.raises(CannotDo, match="gives no patch tokens"):
        words.patches(images()[0])
    assert words.seen(images()[0]) == framing.UNKNOWN
    plain = Towers(name="plain", settings={}, hardware=CPU, image=ImageTower(ready=lambda image: {}, run=lambda x: x))
    with pytest.raises(CannotDo, match="plain gives no patch tokens"):
        plain.patches(images()[0])
    folded = vision(
        tmp_path / "hiera",
        "HieraModel",
        transformers.HieraConfig(
            embed_dim=8,
            image_size=[SIDE, SIDE],
            patch_kernel=[3, 3],
            patch_stride=[2, 2],
            patch_padding=[1, 1],
            masked_unit_size=[4, 4],
            depths=[1, 1],
            num_heads=[1, 2],
            query_stride=[2, 2],
            num_query_pool=1,
        ),
    )
    with pytest.raises(CannotDo, match="tiny-vision: in what order a network 'hiera'"):
        load(row(folded, "vision"), hardware=CPU).patches(images()[0])
    hiera = checkpoints.timm_folder(
        tmp_path / "timm",
        architecture="hiera_tiny_224",
        num_classes=0,
        img_size=[64, 64],
        embed_dim=16,
        num_heads=1,
        stages=[1, 1, 1, 1],
    )
    with pytest.raises(CannotDo, match="neither patch tokens nor a map"):
        load(row(hiera, "timm", image_size=64), hardware=CPU).patches(images()[0])


def test_tokens_that_are_no_grid_are_refused() -> None:
    shown = torch.zeros(1, 3, 20, 33)
    assert patches.grid(torch.arange(48.0).reshape(1, 8, 6), pixels=shown, patch=(8, 8), of="m").shape == (1, 2, 4, 6)
    with pytest.raises(CannotDo, match="m: 9 tokens are no grid of the 2 x 4 patches"):
        patches.grid(torch.zeros(1, 9, 6), pixels=shown, patch=(8, 8), of="m")
    with pytest.raises(CannotDo, match="0 tokens"):
        patches.grid(torch.zeros(1, 0, 6), pixels=shown, patch=(64, 64), of="m")
    with pytest.raises(CannotDo, match="no map"):
        patches.channels_last(torch.zeros(1, 4, 6), of="m")


def test_half_precision_gives_nearly_the_same_and_the_vectors_stay(tmp_path: Path) -> None:
    from compute.models import hardware

    folder = checkpoints.clip(tmp_path / "clip")
    full, half = load(row(folder, "clip"), hardware=CPU), load(row(folder, "clip"), hardware=hardware("cpu", "bf16"))
    before = full.embed("image", [full.prepare("image", images()[0])])
    one, other = full.patches(images()[0]), half.patches(images()[0])
    assert other.dtype == np.float32
    assert abs(one - other).max() > 0
    assert np.diagonal(patch_map.similarities(first=one, second=other)).min() > 0.99
    np.testing.assert_array_equal(full.embed("image", [full.prepare("image", images()[0])]), before)


def test_which_rows_may_have_patches_is_known_without_loading() -> None:
    from compute.catalog import shipped

    def can(**said: Any) -> bool:
        return has_patches(Model(key="m", title="m", **said))

    assert can(adapter="clip")
    assert can(adapter="timm", abilities=("embed_image",))
    assert not can(adapter="open_clip", abilities=("embed_text",)), "a row that embeds texts alone"
    assert not can(adapter="psnr")
    assert not can(adapter="bert")
    assert not can(adapter="")
    assert not can(adapter="clop")
    assert {key for key, family in ADAPTERS.items() if family.patches} == {
        "open_clip",
        "clip",
        "siglip",
        "align",
        "blip",
        "vision",
        "moco_v3",
        "timm",
        "conse",
        "efficientnet_lite",
    }
    rows = {model.key: has_patches(model) for model in shipped().models}
    assert rows["tiny"]
    assert rows["facebook/dinov2-base"]
    assert not rows["ssim"]
