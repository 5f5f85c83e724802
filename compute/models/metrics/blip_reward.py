"""ImageReward's architecture: BLIP's image and text towers with a reward read off the first text token.

Xu et al. 2023, section 3.1. The checkpoint holds one state dict under the names of BLIP's first public code, whose
vision tower is named like timm's; here both towers are built of transformers' BLIP modules and the names are mapped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from compute.models.files.weights import fill, under

if TYPE_CHECKING:
    import torch

MEAN, SCALE = 0.16717362830052426, 1.0333394966054072  # of the rewards, as published with the checkpoint
TEXT_TOKENS = 35
HEAD_WIDTH = 64  # of an attention head, in every BLIP
VISION_NAMES = (
    (r"^cls_token$", "embeddings.class_embedding"),
    (r"^pos_embed$", "embeddings.position_embedding"),
    (r"^patch_embed\.proj\.", "embeddings.patch_embedding."),
    (r"^blocks\.(\d+)\.norm([12])\.", r"encoder.layers.\1.layer_norm\2."),
    (r"^blocks\.(\d+)\.attn\.qkv\.", r"encoder.layers.\1.self_attn.qkv."),
    (r"^blocks\.(\d+)\.attn\.proj\.", r"encoder.layers.\1.self_attn.projection."),
    (r"^blocks\.(\d+)\.mlp\.", r"encoder.layers.\1.mlp."),
    (r"^norm\.", "post_layernorm."),
)
NOT_USED = ("embeddings.position_ids",)  # a constant that older code stored


def read_towers(state: Mapping[str, torch.Tensor], config: Path) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The vision and text towers of a checkpoint; `config` is its med_config.json, the text tower's settings.

    The vision tower's size is read off its weights. Raises BadInput where weights are missing.
    """
    from transformers import BlipTextConfig, BlipTextModel, BlipVisionConfig, BlipVisionModel

    image = {_vision_name(name): value for name, value in under(state, "blip.visual_encoder.").items()}
    text = under(state, "blip.text_encoder.")
    patches = image["embeddings.patch_embedding.weight"]
    width, _, patch, _ = patches.shape
    positions = image["embeddings.position_embedding"].shape[1] - 1
    vision = BlipVisionModel(
        BlipVisionConfig(
            hidden_size=width,
            intermediate_size=image["encoder.layers.0.mlp.fc1.weight"].shape[0],
            num_hidden_layers=len({name.split(".")[2] for name in image if name.startswith("encoder.")}),
            num_attention_heads=max(1, width // HEAD_WIDTH),
            image_size=round(positions**0.5) * patch,
            patch_size=patch,
            layer_norm_eps=1e-6,
        )
    )
    known = json.loads(config.read_text(encoding="utf-8"))
    same = (
        "vocab_size",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "max_position_embeddings",
        "hidden_act",
        "layer_norm_eps",
        "pad_token_id",
    )
    # `is_decoder` gives every layer its attention to the image; the forward pass itself is bidirectional.
    language = BlipTextModel(
        BlipTextConfig(
            **{name: known[name] for name in same if name in known}, encoder_hidden_size=width, is_decoder=True
        ),
        add_pooling_layer=False,
    )
    text = {name: value for name, value in text.items() if name not in NOT_USED}
    for tower, weights, name in ((vision, image, "vision"), (language, text, "text")):
        fill(tower, weights, of=f"the {name} tower")
    return vision, language


def _vision_name(name: str) -> str:
    for pattern, replacement in VISION_NAMES:
        name, count = re.subn(pattern, replacement, name)
        if count:
            break
    return name


def linear_chain(state: Mapping[str, torch.Tensor], *, of: str) -> torch.nn.Module:
    """The linear layers of a head in the order of their numbers. Raises BadInput where they do not fit.

    Dropout, which heads are trained with, does nothing here.
    """
    import torch

    names = [name.removesuffix("weight") for name in state if name.endswith("weight")]
    names.sort(key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
    layers = []
    for name in names:
        weight = state[f"{name}weight"]
        layers.append(torch.nn.Linear(weight.shape[1], weight.shape[0]))
        fill(layers[-1], under(state, name) if name else state, of=f"layer {name or 'one'} of {of}")
    return torch.nn.Sequential(*layers)
