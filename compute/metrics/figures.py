"""Metrics of a run that are functions of several columns of its evidence, each with its standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from compute.metrics.partition import nmi, nmi_stderr
from compute.types import Undefined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A score: `n` items it rests on, `stderr` where there is a formula for it."""

    value: float
    n: int
    stderr: float | None = None


def cosine_spearman(human: ArrayLike, value: ArrayLike) -> Figure:
    """Spearman correlation of human scores and similarities, both (n,); pairs with a gap are left out.

    Standard error (1 - r²) sqrt((1 + r² / 2) / (n - 3)): Fisher's z with the variance of Bonett and Wright 2000, taken
    back to r. Raises Undefined below three pairs or where one side is constant. Source: MIEB section 3 (visual STS).
    """
    human, value = np.asarray(human, float), np.asarray(value, float)
    both = np.isfinite(human) & np.isfinite(value)
    human, value, n = human[both], value[both], int(both.sum())
    if n < 3:
        raise Undefined(f"A rank correlation needs three pairs, here are {n}")
    for name, side in (("human scores", human), ("similarities", value)):
        if np.ptp(side) == 0:
            raise Undefined(f"All {n} {name} are {side[0]:g}, so there is no correlation")
    from scipy.stats import spearmanr

    r = float(spearmanr(human, value).statistic)
    return Figure(value=r, n=n, stderr=float((1 - r**2) * np.sqrt((1 + r**2 / 2) / (n - 3))) if n > 3 else None)


def clustering_nmi(expected: pd.Series, answer: pd.Series) -> Figure:
    """NMI of labels and clusters, both (n,), with its standard error. Errors as in `partition.nmi`."""
    groups = {"labels": expected.astype(str), "clusters": answer.astype(str)}
    return Figure(value=nmi(**groups), n=len(expected), stderr=nmi_stderr(**groups))
