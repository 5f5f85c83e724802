"""Splits the agreement of cFreD between the image backbone and the text backbone.

The agreement of every pair of backbones, [images, texts], is split as in a two-way analysis of variance with one value
per cell. `draws` [draws, images, texts] are agreements of resampled generators (a bootstrap), so the intervals do not
generalise to other backbones. Source of the question: cFreD, section 5 and Figure 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.analysis.generators.agreement import FEWEST, correlations, of_draws
from compute.analysis.intervals import Estimate
from compute.analysis.ranks.variance import LEVEL, UNCHANGED
from compute.arrays import Bools, Floats, ranks
from compute.metrics.agreement import correlation

DRAWS = 1000


@dataclass(frozen=True, kw_only=True)
class SideEffect:
    """The backbones of one side: the mean of each over the other side, and their share of the variance between cells.

    The share is 0..1, None if no cell differs. `gap` is the largest difference between two, from the `best` to the
    `worst`; its interval holds for all pairs of the side at once. It is None with a single backbone.
    """

    means: Mapping[str, Estimate]
    share: float | None
    best: str
    worst: str
    gap: Estimate | None

    @property
    def apart(self) -> bool:
        """Whether two backbones differ significantly."""
        return self.gap is not None and self.gap.low > 0


@dataclass(frozen=True, kw_only=True)
class BackboneEffects:
    """The agreement over all cells and by side; `rest` is the share of the variance due to the interaction."""

    mean: Estimate
    lowest: float
    highest: float
    image: SideEffect
    text: SideEffect
    rest: float | None


def people_agreement(*, distances: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats | None]:
    """Returns Spearman's correlation (subsets,) of distances (generators, subsets), lower is better, with people's
    ratings (generators,), signed so that 1 is best.

    Also returns draws (DRAWS, subsets) of a bootstrap over generators, None with fewer than FEWEST of them. Raises
    Undefined for fewer than three generators and if the ratings or the distances of a backbone are constant.
    """
    x, y = np.asarray(distances, float), np.asarray(human, float)
    for column in x.T:
        correlation(scores=column, human=y)  # raises if undefined
    scale = np.abs(x).max(axis=0) * UNCHANGED
    points = _rank_correlations(-y, x / scale)
    if len(y) < FEWEST:
        return points, None
    draws = np.empty((DRAWS, x.shape[1]))
    for at, rows in enumerate(np.random.default_rng(0).integers(0, len(y), (DRAWS, len(y)))):
        draws[at] = _rank_correlations(-y[rows], x[rows] / scale)
    return points, draws


def complete(cells: ArrayLike) -> tuple[Bools, Bools]:
    """Returns which rows and columns of [images, texts] to use if some cells are NaN: those with the most gaps are
    removed first, until no cell is missing.
    """
    missing = np.isnan(np.asarray(cells, float))
    rows, columns = np.ones(missing.shape[0], bool), np.ones(missing.shape[1], bool)
    while (part := missing & rows[:, None] & columns).any():
        by_row, by_column = part.sum(axis=1) / max(columns.sum(), 1), part.sum(axis=0) / max(rows.sum(), 1)
        if by_row.max() >= by_column.max():
            rows[int(by_row.argmax())] = False
        else:
            columns[int(by_column.argmax())] = False
    return rows, columns


def effects(cells: pd.DataFrame, *, draws: ArrayLike | None = None) -> BackboneEffects:
    """Splits the agreement [images, texts] between both sides.

    A gap's interval extends by its standard error times the 95% quantile, over draws, of the largest standardised
    deviation of any pair of the side.
    """
    values = cells.to_numpy(float)
    drawn = values[None] if draws is None else np.asarray(draws, float)
    middle = values.mean()
    whole = ((values - middle) ** 2).sum()
    varied = whole > values.size * UNCHANGED**2

    def side(axis: int) -> SideEffect:
        means, spread = cells.mean(axis=1 - axis), drawn.mean(axis=2 - axis)  # (k,), (draws, k)
        order = np.argsort(-means.to_numpy(), kind="stable")
        best, worst = int(order[0]), int(order[-1])
        value = float(means.iloc[best] - means.iloc[worst])
        gap = Estimate(value=value) if len(means) > 1 else None
        error = float((spread[:, best] - spread[:, worst]).std())
        if error > UNCHANGED:
            first, second = np.triu_indices(len(means), k=1)
            steps = spread[:, first] - spread[:, second]
            errors = steps.std(axis=0)
            off = np.abs(steps - steps.mean(axis=0))[:, errors > UNCHANGED] / errors[errors > UNCHANGED]
            half = float(np.quantile(off.max(axis=1), LEVEL)) * error
            gap = Estimate(value=value, low=max(-2.0, value - half), high=min(2.0, value + half))
        return SideEffect(
            means={key: _mean(mean, each) for (key, mean), each in zip(means.items(), spread.T, strict=True)},
            share=float(((means - middle) ** 2).sum() * cells.shape[1 - axis] / whole) if varied else None,
            best=means.index[best],
            worst=means.index[worst],
            gap=gap,
        )

    image, text = side(0), side(1)
    return BackboneEffects(
        mean=_mean(middle, drawn.mean(axis=(1, 2))),
        lowest=float(values.min()),
        highest=float(values.max()),
        image=image,
        text=text,
        rest=max(0.0, 1 - image.share - text.share) if varied else None,
    )


def _mean(value: float, draws: Floats) -> Estimate:
    """Returns the mean with the interval of its draws; without one if no draw differs, which does
    not mean zero error.
    """
    value = float(value)
    if np.ptp(draws) < UNCHANGED:
        return Estimate(value=value)
    drawn = of_draws(value, draws)
    return replace(drawn, low=min(value, drawn.low), high=max(value, drawn.high))


def _rank_correlations(order: Floats, values: Floats) -> Floats:
    """Returns Spearman's correlation of `order` (k,) with the values (k, n) along their first axis; 0 if either side is
    constant.

    Values are in units within which they count as equal.
    """
    return np.nan_to_num(correlations(ranks(order), ranks(np.round(values)).T))
