"""CLIP (Radford et al. 2021) by torch alone, for the bundled checkpoint.

The transformers library takes 0.25 GB of memory, with torchvision and torch's compiler, and a server that has only the
bundled model needs nothing else of it. What is read here gives the library's numbers: the same operations of torch in
the same order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from compute.models.adapter import Hardware
from compute.models.encoders.towers import BUCKETED, ImageTower, Towers, text_tower
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


class ClipCheckpoint(NamedTuple):
    """What a checkpoint's files state, and the row's options: `prefix` precedes each text, cut to `longest` tokens."""

    folder: Path
    text: dict[str, Any]
    vision: dict[str, Any]
    tokenizer: dict[str, Any]
    processor: dict[str, Any]
    prefix: str
    longest: int


def read(folder: Path, options: Mapping[str, Any]) -> ClipCheckpoint:
    """The folder's checkpoint."""
    config, tokenizer, processor = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("config.json", "tokenizer_config.json", "preprocessor_config.json")
    )
    text, vision = config["text_config"], config["vision_config"]
    limits = options["max_tokens"], text["max_position_embeddings"], tokenizer["model_max_length"]
    longest = min(limit for limit in limits if limit)
    return ClipCheckpoint(folder, text, vision, tokenizer, processor, options["text_prefix"], longest)


def load(row: Model, hardware: Hardware, checkpoint: ClipCheckpoint, *, normalise: bool) -> Towers:
    """Both towers; `normalise` gives vectors length 1."""
    from safetensors.torch import load_file

    weights = {
        name: value.to(hardware.device, hardware.torch_dtype)
        for name, value in load_file(checkpoint.folder / "model.safetensors").items()
    }
    vision, text = _ClipVision(checkpoint.vision, weights), _ClipText(checkpoint.text, weights)
    pixels, tokens = preparation(checkpoint)
    reads, described = text_tower(
        tokens,
        run=text.vectors,
        tokenizer=checkpoint.tokenizer["tokenizer_class"],
        longest=checkpoint.longest,
        prefix=checkpoint.prefix,
        padding=BUCKETED,
    )
    processing = {
        "processor": checkpoint.processor["image_processor_type"],
        **{name: checkpoint.processor[name] for name in SHOWN if name in checkpoint.processor},
    }
    return Towers(
        name=row.key,
        settings={
            "image": processing,
            "pooling": "the model's own, projected",
            "normalised": normalise,
            "text": described,
        },
        hardware=hardware,
        image=ImageTower(ready=pixels, run=vision.vectors),
        text=reads,
        normalise=normalise,
    )


# ---- inputs


def preparation(
    checkpoint: ClipCheckpoint,
) -> tuple[Callable[[Image.Image], dict[str, torch.Tensor]], Callable[[str], list[int]]]:
    """What makes an RGB image's tensors, (3, side, side) in float32, and a text's token ids: as the library makes them,
    in half the time."""
    return _pixels(checkpoint.processor), _tokens(checkpoint)


def _pixels(processor: Mapping[str, Any]) -> Callable[[Image.Image], dict[str, torch.Tensor]]:
    """Resizes an image so that it covers the model's square, cuts out the middle and normalises it: (3, side, side)."""
    import torch

    side = processor["size"]["shortest_edge"]
    mean, std = (
        (torch.tensor(processor[name]) * (1.0 / processor["rescale_factor"])).view(3, 1, 1)
        for name in ("image_mean", "image_std")
    )

    def ready(image: Image.Image) -> dict[str, torch.Tensor]:
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)  # which is resized faster as it lies than copied
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


def _tokens(checkpoint: ClipCheckpoint) -> Callable[[str], list[int]]:
    """The byte-level BPE tokens of a text between the start and the end token."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import BPE

    folder = checkpoint.folder
    made = Tokenizer(
        BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"), end_of_word_suffix="</w>", unk_token=END)
    )
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
    made.enable_truncation(checkpoint.longest)
    return lambda text: made.encode(checkpoint.prefix + text).ids


# ---- towers


class _Transformer:
    """Layers of attention and a perceptron, each behind its norm; `causal`: a token sees none after it."""

    def __init__(self, name: str, config: Mapping[str, Any], weights: Mapping[str, torch.Tensor], *, causal: bool):
        self.heads, self.eps, self.causal = config["num_attention_heads"], config["layer_norm_eps"], causal
        self.activation = config["hidden_act"]
        self.layers = [under(weights, f"{name}.encoder.layers.{n}.") for n in range(config["num_hidden_layers"])]

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """(n, tokens, d) of (n, tokens, d)."""
        for layer in self.layers:
            states = states + self._attend(_normed(states, layer, "layer_norm1", self.eps), layer)
            states = states + self._perceive(_normed(states, layer, "layer_norm2", self.eps), layer)
        return states

    def _attend(self, states: torch.Tensor, layer: Mapping[str, torch.Tensor]) -> torch.Tensor:
        from torch.nn.functional import scaled_dot_product_attention

        n, length, width = states.shape
        query, key, value = (
            _linear(states, layer, f"self_attn.{name}").view(n, length, self.heads, -1).transpose(1, 2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        mixed = scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return _linear(mixed.transpose(1, 2).reshape(n, length, width), layer, "self_attn.out_proj")

    def _perceive(self, states: torch.Tensor, layer: Mapping[str, torch.Tensor]) -> torch.Tensor:
        from torch.nn import functional

        return _linear(getattr(functional, self.activation)(_linear(states, layer, "mlp.fc1")), layer, "mlp.fc2")


class _ClipVision:
    """The image tower: patches and a class token, whose last state is projected."""

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, torch.Tensor]):
        self.weights, self.eps = weights, config["layer_norm_eps"]
        self.own = under(weights, "vision_model.")
        self.layers = _Transformer("vision_model", config, weights, causal=False)

    def vectors(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(n, d) of images (n, 3, side, side)."""
        states = _normed(self._states(inputs)[:, 0], self.own, "post_layernorm", self.eps)
        return states @ self.weights["visual_projection.weight"].T

    def _states(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        import torch

        kernel = self.own["embeddings.patch_embedding.weight"]
        pixels = inputs["pixel_values"].to(kernel.dtype)
        tokens = torch.nn.functional.conv2d(pixels, kernel, stride=kernel.shape[-1]).flatten(2).transpose(1, 2)
        first = self.own["embeddings.class_embedding"].expand(len(tokens), 1, -1)
        states = torch.cat([first, tokens], dim=1) + self.own["embeddings.position_embedding.weight"]
        return self.layers(_normed(states, self.own, "pre_layrnorm", self.eps))


class _ClipText:
    """The text tower: the state of the first end token, projected."""

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, torch.Tensor]):
        self.weights, self.eps, self.end = weights, config["layer_norm_eps"], config["eos_token_id"]
        self.own = under(weights, "text_model.")
        self.layers = _Transformer("text_model", config, weights, causal=True)

    def vectors(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(n, d) of tokens (n, length); the mask is not needed, since nothing looks at the padding after the end."""
        import torch

        positions = self.own["embeddings.position_embedding.weight"][: ids.shape[1]]
        states = self.layers(self.own["embeddings.token_embedding.weight"][ids] + positions)
        states = _normed(states, self.own, "final_layer_norm", self.eps)
        ends = (ids == self.end).int().argmax(dim=-1)
        pooled = states[torch.arange(len(ids), device=ids.device), ends]
        return pooled @ self.weights["text_projection.weight"].T


def _linear(states: torch.Tensor, weights: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    """The linear layer `name` of `weights`."""
    from torch.nn import functional

    return functional.linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _normed(states: torch.Tensor, weights: Mapping[str, torch.Tensor], name: str, eps: float) -> torch.Tensor:
    """The layer norm `name` of `weights`."""
    from torch.nn import functional

    return functional.layer_norm(states, states.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], eps)
