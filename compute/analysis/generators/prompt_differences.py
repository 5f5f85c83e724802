"""On which prompts two generators differ most, and what the whole of the prompts says.

The most extreme of many differences are extreme by selection: among N normal draws the largest lies near the quantile
(N - 3/8) / (N + 1/4) (Blom 1958) with nothing behind it. So their number of standard deviations is shown next to that
of chance, and the mean over all prompts, which no selection moves, next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.variance import LEVEL
from compute.arrays import Floats, Ints
from compute.types import Undefined

FEWEST = 3  # prompts


@dataclass(frozen=True, kw_only=True)
class PromptDifferences:
    """Two generators prompt by prompt, positive where the first is better."""

    difference: Floats  # (n,)
    mean: float
    low: float  # 95% interval of the mean over prompts; NaN where all differences are equal
    high: float
    extreme: float  # standard deviations of the most extreme difference from the mean; NaN where all are equal
    by_chance: float  # what the most extreme of so many normal draws has on average

    def first(self, most: int) -> Ints:
        """Rows where the first generator is better, by how much."""
        return self._largest(self.difference, most)

    def second(self, most: int) -> Ints:
        """Rows where the second generator is better, by how much."""
        return self._largest(-self.difference, most)

    def share(self, rows: Ints) -> float:
        """What part these rows, all of one direction, are of the sum of their direction; 0 for none."""
        part = float(self.difference[rows].sum())
        same = self.difference[np.sign(self.difference) == np.sign(part)]
        return part / float(same.sum()) if part else 0.0

    def total(self, *, first: bool) -> float:
        """What the prompts of one direction add to the mean, as a positive number."""
        side = self.difference if first else -self.difference
        return float(side[side > 0].sum()) / len(side)

    @staticmethod
    def _largest(values: Floats, most: int) -> Ints:
        rows = np.argsort(-values, kind="stable")[:most]
        return rows[values[rows] > 0]


def prompt_differences(
    *, first: ArrayLike, second: ArrayLike, higher: bool, prompts: Sequence[str] | None = None
) -> PromptDifferences:
    """Two generators' values (n,) on the same prompts; `higher` says whether more is better.

    `prompts` (n,) are those of the values, where one may have several images: each different where not given. The mean
    is that over prompts, each with the mean of its images, and its interval Student's over prompts. Raises
    Undefined below FEWEST prompts.
    """
    from scipy.special import ndtri, stdtrit  # slow to import: not at start

    x, y = np.asarray(first, float), np.asarray(second, float)
    n = len(x)
    which = np.arange(n) if prompts is None else np.unique(np.asarray(prompts), return_inverse=True)[1].reshape(-1)
    difference = x - y if higher else y - x
    by_prompt = np.bincount(which, weights=difference) / np.bincount(which) if n else difference
    if len(by_prompt) < FEWEST:
        raise Undefined(f"{len(by_prompt)} prompts are too few to compare generators on: it needs {FEWEST}")
    mean, spread, deviation = float(by_prompt.mean()), float(by_prompt.std(ddof=1)), float(difference.std(ddof=1))
    student = float(stdtrit(len(by_prompt) - 1, (1 + LEVEL) / 2))
    half = student * spread / np.sqrt(len(by_prompt)) if spread else np.nan
    return PromptDifferences(
        difference=difference,
        mean=mean,
        low=mean - half,
        high=mean + half,
        extreme=float(np.abs(difference - mean).max() / deviation) if deviation else np.nan,
        # Of two tails, each as likely: the most extreme of n either way is the largest of 2 n of one.
        by_chance=float(ndtri((2 * n - 0.375) / (2 * n + 0.25))),
    )
