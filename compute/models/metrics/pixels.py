"""Similarity without weights: PSNR, SSIM, MS-SSIM of image pairs; colour histograms and perceptual hashes as
vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Floats, Floats32
from compute.models.adapter import Hardware, chosen
from compute.types import BadInput, Model

if TYPE_CHECKING:
    import torch
    from PIL import Image
    from torch import Tensor

IDENTICAL_DB = 200.0  # above any finite PSNR: one level of difference in one of 10^15 values is 198 dB
PEAK = 255.0
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, not rounded to integers
WINDOW, SIGMA, K1, K2 = 11, 1.5, 0.01, 0.03  # Wang et al. 2004, section III.C
SCALES = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])  # Wang et al. 2003, section 3.2; the finest scale first
BINS = 8  # per channel of a colour histogram
CHUNK = 300_000  # pixels of the first images in one stack, which then fits into the CPU's cache

Levels = NDArray[np.uint8]
Pairs = Callable[[Levels, Levels], Floats]


@dataclass(kw_only=True)
class PairMetric:
    """A comparer of two images at a common size: the smaller of the widths by the smaller of the heights.

    Neither image is enlarged and the order does not matter; if the shapes differ, both images may change their aspect
    ratio.
    """

    title: str
    settings: dict[str, Any]
    score: Pairs  # two stacks (n, h, w, 3) uint8 -> (n,)
    tensors: Callable[[Tensor, Tensor], Tensor]  # two batches (n, 3, h, w) in 0..1 -> (n,), with gradients
    higher_is_better: bool = True  # for `tensors`; `score` and `compare` negate distances
    network: torch.nn.Module | None = None  # run by `tensors`
    smallest: int = 1  # minimum side in pixels for `tensors`
    chunk: int = CHUNK
    symmetric: bool = False  # the score does not depend on the order

    def compare(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> Floats:
        """Returns (n,) float64; higher is nearer."""
        pairs = np.array([[id(image) for image in side] for side in (first, second)]).T
        if self.symmetric:
            pairs.sort(axis=1)
        _, rows, same = np.unique(pairs, axis=0, return_index=True, return_inverse=True)  # each pair is compared once
        scores = np.empty(len(rows))
        for at, *sides in stacks(*([side[row] for row in rows] for side in (first, second)), chunk=self.chunk):
            scores[at] = self.score(*sides)
        return scores[same]


def stacks(
    first: Sequence[Image.Image], second: Sequence[Image.Image], *, chunk: int
) -> Iterator[tuple[list[int], Levels, Levels]]:
    """Yields the pairs in stacks of one size: their rows and two arrays (n, h, w, 3), 0..255, of at most `chunk`
    pixels.

    Images of different sizes are resized (bicubic, antialiased) to the smaller width and the smaller height of the two.
    """
    groups = defaultdict(list)
    for row, (left, right) in enumerate(zip(first, second, strict=True)):
        groups[min(left.width, right.width), min(left.height, right.height)].append(row)
    for (width, height), rows in groups.items():
        step = max(1, chunk // (width * height))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            yield (
                part,
                np.stack([_pixels(first[row], (width, height)) for row in part]),
                np.stack([_pixels(second[row], (width, height)) for row in part]),
            )


def _pixels(image: Image.Image, size: tuple[int, int]) -> Levels:
    from PIL import Image

    image = image if image.mode == "RGB" else image.convert("RGB")
    return np.asarray(image if image.size == size else image.resize(size, Image.Resampling.BICUBIC))


# Functions of levels, arrays (n, h, w, 3) uint8, or of tensors (n, 3, h, w) in 0..1 with gradients.


def psnr(first: Any, second: Any) -> Any:
    """Computes the peak signal-to-noise ratio over all three channels, in dB; (n,). Identical images have
    IDENTICAL_DB.
    """
    levels = isinstance(first, np.ndarray)
    difference = first.astype(np.float64) - second if levels else PEAK * (first - second)
    ratio = PEAK**2 / (difference**2).mean((1, 2, 3)).clip(min=PEAK**2 * 10 ** (-IDENTICAL_DB / 10))
    return 10 * (np.log10(ratio) if levels else ratio.log10())


def ssim(first: Any, second: Any) -> Any:
    """Computes structural similarity of the luma, averaged over all positions with a complete window (Wang et al.
    2004).

    Raises BadInput if a side is shorter than the window.
    """
    return _similarity(_luma(first), _luma(second))[0]


def ms_ssim(first: Any, second: Any) -> Any:
    """Computes multi-scale structural similarity of the luma (Wang et al. 2003, equation 7); (n,).

    It uses contrast and structure at every scale, and luminance at the coarsest. Scales are reduced by averaging 2 x 2
    pixels; an odd last row or column is skipped. A negative factor counts as 0. Images too small for five scales use as
    many as fit the window, with weights scaled to the same sum.
    """
    left, right = _luma(first), _luma(second)
    weights = scale_weights(min(left.shape[1:])).tolist()
    product: Any = 1.0
    for scale, weight in enumerate(weights):
        if scale:
            left, right = _halved(left), _halved(right)
        whole, structure = _similarity(left, right)
        factor = whole if scale == len(weights) - 1 else structure
        positive = factor > 0  # a power of 0 has no finite gradient
        product = product * positive * (factor * positive + ~positive) ** weight
    return product


def scale_weights(side: int) -> Floats:
    """Returns the exponents of the scales that fit an image with this shorter side; their sum equals that of all
    five.
    """
    fit = 1
    while fit < len(SCALES) and side >> fit >= WINDOW:
        fit += 1
    return SCALES[:fit] * (SCALES.sum() / SCALES[:fit].sum())


def _halved(images: Any) -> Any:
    n, height, width = images.shape
    even = images[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(n, height // 2, 2, width // 2, 2).mean((2, 4))


def _luma(images: Any) -> Any:
    """Returns luma (n, h, w) in 0..255."""
    if isinstance(images, np.ndarray):
        return images @ LUMA
    return (images * images.new_tensor(LUMA * PEAK)[:, None, None]).sum(1)


def _similarity(first: Any, second: Any) -> tuple[Any, Any]:
    """Returns mean SSIM and the mean contrast-and-structure term of two stacks (n, h, w); each (n,)."""
    if min(first.shape[1:]) < WINDOW:
        raise BadInput(
            f"SSIM needs images of at least {WINDOW} x {WINDOW} pixels; got {first.shape[2]} x {first.shape[1]}"
        )
    mean_first, mean_second = _weighted(first), _weighted(second)
    product = mean_first * mean_second
    squares = mean_first**2 + mean_second**2
    variance = _weighted(first**2 + second**2) - squares  # the sum of the two variances
    covariance = _weighted(first * second) - product
    c1, c2 = (K1 * PEAK) ** 2, (K2 * PEAK) ** 2
    structure = (2 * covariance + c2) / (variance + c2)
    whole = structure * (2 * product + c1) / (squares + c1)
    return whole.mean((1, 2)), structure.mean((1, 2))


def _weighted(images: Any) -> Any:
    """Returns the Gaussian mean around every pixel of (n, h, w) with a complete window."""
    half = WINDOW // 2
    window = np.exp(-np.square(np.arange(-half, half + 1) / SIGMA) / 2)
    window /= window.sum()
    if isinstance(images, np.ndarray):
        from scipy.ndimage import correlate1d

        rows = correlate1d(images, window, axis=1)[:, half:-half]
        return correlate1d(rows, window, axis=2)[:, :, half:-half]
    for axis in (1, 2):  # sums of shifted images, because a convolution on CUDA may round to 10 bits
        places = images.shape[axis] - WINDOW + 1
        images = sum(weight * images.narrow(axis, at, places) for at, weight in enumerate(window.tolist()))
    return images


def colour_histogram(image: Image.Image) -> Floats32:
    """Returns the square roots of the shares of pixels in BINS^3 boxes of RGB: a unit vector of BINS^3 values.

    The cosine of two histograms is the Bhattacharyya coefficient of the colour distributions.
    """
    level = np.asarray(image.convert("RGB")).reshape(-1, 3).astype(np.int64) * BINS // 256
    counts = np.bincount(level @ np.array([BINS * BINS, BINS, 1]), minlength=BINS**3)
    return np.sqrt(counts / counts.sum()).astype(np.float32)


def perceptual_hash(image: Image.Image, *, size: int) -> Floats32:
    """Returns the signs (+1, -1) of the size x size lowest cosine coefficients relative to their median: (size^2,).

    The image is reduced to 4 size x 4 size grey levels. The cosine of two hashes of n bits is 1 - 2 hamming / n.
    """
    from PIL import Image
    from scipy.fft import dctn

    side = 4 * size
    grey = np.asarray(image.convert("L").resize((side, side), Image.Resampling.LANCZOS), dtype=np.float64)
    low = dctn(grey)[:size, :size]
    return np.where(low > np.median(low), np.float32(1), np.float32(-1)).ravel()


OTHER_SIZE = "both at the smaller width and the smaller height of the two, bicubic"
WINDOWS = {
    "channels": "luma, BT.601",
    "window": WINDOW,
    "sigma": SIGMA,
    "k": [K1, K2],
    "peak": PEAK,
    "border": "whole windows only",
}


def _load_pairs(
    row: Model,
    hardware: Hardware,
    folder: Path | None,
    *,
    title: str,
    score: Callable[[Any, Any], Any],
    settings: Mapping[str, Any],
    smallest: int = 1,
) -> PairMetric:
    chosen(row, {})
    settings = {"metric": title, "sizes": OTHER_SIZE, **settings}
    return PairMetric(title=title, score=score, tensors=score, settings=settings, symmetric=True, smallest=smallest)


load_psnr = partial(
    _load_pairs,
    title="PSNR",
    score=psnr,
    settings={"channels": "RGB", "peak": PEAK, "identical images": IDENTICAL_DB},
)
load_ssim = partial(_load_pairs, title="SSIM", score=ssim, smallest=WINDOW, settings=WINDOWS)
load_ms_ssim = partial(
    _load_pairs,
    title="MS-SSIM",
    score=ms_ssim,
    smallest=WINDOW,
    settings={
        **WINDOWS,
        "weights": SCALES.tolist(),
        "negative": 0,
        "small images": "as many scales as fit the window, weights scaled to the same sum",
    },
)


def _load_vectors(
    row: Model,
    hardware: Hardware,
    folder: Path | None,
    *,
    vector: Callable[[Image.Image], Floats32],
    settings: dict[str, Any],
) -> SimpleNamespace:
    """Returns an encoder that computes vectors from pixels when an image is prepared."""
    chosen(row, {})
    return SimpleNamespace(
        settings=dict(settings),
        prepare=lambda modality, item: vector(item),
        embed=lambda modality, prepared: np.stack(prepared),
    )


load_colour_histogram = partial(
    _load_vectors,
    vector=colour_histogram,
    settings={"metric": "colour histogram", "space": "RGB", "bins": BINS, "scale": "square root"},
)
load_perceptual_hash = partial(
    _load_vectors,
    vector=partial(perceptual_hash, size=8),
    settings={"metric": "perceptual hash", "bits": 64, "reduced to": 32},
)
