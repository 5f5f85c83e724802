"""Image encoders of the transformers library: DINOv2, I-JEPA, ViT-MAE and whatever else its AutoModel loads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models import pretrained
from compute.models.adapter import Hardware
from compute.models.checkpoint import needed
from compute.models.options import chosen
from compute.models.towers import ImageTower, Towers
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

POOLINGS = {"cls": "first token", "mean": "mean of all tokens", "pooler": "the model's own"}
WITHOUT_CLS = ("ijepa", "siglip_vision_model", "swin", "swinv2")  # their first token is a patch like the others


def load(row: Model, hardware: Hardware, folder: Path | None) -> Towers:
    """Images into the last layer's states, pooled. MIEB takes DINOv2's first token; for others no source says.

    Options: `pooling` cls, mean or pooler; by default cls, mean where there is no such token (I-JEPA), and pooler where
    a network has no attention and its states are maps. ViT-MAE sees every patch, none is masked. `image_backend` is
    torchvision or pil.
    """
    options = chosen(row, {**pretrained.OPTIONS, "pooling": "", "image_backend": ""})
    folder = needed(row, folder)
    if options["pooling"] not in ("", *POOLINGS):
        raise BadInput(f"{row.key}: no pooling {options['pooling']!r}. There are: {', '.join(POOLINGS)}")
    model, missing = pretrained.model(row, "AutoModel", folder=folder, hardware=hardware, options=options,
                                      spare=("pooler.",))
    pooling = options["pooling"] or _usual(model.config)
    if pooling == "pooler" and missing:
        raise BadInput(f"{row.key}: the checkpoint lacks its pooler; it would be random. Set option pooling")
    masked = hasattr(model.config, "mask_ratio")
    if masked:
        model.config.mask_ratio = 0.0

    def run(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        output = model(**inputs, **({"noise": _in_order(model, len(inputs["pixel_values"]))} if masked else {}))
        if pooling == "pooler":
            return output.pooler_output.flatten(1)
        return output.last_hidden_state[:, 0] if pooling == "cls" else output.last_hidden_state.float().mean(dim=1)

    ready, seen = pretrained.image_input(row, folder=folder, backend=options["image_backend"])
    return Towers(name=row.key, hardware=hardware, image=ImageTower(ready=ready, run=run),
                  settings={"image": seen, "pooling": POOLINGS[pooling], "normalised": False})


def _usual(config: Any) -> str:
    if not hasattr(config, "num_attention_heads"):
        return "pooler"
    return "mean" if config.model_type in WITHOUT_CLS else "cls"


def _in_order(model: torch.nn.Module, n: int) -> torch.Tensor:
    """What ViT-MAE sorts its patches by, so that they keep their order."""
    import torch

    patches = model.embeddings.patch_embeddings.num_patches
    return torch.arange(patches, device=model.device, dtype=torch.float32).expand(n, -1)
