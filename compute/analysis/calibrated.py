"""Compares a score with the scores that the same model gives matching and unrelated pairs; raw scores mean nothing
alone.

A matching pair has a cosine of 0.25 in one model and 0.95 in another. Each model therefore has, for each pairing of
modalities (image-image, image-text, text-text), the distributions of its scores of matching and of unrelated pairs. For
a question about single images (quality, brightness, ...) it has the distribution of its scores of reference images.
Higher scores mean more similar, or more of the property.

A score's place in a distribution is meaningful only if the input could have come from that distribution. Each
distribution therefore has a domain per modality: the model's vectors of its scenes. An input is inside if its distance
to the nearest scene is at most that of 97.5% of the scenes to their nearest other scene, so a new scene of the same
kind is outside with a probability of about 2.5% (conformal prediction, Vovk et al. 2005, chapter 4). Fewer than SCENES
scenes have no such limit: every input counts as inside, but gets no percentile. An image must also be inside by its
colours, which distinguish photographs from drawings even if a model's own vectors do not.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats, unit
from compute.types import BadInput, Undefined

QUANTILES = 201  # every half percent, from the lowest score to the highest
DIGITS = 6  # significant digits of a quantile and of a score placed among them
TAIL = 0.025  # of a distribution outside of each limit

# Readings of a score against two distributions.
MATCHING, UNRELATED = "as matching pairs", "as unrelated pairs"
EITHER, BETWEEN = "either", "between"
# Readings against the distribution of single images.
MORE, LESS, USUAL = "above the reference images", "below the reference images", "as the reference images"
# A percentile's limits cut TAIL off each end, and n scenes resolve no share below 1 / n: with fewer scenes than this,
# not one lies beyond a limit. More pairs of the same scenes do not add scenes.
SCENES = round(1 / TAIL)
MOST = 400  # scenes that a domain stores
WIDTH = 128  # dimensions per scene; longer vectors are projected at random, which preserves distances
COLOURS = "colour-histogram"  # the model whose domains apply to the images of all models
TITLES = {"drawn": "drawn scenes", "photographs": "photographs", "sentences": "English sentences"}
OUTSIDE = "outside what this model was calibrated on"


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """One model's scores for one pairing, as evenly spaced quantiles from the lowest score to the highest.

    Raises BadInput for quantiles that are not finite or not ascending, or fewer than two.
    """

    model: str
    pairing: str  # two modalities, `image-text`, or the question about single images
    unrelated: Floats  # (quantiles,) of unrelated pairs, or of reference images
    matching: Floats  # (quantiles,) of matching pairs; (0,) for single images
    n_unrelated: int  # pairs, or images
    n_matching: int
    separation: float | None  # see `separation`, from the scores themselves; None for single images
    source: str  # the tasks or other data whose items were scored
    synthetic: bool  # a program drew the items
    domain: str  # the kind of input it covers: drawn, photographs, sentences or tasks
    scenes: int  # distinct scenes behind the pairs or images; pairs of one scene are not independent

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
        """Whether it describes single images."""
        return not len(self.matching)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of one score in its distributions."""

    percentile: float  # 0..100, in an even mixture of both distributions, or in the one of single images
    above_unrelated: float  # 0..1, the share of unrelated pairs (or reference images) that score lower
    above_matching: float | None  # 0..1, the share of matching pairs that score lower; None for single images
    reading: str  # one of the readings above


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
    """Builds a reference from raw scores (n,) of unrelated and matching pairs, or of reference images only.

    An infinite score counts as the largest or smallest finite one. Raises Undefined if no score is finite or one is
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
    """Rounds to DIGITS significant digits; infinite values stay."""
    array = np.asarray(values, dtype=float)
    return np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel().tolist()]).reshape(array.shape)


def separation(*, unrelated: ArrayLike, matching: ArrayLike) -> float:
    """Returns the probability that a matching pair (n,) scores above an unrelated one (m,); ties count half.

    This is the area under the ROC curve: 1 is perfect separation, 0.5 is chance.
    """
    low, high = np.sort(np.asarray(unrelated, dtype=float)), np.asarray(matching, dtype=float)
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(below.mean() / (2 * len(low)))


def place(reference: Reference, score: float) -> Place:
    """Places a score in a reference distribution. Shares are linear between quantiles, 0 and 1 at the ends.

    The reading follows from two limits: `low`, which 97.5% of the matching pairs reach, and `high`, which 97.5% of the
    unrelated pairs do not exceed. "as matching pairs": at or above `low` and above `high`. "as unrelated pairs": below
    `low` and at or below `high`. "either": at or above `low` and at or below `high`, where the distributions overlap.
    "between": below `low` and above `high`, where they leave a gap. For single images the reading is "above", "below"
    or "as the reference images", by the middle 95% of those. Ties count half. An infinite score is above or below all.
    Raises Undefined for NaN.
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
    """Returns the share 0..1 of the distribution below a value, plus half of what equals it."""
    left, right = (int(np.searchsorted(quantiles, value, side=side)) for side in ("left", "right"))
    last = len(quantiles) - 1
    if right > left:  # quantiles left..right - 1 equal the value
        return (left + right - 1) / 2 / last
    if left in (0, len(quantiles)):
        return float(left > 0)
    below, above = quantiles[left - 1 : left + 1]
    return (left - 1 + (value - below) / (above - below)) / last


class Seen(NamedTuple):
    """One input as a vector of the model or of COLOURS."""

    by: str  # the model that produced the vector
    modality: str
    vector: Floats  # (d,)


@dataclass(frozen=True, kw_only=True, eq=False)
class Domain:
    """One model's domain for one modality: the vectors of its scenes and the largest distance that counts as inside.

    Earlier versions stored one mean, with the axes and widths in which distances are measured.
    """

    model: str
    name: str  # of the set of scenes: drawn, photographs, sentences
    modality: str
    limit: float  # the largest distance to the nearest scene that is still inside
    vectors: Floats  # (n, d), `reduced`
    axes: Floats | None = None  # (r, d), unit length
    widths: Floats | None = None  # (r + 1,) standard deviations along the axes, and in every other direction

    def distance(self, vector: Floats) -> float:
        """Returns the distance of a vector (d,) to the nearest scene, divided by the limit: above 1 is outside."""
        if self.axes is None:
            return float(_apart(reduced(vector[None]), self.vectors).min() / self.limit)
        apart = unit(vector[None].astype(float)) - self.vectors
        along = apart @ self.axes.T
        beyond = max((apart**2).sum() - (along**2).sum(), 0)
        return math.sqrt(((along / self.widths[:-1]) ** 2).sum() + beyond / self.widths[-1] ** 2) / self.limit

    def record(self) -> dict[str, Any]:
        """Returns a JSON-ready record: the vectors are base64 of int8, to be multiplied by `scale`."""
        scale = _scale(self.vectors)
        plain = {name: getattr(self, name) for name in ("model", "name", "modality", "limit")}
        levels = np.round(self.vectors / scale).astype(np.int8)
        return plain | {"scale": scale, "items": len(levels), "vectors": base64.b64encode(levels.tobytes()).decode()}


def restored(record: Mapping[str, Any]) -> Domain:
    """Restores a domain from its record, also from an earlier version's. Raises BadInput for anything else."""
    try:
        names = {name: record[name] for name in ("model", "name", "modality", "limit")}
        if "scale" in record:
            levels = np.frombuffer(base64.b64decode(record["vectors"]), dtype=np.int8)
            return Domain(**names, vectors=levels.reshape(record["items"], -1) * record["scale"])
        if "shape" not in record:  # of a pixel metric, whose domain was a range of sizes
            return Domain(**names, vectors=np.zeros((0, 0)))
        rows, width = record["shape"]
        mean, axes, widths = (
            np.frombuffer(base64.b64decode(record[name]), dtype="<f2").astype(float).reshape(shape)
            for name, shape in {"mean": (1, width), "axes": (rows, width), "widths": (rows + 1,)}.items()
        )
        return Domain(**names, vectors=mean, axes=axes, widths=widths)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"It is not a calibration domain ({str(error)[:120]}): calibrate the model again") from error


def of_vectors(vectors: ArrayLike, *, model: str, name: str, modality: str) -> Domain:
    """Builds the domain of vectors (n, d), one per scene, at most MOST of which are stored.

    Raises Undefined if there are fewer than SCENES scenes or a vector is not finite.
    """
    rows = np.asarray(vectors, dtype=float)
    if len(rows) < SCENES or not np.isfinite(rows).all():
        raise Undefined(f"{len(rows)} scenes are too few for a domain of {model} for {modality}s: it needs {SCENES}")
    items = reduced(rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST)).round().astype(int))])
    items = np.round(items / _scale(items)) * _scale(items)  # as they are stored
    apart = _apart(items, items)
    np.fill_diagonal(apart, np.inf)
    rank = math.ceil((len(items) + 1) * (1 - TAIL))
    limit = max(float(np.sort(apart.min(axis=1))[rank - 1]), 1e-6)  # identical scenes would give 0
    return Domain(model=model, name=name, modality=modality, limit=limit, vectors=items)


def reduced(vectors: Floats) -> Floats:
    """Returns vectors (n, d) with unit length, projected to WIDTH dimensions by random signs if they are longer."""
    whole = unit(vectors.astype(float))
    return whole if whole.shape[1] <= WIDTH else whole @ _signs(whole.shape[1])


@cache
def _signs(width: int) -> Floats:
    """Returns the signs (width, WIDTH), the same on every machine (Achlioptas 2003)."""
    bits = np.frombuffer(hashlib.shake_256(b"domain").digest(width * WIDTH // 8), dtype=np.uint8)
    return (np.unpackbits(bits).reshape(width, WIDTH) * 2.0 - 1) / math.sqrt(WIDTH)


def _scale(vectors: Floats) -> float:
    return float(f"{np.abs(vectors).max() / 127:.6g}")


def _apart(first: Floats, second: Floats) -> Floats:
    """Returns the distances (n, m)."""
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.sqrt(np.maximum(squares, 0))


@dataclass(frozen=True, kw_only=True)
class DomainCheck:
    """Whether inputs are within a model's calibration: the distribution that applies to them, or why none does.

    If `few`, the distribution applies but has too few scenes for a percentile, and `why` says so.
    """

    reference: Reference | None = None
    few: bool = False
    why: str = ""

    @property
    def has_percentile(self) -> bool:
        """Whether a score may be placed in the distribution."""
        return self.reference is not None and not self.few


@dataclass(frozen=True, kw_only=True)
class Calibrations:
    """Distributions and their domains, of any number of models."""

    references: tuple[Reference, ...] = ()
    domains: tuple[Domain, ...] = ()

    @property
    def key(self) -> tuple:
        """Equal for equal distributions, judged by their names and sizes."""
        return tuple((one.model, one.pairing, one.domain, one.n_unrelated, one.separation) for one in self.references)

    def of(self, model: str, pairing: str) -> Calibrations:
        """Returns those of one model and pairing, with the domains of COLOURS."""
        return Calibrations(
            references=tuple(one for one in self.references if (one.model, one.pairing) == (model, pairing)),
            domains=tuple(one for one in self.domains if one.model in (model, COLOURS)),
        )

    def judged(self, model: str, pairing: str, inputs: Sequence[Seen]) -> DomainCheck:
        """Returns the distribution whose domain contains all inputs, the one they are deepest in, or why there is none.

        If the model has no distribution of this pairing, no reason is given.
        """
        own = self.of(model, pairing)
        depths = {one.domain: max((own._depth(one, seen) for seen in inputs), default=0.0) for one in own.references}
        inside = [one for one in own.references if depths[one.domain] <= 1]
        if inside:
            best = min(inside, key=lambda one: (one.scenes < SCENES, depths[one.domain]))
            few = best.scenes < SCENES
            return DomainCheck(reference=best, few=few, why=too_few(best) if few else "")
        if own.references:
            return DomainCheck(why=f"{OUTSIDE}: {' and '.join(described(one) for one in own.references)}")
        return DomainCheck()

    def _depth(self, reference: Reference, seen: Seen) -> float:
        """Returns how far outside an input is, relative to the limit; 1 if nothing is known."""
        if reference.scenes < SCENES:
            return 1.0
        names = (seen.by, reference.domain, seen.modality)
        domain = next((one for one in self.domains if (one.model, one.name, one.modality) == names), None)
        if domain is None:
            return 1.0 if seen.by == COLOURS else math.inf
        return domain.distance(seen.vector)


def described(reference: Reference) -> str:
    """Describes in words the data of a distribution."""
    return TITLES.get(reference.domain, f"the items of {reference.source}")


def too_few(reference: Reference) -> str:
    """Returns why a distribution gives no percentile."""
    return f"calibrated on {reference.scenes} {described(reference)}, and a percentile needs {SCENES}"
