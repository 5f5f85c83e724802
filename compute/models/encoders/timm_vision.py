"""Image encoders of the timm library: ViT, SigLIP's and CLIP's vision towers, DINOv2, MAE, SAM, ConvNeXt; MoCo v3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, ImageTower, Towers, chosen
from compute.models.files import pretrained
from compute.models.files.weights import WEIGHTS, existing, fill, seeded, tensors
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

SHOWN = ("input_size", "interpolation", "crop_pct", "crop_mode", "mean", "std")
# MoCo v3's repository does not state its preprocessing; MIEB's code uses that of the supervised ViT of this
# architecture.
MOCO_V3 = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "crop_pct": 0.9, "interpolation": "bicubic"}
MOCO_V3_WIDTHS = {384: "vit_small_patch16_224", 768: "vit_base_patch16_224", 1024: "vit_large_patch16_224"}


LITE_FILE = "models/efficientnet-lite0-57934424.pth"
LITE = {
    "input_size": (3, 224, 224),
    "crop_pct": 224 / 256,
    "interpolation": "bicubic",
    "mean": (0.498, 0.498, 0.498),
    "std": (0.502, 0.502, 0.502),
}


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Loads a folder with timm's config.json. The vector is the pooled state before the head, with the checkpoint's
    pooling.

    Option: `image_size` in pixels replaces the checkpoint's.
    """
    import timm

    side = chosen(row, {"image_size": None})["image_size"]
    shown = {"input_size": (3, side, side)} if side else {}
    name = f"local-dir:{folder}"
    with seeded(0), pretrained.reading(row, folder, kind="timm"):
        model = timm.create_model(pretrained=True, **timm.models.resolve_model_input_args(name, shown, num_classes=0))
    pooling = getattr(model, "global_pool", "") or "the model's own"
    return towers(row, hardware, model, shown=shown, pooling=str(pooling))


def load_moco_v3(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Loads MoCo v3 (Chen et al. 2021) from bare weights of timm's ViT; the width of the weights gives its size. The
    vector is the first token.
    """
    import timm

    chosen(row, {})
    file = next((folder / name for name in WEIGHTS if (folder / name).is_file()), folder / WEIGHTS[0])
    stored = timm.models.load_state_dict(str(existing(file)), weights_only=True)
    state = {name: value for name, value in stored.items() if not name.startswith("head.")}
    width = state["cls_token"].shape[-1] if "cls_token" in state else None
    if width not in MOCO_V3_WIDTHS:
        raise BadInput(f"{row.key}: no ViT of MoCo v3 has the width {width}")
    name = MOCO_V3_WIDTHS[width]
    with seeded(0):
        model = timm.create_model(name, pretrained=False, num_classes=0)
    fill(model, state, of=name)
    return towers(row, hardware, model, shown=MOCO_V3, pooling="token")


def load_lite(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Loads EfficientNet-Lite0: the vector (1280,) is the mean of the last feature map, before the classifier."""
    chosen(row, {})
    model = lite_classifier(folder)
    model.reset_classifier(0)
    return towers(row, hardware, model, shown=LITE, pooling="avg")


def lite_classifier(folder: Path) -> torch.nn.Module:
    """Loads EfficientNet-Lite0 (Liu 2020, after Tan and Le 2019) with its 1,000 classes from its package's folder.

    Its state dict has another library's names, but timm's order and shapes.
    """
    import timm

    name = "efficientnet_lite0"
    with seeded(0):
        model = timm.create_model(name, pretrained=False)
    fill(model, dict(zip(model.state_dict(), tensors(folder / LITE_FILE).values(), strict=True)), of=name)
    return model


def towers(
    row: Model,
    hardware: Hardware,
    model: torch.nn.Module,
    *,
    shown: Mapping[str, Any],
    pooling: str,
    head: bool = False,
) -> Towers:
    """Returns the model with the preprocessing of its configuration, overridden by `shown`."""
    import timm

    hardware.placed(model)
    config = timm.data.resolve_model_data_config(model, args=dict(shown))
    transform = timm.data.create_transform(**config, is_training=False)

    return Towers(
        name=row.key,
        hardware=hardware,
        image=ImageTower(
            ready=lambda image: {"pixel_values": transform(image)},
            run=lambda inputs: model(inputs["pixel_values"]),
        ),
        settings={
            "image": {name: config[name] for name in SHOWN if name in config},
            "pooling": pooling,
            "head": head,
            "normalised": False,
        },
    )
