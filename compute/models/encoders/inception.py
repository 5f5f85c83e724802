"""The features of FID (Heusel et al. 2017): the last pooling layer of Inception-v3, with the original's weights.

That network differs from torchvision's only in its pooling: averages at the border ignore the padding, and the last
block uses max pooling. Images are resized as in clean-fid (Parmar et al. 2022): 299 px, antialiased bicubic, not
rounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compute.models.adapter import Hardware, ImageTower, Towers, chosen
from compute.models.files.downloads import Published
from compute.models.files.weights import fill, tensors
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

SIDE = 299
WEIGHTS = Published(  # converted from the original TensorFlow file
    url="https://github.com/toshas/torch-fidelity/releases/download/v0.2.0/weights-inception-2015-12-05-6726825d.pth",
    sha256="6726825d",
)
AVERAGED = ("Mixed_5b", "Mixed_5c", "Mixed_5d", "Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e", "Mixed_7b")
MAXIMAL = "Mixed_7c"


def resized(image: Image.Image) -> np.ndarray:
    """Returns (3, 299, 299) float32 in 0..255. Each channel is resized as real numbers, without intermediate
    rounding.
    """
    from PIL import Image

    bands = [band.convert("F").resize((SIDE, SIDE), Image.Resampling.BICUBIC) for band in image.convert("RGB").split()]
    return np.stack([np.asarray(band, dtype=np.float32) for band in bands]).clip(0, 255)


def class_logits(features: np.ndarray) -> np.ndarray:
    """Returns (n, 1008) the last layer's logits for features (n, 2048), without the bias, as the original code of the
    Inception Score uses them. Raises NotHere if the weights are missing.
    """
    layer = tensors(WEIGHTS.fetch())["fc.weight"].numpy()
    return features.astype(np.float64) @ layer.astype(np.float64).T


def load(row: Model, hardware: Hardware, folder: Path | None) -> Towers:
    """Loads FID's Inception-v3 from the published file in torch's cache, or from a file of that name in the row's
    folder.
    """
    import torch
    import torchvision

    chosen(row, {})
    network = torchvision.models.inception_v3(
        weights=None, aux_logits=False, num_classes=1008, init_weights=False, transform_input=False
    )
    file = folder / WEIGHTS.path.name if folder else WEIGHTS.fetch()
    fill(network, tensors(file), of="Inception-v3")
    network.fc = torch.nn.Identity()
    pool_as_fid(network)
    hardware.placed(network)
    return Towers(
        name=row.key,
        hardware=hardware,
        image=ImageTower(
            ready=lambda image: {"pixel_values": torch.from_numpy((resized(image) - 128) / 128)},
            run=lambda inputs: network(inputs["pixel_values"]),
        ),
        settings={
            "model": row.key,
            "weights": file.name,
            "features": "last pooling, 2048",
            "range": "(x - 128) / 128",
            "resize": f"{SIDE} px, antialiased bicubic, each channel as real numbers",
        },
    )


def published_files(row: Model) -> tuple[Published, ...]:
    """Returns the file that the row needs from a URL."""
    return () if row.weights else (WEIGHTS,)


def pool_as_fid(network: torch.nn.Module) -> None:
    """Replaces the pooling branches of torchvision's blocks by those of FID's network."""
    import torch

    functional = torch.nn.functional

    def without_padding(branch: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        # torchvision divides by all nine positions of the window, FID by the positions inside the image.
        inside = functional.avg_pool2d(torch.ones_like(inputs[0][:1, :1]), kernel_size=3, stride=1, padding=1)
        return inputs[0] / inside

    for name in AVERAGED:
        getattr(network, name).branch_pool.register_forward_pre_hook(without_padding)

    block, maxima = getattr(network, MAXIMAL), []

    def remember(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        maxima[:] = [functional.max_pool2d(inputs[0], kernel_size=3, stride=1, padding=1)]

    block.register_forward_pre_hook(remember)
    block.branch_pool.register_forward_pre_hook(lambda branch, inputs: maxima.pop())
