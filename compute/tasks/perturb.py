"""PairBench's five image transformations with a strength, the same for the same seed (PairBench section 3.1).

The paper names colour jitter, rotation, Gaussian blur, perspective and elastic transformation, without parameters; the
values are ours. The seed determines the random choices (directions, corners, the elastic displacement field), and the
strength determines the magnitude, so that a rising strength follows one path away from the image.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from compute.types import BadInput

if TYPE_CHECKING:
    import torch
    from PIL import Image

VERSION = 1  # part of a run's record: increase it when the pixels of any transformation change
FACTOR = 0.6  # maximum change of the factors of brightness, contrast and saturation
HUE = 0.25  # maximum hue shift, in turns
DEGREES = 45.0
BLUR = 0.05  # of the shorter side: maximum standard deviation
CORNERS = 0.4  # of half a side: maximum movement of a corner
ELASTIC = 0.08  # of half a side: maximum movement of a pixel
SMOOTH = 0.06  # of the shorter side: standard deviation of the smoothing of movements


class Perturbation(NamedTuple):
    """One transformation. `apply(pixels (3, h, w) uint8, strength, draw)` returns pixels of the same shape."""

    key: str  # as in the names of PairBench's splits
    title: str
    what: str  # the quantity measured by strength; empty if the title says it
    unit: str  # degrees | pixels | %
    most: float  # of the quantity at strength 1; for pixels, as a share of the image's side
    apply: Callable[[torch.Tensor, float, np.random.Generator], torch.Tensor]
    side: Callable[[tuple[int, int]], int] | None = None  # for pixels: selects from (width, height)

    def largest(self, size: tuple[int, int]) -> float:
        """Returns the amount at strength 1, in units, for an image of this (width, height)."""
        return self.most * self.side(size) if self.side else self.most

    def amount(self, strength: float, size: tuple[int, int]) -> str:
        """Formats a strength 0..1 in its unit, for an image of this (width, height): `22.5 degrees`, `6.4 pixels`,
        `30%`.
        """
        value = f"{strength * self.largest(size):.3g}"
        return f"{value}%" if self.unit == "%" else f"{value} {self.unit}"


def perturb(image: Image.Image, *, kind: str, strength: float, seed: int = 0) -> Image.Image:
    """Returns the image changed by one transformation of PERTURBATIONS; RGB, of the same size.

    `strength` is 0, the image itself, to 1. Raises BadInput for another strength or a unknown kind.
    """
    if kind not in PERTURBATIONS:
        raise BadInput(f"There is no transformation {kind!r}; there are: {', '.join(PERTURBATIONS)}")
    if not 0 <= strength <= 1:
        raise BadInput(f"A strength is 0 to 1, not {strength:g}")
    image = image if image.mode == "RGB" else image.convert("RGB")
    if strength == 0:
        return image
    import torch
    from PIL import Image as Images

    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()
    changed = PERTURBATIONS[kind].apply(pixels, float(strength), np.random.default_rng([seed, VERSION]))
    return Images.fromarray(changed.permute(1, 2, 0).numpy())


def _colour_jitter(pixels: torch.Tensor, strength: float, draw: np.random.Generator) -> torch.Tensor:
    """Changes brightness, contrast, saturation and hue in sequence, each by a random part of the strength, up or
    down.
    """
    from torchvision.transforms.v2 import functional

    parts = draw.choice([-1.0, 1.0], 4) * draw.uniform(0.5, 1.0, 4) * strength
    brightness, contrast, saturation = (1 + FACTOR * parts[:3]).tolist()
    colours = functional.adjust_contrast(functional.adjust_brightness(pixels, brightness), contrast)
    return functional.adjust_hue(functional.adjust_saturation(colours, saturation), HUE * parts[3])


def _rotate(pixels: torch.Tensor, strength: float, draw: np.random.Generator) -> torch.Tensor:
    from torchvision.transforms.v2 import InterpolationMode, functional

    angle = float(draw.choice([-1.0, 1.0])) * strength * DEGREES
    return functional.rotate(pixels, angle, interpolation=InterpolationMode.BILINEAR, fill=_mean(pixels))


def _gaussian_blur(pixels: torch.Tensor, strength: float, draw: np.random.Generator) -> torch.Tensor:
    """Equals torchvision's blur up to rounding. torchvision computes the full 2D kernel, which takes seconds per
    image.
    """
    import torch

    sigma = max(1e-3, strength * BLUR * min(pixels.shape[1:]))
    blurred = smoothed(pixels.numpy().astype(np.float32), sigma, reach=math.ceil(3 * sigma), kind=1)
    return torch.from_numpy(blurred.round().clip(0, 255).astype(np.uint8))


def _perspective(pixels: torch.Tensor, strength: float, draw: np.random.Generator) -> torch.Tensor:
    """Moves each corner inwards by a random part of the strength."""
    from torchvision.transforms.v2 import InterpolationMode, functional

    height, width = pixels.shape[1:]
    moved = draw.uniform(0, 1, (4, 2)) * strength * CORNERS * np.array([width, height]) / 2
    inwards = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
    start = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=float)
    end = start + inwards * moved
    return functional.perspective(
        pixels, start.tolist(), end.tolist(), interpolation=InterpolationMode.BILINEAR, fill=_mean(pixels)
    )


def _elastic(pixels: torch.Tensor, strength: float, draw: np.random.Generator) -> torch.Tensor:
    """Moves every pixel by a smooth random field whose longest movement is the strength's share."""
    import torch
    from torchvision.transforms.v2 import InterpolationMode, functional

    height, width = pixels.shape[1:]
    sigma = max(1.0, SMOOTH * min(height, width))
    noise = draw.standard_normal((2, height, width))
    field = np.moveaxis(smoothed(noise, sigma, reach=int(4 * sigma + 0.5), kind=2), 0, -1).copy()
    longest = np.hypot(field[..., 0], field[..., 1]).max()
    field *= strength * ELASTIC / max(longest, 1e-12)
    return functional.elastic(
        pixels, torch.from_numpy(field[None]).float(), interpolation=InterpolationMode.BILINEAR, fill=_mean(pixels)
    )


def smoothed(fields: np.ndarray, sigma: float, *, reach: int, kind: int) -> np.ndarray:
    """Smooths fields (n, h, w) with a Gaussian of `reach` pixels to each side, mirrored at the border.

    The pixel at the border counts once (kind 1; the kernel then reaches no farther than the field) or twice (kind 2, as
    scipy's `reflect`). A cosine transform of this kind turns the convolution into a product, so the kernel's length
    does not matter.
    """
    from scipy.fft import dct, idct

    for axis in (1, 2):
        side = fields.shape[axis]
        if side == 1:
            continue
        period, steps = (side - 1, min(reach, side - 1)) if kind == 1 else (side, reach)
        kernel = np.exp(-np.square(np.arange(steps + 1) / sigma) / 2)
        kernel[1:] *= 2
        waves = np.cos(np.pi / period * np.outer(np.arange(side), np.arange(steps + 1)))
        left = (waves @ (kernel / kernel.sum())).astype(fields.dtype)  # remaining share of each frequency
        fields = idct(dct(fields, kind, axis=axis) * (left[:, None] if axis == 1 else left), kind, axis=axis)
    return fields


def _mean(pixels: torch.Tensor) -> list[float]:
    """Returns the image's mean colour to fill beyond its border, because black would be a change in itself."""
    return [float(value) for value in pixels.float().mean(dim=(1, 2)).round()]


PERTURBATIONS: dict[str, Perturbation] = {
    perturbation.key: perturbation
    for perturbation in (
        Perturbation(
            "colorjitter",
            "Colour jitter",
            "brightness, contrast and saturation by up to",
            "%",
            100 * FACTOR,
            _colour_jitter,
        ),
        Perturbation("rotate", "Rotation", "", "degrees", DEGREES, _rotate),
        Perturbation("gaussianblur", "Gaussian blur", "standard deviation of", "pixels", BLUR, _gaussian_blur, min),
        Perturbation("perspective", "Perspective", "corners moved by up to", "pixels", CORNERS / 2, _perspective, max),
        Perturbation(
            "elastic", "Elastic transformation", "pixels moved by up to", "pixels", ELASTIC / 2, _elastic, max
        ),
    )
}
