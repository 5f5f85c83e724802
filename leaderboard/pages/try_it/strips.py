"""A model's own axis, 0 to 100: bands with their labels, a mark for each option, and letters that never overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute.analysis.calibrated import TAIL, Reference, place
from compute.live.questions import Answer
from compute.types import LETTERS
from leaderboard.html.formatting import number

MIDDLE = (TAIL, 1 - TAIL)
EDGE = 0.06  # of an axis of raw scores, before its lowest and after its highest
NUMBER = 16.0  # of the axis: the width of a raw score as a label
LETTER = 7.0  # of the axis: the width of a letter and its gap where the axis is narrowest
LABEL = 33.0  # of the axis: the width of a band's label there; under 100 / 3, so that one of three places fits
LABELS = {"unrelated": "unrelated", "matching": "matching", "alone": "references"}


@dataclass(frozen=True, kw_only=True)
class Band:
    """The middle 95% of one distribution. `label_at` is where its label starts, or ends where `label_ends`."""

    kind: str  # a key of LABELS
    label: str
    low: float
    width: float
    label_at: float
    label_ends: bool


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One option at `at`, 0 to 100 along the axis; its letter, or the value of a single one, is at `label_at`."""

    at: float
    label: str
    label_at: float
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class Strip:
    """All of one axis, of percentiles or of raw scores. `ticks` are at its start, its middle and its end."""

    bands: tuple[Band, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[str, str, str]
    unit: str
    label: str  # for screen readers
    title: str


def strip(answer: Answer) -> Strip | None:
    """The axis of an answer: percentiles where a distribution gives them, else raw scores without any percentile.

    None for a single raw score that nothing stands beside, and for judges.
    """
    if answer.unit in ("rating", "votes"):
        return None
    return _of_percentiles(answer) if answer.percentiles else _of_scores(answer)


def _of_percentiles(answer: Answer) -> Strip:
    percentiles = answer.percentiles
    values = [number(percentile, digits=0) for percentile in percentiles]
    ends = ("least", "most") if answer.reference.alone else ("unrelated", "matching")
    said = _said(values)
    raw = ", ".join(f"{score:.4g}" for score in _raw(answer))
    return Strip(
        bands=_bands(answer.reference, *bands(answer.reference), percentiles),
        marks=_marks(answer, percentiles, values),
        ticks=("0", "50", "100"),
        unit="percentile",
        label=f"Percentile {said}, from 0, {ends[0]}, to 100, {ends[1]}",
        title=f"Percentile {said}. Its raw {_unit(answer)}: {raw}, meaningful only relative to the bands",
    )


def _of_scores(answer: Answer) -> Strip | None:
    """Raw scores: beside the bands of a distribution that has too few scenes for percentiles, or alone."""
    scores, few = _raw(answer), answer.few
    limits = [np.quantile(side, MIDDLE) for side in (few.unrelated, few.matching) if len(side)] if few else []
    every = np.concatenate([np.asarray(scores, dtype=float), *limits])
    low, high = float(every.min()), float(every.max())
    if not np.isfinite(every).all() or low == high:
        return None
    low, high = low - EDGE * (high - low), high + EDGE * (high - low)
    at = [100 * (score - low) / (high - low) for score in scores]
    shown = [(float(one), float(other)) for one, other in (100 * (side - low) / (high - low) for side in limits)]
    values = [f"{score:.3g}" for score in scores]
    unit = f"raw {_unit(answer)}"
    return Strip(
        bands=_bands(few, *shown, *[None] * (2 - len(shown)), at) if shown else (),
        marks=_marks(answer, at, values),
        ticks=(f"{low:.2g}", f"{(low + high) / 2:.2g}", f"{high:.2g}"),
        unit=unit,
        label=f"{unit.capitalize()} {_said(values)}; no percentile",
        title=f"{unit.capitalize()} {_said(values)}; no percentile: {answer.why or 'it is not calibrated'}",
    )


def _raw(answer: Answer) -> tuple[float, ...]:
    """A raw score for each option. Of odd one out its mean similarity to the others, as of percentiles: the odd one is
    lowest; the answer's own scores there are how alike the others are among themselves."""
    scores, pairs = answer.scores, answer.pairs
    if not pairs:
        return scores
    return tuple(
        float(np.mean([score for pair, score in pairs.items() if option in pair])) for option in range(len(scores))
    )


def _unit(answer: Answer) -> str:
    return "cosine" if answer.unit == "cosine" else "score"


def _said(values: Sequence[str]) -> str:
    """`A 25, B 75`, or the one value."""
    return ", ".join(f"{LETTERS[at]} {value}" for at, value in enumerate(values)) if len(values) > 1 else values[0]


def _marks(answer: Answer, at: Sequence[float], values: Sequence[str]) -> tuple[Mark, ...]:
    several = len(values) > 1
    return tuple(
        Mark(
            at=at[option],
            label=LETTERS[option] if several else value,
            label_at=label_at,
            chosen=option == answer.pick or not several,
        )
        for option, (value, label_at) in enumerate(
            zip(values, spread(at, width=LETTER if several else NUMBER), strict=True)
        )
    )


def bands(reference: Reference) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """Percentiles of the middle 95% of unrelated and of matching pairs; None for the latter with single images."""

    def band(values: np.ndarray) -> tuple[float, float]:
        low, high = np.quantile(values, MIDDLE)
        return place(reference, float(low)).percentile, place(reference, float(high)).percentile

    return band(reference.unrelated), None if reference.alone else band(reference.matching)


def _bands(
    reference: Reference,
    unrelated: tuple[float, float],
    matching: tuple[float, float] | None,
    marks: Sequence[float],
) -> tuple[Band, ...]:
    first = "alone" if reference.alone else "unrelated"
    limits = ((first, unrelated), ("matching", matching))
    return tuple(_band(kind, *ends, marks) for kind, ends in limits if ends is not None)


def _band(kind: str, low: float, high: float, marks: Sequence[float]) -> Band:
    """With its label where the fewest marks cross it: inside where that fits, else after or before the band."""
    places = [(low, low, False), (high - LABEL, high, True)] if high - low >= LABEL else []
    places += [(high, high, False), (low - LABEL, low, True)]
    places = [each for each in places if 0 <= each[0] <= 100 - LABEL]  # never empty: LABEL is under a third
    _, at, ends = min(places, key=lambda each: sum(each[0] <= mark <= each[0] + LABEL for mark in marks))
    return Band(kind=kind, label=LABELS[kind], low=low, width=high - low, label_at=at, label_ends=ends)


def spread(values: Sequence[float], *, width: float, low: float = 0.0, high: float = 100.0) -> list[float]:
    """Centres for labels of one width, in the values' order, none overlapping and all within [low, high].

    The smallest sum of squared shifts: isotonic regression of the values less the width of the labels before them.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(values, kind="stable")
    room = width * np.arange(len(values))
    free = isotonic_regression(np.asarray(values)[order] - room).x
    centres = np.empty(len(values))
    centres[order] = np.clip(free, low + width / 2, high - width / 2 - room[-1]) + room
    return centres.tolist()
