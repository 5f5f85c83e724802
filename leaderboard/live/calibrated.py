"""Models' answers against their own distributions, and against one another: numbers only, no markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compute.analysis.calibrated import Place, Reference, place
from compute.types import Model

if TYPE_CHECKING:
    from compute.live.answers import Answer, Asked

References = Mapping[tuple[str, str], Reference]  # by model and pairing


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One model's answer. `places` are one an option where its distribution is known, else empty; of odd one out, each
    image's mean percentile with the others. `margin` is how far the pick leads, in percentile points; below 0 only of
    odd one out, whose pick goes by the model's own scores."""

    row: Model
    answer: Answer
    reference: Reference | None = None
    places: tuple[Place, ...] = ()
    positions: tuple[float, ...] = ()  # percentiles, one an option
    margin: float | None = None


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How the models' picks fall: votes an option, of how many that picked."""

    votes: tuple[int, ...]
    of: int

    @property
    def leader(self) -> int | None:
        """The option most models pick; None for a tie or no vote."""
        best = max(self.votes, default=0)
        places = [at for at, votes in enumerate(self.votes) if votes == best]
        return places[0] if best and len(places) == 1 else None


def pairing(asked: Asked) -> str:
    """Which distribution a question is held against: two modalities, or the attribute of single images."""
    if asked.mode == "quality":
        return asked.question
    if asked.mode == "odd":
        return "image-image"
    return "-".join(sorted(asked.kinds[:2]))


def judged(answer: Answer, row: Model, asked: Asked, references: References) -> Judged:
    """The answer with its places on the model's own distribution, where there is one."""
    reference = references.get((row.key, pairing(asked)))
    if reference is None or answer.problem or not answer.scores or answer.unit in ("rating", "votes"):
        return Judged(row=row, answer=answer)
    if asked.mode == "odd":
        whole = {pair: place(reference, score).percentile for pair, score in answer.pairs.items()}
        positions = tuple(
            float(np.mean([value for pair, value in whole.items() if option in pair]))
            for option in range(len(answer.scores))
        )
        return Judged(
            row=row,
            answer=answer,
            reference=reference,
            positions=positions,
            margin=_lead([-position for position in positions], answer.pick),
        )
    places = tuple(place(reference, score) for score in answer.scores)
    positions = tuple(one.percentile for one in places)
    return Judged(
        row=row,
        answer=answer,
        reference=reference,
        places=places,
        positions=positions,
        margin=_lead(positions, answer.pick),
    )


def _lead(positions: Sequence[float], pick: int | None) -> float | None:
    """How far the pick stands above the best of the others; None without a pick or another option."""
    others = [value for at, value in enumerate(positions) if at != pick]
    return positions[pick] - max(others) if pick is not None and others else None


def bands(reference: Reference) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """Where the middle 95% of unrelated and of matching pairs lie, in percentiles; no second band for single images."""

    def band(values: np.ndarray) -> tuple[float, float]:
        low, high = np.quantile(values, [0.025, 0.975])
        return place(reference, float(low)).percentile, place(reference, float(high)).percentile

    return band(reference.unrelated), None if reference.alone else band(reference.matching)


def agreement(found: Sequence[Judged], options: int) -> Agreement:
    """The picks counted; models without a pick are left out."""
    counted = Counter(one.answer.pick for one in found if not one.answer.problem and one.answer.pick is not None)
    return Agreement(votes=tuple(counted.get(at, 0) for at in range(options)), of=counted.total())


def readings(found: Sequence[Judged]) -> Counter[str]:
    """Of a pair: how many models read it as what."""
    return Counter(one.places[0].reading for one in found if one.places)
