"""EfficientNet-Lite0 (Liu 2020, after Tan and Le 2019), trained on ImageNet-1k; its weights are an installed package.

The package's state dict has the names of another library, and the order and shapes of timm's `efficientnet_lite0`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compute.models.adapter import Hardware, chosen
from compute.models.encoders import timm_vision
from compute.models.encoders.towers import Towers
from compute.models.files.weights import fill, tensors
from compute.types import Model

if TYPE_CHECKING:
    import torch

ARCHITECTURE = "efficientnet_lite0"
FILE = "models/efficientnet-lite0-57934424.pth"
PREPROCESSING = {
    "input_size": (3, 224, 224),
    "crop_pct": 224 / 256,
    "interpolation": "bicubic",
    "mean": (0.498, 0.498, 0.498),
    "std": (0.502, 0.502, 0.502),
}


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """The vector (1280,) is the last feature map's mean, before the classifier."""
    chosen(row, {})
    model = classifier(folder)
    model.reset_classifier(0)
    return timm_vision.towers(row, hardware, model, shown=PREPROCESSING, pooling="avg")


def classifier(folder: Path) -> torch.nn.Module:
    """The network with its 1,000 classes, from the package's folder."""
    import timm

    model = timm.create_model(ARCHITECTURE, pretrained=False)
    fill(model, dict(zip(model.state_dict(), tensors(folder / FILE).values(), strict=True)), of=ARCHITECTURE)
    return model
