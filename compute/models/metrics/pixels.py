"""Likeness without weights: PSNR, SSIM, MS-SSIM of image pairs; colour histograms and perceptual hashes as vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Floats, Floats32
from compute.models.adapter import Hardware, chosen
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch
    from PIL import Image
    from torch import Tensor

IDENTICAL_DB = 200.0  # above any finite PSNR: one level of difference in one of 10^15 values is 198 dB
NO_ERROR = 10 ** (-IDENTICAL_DB / 10)  # as a mean square, with a peak of 1
PEAK = 255.0
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, not rounded to whole levels
WINDOW, SIGMA, K1, K2 = 11, 1.5, 0.01, 0.03  # Wang et al. 2004, section III.C
GAUSSIAN = np.exp(-np.square(np.arange(-(WINDOW // 2), WINDOW // 2 + 1) / SIGMA) / 2)
GAUSSIAN /= GAUSSIAN.sum()
SCALES = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])  # Wang et al. 2003, section 3.2; the finest first
CHUNK = 2_000_000  # pixels of the first images in one stack

BAND = 1 << 15  # pixels that are compared at once

Levels = NDArray[np.uint8]
Pairs = Callable[[Levels, Levels], Floats]


@dataclass(kw_only=True)
class PairMetric:
    """A comparer of two images at one size: the smaller of both widths by the smaller of both heights.

    So neither image is enlarged and no order is preferred; two images of different shapes both change theirs.
    """

    title: str
    settings: dict[str, Any]
    score: Pairs  # two stacks (n, h, w, 3) uint8 -> (n,)
    tensors: Callable[[Tensor, Tensor], Tensor]  # two batches (n, 3, h, w) of 0..1 -> (n,), with gradients
    higher_is_better: bool = True  # of `tensors`; `score` and `compare` give distances negated
    network: torch.nn.Module | None = None  # what `tensors` runs
    smallest: int = 1  # side in pixels that `tensors` takes
    chunk: int = CHUNK
    symmetric: bool = False  # two images have one score in both orders

    def compare(self, first: Sequence[Image.Image] | None, second: Sequence[Image.Image]) -> Floats:
        """(n,) float64, higher is nearer. Raises CannotDo without a first image."""
        if first is None:
            raise CannotDo(f"{self.title} compares two images; it cannot score one alone")
        rows, same = _unordered(first, second) if self.symmetric else (range(len(second)), np.arange(len(second)))
        scores = np.empty(len(rows))
        own_first, own_second = ([side[row] for row in rows] for side in (first, second))
        for at, left, right in stacks(own_first, own_second, chunk=self.chunk):
            scores[at] = self.score(left, right)
        return scores[same]


def _unordered(first: Sequence[Image.Image], second: Sequence[Image.Image]) -> tuple[list[int], np.ndarray]:
    """The rows to compare, and of every row which of them stands for it: the same two images in the other order are
    not compared again."""
    known: dict[tuple[int, ...], int] = {}
    rows: list[int] = []
    same = np.empty(len(second), dtype=np.int64)
    for row, (left, right) in enumerate(zip(first, second, strict=True)):
        both = tuple(sorted((id(left), id(right))))
        if both not in known:
            known[both] = len(rows)
            rows.append(row)
        same[row] = known[both]
    return rows, same


def stacks(
    first: Sequence[Image.Image], second: Sequence[Image.Image], *, chunk: int
) -> Iterator[tuple[list[int], Levels, Levels]]:
    """The pairs in stacks of one size: their rows and two arrays (n, h, w, 3), 0..255, of at most `chunk` pixels.

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


def psnr(first: Levels, second: Levels) -> Floats:
    """Peak signal to noise ratio over all three channels, in dB; (n,). Identical images: IDENTICAL_DB."""
    error = np.square(first.astype(np.float64) - second).mean(axis=(1, 2, 3))
    return 10 * np.log10(PEAK**2 / np.maximum(error, PEAK**2 * NO_ERROR))


def tensor_psnr(first: Tensor, second: Tensor) -> Tensor:
    """`psnr` of tensors (n, 3, h, w) of 0..1; the gradient of identical images is 0."""
    return -10 * (first - second).square().mean(dim=(1, 2, 3)).clamp(min=NO_ERROR).log10()


def ssim(first: Levels, second: Levels) -> Floats:
    """Structural similarity of the luma, the mean over every place where the whole window fits (Wang et al. 2004).

    Raises BadInput where a side is shorter than the window.
    """
    return _similarity(_luma(first), _luma(second))[0]


def tensor_ssim(first: Tensor, second: Tensor) -> Tensor:
    """`ssim` of tensors (n, 3, h, w) of 0..1."""
    return _tensor_similarity(_tensor_luma(first), _tensor_luma(second))[0]


def ms_ssim(first: Levels, second: Levels) -> Floats:
    """Multi-scale structural similarity of the luma (Wang et al. 2003, equation 7).

    Contrast and structure at every scale, luminance at the coarsest; between scales the mean of 2 x 2 pixels (an odd
    last row or column is skipped). A negative factor counts as 0. Images too small for five scales use as many as fit
    the window, their weights scaled to the same sum.
    """
    return _over_scales(_luma(first), _luma(second), _similarity)


def tensor_ms_ssim(first: Tensor, second: Tensor) -> Tensor:
    """`ms_ssim` of tensors (n, 3, h, w) of 0..1."""
    return _over_scales(_tensor_luma(first), _tensor_luma(second), _tensor_similarity)


def _over_scales(left: Any, right: Any, similarity: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """The product over scales of two stacks (n, h, w), arrays or tensors; (n,)."""
    weights = scale_weights(min(left.shape[1:]))
    product: Any = 1.0
    for scale, weight in enumerate(weights.tolist()):
        if scale:
            left, right = _halved(left), _halved(right)
        whole, structure = similarity(left, right)
        factor = whole if scale == len(weights) - 1 else structure
        positive = factor > 0  # a power of 0 has no finite gradient
        product = product * positive * (factor * positive + ~positive) ** weight
    return product


def scale_weights(side: int) -> Floats:
    """The exponents of the scales that images with this shorter side have room for; they sum to those of all five."""
    fit = 1
    while fit < len(SCALES) and side >> fit >= WINDOW:
        fit += 1
    return SCALES[:fit] * (SCALES.sum() / SCALES[:fit].sum())


def _halved(images: Any) -> Any:
    n, height, width = images.shape
    even = images[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(n, height // 2, 2, width // 2, 2).mean((2, 4))


def _luma(images: Levels) -> Floats:
    """(n, h, w) of (n, h, w, 3), a band of rows at a time: three channels of float64 are not in memory at once."""
    luma = np.empty(images.shape[:-1])
    for image, own in zip(images, luma, strict=True):
        for rows in _bands(*own.shape):
            own[rows] = image[rows] @ LUMA
    return luma


def _tensor_luma(images: Tensor) -> Tensor:
    """(n, h, w) of 0..255 of (n, 3, h, w) of 0..1."""
    return (images * images.new_tensor(LUMA * PEAK)[:, None, None]).sum(dim=1)


def _similarity(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Mean SSIM and mean contrast-and-structure term of two stacks (n, h, w); each (n,)."""
    if min(first.shape[1:]) < WINDOW:
        raise BadInput(
            f"SSIM needs images of at least {WINDOW} x {WINDOW} pixels; got {first.shape[2]} x {first.shape[1]}"
        )
    means = np.array([_means(left, right) for left, right in zip(first, second, strict=True)])
    return means[:, 0], means[:, 1]


def _tensor_similarity(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    whole, structure = _terms(first, second, _tensor_weighted)
    return whole.mean((1, 2)), structure.mean((1, 2))


def _means(first: Floats, second: Floats) -> tuple[float, float]:
    """Both of two images (h, w). Bands of rows stay in the processor's cache, where whole images would not."""
    height, width = first.shape[0] - WINDOW + 1, first.shape[1] - WINDOW + 1
    whole, structure = np.empty((height, width)), np.empty((height, width))
    for rows in _bands(height, width):
        seen = slice(rows.start, rows.stop + WINDOW - 1)
        whole[rows], structure[rows] = _terms(first[seen], second[seen], _weighted)
    return float(whole.mean()), float(structure.mean())


def _terms(first: Any, second: Any, weighted: Callable[[Any], Any]) -> tuple[Any, Any]:
    """SSIM and its contrast-and-structure term at every position of the window, of arrays or tensors."""
    mean_first, mean_second = weighted(first), weighted(second)
    product = mean_first * mean_second
    squares = mean_first**2 + mean_second**2
    variance = weighted(first**2 + second**2) - squares  # the sum of both sides' variances
    covariance = weighted(first * second) - product
    c1, c2 = (K1 * PEAK) ** 2, (K2 * PEAK) ** 2
    structure = (2 * covariance + c2) / (variance + c2)
    return structure * (2 * product + c1) / (squares + c1), structure


def _bands(height: int, width: int) -> Iterator[slice]:
    """Rows from the first to the last, about BAND pixels at a time."""
    step = max(1, BAND // width)
    for start in range(0, height, step):
        yield slice(start, min(start + step, height))


def _weighted(image: Floats) -> Floats:
    """The Gaussian mean around every pixel of (h, w) where the whole window fits."""
    from scipy.ndimage import correlate1d

    half = WINDOW // 2
    rows = correlate1d(image, GAUSSIAN, axis=0)[half:-half]
    return correlate1d(rows, GAUSSIAN, axis=1)[:, half:-half]


def _tensor_weighted(images: Tensor) -> Tensor:
    """The same of (n, h, w). Sums of shifted images, since a convolution on CUDA may round to 10 bits."""
    for axis in (1, 2):
        places = images.shape[axis] - WINDOW + 1
        images = sum(weight * images.narrow(axis, at, places) for at, weight in enumerate(GAUSSIAN.tolist()))
    return images


@dataclass(kw_only=True)
class PixelEncoder:
    """An encoder whose vector is computed from the pixels alone."""

    settings: dict[str, Any]
    vector: Callable[[Image.Image], Floats32]

    def prepare(self, modality: str, item: Image.Image) -> Floats32:
        """The image's vector: all the work is done here. Raises CannotDo for texts and pairs."""
        if modality != "image":
            raise CannotDo(f"{self.settings['metric']} describes images only; it cannot embed a {modality}")
        return self.vector(item)

    def embed(self, modality: str, prepared: Sequence[Floats32]) -> Floats32:
        """(n, d) float32."""
        return np.stack(prepared)


def colour_histogram(image: Image.Image, *, bins: int) -> Floats32:
    """Square roots of the shares of pixels in `bins`^3 boxes of RGB: a unit vector of bins^3 values.

    The cosine of two is the Bhattacharyya coefficient of their colour distributions.
    """
    level = np.asarray(image.convert("RGB")).reshape(-1, 3).astype(np.int64) * bins // 256
    counts = np.bincount(level @ np.array([bins * bins, bins, 1]), minlength=bins**3)
    return np.sqrt(counts / counts.sum()).astype(np.float32)


def perceptual_hash(image: Image.Image, *, size: int) -> Floats32:
    """Signs (+1, -1) of the size x size lowest cosine coefficients about their median: (size^2,).

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
    row: Model, hardware: Hardware, folder: Path | None, *, settings: Mapping[str, Any], **own: Any
) -> PairMetric:
    chosen(row, {})
    return PairMetric(settings={"metric": own["title"], "sizes": OTHER_SIZE, **settings}, symmetric=True, **own)


load_psnr = partial(
    _load_pairs,
    title="PSNR",
    score=psnr,
    tensors=tensor_psnr,
    settings={"channels": "RGB", "peak": PEAK, "identical images": IDENTICAL_DB},
)
load_ssim = partial(_load_pairs, title="SSIM", score=ssim, tensors=tensor_ssim, smallest=WINDOW, settings=WINDOWS)
load_ms_ssim = partial(
    _load_pairs,
    title="MS-SSIM",
    score=ms_ssim,
    tensors=tensor_ms_ssim,
    smallest=WINDOW,
    settings={
        **WINDOWS,
        "weights": SCALES.tolist(),
        "negative": 0,
        "small images": "as many scales as fit the window, weights scaled to the same sum",
    },
)


def load_colour_histogram(row: Model, hardware: Hardware, folder: Path | None) -> PixelEncoder:
    """8 bins a channel."""
    chosen(row, {})
    return PixelEncoder(
        vector=partial(colour_histogram, bins=8),
        settings={"metric": "colour histogram", "space": "RGB", "bins": 8, "scale": "square root"},
    )


def load_perceptual_hash(row: Model, hardware: Hardware, folder: Path | None) -> PixelEncoder:
    """64 bits: a square of 8 by 8 coefficients."""
    chosen(row, {})
    return PixelEncoder(
        vector=partial(perceptual_hash, size=8),
        settings={"metric": "perceptual hash", "bits": 64, "reduced to": 32},
    )
