"""Compares scores of several laboratories for the same weights on the same data: differences, orders, and their causes.

`pairs` joins every two origins. The other functions report per data set, or over all data sets, whether the second
origin orders models as the first does.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.correlation import correlate
from compute.types import WHOLE, origins_in

ROUNDING = 0.06  # largest difference, in points, between two printed versions of one score
COPIED = 0.9  # share of equal scores (to rounding) from which two origins report the same runs
FEWEST = 8  # models needed to judge an order
AGREES = 0.5  # Kendall's tau; an order replicates if the interval is above, and does not if it is below
APART = 2.0  # points between two models, above which an exchanged order is counted separately
WITHIN = 0.9  # share of the models whose differences are called usual
HARNESSES = {"mieb": "mteb", "vidore": "mteb", "datacomp": "CLIP_benchmark", "mmeb": "VLM2Vec"}  # by benchmark
CELL = ["data", "subset", "model"]
SIDES = ["a", "b"]  # the two origins of a pair
REPLICATES, FAILS, UNCLEAR, FEW = "replicates", "does not replicate", "unclear", "too few models"
SAME_RUNS = "same runs"  # two printed versions of one run
COLUMNS = [*SIDES, "data", "subset", "same", "models", "median", "size", "usual", "within_one", "orders", "changed"]
COLUMNS += ["apart", "changed_apart", "tau", "low", "high", "verdict"]


def pairs(measured: pd.DataFrame) -> pd.DataFrame:
    """Returns every two origins' values of a model on the same data: a row per data set, subset, model and pair of
    origins.

    Columns are the origins `a` and `b`, the `task_`, `metric_`, `value_` (points) and `source_` of each, and the
    `difference` b - a. measured: rows of the database's view of that name. If origins have several metrics, one that
    both have is preferred. Data with subsets only also have a row `default`: the mean over the `subsets` subsets that
    both have.
    """
    rows = measured.assign(value=measured["value"] * measured["scale"]).sort_values(["origin", "task", "metric"])
    rank = {origin: at for at, origin in enumerate(origins_in(rows["origin"].unique()))}
    columns = [*CELL, "origin", "task", "metric", "value", "source"]
    both = rows[columns].merge(rows[columns], on=CELL, suffixes=("_a", "_b"))
    both = both[both["origin_a"].map(rank) < both["origin_b"].map(rank)]
    both = both.rename(columns={"origin_a": "a", "origin_b": "b"})
    both["same"] = both["metric_a"] == both["metric_b"]
    both = both.sort_values("same", ascending=False, kind="stable").drop_duplicates([*CELL, *SIDES])
    parts = both[~both["data"].isin(both.loc[both["subset"] == WHOLE, "data"])]
    keys = ["data", "model", *SIDES]
    whole = parts.drop_duplicates(keys).drop(columns=["value_a", "value_b"]).assign(subset=WHOLE)
    counts = parts.groupby(keys).size().rename("subsets")
    means = parts.groupby(keys, as_index=False)[["value_a", "value_b"]].mean()
    whole = whole.merge(means, on=keys).merge(counts, on=keys)
    both = pd.concat([both.assign(subsets=0), whole], ignore_index=True)
    both["difference"] = both["value_b"] - both["value_a"]
    return both.sort_values([*SIDES, *CELL], ignore_index=True)


def agreement(found: pd.DataFrame) -> pd.DataFrame:
    """Returns the agreement of two origins on each data set over the models that both measured: a row per `a`, `b`,
    `data`, `subset`.

    `same`: whether both use one metric; `models`; `median` of the differences and `size`, the median of their absolute
    values (points); `usual`: the size that WITHIN of them do not exceed; `within_one`: share of at most one point;
    `orders`: pairs of models; `changed`: share of these whose order differs; `changed_apart`: the same of the `apart`
    pairs, which are more than APART points apart in `a`; Kendall's `tau` with its 95% interval `low` to `high`; and the
    `verdict`.
    """
    copied = found["difference"].abs().lt(ROUNDING).groupby([found[side] for side in SIDES]).mean() >= COPIED
    rows = []
    for key, group in found.groupby(COLUMNS[:4], sort=False):
        row = dict(zip(COLUMNS, (*key, bool(group["same"].all())), strict=False)) | _agreement(group)
        rows.append(row | ({"verdict": SAME_RUNS} if copied[key[:2]] else {}))
    return pd.DataFrame(rows, columns=COLUMNS)


def means(found: pd.DataFrame) -> pd.DataFrame:
    """Returns the same as `agreement` for the means over the data sets that two origins share: a row per `a` and `b`.

    Includes the models that both measured on all data sets that have at least half of the models (`sets` data sets).
    """
    rows = []
    for key, same in found[found["subset"] == WHOLE].groupby(SIDES, sort=False):
        wide = same.pivot_table(index="model", columns="data", values=["value_a", "value_b"])
        few = wide["value_a"].notna().mean() < 0.5
        wide = wide.drop(columns=[(side, data) for side in ("value_a", "value_b") for data in few.index[few]]).dropna()
        if wide.empty:
            continue
        both = pd.DataFrame({side: wide[side].mean(axis=1) for side in ("value_a", "value_b")})
        both["difference"] = both["value_b"] - both["value_a"]
        rows.append(dict(zip(SIDES, key, strict=True)) | {"sets": len(wide["value_a"].columns)} | _agreement(both))
    return pd.DataFrame(rows, columns=["sets", *(name for name in COLUMNS if name not in ("data", "subset", "same"))])


def _agreement(same: pd.DataFrame) -> dict[str, float | int | str]:
    """Returns one row of `agreement`."""
    difference, values = same["difference"].to_numpy(), same[["value_a", "value_b"]].to_numpy()
    first, second = np.array(list(combinations(range(len(same)), 2)), int).reshape(-1, 2).T
    gaps = values[first] - values[second]
    changed, apart = gaps[:, 0] * gaps[:, 1] < 0, np.abs(gaps[:, 0]) > APART
    tau, low, high = np.nan, np.nan, np.nan
    if len(same) >= FEWEST:
        found = correlate(scores=values)
        tau, low, high = (float(part[0, 1]) for part in (found.r, found.low, found.high))
    return {
        "models": len(same),
        "median": float(np.median(difference)),
        "size": float(np.median(np.abs(difference))),
        "usual": float(np.quantile(np.abs(difference), WITHIN)),
        "within_one": float(np.mean(np.abs(difference) <= 1)),
        "orders": len(changed),
        "changed": float(changed.mean()) if len(changed) else np.nan,
        "apart": int(apart.sum()),
        "changed_apart": float(changed[apart].mean()) if apart.any() else np.nan,
        "tau": tau,
        "low": low,
        "high": high,
        "verdict": verdict(models=len(same), low=low, high=high, tau=tau),
    }


def verdict(*, models: int, tau: float, low: float, high: float) -> str:
    """Returns whether an order replicates: the interval of Kendall's tau is above AGREES, or below it if it does not.

    Needs at least FEWEST models. Identical and reversed orders have no interval.
    """
    if models < FEWEST:
        return FEW
    if low > AGREES or tau == 1:
        return REPLICATES
    return FAILS if high < AGREES or tau == -1 else UNCLEAR


class Cause(NamedTuple):
    """One difference between two harnesses on a data set."""

    aspect: str
    a: str  # how the first harness does it
    b: str
    certainty: str  # known | likely: whether it is shown to change scores
    source: str


def harness_of(origin: str, task: str, laboratories: pd.DataFrame) -> tuple[str, str]:
    """Returns the harness behind an origin's scores of a task, and the harness with its version; empty if not stated.

    laboratories: the database's table. The paper's scores and the public results of MIEB and ViDoRe were made with
    mteb. Computed scores follow the protocol of the task's harness.
    """
    row = laboratories[laboratories["key"] == origin.partition(":")[2]]
    if len(row):
        harness, version = row.iloc[0][["harness", "version"]]
        return harness, f"{harness} {version}".strip()
    harness = HARNESSES.get(task.partition("/")[0], "")
    if origin == "computed":
        return harness, "Likeness"
    return (harness, harness) if harness == "mteb" else ("", "")


def causes(row: Any, *, protocols: pd.DataFrame, laboratories: pd.DataFrame) -> list[Cause]:
    """Returns the differences between the harnesses of the two origins in a row of `pairs` on its data set, known
    causes first.

    They come from the register of protocols. A difference in metric is omitted if both origins have the same metric.
    """
    own = protocols[protocols["data"] == row.data]
    names = [{*text.split(";")} for text in own["harness"]]
    harnesses = [harness_of(*side, laboratories) for side in ((row.a, row.task_a), (row.b, row.task_b))]
    first, second = (own[np.array([not each.isdisjoint(harness) for each in names], bool)] for harness in harnesses)
    both = first.merge(second, on="aspect", suffixes=("_a", "_b"))
    both = both[both["value_a"] != both["value_b"]]
    both = both[both["aspect"] != "metric"] if row.metric_a == row.metric_b else both
    return [
        Cause(each.aspect, each.value_a, each.value_b, each.certainty_a, f"{each.source_a}; {each.source_b}")
        for each in both.sort_values("certainty_a", kind="stable").itertuples()
    ]
