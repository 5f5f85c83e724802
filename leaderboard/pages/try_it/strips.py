"""A model's own axis, 0 to 100: the bands of its distribution, and a mark for each option with its letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute.analysis.calibrated import TAIL, place
from compute.live.questions import Answer
from compute.types import LETTERS
from leaderboard.html.formatting import number

MIDDLE = (TAIL, 1 - TAIL)
EDGE = 0.06  # of an axis of raw scores, before its lowest and after its highest
LETTER = 7.0  # of the axis: the width of a letter and its gap where the axis is narrowest


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One option at `at`, 0 to 100 along the axis; its letter, empty for a single one, is at `label_at`."""

    at: float
    label: str
    label_at: float
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One axis of percentiles or of raw scores. `bands` are the middle 95% of a distribution: kind, start and width."""

    bands: tuple[tuple[str, float, float], ...]
    marks: tuple[Mark, ...]
    values: tuple[str, ...]  # one per option, as numbers to read
    unit: str
    label: str  # for screen readers


def strip(answer: Answer) -> Strip | None:
    """The axis of an answer: percentiles where a distribution gives them, else raw scores.

    None for a single raw score without any distribution, and for judges.
    """
    if answer.unit in ("rating", "votes") or answer.problem:
        return None
    known = answer.reference or answer.few
    limits = [np.quantile(side, MIDDLE) for side in (known.unrelated, known.matching) if len(side)] if known else []
    if answer.percentiles:
        at, values = list(answer.percentiles), [number(each, digits=0) for each in answer.percentiles]
        limits = [[place(known, float(limit)).percentile for limit in side] for side in limits]
        unit = "percentile"
    else:
        scores = raw(answer)
        every = np.concatenate([np.asarray(scores, dtype=float), *limits])
        low, high = float(every.min()), float(every.max())
        if not np.isfinite(every).all() or low == high:
            return None
        low, high = low - EDGE * (high - low), high + EDGE * (high - low)
        at, *limits = [[100 * (value - low) / (high - low) for value in side] for side in (scores, *limits)]
        values, unit = [f"{score:.3g}".replace("-", "−") for score in scores], measure(answer)
    kinds = ("alone",) if known and known.alone else ("unrelated", "matching")
    several = len(values) > 1
    named = ", ".join(f"{LETTERS[option]} {value}" for option, value in enumerate(values)) if several else values[0]
    return Strip(
        bands=tuple((kind, low, high - low) for kind, (low, high) in zip(kinds, limits, strict=False)),
        marks=tuple(
            Mark(
                at=at[option],
                label=LETTERS[option] if several else "",
                label_at=label_at,
                chosen=option == answer.pick or not several,
            )
            for option, label_at in enumerate(spread(at, width=LETTER))
        ),
        values=tuple(values),
        unit=unit,
        label=f"{unit.capitalize()} {named}",
    )


def raw(answer: Answer) -> tuple[float, ...]:
    """A raw score for each option. Of odd one out its mean similarity to the others, as of percentiles: the odd one is
    lowest; the answer's own scores there are how similar the others are among themselves."""
    scores, pairs = answer.scores, answer.pairs
    if not pairs:
        return scores
    return tuple(
        float(np.mean([score for pair, score in pairs.items() if option in pair])) for option in range(len(scores))
    )


def measure(answer: Answer) -> str:
    """What a raw score is."""
    return "cosine" if answer.unit == "cosine" else "score"


def spread(values: Sequence[float], *, width: float) -> list[float]:
    """Centres for labels of one width, in the values' order, none overlapping and all within [low, high].

    The smallest sum of squared shifts: isotonic regression of the values less the width of the labels before them.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(values, kind="stable")
    room = width * np.arange(len(values))
    free = isotonic_regression(np.asarray(values)[order] - room).x
    centres = np.empty(len(values))
    centres[order] = np.clip(free, width / 2, 100 - width / 2 - room[-1]) + room
    return centres.tolist()
