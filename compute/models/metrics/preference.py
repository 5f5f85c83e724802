"""HPSv2, a model of human preference, as an encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from compute.models.adapter import Hardware, Towers
from compute.models.encoders import open_clip
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


def load_hpsv2(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Loads HPSv2 (Wu et al. 2023): an OpenCLIP model that sees the whole image, scaled by its longer side, on black.

    Options: the version's `file`, and its `architecture`, a name in OpenCLIP.
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
    """Returns (3, side, side): the whole image centred in a black square, normalised as for CLIP."""
    from torchvision.transforms import InterpolationMode, functional

    scale = side / max(image.size)
    width, height = (max(1, round(length * scale)) for length in image.size)
    pixels = functional.to_tensor(image)
    if (width, height) != image.size:
        pixels = functional.resize(pixels, [height, width], InterpolationMode.BICUBIC, antialias=True)
    left, top = (side - width) // 2, (side - height) // 2
    pixels = functional.pad(pixels, [left, top, side - width - left, side - height - top])
    return functional.normalize(pixels, CLIP_MEAN, CLIP_STD)
