"""How varied a set of images is, without a reference: the Inception Score and the Vendi score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.metrics.distribution.features import directions, feature_rows
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class InceptionScore:
    """The mean over `splits` parts of the set, from 1 to the number of classes; `sd` is that of the parts' scores."""

    value: float
    sd: float | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Vendi:
    """The effective number of distinct images, from 1 to n."""

    value: float
    order: float
    warnings: tuple[str, ...] = ()


def inception_score(*, logits: Any, splits: int = 10) -> InceptionScore:
    """exp of the mean divergence of an image's class probabilities from those of all images, in nats.

    `logits` (n, classes): a classifier's outputs before softmax, Inception-v3's for the published score. The set is cut
    in order into `splits` parts of almost equal size, so its order should be no order of classes. Raises BadInput for
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
        warnings.append("Every image has the same value in all classes: these are no predictions")
    return InceptionScore(
        value=float(np.mean(parts)),
        sd=float(np.std(parts)) if splits > 1 else None,
        warnings=tuple(warnings),
    )


def _inception_part(log_share: Floats) -> float:
    share = np.exp(log_share)
    mean = share.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # a class without any probability in the part adds nothing
        terms = np.where(share > 0, share * (log_share - np.log(mean)), 0.0)
    return float(np.exp(max(terms.sum(axis=1).mean(), 0.0)))  # a divergence is below 0 by rounding alone


def vendi(*, features: Any, order: float = 1.0) -> Vendi:
    """exp of the entropy of the eigenvalues of the cosine kernel over n; `order` q takes Rényi's entropy of order q.

    `features` (n, d), any length: they are brought to 1. Of q = 1 Shannon's entropy, of q = infinity the largest
    eigenvalue alone counts. Raises BadInput for a row of zeros and an order of 0 or below. Sources: Friedman and Dieng
    2023, definition 3.1; Pasarkar and Dieng 2024 for q.
    """
    rows = directions(features, argument="features")
    if not order > 0:
        raise BadInput(f"order {order}: take a number above 0, or infinity")
    n, d = rows.shape
    rows = rows / np.sqrt(n)
    # the kernel's eigenvalues that are not 0 are those of the smaller of both products
    values = np.linalg.eigvalsh(rows @ rows.T if n <= d else rows.T @ rows)[::-1]
    values = np.maximum(values, 0.0) / np.maximum(values, 0.0).sum()
    positive = values[values > n * np.finfo(float).eps]
    if order == 1:
        entropy = -(positive * np.log(positive)).sum()
    elif np.isinf(order):
        entropy = -np.log(positive[0])
    else:
        entropy = np.log((positive**order).sum()) / (1 - order)
    value = float(np.clip(np.exp(entropy), 1.0, n))
    warnings: tuple[str, ...] = ()
    if n > 1 and value > n / 2:
        warnings = (f"The score is at most the number of images, {n}: compare it only with sets of the same size",)
    return Vendi(value=value, order=order, warnings=warnings)
