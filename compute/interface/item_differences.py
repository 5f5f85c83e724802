"""Two stored runs of one task, compared item by item: both answered the same items, so that the test is paired."""

from __future__ import annotations

import pandas as pd

from compute.analysis.item_difference import ItemDifference, paired_difference, unknown
from compute.database import store
from compute.engine.run_folders import ITEMS, StoredRun
from compute.metrics.summary import row_of


def item_difference(a: StoredRun, b: StoredRun) -> ItemDifference:
    """The paired difference of two runs of one task, where its headline is a mean over items."""
    metric = a.scores[0].metric
    frames = [store.read_parquet(run.folder / ITEMS) for run in (a, b)]
    if reason := _obstacle(a, b, metric, frames):
        return unknown(reason)
    return paired_difference(*frames, metric=metric)


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
