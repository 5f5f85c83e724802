"""Encoders of images and texts of the transformers library: CLIP, SigLIP, ALIGN, and BLIP's contrastive half.

Vectors are what MIEB and UniSim-Bench compare: the towers' pooled and projected outputs, not normalised but for BLIP's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware, chosen
from compute.models.encoders import clip, framing, patches
from compute.models.encoders.text import text_tower
from compute.models.encoders.towers import ImageTower, Towers
from compute.models.files import pretrained
from compute.models.files.weights import architecture
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

OPTIONS = {**pretrained.OPTIONS, "text_prefix": "", "max_tokens": None}
CLIP = ("clip", "metaclip_2")
SIGLIP = ("siglip", "siglip2")


def load_blip(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """BLIP (Li et al. 2022): the first token of either tower, projected as for its contrastive loss, of length 1."""
    options = chosen(row, {**OPTIONS, "normalise": True})
    _check_kind(row, folder, ("blip",))
    model, _ = pretrained.model(
        row, "BlipForImageTextRetrieval", folder=folder, hardware=hardware, options=options, spare=("itm_head.",)
    )

    def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return model.vision_proj(model.vision_model(**inputs).last_hidden_state[:, 0])

    def lay(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        states = model.vision_model(**inputs).last_hidden_state[:, 1:]
        laid = patches.grid(states, pixels=inputs["pixel_values"], patch=_patch(model), of=row.key)
        return model.vision_proj(laid)

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model.text_proj(model.text_encoder(input_ids=ids, attention_mask=mask)[0][:, 0])

    return _towers(
        row,
        hardware,
        folder,
        options,
        model,
        see=see,
        read=read if _reads_texts(row) else None,
        lay=lay,
        pooling="first token, projected",
    )


def _load(
    row: Model,
    hardware: Hardware,
    folder: Path,
    *,
    kinds: Sequence[str],
    full_length: bool = False,
    causal: bool = False,
    module: bool = False,
) -> Towers:
    """`module`: the library's model is needed behind the towers, even where torch alone could run them; images and
    texts are then still made ready without the library."""
    options = chosen(row, {**OPTIONS, "normalise": False})
    _check_kind(row, folder, kinds)
    texts = _reads_texts(row)
    by_library = kinds != CLIP or not texts or options["random"] or options["lora"] or hardware.attention
    plain = None if by_library else clip.read(folder)
    own = {"prefix": options["text_prefix"], "max_tokens": options["max_tokens"]}
    if plain is not None and not module:
        return clip.load(row, hardware, plain, normalise=options["normalise"], **own)
    model, _ = pretrained.model(row, "AutoModel", folder=folder, hardware=hardware, options=options)

    def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return model.get_image_features(**inputs).pooler_output

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        masked = {} if full_length or causal else {"attention_mask": mask}
        return model.get_text_features(input_ids=ids, **masked).pooler_output

    towers = _towers(
        row,
        hardware,
        folder,
        options,
        model,
        see=see,
        read=read if texts else None,
        full_length=full_length,
        causal=causal,
        lay=_patches(model, of=row.key),
        pooling="the model's own, projected",
    )
    if plain is not None:
        towers.image.ready, towers.text.ready = clip.preparation(plain, **own)
    return towers


# CLIP (Radford et al. 2021) and MetaCLIP 2 look back only and read their vector at the end token: padding is not seen.
load_clip = partial(_load, kinds=CLIP, causal=True)
# ALIGN (Jia et al. 2021): texts padded to the batch's longest, and the padding masked.
load_align = partial(_load, kinds=("align",))
# SigLIP (Zhai et al. 2023) and SigLIP 2: texts padded to full length and no padding masked, as in training.
load_siglip = partial(_load, kinds=SIGLIP, full_length=True)


def _reads_texts(row: Model) -> bool:
    """Whether texts are embedded too: not by a row that says images alone, whose checkpoint may have no tokenizer."""
    return not row.abilities or "embed_text" in row.abilities


def _patch(model: torch.nn.Module) -> tuple[int, int] | None:
    """(height, width) of the image tower's patches in pixels; None for ALIGN's convolutions."""
    size = getattr(model.config.vision_config, "patch_size", None)
    return None if size is None else framing.sides(size)


def _patches(model: torch.nn.Module, *, of: str) -> patches.Patches:
    """Patch tokens by family: CLIP's through the norm and the projection of its class token, SigLIP's through the norm
    (it pools by attention and projects no more), ALIGN's the map whose mean it takes."""
    kind = model.config.model_type
    if kind == "siglip2":
        return patches.none(f"{of}: its images have patches of a number and their own shape, on no fixed grid")

    def lay(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        states = model.vision_model(**inputs).last_hidden_state
        if kind == "align":
            return patches.channels_last(states, of=of)
        if kind != "siglip":
            states = model.visual_projection(model.vision_model.post_layernorm(states[:, 1:]))
        return patches.grid(states, pixels=inputs["pixel_values"], patch=_patch(model), of=of)

    return lay


def _towers(
    row: Model,
    hardware: Hardware,
    folder: Path,
    options: Mapping[str, Any],
    model: torch.nn.Module,
    *,
    see: Any,
    read: Any,
    lay: patches.Patches,
    pooling: str,
    full_length: bool = False,
    causal: bool = False,
) -> Towers:
    """The two towers behind their inputs; `read` None: no text tower."""
    ready, processing = pretrained.image_input(row, folder=folder)
    normalise = bool(options["normalise"])
    settings: dict[str, Any] = {"image": processing, "pooling": pooling, "normalised": normalise}
    text = None
    if read is not None:
        text, settings["text"] = text_tower(
            row, folder, options, run=read, config=model.config.text_config, full_length=full_length, causal=causal
        )
        settings["text"]["padding_side"] = "left" if text.left else "right"
    frame = framing.of_processor(processing, patch=_patch(model))
    image = ImageTower(ready=ready, run=see, patches=lay, frame=frame)
    return Towers(
        name=row.key,
        settings=settings,
        hardware=hardware,
        image=image,
        text=text,
        normalise=normalise,
        module=model,
    )


def _check_kind(row: Model, folder: Path, kinds: Sequence[str]) -> None:
    kind = architecture(folder)
    if kind not in kinds:
        raise BadInput(f"{row.key}: adapter {row.adapter!r} loads {' or '.join(kinds)}; {folder} holds {kind!r}")
