"""Models of what people prefer: HPSv2 and PickScore as encoders, ImageReward and the aesthetic predictor as scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.open_clip_text import text_tower
from compute.models.encoders.open_clip_tokens import tokens_of
from compute.models.encoders.towers import ImageTower, TextTower, Towers, buckets
from compute.models.files.downloads import Published
from compute.models.files.weights import (
    PROCESSOR,
    TOKENIZER,
    RequiredFiles,
    checkpoint_of,
    existing,
    fill,
    tensors,
    under,
)
from compute.models.metrics import blip_reward
from compute.types import CannotDo, Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
HPSV2 = "ViT-H-14"  # where a folder has no open_clip_config.json


def _batch(prepared: Sequence[torch.Tensor], hardware: Hardware) -> torch.Tensor:
    import torch

    batch = torch.stack(list(prepared))
    return batch.to(hardware.device, hardware.torch_dtype if batch.is_floating_point() else None)


def _clip(folder: Path, hardware: Hardware) -> torch.nn.Module:
    from transformers import AutoModel

    return hardware.placed(AutoModel.from_pretrained(folder, trust_remote_code=False, **hardware.read_as))


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
    words = open_clip.get_tokenizer(f"local-dir:{folder}" if own.is_file() else HPSV2)
    side = config["vision_cfg"]["image_size"]
    return Towers(
        name=row.key,
        hardware=hardware,
        settings={"model": row.key, **options, "resize": "longer side, bicubic, black margins", "image_size": side},
        image=ImageTower(
            ready=lambda image: {"pixel_values": whole_on_black(image, side=side)},
            run=lambda inputs: model.encode_image(inputs["pixel_values"]),
        ),
        text=text_tower(model, tokens=tokens_of(words), limit=words.context_length),
    )


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


def load_pickscore(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """PickScore (Kirstain et al. 2023): a transformers CLIP model.

    Option `processor` names the checkpoint whose processor it uses.
    """
    from transformers import AutoProcessor

    options = chosen(row, {"processor": None})
    processor = AutoProcessor.from_pretrained(
        _beside(row, options, "processor", PROCESSOR, TOKENIZER), trust_remote_code=False
    )
    model = _clip(folder, hardware)
    limit = model.config.text_config.max_position_embeddings

    def tokens(text: str) -> list[int]:
        return processor.tokenizer(text, truncation=True, max_length=limit)["input_ids"]

    tokens("ready")  # sets the tokenizer's truncation now, so that threads need not
    return Towers(
        name=row.key,
        hardware=hardware,
        settings={
            "model": row.key,
            **options,
            "text_tokens": limit,
            "image_processor": processor.image_processor.to_dict(),
        },
        image=ImageTower(
            ready=lambda image: {"pixel_values": processor.image_processor(image, return_tensors="pt").pixel_values[0]},
            run=lambda inputs: model.get_image_features(**inputs).pooler_output,
        ),
        # The text tower reads its vector at the end token and looks only back, so padding needs no mask.
        text=TextTower(
            ready=tokens,
            run=lambda ids, mask: model.get_text_features(input_ids=ids).pooler_output,
            pad=0,
            buckets=buckets(limit),
        ),
    )


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
        """(3, side, side): the image cropped and normalised. Raises CannotDo for texts and pairs."""
        if modality != "image":
            raise CannotDo(
                f"ImageReward has no vector of a {modality} by itself: it reads a text together with an image"
            )
        return self.cropped(item)

    def embed(self, modality: str, prepared: Sequence[torch.Tensor]) -> np.ndarray:
        """(n, width) float32: the first token of the vision tower, not normalised."""
        import torch

        with torch.inference_mode():
            return self._states(prepared)[:, 0].float().cpu().numpy()

    def compare(self, first: Sequence[str] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64: the reward of each image `second` for its text `first`. One batch.

        Raises CannotDo without texts, and for images in their place.
        """
        import torch

        if first is None:
            raise CannotDo("ImageReward scores an image for a text; it cannot score an image alone")
        if any(not isinstance(text, str) for text in first) or any(isinstance(image, str) for image in second):
            raise CannotDo("ImageReward scores an image for a text: texts come first, images second")
        tokens = self.tokenizer(
            list(first), padding="max_length", truncation=True, max_length=blip_reward.TEXT_TOKENS, return_tensors="pt"
        ).to(self.hardware.device)
        with torch.inference_mode():
            states = self.language(
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
                encoder_hidden_states=self._states([self.cropped(image) for image in second]),
                is_decoder=False,
            ).last_hidden_state
            reward = self.head(states[:, 0].float())[:, 0].double().cpu().numpy()
        return (reward - blip_reward.MEAN) / blip_reward.SCALE

    def _states(self, prepared: Sequence[torch.Tensor]) -> torch.Tensor:
        """(n, tokens, width): the vision tower's last states, through its norm."""
        return self.vision(pixel_values=_batch(prepared, self.hardware)).last_hidden_state


def load_imagereward(row: Model, hardware: Hardware, folder: Path) -> ImageReward:
    """ImageReward (Xu et al. 2023): how well an image answers a text, as people would score it.

    Option `tokenizer` names the checkpoint of its BERT tokenizer.
    """
    from transformers import AutoTokenizer

    options = chosen(row, {"tokenizer": None})
    state = tensors(folder / "ImageReward.pt")
    vision, language = blip_reward.read_towers(state, existing(folder / "med_config.json"))
    head = blip_reward.linear_chain(under(state, "mlp."), of="ImageReward.pt")
    side = vision.config.image_size
    return ImageReward(
        vision=hardware.placed(vision),
        language=hardware.placed(language),
        head=head.to(hardware.device).eval(),
        tokenizer=AutoTokenizer.from_pretrained(_beside(row, options, "tokenizer", TOKENIZER), trust_remote_code=False),
        cropped=_centre(side),
        hardware=hardware,
        settings={
            "model": row.key,
            **options,
            "resize": "shorter side, bicubic, centre crop",
            "image_size": side,
            "text_tokens": blip_reward.TEXT_TOKENS,
            "mean": blip_reward.MEAN,
            "scale": blip_reward.SCALE,
            "images alone": "first token of the vision tower",
        },
    )


def _beside(row: Model, options: Mapping[str, Any], option: str, *needs: tuple[str, ...]) -> Path:
    """The folder of the checkpoint that an option names."""
    return checkpoint_of(row, options[option], option=option, required=RequiredFiles(weights=(), needs=needs))


def _centre(side: int) -> Callable[[Image.Image], torch.Tensor]:
    from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor

    steps = Compose(
        [Resize(side, InterpolationMode.BICUBIC), CenterCrop(side), ToTensor(), Normalize(CLIP_MEAN, CLIP_STD)]
    )
    return lambda image: steps(image.convert("RGB"))


def aesthetic_files(row: Model) -> tuple[Published, ...]:
    """What the row needs from addresses, besides its CLIP model."""
    return (Published(**row.options["head"]),)


@dataclass(kw_only=True)
class AestheticScore:
    """A comparer that scores single images."""

    settings: dict[str, Any]
    compare: Callable[[Sequence[Any] | None, Sequence[Image.Image]], np.ndarray]


def load_aesthetic(row: Model, hardware: Hardware, folder: Path) -> AestheticScore:
    """LAION's aesthetic predictor: how pleasing an image is, from its CLIP embedding of length 1.

    The row's weights are the CLIP model, option `head` the layers on top of it: {"url", "sha256"} of a published file.
    """
    import torch
    from transformers import AutoImageProcessor

    options = chosen(row, {"head": None})
    file = aesthetic_files(row)[0].fetch()
    head = blip_reward.linear_chain(tensors(file), of=file.name)
    head = head.to(hardware.device).eval()
    clip = _clip(folder, hardware)
    processor = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False)

    def compare(first: Sequence[Any] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64, about 1 to 10; higher is better. One batch. Raises CannotDo with a `first`."""
        if first is not None:
            raise CannotDo("The aesthetic predictor scores single images; it does not compare two")
        pixels = processor([image.convert("RGB") for image in second], return_tensors="pt").pixel_values
        with torch.inference_mode():
            vectors = clip.get_image_features(pixel_values=_batch(list(pixels), hardware)).pooler_output
            return head(torch.nn.functional.normalize(vectors.float(), dim=-1))[:, 0].double().cpu().numpy()

    return AestheticScore(
        compare=compare, settings={"model": row.key, **options, "image_processor": processor.to_dict()}
    )
