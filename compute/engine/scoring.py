"""A run's scores from its evidence: every metric of the task, a subset at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from compute.metrics.summary import Figure, summarise
from compute.types import Task, Undefined


def figures(task: Task, evidence: Mapping[str, pd.DataFrame]) -> list[tuple[str, str, Figure]]:
    """(metric, subset, figure) of every metric on every subset; of the whole too where the task is known as one.

    Raises Undefined where the headline, the task's first metric, has no value; another one without is left out.
    """
    found = []
    for metric in task.metrics:
        parts: dict[str, Figure] = {}
        try:
            parts = {subset: summarise(metric, frame) for subset, frame in evidence.items()}
        except Undefined:
            if metric == task.metrics[0]:
                raise
        if parts and "default" not in parts and task.subsets == ("default",):
            # Protocols over the same items: their mean has no simple standard error.
            parts["default"] = Figure(value=float(np.mean([part.value for part in parts.values()])),
                                      n=max(part.n for part in parts.values()))
        found += [(metric, subset, Figure(value=float(part.value), n=int(part.n),
                                          stderr=None if part.stderr is None else float(part.stderr)))
                  for subset, part in parts.items()]
    return found


def answered(evidence: Mapping[str, pd.DataFrame], metric: str) -> float:
    """The share of items with an answer: those that have a value in the metric's column, all where it has none."""
    known = [frame[metric].notna().to_numpy() for frame in evidence.values() if metric in frame.columns]
    return float(np.concatenate(known).mean()) if known else 1.0
