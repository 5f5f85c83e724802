"""Models' answers as percentiles of their own distributions, and how far models agree: numbers only, no markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute.analysis.calibrated import MATCHING, UNRELATED, Place, Reference, place
from compute.live.question import Answer, LiveQuestion
from compute.types import Model


@dataclass(frozen=True, kw_only=True)
class CalibratedAnswer:
    """One model's answer on the distribution that speaks for its inputs; without one, `reference` is None and the rest
    is empty. `why` says then why there is none, empty for a model that is not calibrated for the question; `few` is the
    distribution that speaks for the inputs and has too few scenes for a percentile.

    Of odd one out, an image's percentile is the mean over its pairs with the others, and `standings` is empty. `margin`
    is how far the pick leads, in percentile points; negative only in odd one out, where the pick goes by raw scores.
    """

    row: Model
    answer: Answer
    reference: Reference | None = None
    few: Reference | None = None
    why: str = ""
    standings: tuple[Place, ...] = ()  # one per option
    percentiles: tuple[float, ...] = ()  # one per option
    margin: float | None = None

    @property
    def is_outside(self) -> bool:
        """Whether the model was calibrated, and on other inputs."""
        return bool(self.why) and self.few is None

    @property
    def direction(self) -> tuple[str, float, float] | None:
        """Of a pair that only a distribution of few scenes speaks for: whether its score is nearer to the median of the
        matching or of the unrelated pairs (MATCHING, UNRELATED), and both medians; None without."""
        if self.few is None or self.few.alone or len(self.answer.scores) != 1:
            return None
        unrelated, matching = medians(self.few)
        nearer = self.answer.scores[0] > (matching + unrelated) / 2
        return MATCHING if nearer else UNRELATED, matching, unrelated


def calibrated_answer(answer: Answer, row: Model, question: LiveQuestion) -> CalibratedAnswer:
    """The answer on the model's own distribution, if one speaks for its inputs."""
    check = answer.domain
    if not check.has_percentile or answer.problem or not answer.scores:
        return CalibratedAnswer(row=row, answer=answer, few=check.reference, why=check.why)
    reference = check.reference
    standings: tuple[Place, ...] = ()
    if question.mode == "odd":
        by_pair = {pair: place(reference, score).percentile for pair, score in answer.pairs.items()}
        percentiles = tuple(
            float(np.mean([percentile for pair, percentile in by_pair.items() if option in pair]))
            for option in range(len(answer.scores))
        )
    else:
        standings = tuple(place(reference, score) for score in answer.scores)
        percentiles = tuple(standing.percentile for standing in standings)
    sign = -1 if question.mode == "odd" else 1  # the odd one is the least similar
    return CalibratedAnswer(
        row=row,
        answer=answer,
        reference=reference,
        standings=standings,
        percentiles=percentiles,
        margin=_lead([sign * percentile for percentile in percentiles], answer.pick),
    )


def _lead(percentiles: Sequence[float], pick: int | None) -> float | None:
    """How far the pick is above the best of the others; None without a pick or another option."""
    others = [percentile for option, percentile in enumerate(percentiles) if option != pick]
    return percentiles[pick] - max(others) if pick is not None and others else None


def medians(reference: Reference) -> tuple[float, float]:
    """The median scores of its unrelated and of its matching pairs."""
    return float(np.median(reference.unrelated)), float(np.median(reference.matching))


def bands(reference: Reference) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """Percentiles of the middle 95% of unrelated and of matching pairs; None for the latter with single images."""

    def band(values: np.ndarray) -> tuple[float, float]:
        low, high = np.quantile(values, [0.025, 0.975])
        return place(reference, float(low)).percentile, place(reference, float(high)).percentile

    return band(reference.unrelated), None if reference.alone else band(reference.matching)
