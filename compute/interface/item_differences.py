"""Two models on one task, compared item by item: both answered the same items, so that the test is paired."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis import variance
from compute.database import store
from compute.engine.run_folders import ITEMS, StoredRun
from compute.metrics.summary import row_of

SAME = "the difference is the same on every item, so its spread is not known"


@dataclass(frozen=True, kw_only=True)
class ItemDifference:
    """The difference of a task's headline, a minus b, over the items that both answered; NaN: not known."""

    difference: float
    low: float  # of the 95% interval
    high: float
    p: float  # two-sided
    n: int  # items
    reason: str = ""  # why there is no difference, interval or p


def item_difference(a: StoredRun, b: StoredRun) -> ItemDifference:
    """The paired difference of two runs of one task, where its headline is a mean over items.

    Of several subsets each counts once; an item of the same name in several moves together in all. The interval and p
    are those of a t test over items.
    """
    metric = a.scores[0].metric
    frames = [store.read_parquet(run.folder / ITEMS) for run in (a, b)]
    if reason := _obstacle(a, b, metric, frames):
        return _unknown(reason)
    columns = ["item", "subset", metric]
    first, second = (frame[columns].astype({metric: float}) for frame in frames)
    joined = first.merge(second, on=["item", "subset"], suffixes=("_a", "_b")).dropna()
    if joined.empty:
        return _unknown("they answered no item in common")
    gaps = joined[f"{metric}_a"] - joined[f"{metric}_b"]
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
        return ItemDifference(
            difference=difference, low=math.nan, high=math.nan, p=math.nan, n=n, reason="a single item shows no spread"
        )
    spread, dof = np.array([float((together**2).sum()) * n / (n - 1)]), np.array([n - 1.0])
    p = 2 * variance.one_sided(difference=np.array([difference]), variance=spread, dof=dof, tasks=np.array([n]))[0]
    if spread[0] == 0:
        nan = math.nan
        return ItemDifference(difference=difference, low=nan, high=nan, p=float(p), n=n, reason=SAME)
    half = float(variance.half_width(variance=spread, dof=dof)[0])
    return ItemDifference(difference=difference, low=difference - half, high=difference + half, p=float(p), n=n)


def _obstacle(a: StoredRun, b: StoredRun, metric: str, frames: list[pd.DataFrame]) -> str:
    """Why the two cannot be compared item by item; empty where they can."""
    if b.scores[0].metric != metric:
        return f"the one is scored by {metric}, the other by {b.scores[0].metric}"
    contents = [run.run.settings.get("contents") for run in (a, b)]
    if None in contents or contents[0] != contents[1]:
        return "they did not see the same items"
    if not all(metric in frame for frame in frames):
        row = row_of(metric)
        return f"{row.title if row else metric} is no mean over items"
    return ""


def _unknown(reason: str) -> ItemDifference:
    return ItemDifference(difference=math.nan, low=math.nan, high=math.nan, p=math.nan, n=0, reason=reason)
