"""What an import yields: runs and scores, what the catalogue is missing for them, and what could not be read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from compute.types import Metric, Model, Run, Score, Task


class SkippedFile(NamedTuple):
    """A file or folder that was skipped, why, and what to do about it."""

    path: str  # relative to the folder that was read
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}. {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Runs and scores of one source. `models`, `tasks` and `metrics` are those missing from the catalogue.

    `problems` are files that are not what they should be; `skipped` are files of tasks that are not in the catalogue.
    """

    runs: tuple[Run, ...]
    scores: tuple[Score, ...]
    models: tuple[Model, ...] = ()
    tasks: tuple[Task, ...] = ()
    metrics: tuple[Metric, ...] = ()
    problems: tuple[SkippedFile, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # by the source's own names of models: those of all
    rows: pd.DataFrame | None = field(default=None, compare=False, repr=False)  # of mteb's results, as they are shipped


def outside(value: float, metric: Metric) -> str:
    """Why a value (in stored units) cannot be one of this metric, or the empty text when it can."""
    if metric.lower is not None and value < metric.lower:
        return f"{value:g} is below {metric.lower:g}, the minimum of {metric.title}"
    if metric.upper is not None and value > metric.upper:
        return f"{value:g} is above {metric.upper:g}, the maximum of {metric.title}"
    return ""


def fingerprint(**identity: Any) -> str:
    """SHA-256 (hex) of everything that distinguishes runs."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
