"""Two models on the same items of one task, compared item by item."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from compute.analysis.intervals import Difference
from compute.analysis.significance import FEWEST_SETS, SAME, of_pair


def paired_difference(first: pd.DataFrame, second: pd.DataFrame, *, metric: str) -> Difference:
    """The mean of the first's values less that of the second's, with the interval and p of flipped signs of items
    (`significance.of_pair`); `reason` says why difference, interval or p are missing.

    Frames as `run_folders.table` makes them: `item` (with its subset before it, where there are several), `subset`, and
    a column of the metric, which is a mean over items. Of several subsets each counts once; an item of the same name in
    several moves together in all.
    """
    columns = ["item", "subset", metric]
    joined = first[columns].merge(second[columns], on=["item", "subset"], suffixes=("_a", "_b")).dropna()
    if joined.empty:
        return Difference(value=math.nan, reason="they answered no item in common")
    gaps = joined[f"{metric}_a"].astype(float) - joined[f"{metric}_b"].astype(float)
    parts = gaps.groupby(joined["subset"])
    difference = float(parts.mean().mean())
    size = parts.transform("size") * parts.ngroups
    several = parts.ngroups > 1
    names = [
        item.removeprefix(f"{subset}/") if several else item
        for item, subset in zip(joined["item"], joined["subset"], strict=True)
    ]
    together = pd.DataFrame({"part": gaps / size, "weight": 1 / size}).groupby(names).sum()
    n = len(together)
    if n < FEWEST_SETS:
        return Difference(value=difference, n=n, reason=f"too few items: {n}, of which {FEWEST_SETS} are needed")
    test = of_pair(together["part"].to_numpy(), together["weight"].to_numpy())
    return replace(test, value=difference, n=n, reason="" if test.known else SAME)
