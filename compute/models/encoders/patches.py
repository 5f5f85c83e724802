"""Grids of patch tokens: the last states of an image tower, laid out in rows and columns as its patches lie.

Each patch goes alone through what the pooled vector goes through after pooling: the final norm, and the projection if
there is one. A tower that pools by attention has nothing of the kind for one patch, and its states stay as they are
after the norm. No paper says so of all these towers: it is how this program makes patches comparable. What a tower
learnt to say of a whole image need not hold for one of its patches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compute.models.encoders.framing import sides
from compute.types import CannotDo

if TYPE_CHECKING:
    import torch


def grid(tokens: torch.Tensor, *, pixels: torch.Tensor, patch: tuple[int, int], of: str) -> torch.Tensor:
    """(n, rows, columns, d) of (n, tokens, d), one a patch and row by row, for images (n, 3, height, width).

    Raises CannotDo where there are not as many tokens as whole patches.
    """
    high, wide = pixels.shape[-2:]
    rows, columns = high // patch[0], wide // patch[1]
    if rows * columns != tokens.shape[1] or not rows * columns:
        raise CannotDo(
            f"{of}: {tokens.shape[1]} tokens do not form a grid of the {rows} x {columns} patches of its image"
        )
    return tokens.reshape(len(tokens), rows, columns, tokens.shape[2])


def channels_last(states: torch.Tensor, *, of: str) -> torch.Tensor:
    """(n, rows, columns, d) of a feature map (n, d, rows, columns). Raises CannotDo for states that are not a map."""
    if states.ndim != 4:
        raise CannotDo(f"{of}: its last states are not a map of rows and columns")
    return states.permute(0, 2, 3, 1)


def timm_patch(model: torch.nn.Module) -> tuple[int, int] | None:
    """(height, width) in pixels of the patches that a model of timm cuts; None where it cuts none or fills up to whole
    ones, as convolutions do."""
    embed = getattr(model, "patch_embed", None)
    if not hasattr(embed, "feat_ratio") or getattr(embed, "dynamic_img_pad", False):
        return None
    return sides(embed.feat_ratio(as_scalar=False))


def of_timm(model: torch.nn.Module, pixels: torch.Tensor, *, of: str) -> torch.Tensor:
    """(n, rows, columns, d) of a model of timm: patch tokens without those before them, or the last feature map.

    Each goes alone through the model's own norm and head. Raises CannotDo for tokens of no known order.
    """
    states = model.forward_features(pixels)
    before, patch = getattr(model, "num_prefix_tokens", 0), timm_patch(model)
    last = getattr(model, "output_fmt", "NCHW") == "NHWC"
    if states.ndim == 4:
        laid = states if last else channels_last(states, of=of)
    elif states.ndim == 3 and patch is not None:
        laid = grid(states[:, before:], pixels=pixels, patch=patch, of=of)
    else:
        raise CannotDo(f"{of}: its last states are neither patch tokens nor a map of rows and columns")
    if timm_attends(model):
        return laid
    n, rows, columns, width = laid.shape
    if states.ndim == 3:  # as many copies of a patch as any pooling looks at: first token, mean of the patches, both
        alone = laid.reshape(-1, 1, width).expand(-1, before + 1, -1)
    else:
        alone = laid.reshape(-1, 1, 1, width) if last else laid.reshape(-1, width, 1, 1)
    return model.forward_head(alone).reshape(n, rows, columns, -1)


def timm_attends(model: torch.nn.Module) -> bool:
    """Whether a model of timm pools by attention, which one patch alone cannot go through."""
    import torch
    from timm.layers import AttentionPool2d, RotAttentionPool2d

    head = getattr(model, "head", None)
    parts = head.modules() if isinstance(head, torch.nn.Module) else ()
    return getattr(model, "attn_pool", None) is not None or any(
        isinstance(part, (AttentionPool2d, RotAttentionPool2d)) for part in parts
    )


def open_clip_patch(visual: torch.nn.Module) -> tuple[int, int] | None:
    """(height, width) in pixels of the patches that a vision tower of OpenCLIP cuts; None where it cuts none."""
    if hasattr(visual, "trunk"):
        return timm_patch(visual.trunk)
    size = getattr(visual, "patch_size", None)
    return None if size is None else sides(size)


def of_open_clip(visual: torch.nn.Module, pixels: torch.Tensor, *, of: str) -> torch.Tensor:
    """(n, rows, columns, d) of a vision tower of OpenCLIP, projected as its vectors are unless it pools by attention.

    Raises CannotDo for CoCa's pooling, whose norm is that of the pooled tokens, and for towers of other libraries.
    """
    from open_clip.modified_resnet import ModifiedResNet
    from open_clip.timm_model import TimmModel
    from open_clip.transformer import VisionTransformer

    if isinstance(visual, TimmModel):
        laid = of_timm(visual.trunk, pixels, of=of)
        return laid if hasattr(visual.head, "pool") or timm_attends(visual.trunk) else visual.head(laid)
    if isinstance(visual, ModifiedResNet):
        features = visual.forward_intermediates(pixels, indices=1, intermediates_only=True)
        return channels_last(features["image_intermediates"][-1], of=of)
    if not isinstance(visual, VisionTransformer):
        raise CannotDo(f"{of}: patch tokens are not supported for the image tower {type(visual).__name__}")
    if visual.attn_pool is not None:
        raise CannotDo(f"{of}: its image tower has no norm and no projection for its patches, only for what it pools")
    features = visual.forward_intermediates(
        pixels, indices=1, normalize_intermediates=True, intermediates_only=True, output_fmt="NLC"
    )
    laid = grid(features["image_intermediates"][-1], pixels=pixels, patch=sides(visual.patch_size), of=of)
    return laid if visual.proj is None else laid @ visual.proj
