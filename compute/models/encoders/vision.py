"""Image encoders of the transformers library: DINOv2, I-JEPA, ViT-MAE and whatever else its AutoModel loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, chosen
from compute.models.encoders import framing, patches
from compute.models.encoders.towers import ImageTower, Towers
from compute.models.files import pretrained
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

POOLINGS = {"cls": "first token", "mean": "mean of all tokens", "pooler": "the model's own"}
WITHOUT_CLS = ("ijepa", "siglip_vision_model", "swin", "swinv2")  # their first token is a patch like the others

# How many tokens stand before the patches, registers apart, in networks whose last states are normed and row by row.
BEFORE = {
    "deit": 2,
    "dinov2": 1,
    "dinov2_with_registers": 1,
    "dinov3_vit": 1,
    "ijepa": 0,
    "siglip_vision_model": 0,
    "vit": 1,
    "vit_mae": 1,
    "vit_msn": 1,
}


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Images into the last layer's states, pooled. MIEB takes DINOv2's first token; for others no source says.

    Options: `pooling` cls, mean or pooler; by default cls, mean without such a token (I-JEPA), and pooler where
    a network has no attention and its states are maps. ViT-MAE sees every patch, none is masked.
    """
    options = chosen(row, {**pretrained.OPTIONS, "pooling": ""})
    if options["pooling"] not in ("", *POOLINGS):
        raise BadInput(f"{row.key}: no pooling {options['pooling']!r}. There are: {', '.join(POOLINGS)}")
    model, missing = pretrained.model(
        row, "AutoModel", folder=folder, hardware=hardware, options=options, spare=("pooler.",)
    )
    pooling = options["pooling"] or usual_pooling(model.config)
    if pooling == "pooler" and missing:
        raise BadInput(f"{row.key}: the checkpoint has no pooler; it would be random. Set option pooling")
    masked = model.config.model_type == "vit_mae"  # Hiera has a ratio too, and masks nothing by it
    if masked:
        model.config.mask_ratio = 0.0

    def states(inputs: Mapping[str, torch.Tensor]) -> Any:
        return model(**inputs, **({"noise": _in_order(model, len(inputs["pixel_values"]))} if masked else {}))

    def run(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return pooled(states(inputs), pooling)

    ready, seen = pretrained.image_input(row, folder=folder)
    size = getattr(model.config, "patch_size", None)
    patch = framing.sides(size) if size and model.config.model_type in BEFORE else None
    image = ImageTower(
        ready=ready,
        run=run,
        patches=_patches(model, states, patch=patch, of=row.key),
        frame=framing.of_processor(seen, patch=patch),
    )
    return Towers(
        name=row.key,
        hardware=hardware,
        image=image,
        settings={"image": seen, "pooling": POOLINGS[pooling], "normalised": False},
    )


def _patches(
    model: torch.nn.Module,
    states: Callable[[Mapping[str, torch.Tensor]], Any],
    *,
    patch: tuple[int, int] | None,
    of: str,
) -> patches.Patches:
    """Patch tokens without the class token and registers; of a network without attention the last feature map, through
    the norm of its pooled vector where it has one (ConvNeXt). Other layouts are refused."""
    config = model.config
    if patch is None and any(hasattr(config, name) for name in ("num_attention_heads", "num_heads")):
        return patches.none(f"{of}: in what order a network {config.model_type!r} has its patch tokens is not known")

    def lay(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        hidden = states(inputs).last_hidden_state
        if patch is not None:
            before = BEFORE[config.model_type] + getattr(config, "num_register_tokens", 0)
            return patches.grid(hidden[:, before:], pixels=inputs["pixel_values"], patch=patch, of=of)
        laid, norm = patches.channels_last(hidden, of=of), getattr(model, "layernorm", None)
        return laid if norm is None else norm(laid)

    return lay


def pooled(output: Any, pooling: str) -> torch.Tensor:
    """(n, d) of a network's output, by one of POOLINGS."""
    if pooling == "pooler":
        return output.pooler_output.flatten(1)
    return output.last_hidden_state[:, 0] if pooling == "cls" else output.last_hidden_state.float().mean(dim=1)


def usual_pooling(config: Any) -> str:
    """What a network's vector is where nobody says: its first token, or what it has instead."""
    if not hasattr(config, "num_attention_heads"):
        return "pooler"
    return "mean" if config.model_type in WITHOUT_CLS else "cls"


def _in_order(model: torch.nn.Module, n: int) -> torch.Tensor:
    """What ViT-MAE sorts its patches by, so that they keep their order."""
    import torch

    patches = model.embeddings.patch_embeddings.num_patches
    return torch.arange(patches, device=model.device, dtype=torch.float32).expand(n, -1)
