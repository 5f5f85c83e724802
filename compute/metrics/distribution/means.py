"""Metrics that are means over images: CLIPScore, and the scores of models of human preference.

ImageReward and the aesthetic predictor score an image themselves (`compute/models/metrics/preference.py`); HPSv2 and
PickScore are encoders whose cosine, times 100, is the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.metrics.distribution.features import blocks, directions, feature_array
from compute.types import BadInput

CLIPSCORE_WEIGHT = 2.5
CLIPSCORE_PREFIX = "A photo depicts "  # put before every prompt by who encodes it
PREFERENCE_SCALE = 100.0  # HPSv2 and PickScore print cosines times this


@dataclass(frozen=True, kw_only=True)
class MeanScore:
    """A mean over images with its 95% interval by Student's t, none of a single prompt; `scores` (n,) are the single
    images'."""

    value: float
    scores: Floats
    stderr: float | None
    low: float | None
    high: float | None
    warnings: tuple[str, ...] = ()


def mean_score(*, scores: Any, prompts: Any = None) -> MeanScore:
    """The mean of `scores` (n,), one an image, of any model: ImageReward, Aesthetic and their kin.

    `prompts` (n,) names each image's prompt: images of one prompt are no independent observations, so the interval is
    over prompts (Liang and Zeger 1986).
    """
    scores = np.asarray(scores, np.float64)
    groups = np.arange(len(scores)) if prompts is None else np.unique(np.asarray(prompts), return_inverse=True)[1]
    value, count = float(scores.mean()), int(groups.max()) + 1
    if count < 2:
        return MeanScore(value=value, scores=scores, stderr=None, low=None, high=None)
    from scipy.special import stdtrit

    rest = np.bincount(groups, weights=scores - value)
    error = float(np.sqrt(count / (count - 1) * (rest**2).sum()) / len(scores))
    half = float(stdtrit(count - 1, 0.975)) * error
    warnings = () if error > 0 else ("All prompts have the same score: the interval has no width",)
    return MeanScore(
        value=value,
        scores=scores,
        stderr=error,
        low=value - half,
        high=value + half,
        warnings=warnings,
    )


def clipscore(*, image: Any, text: Any) -> MeanScore:
    """The mean of 2.5 max(cos, 0) of each image with its prompt, from 0 to 2.5.

    `image`, `text` (n, d): CLIP ViT-B/32 embeddings, row i of both of one prompt. The caller encodes the prompts with
    `CLIPSCORE_PREFIX` before them. Raises BadInput for unlike counts or widths, and for a row of zeros. Source: Hessel
    et al. 2021, section 3.
    """
    return mean_score(scores=CLIPSCORE_WEIGHT * np.maximum(_cosines(image, text), 0.0))


def preference_score(*, image: Any, text: Any) -> MeanScore:
    """The mean of 100 cos of each image with its prompt: HPSv2 and PickScore by their encoders' embeddings.

    Arguments and errors as `clipscore`; prompts have no prefix. Sources: Wu et al. 2023 (HPSv2); Kirstain et al. 2023
    (PickScore, whose learnt scale is 100).
    """
    return mean_score(scores=PREFERENCE_SCALE * _cosines(image, text))


def _cosines(image: Any, text: Any) -> Floats:
    """(n,) cosine of each image with its own prompt, block by block: lazy rows stay on disk."""
    images, texts = feature_array(image, argument="image"), feature_array(text, argument="text")
    if images.shape != texts.shape:
        raise BadInput(f"image has shape {images.shape} and text {texts.shape}: row i of both belongs to one prompt")
    cosines = np.empty(len(images))
    for part in blocks(len(images), width=images.shape[1]):
        first = directions(images[part], argument="image", first=part.start)
        second = directions(texts[part], argument="text", first=part.start)
        cosines[part] = (first * second).sum(axis=1)
    return np.clip(cosines, -1.0, 1.0)
