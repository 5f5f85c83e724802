"""Two models on the same items of one task, compared item by item."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.ranks import variance

SAME = "the difference is the same on every item, so its spread is not known"


@dataclass(frozen=True, kw_only=True)
class ItemDifference:
    """The difference of a task's headline, a minus b, over the items that both answered; NaN: not known."""

    difference: float
    n: int  # items
    low: float = math.nan  # of the 95% interval
    high: float = math.nan
    p: float = math.nan  # two-sided
    reason: str = ""  # why difference, interval or p are missing


def paired_difference(first: pd.DataFrame, second: pd.DataFrame, *, metric: str) -> ItemDifference:
    """The mean of the first's values less that of the second's, with the interval and p of a t test over items.

    Frames as `run_folders.table` makes them: `item` (with its subset before it, where there are several), `subset`, and
    a column of the metric, which is a mean over items. Of several subsets each counts once; an item of the same name in
    several moves together in all.
    """
    columns = ["item", "subset", metric]
    joined = first[columns].merge(second[columns], on=["item", "subset"], suffixes=("_a", "_b")).dropna()
    if joined.empty:
        return unknown("they answered no item in common")
    gaps = joined[f"{metric}_a"].astype(float) - joined[f"{metric}_b"].astype(float)
    parts = gaps.groupby(joined["subset"])
    difference = float(parts.mean().mean())
    shares = (gaps - parts.transform("mean")) / (parts.transform("size") * parts.ngroups)
    several = parts.ngroups > 1
    names = [
        item.removeprefix(f"{subset}/") if several else item
        for item, subset in zip(joined["item"], joined["subset"], strict=True)
    ]
    together = shares.groupby(pd.Series(names, index=shares.index)).sum()
    n = len(together)
    if n < 2:
        return ItemDifference(difference=difference, n=n, reason="a single item shows no spread")
    spread, dof = np.array([float((together**2).sum()) * n / (n - 1)]), np.array([n - 1.0])
    p = 2 * variance.one_sided(difference=np.array([difference]), variance=spread, dof=dof, tasks=np.array([n]))[0]
    if spread[0] == 0:
        return ItemDifference(difference=difference, p=float(p), n=n, reason=SAME)
    half = float(variance.half_width(variance=spread, dof=dof)[0])
    return ItemDifference(difference=difference, low=difference - half, high=difference + half, p=float(p), n=n)


def unknown(reason: str) -> ItemDifference:
    """No difference, and why."""
    return ItemDifference(difference=math.nan, n=0, reason=reason)
