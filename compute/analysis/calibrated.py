"""A score compared with what the same model gives matching pairs and unrelated pairs: raw scores mean nothing.

A right pair has a cosine of 0.25 in one model and of 0.95 in another. So each model has, for each pairing of kinds
(image-image, image-text, text-text), the distributions of its scores of matching and of unrelated pairs; for a question
about single images (quality, brightness, ...), of its scores of reference images. Higher scores are nearer, or more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.types import BadInput, Undefined

PAIRS = ("image-image", "image-text", "text-text")
QUANTILES = 201  # every half percent, from the lowest score to the highest
DIGITS = 6  # significant ones of a quantile, and of a score that is placed among them
TAIL = 0.025  # of a distribution outside of each limit

# How a score reads against two distributions.
MATCHING, UNRELATED = "as matching pairs", "as unrelated pairs"
EITHER, BETWEEN = "either", "between"
# And against the one of single images.
MORE, LESS, USUAL = "above the reference images", "below the reference images", "as the reference images"


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """One model's own scores of one pairing, as evenly spaced quantiles from the lowest score to the highest.

    Raises BadInput for quantiles that are not finite, do not rise, or are fewer than two.
    """

    model: str
    pairing: str  # one of PAIRS, or the question about single images
    unrelated: Floats  # (quantiles,) of unrelated pairs; of single images, of the reference images
    matching: Floats  # (quantiles,) of matching pairs; (0,) of single images
    n_unrelated: int  # pairs, or images
    n_matching: int
    separation: float | None  # as `separation` has it, of the scores themselves; None of single images
    source: str  # the tasks whose items were scored, or what else they are
    synthetic: bool  # a program drew the items
    domain: str  # what kind of input it speaks for: drawn, photographs, sentences or tasks
    scenes: int  # whole scenes behind the pairs or images: those of one scene are not independent

    def __post_init__(self) -> None:
        for side in ("unrelated", "matching"):
            values = np.array(getattr(self, side), dtype=np.float64)
            if values.ndim != 1 or len(values) == 1 or not np.isfinite(values).all() or (np.diff(values) < 0).any():
                raise BadInput(
                    f"The quantiles ({side}) of {self.model}, {self.pairing}, must be two or more finite, "
                    "ascending numbers: calibrate the model again"
                )
            object.__setattr__(self, side, values)
        if not len(self.unrelated):
            raise BadInput(f"{self.model}, {self.pairing}, has no quantiles (unrelated): calibrate the model again")

    @property
    def alone(self) -> bool:
        """Whether it is of single images."""
        return not len(self.matching)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one score stands."""

    percentile: float  # 0..100, in an even mixture of both distributions; of single images in the one
    above_unrelated: float  # 0..1, the share of unrelated pairs (of reference images) that score lower
    above_matching: float | None  # 0..1, of matching pairs; None of single images
    reading: str  # one of the above


def measured(
    *,
    model: str,
    pairing: str,
    unrelated: ArrayLike,
    matching: ArrayLike = (),
    source: str,
    synthetic: bool,
    domain: str,
    scenes: int,
) -> Reference:
    """A reference from raw scores (n,) of unrelated and of matching pairs, or of reference images alone.

    An infinite score counts as the largest or smallest finite one. Raises Undefined where no score is finite or one is
    NaN.
    """
    low, high = np.asarray(unrelated, dtype=float), np.asarray(matching, dtype=float)
    every = np.concatenate([low, high])
    finite = every[np.isfinite(every)]
    if np.isnan(every).any() or not len(low) or not len(finite):
        raise Undefined(f"The scores of {model}, {pairing}, do not form a distribution: none is finite, or one is NaN")
    sides = {"unrelated": low, "matching": high}
    levels = np.linspace(0, 1, QUANTILES)
    return Reference(
        model=model,
        pairing=pairing,
        n_unrelated=len(low),
        n_matching=len(high),
        source=source,
        synthetic=synthetic,
        domain=domain,
        scenes=scenes,
        separation=round(separation(unrelated=low, matching=high), DIGITS) if len(high) else None,
        **{
            side: rounded(np.quantile(np.clip(scores, finite.min(), finite.max()), levels)) if len(scores) else scores
            for side, scores in sides.items()
        },
    )


def rounded(values: ArrayLike) -> Floats:
    """To DIGITS significant digits; infinite ones stay."""
    array = np.asarray(values, dtype=float)
    return np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel().tolist()]).reshape(array.shape)


def separation(*, unrelated: ArrayLike, matching: ArrayLike) -> float:
    """The chance that a matching pair (n,) scores above an unrelated one (m,); ties count half.

    The area under the ROC curve: 1 tells all of them apart, 0.5 none.
    """
    low, high = np.sort(np.asarray(unrelated, dtype=float)), np.asarray(matching, dtype=float)
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(below.mean() / (2 * len(low)))


def place(reference: Reference, score: float) -> Place:
    """Where a score falls in a reference distribution: shares are linear between quantiles, ties count half, ends are 0
    and 1.

    The reading follows from two limits: `low`, which 97.5% of the matching pairs reach, and `high`, which 97.5% of the
    unrelated ones do not exceed. "as matching pairs": at or above `low` and above `high`, also above all of them; "as
    unrelated pairs": below `low` and at or below `high`, also below all of them; "either": at or above `low` and at or
    below `high`, where the distributions overlap; "between": below `low` and above `high`, where they leave a gap. Of
    single images it is "above", "below" or "as the reference images": outside or inside of their middle 95%. An
    infinite score is above or below all; Undefined is raised for NaN.
    """
    if np.isnan(score):
        raise Undefined(f"{reference.model} gave no number: it cannot be compared with its scores")
    value = float(rounded(score))
    below = _share(reference.unrelated, value)
    if reference.alone:
        limits = np.quantile(reference.unrelated, [TAIL, 1 - TAIL])
        reading = LESS if value < limits[0] else MORE if value > limits[1] else USUAL
        return Place(percentile=100 * below, above_unrelated=below, above_matching=None, reading=reading)
    also = _share(reference.matching, value)
    matches = value >= np.quantile(reference.matching, TAIL)
    differs = value <= np.quantile(reference.unrelated, 1 - TAIL)
    reading = {(True, False): MATCHING, (False, True): UNRELATED, (True, True): EITHER, (False, False): BETWEEN}[
        bool(matches), bool(differs)
    ]
    return Place(percentile=50 * (below + also), above_unrelated=below, above_matching=also, reading=reading)


def _share(quantiles: Floats, value: float) -> float:
    """The share 0..1 of the distribution below a value, and half of what equals it."""
    left, right = (int(np.searchsorted(quantiles, value, side=side)) for side in ("left", "right"))
    last = len(quantiles) - 1
    if right > left:  # quantiles left..right - 1 equal the value
        return (left + right - 1) / 2 / last
    if left in (0, len(quantiles)):
        return float(left > 0)
    below, above = quantiles[left - 1 : left + 1]
    return (left - 1 + (value - below) / (above - below)) / last
