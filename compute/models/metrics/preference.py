"""Models of what people prefer: HPSv2 as an encoder, ImageReward and the aesthetic predictor as scores.

ImageReward (Xu et al. 2023, section 3.1) is BLIP's image and text towers with a reward read off the first text token.
The checkpoint holds one state dict under the names of BLIP's first public code, whose vision tower is named like
timm's; here both towers are built of transformers' BLIP modules and the names are mapped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.open_clip import towers_of
from compute.models.encoders.towers import ImageTower, Towers
from compute.models.files.downloads import Published
from compute.models.files.weights import (
    TOKENIZER,
    RequiredFiles,
    checkpoint_of,
    existing,
    fill,
    tensors,
    under,
)
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

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

    image = under(state, "blip.visual_encoder.")
    for pattern, replacement in VISION_NAMES:
        image = {re.sub(pattern, replacement, name): value for name, value in image.items()}
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


CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
HPSV2 = "ViT-H-14"  # where a folder has no open_clip_config.json


def _batch(prepared: Sequence[torch.Tensor], hardware: Hardware) -> torch.Tensor:
    import torch

    batch = torch.stack(list(prepared))
    return batch.to(hardware.device, hardware.torch_dtype if batch.is_floating_point() else None)


def load_hpsv2(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """HPSv2 (Wu et al. 2023): an OpenCLIP model whose image is shown whole, its longer side fitted, on black.

    Option: `file` of the version.
    """
    import open_clip

    options = chosen(row, {"file": "HPS_v2_compressed.pt"})
    own = folder / "open_clip_config.json"
    config = (
        json.loads(own.read_text(encoding="utf-8"))["model_cfg"] if own.is_file() else open_clip.get_model_config(HPSV2)
    )
    model = open_clip.CLIP(**config)
    state = tensors(folder / options["file"])
    fill(model, state.get("state_dict", state), of=HPSV2)
    hardware.placed(model)
    towers = towers_of(
        model,
        name=row.key,
        hardware=hardware,
        tokenizer=open_clip.get_tokenizer(f"local-dir:{folder}" if own.is_file() else HPSV2),
        configuration="own" if own.is_file() else HPSV2,
    )
    side = config["vision_cfg"]["image_size"]
    towers.image = ImageTower(
        ready=lambda image: {"pixel_values": whole_on_black(image, side=side)}, run=towers.image.run
    )
    towers.settings |= options | {"image": {"resize": "longer side, bicubic, black margins", "size": side}}
    return towers


def whole_on_black(image: Image.Image, *, side: int) -> torch.Tensor:
    """(3, side, side): the whole image in the middle of a black square, normalised as CLIP's."""
    from torchvision.transforms import InterpolationMode, functional

    scale = side / max(image.size)
    width, height = (max(1, round(length * scale)) for length in image.size)
    pixels = functional.to_tensor(image.convert("RGB"))
    if (width, height) != image.size:
        pixels = functional.resize(pixels, [height, width], InterpolationMode.BICUBIC, antialias=True)
    left, top = (side - width) // 2, (side - height) // 2
    pixels = functional.pad(pixels, [left, top, side - width - left, side - height - top])
    return functional.normalize(pixels, CLIP_MEAN, CLIP_STD)


@dataclass(kw_only=True)
class ImageReward:
    """A comparer of texts with images, and an encoder of images alone.

    The reward is defined for a text with an image only. UniSim-Bench compares two images by the first token of the
    vision tower, and so its tables have scores of this model for them.
    """

    settings: dict[str, Any]
    vision: torch.nn.Module
    language: torch.nn.Module
    head: torch.nn.Module
    tokenizer: Any
    cropped: Callable[[Image.Image], torch.Tensor]
    hardware: Hardware

    def prepare(self, modality: str, item: Image.Image) -> torch.Tensor:
        """(3, side, side): the image cropped and normalised."""
        return self.cropped(item)

    def embed(self, modality: str, prepared: Sequence[torch.Tensor]) -> np.ndarray:
        """(n, width) float32: the first token of the vision tower, not normalised."""
        import torch

        with torch.inference_mode():
            return self._states(prepared)[:, 0].float().cpu().numpy()

    def compare(self, first: Sequence[str] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64: the reward of each image `second` for its text `first`. One batch."""
        import torch

        tokens = self.tokenizer(
            list(first), padding="max_length", truncation=True, max_length=TEXT_TOKENS, return_tensors="pt"
        ).to(self.hardware.device)
        with torch.inference_mode():
            states = self.language(
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
                encoder_hidden_states=self._states([self.cropped(image) for image in second]),
                is_decoder=False,
            ).last_hidden_state
            reward = self.head(states[:, 0].float())[:, 0].double().cpu().numpy()
        return (reward - MEAN) / SCALE

    def _states(self, prepared: Sequence[torch.Tensor]) -> torch.Tensor:
        """(n, tokens, width): the vision tower's last states, through its norm."""
        return self.vision(pixel_values=_batch(prepared, self.hardware)).last_hidden_state


def load_imagereward(row: Model, hardware: Hardware, folder: Path) -> ImageReward:
    """ImageReward (Xu et al. 2023): how well an image answers a text, as people would score it.

    Option `tokenizer` names the checkpoint of its BERT tokenizer.
    """
    from transformers import AutoTokenizer

    options = chosen(row, {"tokenizer": None})
    needs = RequiredFiles(weights=(), needs=(TOKENIZER,))
    words = checkpoint_of(row, options["tokenizer"], option="tokenizer", required=needs)
    state = tensors(folder / "ImageReward.pt")
    vision, language = read_towers(state, existing(folder / "med_config.json"))
    head = linear_chain(under(state, "mlp."), of="ImageReward.pt")
    side = vision.config.image_size
    return ImageReward(
        vision=hardware.placed(vision),
        language=hardware.placed(language),
        head=head.to(hardware.device).eval(),
        tokenizer=AutoTokenizer.from_pretrained(words, trust_remote_code=False),
        cropped=_centre(side),
        hardware=hardware,
        settings={
            "model": row.key,
            **options,
            "resize": "shorter side, bicubic, centre crop",
            "image_size": side,
            "text_tokens": TEXT_TOKENS,
            "mean": MEAN,
            "scale": SCALE,
            "images alone": "first token of the vision tower",
        },
    )


def _centre(side: int) -> Callable[[Image.Image], torch.Tensor]:
    from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor

    steps = Compose(
        [Resize(side, InterpolationMode.BICUBIC), CenterCrop(side), ToTensor(), Normalize(CLIP_MEAN, CLIP_STD)]
    )
    return lambda image: steps(image.convert("RGB"))


def aesthetic_files(row: Model) -> tuple[Published, ...]:
    """What the row needs from addresses, besides its CLIP model."""
    return (Published(**row.options["head"]),)


def load_aesthetic(row: Model, hardware: Hardware, folder: Path) -> SimpleNamespace:
    """LAION's aesthetic predictor: how pleasing an image is, from its CLIP embedding of length 1.

    The row's weights are the CLIP model, option `head` the layers on top of it: {"url", "sha256"} of a published file.
    """
    import torch
    from transformers import AutoImageProcessor, AutoModel

    options = chosen(row, {"head": None})
    file = aesthetic_files(row)[0].fetch()
    head = linear_chain(tensors(file), of=file.name)
    head = head.to(hardware.device).eval()
    clip = hardware.placed(AutoModel.from_pretrained(folder, trust_remote_code=False, **hardware.read_as))
    processor = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False)

    def compare(first: Sequence[Any] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64, about 1 to 10; higher is better. One batch."""
        pixels = processor([image.convert("RGB") for image in second], return_tensors="pt").pixel_values
        with torch.inference_mode():
            vectors = clip.get_image_features(pixel_values=_batch(list(pixels), hardware)).pooler_output
            return head(torch.nn.functional.normalize(vectors.float(), dim=-1))[:, 0].double().cpu().numpy()

    return SimpleNamespace(
        compare=compare, settings={"model": row.key, **options, "image_processor": processor.to_dict()}
    )
