"""Models of what people prefer: HPSv2 as an encoder, the aesthetic predictor as a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.arrays import unit
from compute.models.adapter import Hardware, chosen
from compute.models.encoders import open_clip, transformers_towers
from compute.models.encoders.towers import Towers
from compute.models.files.downloads import Published
from compute.models.files.weights import fill, tensors
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


def load_hpsv2(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """HPSv2 (Wu et al. 2023): an OpenCLIP model whose image is shown whole, its longer side fitted, on black.

    Options: `file` of the version, and its `architecture`, a name of the library.
    """
    options = {"file": "HPS_v2_compressed.pt", "architecture": "ViT-H-14", **row.options}
    towers = open_clip.load(replace(row, options=options), hardware, folder)
    side = towers.module.visual.image_size[0]
    towers.image.ready = lambda image: {"pixel_values": whole_on_black(image, side=side)}
    towers.settings |= {
        "file": options["file"],
        "image": {"resize": "longer side, bicubic, black margins", "size": side},
    }
    return towers


def whole_on_black(image: Image.Image, *, side: int) -> torch.Tensor:
    """(3, side, side): the whole image in the middle of a black square, normalised as CLIP's."""
    from torchvision.transforms import InterpolationMode, functional

    scale = side / max(image.size)
    width, height = (max(1, round(length * scale)) for length in image.size)
    pixels = functional.to_tensor(image)
    if (width, height) != image.size:
        pixels = functional.resize(pixels, [height, width], InterpolationMode.BICUBIC, antialias=True)
    left, top = (side - width) // 2, (side - height) // 2
    pixels = functional.pad(pixels, [left, top, side - width - left, side - height - top])
    return functional.normalize(pixels, CLIP_MEAN, CLIP_STD)


def aesthetic_files(row: Model) -> tuple[Published, ...]:
    """What the row needs from addresses, besides its CLIP model."""
    return (Published(**row.options["head"]),)


def load_aesthetic(row: Model, hardware: Hardware, folder: Path) -> SimpleNamespace:
    """LAION's aesthetic predictor: how pleasing an image is, from its CLIP embedding of length 1.

    The row's weights are the CLIP model, option `head` the linear layer on top: {"url", "sha256"} of a published file.
    """
    import torch

    chosen(row, {"head": None})
    plain = replace(row, options={}, abilities=("embed_image",))
    clip = transformers_towers.load(plain, hardware, folder, family=transformers_towers.CLIP)
    head = torch.nn.Linear(clip.module.config.projection_dim, 1)
    fill(head, tensors(aesthetic_files(row)[0].fetch()), of="the aesthetic predictor's head")

    def compare(first: Sequence[Any] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64, about 1 to 10; higher is better. One batch."""
        vectors = unit(clip.embed("image", [clip.prepare("image", image) for image in second]))
        with torch.inference_mode():
            return head(torch.from_numpy(vectors).float())[:, 0].double().numpy()

    return SimpleNamespace(compare=compare, settings={"model": row.key, **row.options, **clip.settings})
