"""Encoders of images, texts or both that the transformers library loads: a family defines class, methods, pooling,
padding.

Vectors are those that MIEB and UniSim-Bench compare: the towers' pooled and projected outputs, not normalised except
for BLIP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from compute.models.adapter import BUCKETED, FULL, MASKED, Hardware, ImageTower, Towers, chosen, text_tower
from compute.models.files import pretrained
from compute.models.files.weights import PROCESSOR, TOKENIZER, RequiredFiles, architecture, checkpoint_of
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch

POOLINGS = {"cls": "first token", "mean": "mean of all tokens", "pooler": "the model's own"}
WITHOUT_CLS = ("ijepa", "siglip_vision_model", "swin", "swinv2")  # their first token is an ordinary patch
# Image networks whose default vector is unambiguous, besides those without attention.
SETTLED = (
    *("deit", "dinov2", "dinov2_with_registers", "dinov3_vit", "ijepa", "siglip_vision_model"),
    *("vit", "vit_mae", "vit_msn"),
)
PREFIX: dict[str, Any] = {"text_prefix": "", "max_tokens": None}


class TowerFamily(NamedTuple):
    """How checkpoints of one family are turned into towers.

    `see` and `read` return the library's output for images, and for tokens with a mask (None if padding is attended
    to). `pooling` is a key of POOLINGS, empty if it depends on the network; an option may name one of `poolings`.
    """

    kinds: tuple[str, ...] = ()  # the library's `model_type`; empty: any
    library: str = "AutoModel"
    options: Mapping[str, Any] = PREFIX  # in addition to those of every checkpoint
    see: Callable[..., Any] | None = None
    read: Callable[..., Any] | None = None
    pooling: str = "pooler"
    pooled: str = "the model's own, projected"  # in words, if no option names the pooling
    poolings: tuple[str, ...] = tuple(POOLINGS)
    padding: str = MASKED
    lowered: tuple[str, ...] = ()  # tokenizers that preserve case, of models trained on lower case
    spare: tuple[str, ...] = ()  # weights that a checkpoint may lack


def load(row: Model, hardware: Hardware, folder: Path, *, family: TowerFamily) -> Towers:
    """Returns the family's towers. A row that embeds only images has no text tower and needs no tokenizer."""
    options = chosen(row, {**pretrained.OPTIONS, **family.options})
    if family.kinds and (kind := architecture(folder)) not in family.kinds:
        raise BadInput(f"{row.key}: adapter {row.adapter!r} loads {' or '.join(family.kinds)}; {folder} holds {kind!r}")
    if (named := options.get("pooling", "")) not in ("", *family.poolings):
        raise BadInput(f"{row.key}: no pooling {named!r}. There are: {', '.join(family.poolings)}")
    texts = family.read is not None and (not row.abilities or "embed_text" in row.abilities)
    ready = folder
    if "processor" in options:
        needs = RequiredFiles(weights=(), needs=(PROCESSOR, TOKENIZER))
        ready = checkpoint_of(row, options["processor"], option="processor", required=needs)
    model, missing = pretrained.model(
        row, family.library, folder=folder, hardware=hardware, options=options, spare=family.spare
    )
    config = model.config
    pooling = named or family.pooling or usual_pooling(config)
    if pooling == "pooler" and missing:
        raise BadInput(f"{row.key}: the checkpoint has no pooler; it would be random. Set option pooling")
    images = pretrained.loaded(row, "AutoImageProcessor", folder=ready) if family.see else None
    limits = options.get("max_tokens"), pretrained.positions(getattr(config, "text_config", config))
    return towers_of(
        model,
        family,
        name=row.key,
        hardware=hardware,
        pooling=pooling,
        described=POOLINGS[pooling] if "pooling" in options else family.pooled,
        normalise=bool(options.get("normalise")),
        pixels=images and pretrained.image_ready(images),
        tokenizer=pretrained.loaded(row, "AutoTokenizer", folder=ready) if texts else None,
        limit=min(filter(None, limits), default=None),
        prefix=options.get("text_prefix", ""),
        remedy="set option max_tokens",
    )


def towers_of(
    model: Any,
    family: TowerFamily,
    *,
    name: str,
    hardware: Hardware,
    pooling: str,
    described: str,
    normalise: bool = False,
    pixels: tuple[Callable[[Any], Any], Any] | None,
    tokenizer: Any,
    limit: int | None,
    prefix: str = "",
    remedy: str,
) -> Towers:
    """Returns the towers of a loaded model: `pixels` is a function that prepares an image, and its description;
    `tokenizer` is one of the library's.

    A text is truncated to the tokenizer's length, if it has one, and to `limit`. Raises BadInput with the remedy if
    neither gives a length.
    """
    settings = {"pooling": described, "normalised": normalise}
    towers = Towers(name=name, hardware=hardware, normalise=normalise, module=model, settings=settings)
    if pixels is not None:
        ready, towers.settings["image"] = pixels
        towers.image = ImageTower(ready=ready, run=lambda inputs: pooled(family.see(model, **inputs), pooling))
    if tokenizer is None:
        return towers
    longest = min(int(tokenizer.model_max_length), limit or 10**9)
    if longest >= 10**9:
        raise BadInput(f"{name}: neither tokenizer nor model says how long a text may be; {remedy}")

    lowered = type(tokenizer).__name__ in family.lowered

    def tokens(text: str) -> list[int]:
        shown = (prefix + text).lower() if lowered else prefix + text
        return tokenizer(shown, truncation=True, max_length=longest)["input_ids"]

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        seen = mask if family.padding == MASKED else None
        return pooled(family.read(model, input_ids=ids, attention_mask=seen), pooling, seen)

    tokens("")  # sets the tokenizer's truncation, which is not safe to change in threads
    towers.text, towers.settings["text"] = text_tower(
        tokens,
        run=read,
        tokenizer=type(tokenizer).__name__,
        longest=longest,
        prefix=prefix,
        padding=family.padding,
        pad=tokenizer.pad_token_id or 0,
        left=tokenizer.padding_side == "left",
    )
    towers.settings["text"] |= {"lowered": True} if lowered else {}
    return towers


def pooled(output: Any, pooling: str, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Pools a network's output into (n, d) by one of POOLINGS; for tokens, only those in the mask (n, length) count."""
    import torch

    if pooling == "pooler":
        return output if hasattr(output, "detach") else output.pooler_output.flatten(1)
    states = output.last_hidden_state
    if pooling == "cls":
        return states[:, 0] if mask is None else states[torch.arange(len(mask)), mask.argmax(dim=1)]
    if mask is None:
        return states.float().mean(dim=1)
    weight = mask.unsqueeze(-1).float()
    return (states.float() * weight).sum(dim=1) / weight.sum(dim=1)


def usual_pooling(config: Any) -> str:
    """Returns the default pooling of an image network: its first token, or the usual pooling if it has none."""
    if not hasattr(config, "num_attention_heads"):
        return "pooler"
    return "mean" if config.model_type in WITHOUT_CLS else "cls"


def _of_states(model: torch.nn.Module, **inputs: torch.Tensor) -> Any:
    """Returns the network's output. ViT-MAE gets every patch, in order and unmasked. Hiera also has a mask ratio, but
    does not mask by it.
    """
    import torch

    if model.config.model_type != "vit_mae":
        return model(**inputs)
    model.config.mask_ratio = 0.0
    count = model.embeddings.patch_embeddings.num_patches
    order = torch.arange(count, device=model.device, dtype=torch.float32)
    return model(**inputs, noise=order.expand(len(inputs["pixel_values"]), -1))


def _first(projection: torch.nn.Module, output: Any) -> SimpleNamespace:
    """Returns only the projected first token, as an output."""
    return SimpleNamespace(last_hidden_state=projection(output[0][:, :1]))


TwoTowers = partial(
    TowerFamily,
    options={**PREFIX, "normalise": False},
    see=lambda model, **inputs: model.get_image_features(**inputs),
    read=lambda model, **inputs: model.get_text_features(**inputs),
)
# CLIP (Radford et al. 2021) and MetaCLIP 2 are causal and read their vector at the end token: padding is never attended
# to.
CLIP = TwoTowers(kinds=("clip", "metaclip_2"), padding=BUCKETED)
# PickScore (Kirstain et al. 2023): a CLIP model; option `processor` names the checkpoint with its processor.
PICKSCORE = CLIP._replace(options={**CLIP.options, "processor": None})
# SigLIP (Zhai et al. 2023) and SigLIP 2: texts are padded to full length and padding is not masked, as in training.
# SigLIP 2 was trained on lower-case texts (its authors' demo), but its tokenizer, Gemma's, does not lower them.
SIGLIP = TwoTowers(kinds=("siglip", "siglip2"), padding=FULL, lowered=("GemmaTokenizer",))
ALIGN = TwoTowers(kinds=("align",))
# BLIP (Li et al. 2022): the first token of each tower, projected as for its contrastive loss, with unit length.
BLIP = TwoTowers(
    kinds=("blip",),
    library="BlipForImageTextRetrieval",
    options={**PREFIX, "normalise": True},
    see=lambda model, **inputs: _first(model.vision_proj, model.vision_model(**inputs)),
    read=lambda model, **inputs: _first(model.text_proj, model.text_encoder(**inputs)),
    pooling="cls",
    pooled="first token, projected",
    spare=("itm_head.",),
)
# Image encoders: MIEB uses DINOv2's first token; for others no source states it. Option `pooling`: by default cls, mean
# for networks without such a token (I-JEPA), and pooler for networks without attention, whose states are feature maps.
VISION = TowerFamily(options={"pooling": ""}, see=_of_states, pooling="", spare=("pooler.",))
# BERT, RoBERTa, XLM-R, ALBERT, ModernBERT. No source states how cFreD pooled texts (Table B.2), so it is the mean,
# which all of its families support.
BERT = TowerFamily(
    options={**PREFIX, "pooling": "mean"},
    read=lambda model, **inputs: model(**inputs),
    pooling="mean",
    spare=("pooler.",),
)
# Encoders of T5 v1.1 and FLAN-T5; texts are truncated to 512 tokens, as in training.
T5 = BERT._replace(library="T5EncoderModel", options={**BERT.options, "max_tokens": 512}, poolings=("mean",))
