"""What a run's `run.json` may hold: types, lengths, numbers within the metrics' bounds. Anything else is refused.

One wrong number would spoil a suite for all its models: a negative standard error ends the ranking, an accuracy of
12345 leads it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from compute import records
from compute.metrics import METRICS
from compute.types import Run, Score

Name = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4000)]
Count = Annotated[int, Field(ge=0, le=records.MAX_INTEGER)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
BOUNDS = {metric.key: (metric.lower, metric.upper) for metric in METRICS}


class RecordPart(BaseModel):
    """A part of a record that may hold more than is named here; what is named may be null."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class ModelPart(RecordPart):
    packages: dict | None = None
    options: dict | None = None


class ProcedurePart(RecordPart):
    packages: dict | None = None


class DataPart(RecordPart):
    subsets: list[str] | None = None


class PassRecord(RecordPart):
    encoded: Count | None = None
    seconds: Seconds | None = None


class SettingsPart(RecordPart):
    """The parts of the settings that pages and plans read."""

    model: ModelPart | None = None
    procedure: ProcedurePart | None = None
    data: DataPart | None = None
    adapter: dict | None = None
    versions: dict | None = None
    found: dict[str, dict] | None = None
    timings: dict[str, Seconds] | None = None
    metrics: list | None = None
    encodings: list[PassRecord] | None = None
    left_out: list[str] | None = None
    variant: Name | None = None
    contents: str | None = None
    items: int | None = None
    catalogue_items: int | None = None
    coverage: Share | None = None
    tied: Share | None = None


class ScoreRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    subset: Name
    metric: Name
    value: float
    n: Count | None = None
    stderr: Seconds | None = None
    printed: Name = ""
    coverage: Share | None = None
    lower_bound: float | None = None
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def within_bounds(self) -> ScoreRecord:
        lower, upper = BOUNDS.get(self.metric, (None, None))
        least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
        slack = 1e-9 * max(1.0, abs(self.value))  # a sum of floats may end just beyond a bound
        for name in ("value", "lower_bound", "low", "high"):
            value = getattr(self, name)
            if value is not None:
                if not least - slack <= value <= most + slack:
                    raise ValueError(f"{name} of {self.metric} is {value:g}, outside of {least:g} to {most:g}")
                setattr(self, name, min(max(value, least), most))
        if self.stderr is not None and self.stderr > most - least + slack:
            raise ValueError(f"stderr of {self.metric} is {self.stderr:g}, more than its bounds are apart")
        if (self.low is None) != (self.high is None) or (self.low is not None and self.low > self.high):
            raise ValueError(f"the interval of {self.metric} has ends {self.low} and {self.high}")
        return self


class RunRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    id: Annotated[str, Field(max_length=600, pattern="^computed/")]
    model: Name
    task: Name
    procedure: Name
    origin: Literal["computed"]
    source: Text
    settings: SettingsPart
    fingerprint: Name
    code: Text
    seed: Count | None
    dtype: Text
    device: Text
    seconds: Seconds | None
    started: Text
    status: Literal["complete", "partial"]
    error: Text
    main: bool
    scores: Annotated[list[ScoreRecord], Field(min_length=1)]

    @field_validator("started")
    @classmethod
    def in_utc(cls, text: str) -> str:
        """So that the times of all zones can be compared as texts."""
        when = datetime.fromisoformat(text) if text else None
        return text if when is None or when.tzinfo is None else when.astimezone(UTC).isoformat(timespec="seconds")


def read(path: Path, *, root: Path) -> tuple[Run, tuple[Score, ...]]:
    """The run and its scores in a `run.json` below `root`. Raises OSError, and ValueError with what is wrong."""
    record = records.validated(records.read(path, root=root), RunRecord)
    stated = record.model_dump(exclude_unset=True)
    scores = stated.pop("scores")
    if len({(score["subset"], score["metric"]) for score in scores}) < len(scores):
        raise ValueError("two of its scores are of one subset and metric")
    for score in scores:
        if score.get("coverage") is None:
            score["coverage"] = record.settings.coverage
    return Run(**stated), tuple(Score(run=record.id, **score) for score in scores)


def check_whole(folder: Path, *, names: Sequence[str], most: int) -> None:
    """Raises OSError for a missing file of the folder, ValueError for one that is no whole Parquet file of its size."""
    for name in names:
        path = folder / name
        records.check_file(path, root=folder.parents[2], most=most)
        with path.open("rb") as file:
            head, size = file.read(4), path.stat().st_size
            file.seek(max(0, size - 4))
            if size < 12 or (head, file.read(4)) != (b"PAR1", b"PAR1"):
                raise ValueError(f"{name} is no whole Parquet file")
