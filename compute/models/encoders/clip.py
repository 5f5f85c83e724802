"""CLIP (Radford et al. 2021): torch alone runs the bundled checkpoint, the transformers library all others.

The library takes 0.25 GB of memory, with torchvision and torch's compiler, which a server with only the bundled model
does not need. The code here reproduces the library's numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import BUCKETED, Hardware, ImageTower, Towers, chosen, text_tower
from compute.models.encoders import transformers_towers as library
from compute.models.files import pretrained
from compute.models.files.pretrained import SHOWN
from compute.models.files.weights import under
from compute.paths import ASSETS
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

FOLDER = ASSETS / "tiny"
START, END = "<|startoftext|>", "<|endoftext|>"
WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
NAMES = {"layer_norm": "norm", "mlp.fc": "linear"}  # of a layer's parts: names in the checkpoint and in torch


def load(row: Model, hardware: Hardware, folder: Path, *, module: bool = False) -> Towers:
    """Returns both towers: torch's for the bundled checkpoint, otherwise the library's.

    `module`: the towers need the library's model behind them. Images and texts of the bundled checkpoint are still
    prepared without the library.
    """
    options = chosen(row, {**pretrained.OPTIONS, **library.CLIP.options})
    texts = not row.abilities or "embed_text" in row.abilities
    bundled = folder == FOLDER and texts and not (options["random"] or options["lora"])
    if bundled and not module:
        return _bundled(row, hardware, options)
    towers = library.load(row, hardware, folder, family=library.CLIP)
    if bundled:
        towers.image.ready, towers.text.ready, _ = preparation(options)
    return towers


def _bundled(row: Model, hardware: Hardware, options: Mapping[str, Any]) -> Towers:
    from safetensors.torch import load_file

    weights = {
        name: value.to(hardware.device, hardware.torch_dtype)
        for name, value in load_file(FOLDER / "model.safetensors").items()
    }
    see, say = _towers(weights)
    pixels, tokens, longest = preparation(options)
    reads, described = text_tower(
        tokens,
        run=say,
        tokenizer=_stated("tokenizer_config.json")["tokenizer_class"],
        longest=longest,
        prefix=options["text_prefix"],
        padding=BUCKETED,
    )
    processor, normalise = _stated("preprocessor_config.json"), options["normalise"]
    return Towers(
        name=row.key,
        settings={
            "image": {
                "processor": processor["image_processor_type"],
                **{name: processor[name] for name in SHOWN if name in processor},
            },
            "pooling": "the model's own, projected",
            "normalised": normalise,
            "text": described,
        },
        hardware=hardware,
        image=ImageTower(ready=pixels, run=see),
        text=reads,
        normalise=normalise,
    )


def _stated(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


# ---- inputs


def preparation(
    options: Mapping[str, Any],
) -> tuple[Callable[[Image.Image], dict[str, torch.Tensor]], Callable[[str], list[int]], int]:
    """Returns a function that prepares an RGB image as tensors (3, side, side) in float32, a function that tokenizes a
    text, and the maximum number of tokens. Both functions equal the library's and take half the time.
    """
    text, tokenizer = _stated("config.json")["text_config"], _stated("tokenizer_config.json")
    limits = options["max_tokens"], text["max_position_embeddings"], tokenizer["model_max_length"]
    longest = min(filter(None, limits))
    return _pixels(_stated("preprocessor_config.json")), _tokens(options["text_prefix"], longest), longest


def _pixels(processor: Mapping[str, Any]) -> Callable[[Image.Image], dict[str, torch.Tensor]]:
    """Returns a function that resizes an image to cover the model's square, crops its centre and normalises it: (3,
    side, side).
    """
    import torch

    side = processor["size"]["shortest_edge"]
    mean, std = (
        (torch.tensor(processor[name]) * (1.0 / processor["rescale_factor"])).view(3, 1, 1)
        for name in ("image_mean", "image_std")
    )

    def ready(image: Image.Image) -> dict[str, torch.Tensor]:
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)  # a view, resized faster than a copy
        short, long = sorted((image.width, image.height))
        longer = int(side * long / short)
        size = (longer, side) if image.width <= image.height else (side, longer)
        if size != (image.height, image.width):
            pixels = torch.nn.functional.interpolate(
                pixels[None], size=size, mode="bicubic", align_corners=False, antialias=True
            )[0]
        top, left = (size[0] - side) // 2, (size[1] - side) // 2
        cut = pixels[:, top : top + side, left : left + side]
        return {"pixel_values": ((cut.to(torch.float32) - mean) / std).contiguous()}

    return ready


def _tokens(prefix: str, longest: int) -> Callable[[str], list[int]]:
    """Returns a function for the byte-level BPE tokens of a prefix and a text between the start and the end token."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import BPE

    files = str(FOLDER / "vocab.json"), str(FOLDER / "merges.txt")
    made = Tokenizer(BPE.from_file(*files, end_of_word_suffix="</w>", unk_token=END))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.add_special_tokens([START, END])
    made.post_processor = processors.RobertaProcessing(
        (END, made.token_to_id(END)), (START, made.token_to_id(START)), trim_offsets=False, add_prefix_space=False
    )
    made.enable_truncation(longest)
    return lambda text: made.encode(prefix + text).ids


# ---- towers


def _towers(
    weights: Mapping[str, torch.Tensor],
) -> tuple[Callable[[Mapping[str, torch.Tensor]], torch.Tensor], Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]:
    """Returns a function that maps images (n, 3, side, side) to (n, d), the projected state of the class token, and one
    that maps tokens (n, length) to the projected state of the first end token, because nothing attends to the padding
    after it.
    """
    import torch
    from torch.nn import functional

    vision, text = under(weights, "vision_model."), under(weights, "text_model.")
    config = _stated("config.json")
    seeing, reading = _layers(vision, config["vision_config"]), _layers(text, config["text_config"])

    def normed(states: torch.Tensor, own: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
        eps = config["vision_config"]["layer_norm_eps"]
        return functional.layer_norm(states, states.shape[-1:], own[f"{name}.weight"], own[f"{name}.bias"], eps)

    def see(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        kernel = vision["embeddings.patch_embedding.weight"]
        pixels = inputs["pixel_values"].to(kernel.dtype)
        tokens = functional.conv2d(pixels, kernel, stride=kernel.shape[-1]).flatten(2).transpose(1, 2)
        first = vision["embeddings.class_embedding"].expand(len(tokens), 1, -1)
        states = torch.cat([first, tokens], dim=1) + vision["embeddings.position_embedding.weight"]
        states = seeing(normed(states, vision, "pre_layrnorm"))[:, 0]
        return normed(states, vision, "post_layernorm") @ weights["visual_projection.weight"].T

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        states = text["embeddings.token_embedding.weight"][ids] + text["embeddings.position_embedding.weight"][:length]
        later = torch.ones(length, length, dtype=torch.bool, device=ids.device).triu(1)
        states = normed(reading(states, mask=later, is_causal=True), text, "final_layer_norm")
        at = (ids == config["text_config"]["eos_token_id"]).int().argmax(dim=-1)
        return states[torch.arange(len(ids), device=ids.device), at] @ weights["text_projection.weight"].T

    return see, read


def _layers(own: Mapping[str, torch.Tensor], config: Mapping[str, Any]) -> torch.nn.Module:
    """Returns a tower's transformer layers, with a norm before attention and before each MLP."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(
        config["hidden_size"],
        config["num_attention_heads"],
        config["intermediate_size"],
        activation=getattr(torch.nn.functional, config["hidden_act"]),
        layer_norm_eps=config["layer_norm_eps"],
        batch_first=True,
        norm_first=True,
    )
    made = torch.nn.TransformerEncoder(layer, config["num_hidden_layers"], enable_nested_tensor=False)
    state = {}
    for name, value in under(own, "encoder.layers.").items():
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        state[f"layers.{name}"] = value
    for name in [name for name in state if "q_proj" in name]:
        parts = [state.pop(name.replace("q_proj", part)) for part in ("q_proj", "k_proj", "v_proj")]
        state[name.replace("q_proj.", "in_proj_")] = torch.cat(parts)
    made.load_state_dict(state, assign=True)
    return made.eval().requires_grad_(False)
