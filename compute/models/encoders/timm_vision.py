"""Image encoders of the timm library: ViT, SigLIP's and CLIP's vision towers, DINOv2, MAE, SAM, ConvNeXt; MoCo v3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware
from compute.models.encoders import framing, patches
from compute.models.encoders.towers import ImageTower, Towers
from compute.models.files.checkpoint import existing, fill, one_line, ready, seeded
from compute.models.files.weights import WEIGHTS
from compute.models.options import chosen
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

OPTIONS: dict[str, Any] = {"head": False, "pooling": "", "image_size": None, "random": False, "seed": 0}
SHOWN = ("input_size", "interpolation", "crop_pct", "crop_mode", "mean", "std")
# MoCo v3's repository says nothing of preprocessing. MIEB's code took that of the supervised ViT whose architecture it
# shares; its authors' own evaluation normalises by ImageNet's mean and deviation, and cuts 224 of 256 pixels.
MOCO_V3 = {
    "mieb": {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "crop_pct": 0.9, "interpolation": "bicubic"},
    "imagenet": {
        "mean": (0.485, 0.456, 0.406),
        "std": (0.229, 0.224, 0.225),
        "crop_pct": 0.875,
        "interpolation": "bilinear",
    },
}
MOCO_V3_WIDTHS = {384: "vit_small_patch16_224", 768: "vit_base_patch16_224", 1024: "vit_large_patch16_224"}


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """A folder with timm's config.json. The vector is the pooled state before the head, pooled as the checkpoint says.

    Options: `head` true keeps the checkpoint's last layer (of CLIP's towers, the projection); `pooling` avg, token, map
    instead of its own; `image_size` in pixels instead of its own.
    """
    import timm

    options = chosen(row, OPTIONS)
    arguments: dict[str, Any] = {} if options["head"] else {"num_classes": 0}
    if options["pooling"]:
        arguments["global_pool"] = options["pooling"]
    shown = {"input_size": (3, options["image_size"], options["image_size"])} if options["image_size"] else {}
    name = f"local-dir:{folder}"
    try:
        with seeded(options["seed"]):
            model = timm.create_model(
                pretrained=not options["random"], **timm.models.resolve_model_input_args(name, shown, **arguments)
            )
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        raise BadInput(f"{row.key}: {folder} does not fit timm: {one_line(error)}") from error
    pooling = options["pooling"] or getattr(model, "global_pool", "") or "the model's own"
    return towers(row, hardware, model, shown=shown, pooling=str(pooling), head=bool(options["head"]))


def load_moco_v3(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """MoCo v3 (Chen et al. 2021) with bare weights of timm's ViT, whose size their width tells; the first token.

    Option `preprocessing`, mieb (as its figures) or imagenet (as its authors), for the checkpoint names none;
    `architecture` for random weights.
    """
    import timm

    options = chosen(row, {"preprocessing": "mieb", "architecture": "", "random": False, "seed": 0})
    if options["preprocessing"] not in MOCO_V3:
        raise BadInput(f"{row.key}: preprocessing is one of {', '.join(MOCO_V3)}, not {options['preprocessing']!r}")
    state: dict[str, torch.Tensor] = {}
    if not options["random"]:
        file = next((folder / name for name in WEIGHTS if (folder / name).is_file()), folder / WEIGHTS[0])
        stored = timm.models.load_state_dict(str(existing(file)), weights_only=True)
        state = {name: value for name, value in stored.items() if not name.startswith("head.")}
    width = state["cls_token"].shape[-1] if "cls_token" in state else None
    name = options["architecture"] or MOCO_V3_WIDTHS.get(width, "")
    if not name:
        raise BadInput(f"{row.key}: cannot tell the architecture of width {width}; set option architecture")
    with seeded(options["seed"]):
        model = timm.create_model(name, pretrained=False, num_classes=0)
    if not options["random"]:
        fill(model, state, of=name)
    return towers(row, hardware, model, shown=MOCO_V3[options["preprocessing"]], pooling="token", head=False)


def towers(
    row: Model, hardware: Hardware, model: torch.nn.Module, *, shown: Mapping[str, Any], pooling: str, head: bool
) -> Towers:
    """The model behind the preprocessing of its configuration, with `shown` overriding it."""
    import timm

    ready(model, hardware)
    config = timm.data.resolve_model_data_config(model, args=dict(shown))
    transform = timm.data.create_transform(**config, is_training=False)

    return Towers(
        name=row.key,
        hardware=hardware,
        image=ImageTower(
            ready=lambda image: {"pixel_values": transform(image)},
            run=lambda inputs: model(inputs["pixel_values"]),
            patches=lambda inputs: patches.of_timm(model, inputs["pixel_values"], of=row.key),
            frame=framing.of_timm(config, patch=patches.timm_patch(model)),
        ),
        settings={
            "image": {name: config[name] for name in SHOWN if name in config},
            "pooling": pooling,
            "head": head,
            "normalised": False,
        },
    )
