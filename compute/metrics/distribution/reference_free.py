"""Metrics of one set without a reference that score each image separately: the Inception Score, and means over images.

CLIPScore and the scores of preference models are means over images. HPSv2 and PickScore are encoders, and their score
is the cosine times 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.metrics.distribution.intervals import half_width
from compute.metrics.distribution.moments import SetScore, blocks, directions, feature_array, feature_rows
from compute.types import BadInput

CLIPSCORE_WEIGHT = 2.5
CLIPSCORE_PREFIX = "A photo depicts "  # the caller puts it before every prompt when encoding
PREFERENCE_SCALE = 100.0  # HPSv2 and PickScore print cosines times this


@dataclass(frozen=True, kw_only=True)
class MeanScore(SetScore):
    """A mean over images with its 95% interval by Student's t; a single prompt has no interval. `scores` (n,) are the
    scores of the single images.
    """

    scores: Floats


def inception_score(*, logits: Any, splits: int = 10) -> SetScore:
    """Computes exp of the mean KL divergence, in nats, of an image's class probabilities from those of all images. It
    is averaged over parts of the set and ranges from 1 to the number of classes.

    `logits` (n, classes): a classifier's outputs before softmax, Inception-v3's for the published score. The set is
    divided in order into `splits` parts of almost equal size, so it should not be sorted by class. Raises BadInput for
    fewer images than splits. Source: Salimans et al. 2016, section 4 (10 splits of 5,000 images).
    """
    logits = feature_rows(logits, argument="logits")
    n, classes = logits.shape
    if not 1 <= splits <= n:
        raise BadInput(f"splits {splits}: take 1 or more, and at most as many as there are images, {n}")
    log_share = logits - logits.max(axis=1, keepdims=True)
    log_share -= np.log(np.exp(log_share).sum(axis=1, keepdims=True))
    parts = [_inception_part(part) for part in np.array_split(log_share, splits)]
    warnings = []
    if n < splits * classes:
        warnings.append(
            f"{n // splits} images a part for {classes} classes: the score is at most {n // splits}, and low for want "
            "of images"
        )
    if np.ptp(logits, axis=1).max() == 0:
        warnings.append("Every image has the same value in all classes: these are not predictions")
    return SetScore(value=float(np.mean(parts)), warnings=tuple(warnings))


def _inception_part(log_share: Floats) -> float:
    share = np.exp(log_share)
    mean = share.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A class with probability 0 in the part adds nothing.
        terms = np.where(share > 0, share * (log_share - np.log(mean)), 0.0)
    return float(np.exp(max(terms.sum(axis=1).mean(), 0.0)))  # only rounding makes a divergence negative


def mean_score(*, scores: Any, prompts: Any = None) -> MeanScore:
    """Returns the mean of a model's `scores` (n,), one per image.

    `prompts` (n,) names each image's prompt: images of one prompt are not independent observations, so the interval is
    over prompts (Liang and Zeger 1986).
    """
    scores = np.asarray(scores, np.float64)
    groups = np.arange(len(scores)) if prompts is None else np.unique(np.asarray(prompts), return_inverse=True)[1]
    value, count = float(scores.mean()), int(groups.max()) + 1
    if count < 2:
        return MeanScore(value=value, scores=scores)
    rest = np.bincount(groups, weights=scores - value)
    error = float(np.sqrt(count / (count - 1) * (rest**2).sum()) / len(scores))
    half = half_width(error, freedom=count - 1)
    warnings = () if error > 0 else ("All prompts have the same score: the interval has no width",)
    ends = {"low": value - half, "high": value + half}
    return MeanScore(value=value, scores=scores, stderr=error, **ends, warnings=warnings)


def clipscore(*, image: Any, text: Any) -> MeanScore:
    """Returns the mean of 2.5 max(cos, 0) of each image with its prompt, from 0 to 2.5.

    `image`, `text` (n, d): CLIP ViT-B/32 embeddings, where row i of both belongs to one prompt. The caller encodes the
    prompts with `CLIPSCORE_PREFIX` before them. Raises BadInput if counts or widths differ, or a row is all zeros.
    Source: Hessel et al. 2021, section 3.
    """
    return mean_score(scores=CLIPSCORE_WEIGHT * np.maximum(_cosines(image, text), 0.0))


def preference_score(*, image: Any, text: Any) -> MeanScore:
    """Returns the mean of 100 cos of each image with its prompt: HPSv2 and PickScore, from their encoders' embeddings.

    Arguments and errors as `clipscore`; prompts have no prefix. Sources: Wu et al. 2023 (HPSv2); Kirstain et al. 2023
    (PickScore, whose learned scale is 100).
    """
    return mean_score(scores=PREFERENCE_SCALE * _cosines(image, text))


def _cosines(image: Any, text: Any) -> Floats:
    """Returns (n,) the cosine of each image with its prompt, block by block: lazy rows stay on disk."""
    images, texts = feature_array(image, argument="image"), feature_array(text, argument="text")
    if images.shape != texts.shape:
        raise BadInput(f"image has shape {images.shape} and text {texts.shape}: row i of both belongs to one prompt")
    cosines = np.empty(len(images))
    for part in blocks(len(images), width=images.shape[1]):
        first = directions(images[part], argument="image", first=part.start)
        second = directions(texts[part], argument="text", first=part.start)
        cosines[part] = (first * second).sum(axis=1)
    return np.clip(cosines, -1.0, 1.0)
