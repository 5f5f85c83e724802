"""One model's row of a ranking, in plain values and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from compute.analysis.intervals import bias_note
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import UNRANKED
from compute.analysis.ranks.variance import listed
from compute.analysis.table import ScoreTable
from compute.types import origins_in


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model's row of a ranking, in stored units. None where something is not known; `reason` says why."""

    model: str
    of_suite: str
    rank: int | None = None  # 1 is best, ties 1, 2, 2, 4
    rank_low: int | None = None  # best rank of the interval, which covers at least 95%
    rank_high: int | None = None
    of: int = 0  # ranked models, with this one
    others: Mapping[str, int] | None  # the other ranked ones, counted by origin; None: nobody else was looked at
    tie_class: str = ""  # letter, empty where not known
    better: tuple[str, ...] = ()  # models that are significantly better
    worse: tuple[str, ...] = ()  # models that are significantly worse
    mean: float | None = None
    mean_low: float | None = None  # of the 95% interval
    mean_high: float | None = None
    mean_bias: float = 0.0  # what the mean has too much for few items: rank and interval are of the mean without it
    tasks: int  # counting ones with a score
    of_tasks: int  # that count
    reason: str = ""
    notes: tuple[str, ...] = ()  # what to know of how the rows compare, in sentences

    @classmethod
    def first(cls, ranking: Ranking) -> RankedModel:
        """The row of the first model of a ranking."""
        table, ranked = ranking.table, ranking.rank != UNRANKED
        ends = {name: float(getattr(ranking, name)[0]) for name in ("mean", "mean_low", "mean_high")}
        places = {name: int(getattr(ranking, name)[0]) for name in ("rank", "rank_low", "rank_high")}
        others = Counter(origin for origin, has in zip(table.origins[1:], ranked[1:], strict=True) if has)
        return cls(
            model=table.models[0],
            of_suite=table.name,
            **{name: None if place == UNRANKED else place for name, place in places.items()},
            of=int(ranked.sum()),
            others={origin: others[origin] for origin in origins_in(filter(None, others))} if len(ranked) > 1 else None,
            tie_class=ranking.classes[0],
            better=tuple(table.models[other] for other in np.flatnonzero(ranking.better[:, 0])),
            worse=tuple(table.models[other] for other in np.flatnonzero(ranking.better[0])),
            **{name: None if np.isnan(end) else end for name, end in ends.items()},
            mean_bias=float(ranking.excess[0]),
            tasks=int(ranking.scored[0]),
            of_tasks=int(table.counted.sum()),
            reason=ranking.why[0].removeprefix("Not ranked: ") or ranking.unknown[0],
        )

    @classmethod
    def unknown(cls, table: ScoreTable, *, reason: str, others: Mapping[str, int] | None) -> RankedModel:
        """The row of the first model of a table where it has neither rank nor mean, and why."""
        return cls(
            model=table.models[0],
            of_suite=table.name,
            others=others,
            tasks=int((~np.isnan(table.values[:1, table.counted])).sum()),
            of_tasks=int(table.counted.sum()),
            reason=reason,
        )

    def __str__(self) -> str:
        """The rank with its interval and among whom, then the notes; of a model alone the mean with its interval."""
        if self.others is None:
            return self._mean_text()
        if self.rank is None:
            return f"Rank on {self.of_suite} unknown: {self.reason}"
        counts = [f"{count:,} {origin}" for origin, count in self.others.items()]
        rows = f"{listed(counts)} {'row of another model' if self.of == 2 else 'rows of other models'}"
        text = f"Rank {self.rank} of {self.of} on {self.of_suite}, among {rows}"
        if self.rank_low is None:
            return " ".join((f"{text}; its interval is unknown: {self.reason}.", *self.notes))
        low, high = self.rank_low, self.rank_high
        span = f"is {low}" if low == high else f"lies between {low} and {high}"
        return " ".join((f"{text}; with at least 95% confidence the rank {span}.", *self.notes))

    def _mean_text(self) -> str:
        if self.mean is None:
            return f"{self.of_suite}: mean unknown: {self.reason}"
        known = self.mean_low is not None
        interval = f"{self.mean_low:.4f} to {self.mean_high:.4f}" if known else f"interval: {self.reason}"
        note = bias_note(self.mean, self.mean_bias, digits=4)
        return f"{self.of_suite}: mean {self.mean:.4f} ({'; '.join(filter(None, (note, interval)))})"
