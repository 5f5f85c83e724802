"""What a run's `run.json` may hold: types, lengths, numbers within the metrics' bounds. Anything else is refused.

One wrong number would spoil a suite for all its models: a negative standard error ends the ranking, an accuracy of
12345 leads it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

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

    def score(self, run: Run) -> Score:
        """The score of a run. Raises ValueError for what is out of the metric's bounds."""
        lower, upper = BOUNDS.get(self.metric, (None, None))
        least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
        values = self.model_dump()
        if values["coverage"] is None:
            values["coverage"] = run.settings.get("coverage")
        for name in ("value", "lower_bound", "low", "high"):
            if values[name] is not None:  # a sum of floats may end just beyond a bound
                values[name] = records.number(values[name], name=f"{name} of {self.metric}", least=least, most=most)
        if self.stderr is not None:  # values within bounds spread over no more than these are apart
            records.number(self.stderr, name=f"stderr of {self.metric}", most=most - least)
        if (self.low is None) != (self.high is None) or (self.low is not None and self.low > self.high):
            raise ValueError(f"the interval of {self.metric} has ends {self.low} and {self.high}")
        return Score(run=run.id, **values)


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
    seed: int | None
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
    content: dict[str, Any] = records.read(path, root=root)
    try:
        record = RunRecord.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(
            f"{path.name}: {'.'.join(map(str, first['loc']))[:100]} is {records.short(first['input'])}: {first['msg']}"
        ) from error
    stated = {name: value for name, value in content.items() if name != "scores"}
    run = Run(**{**stated, "started": record.started})
    scores = tuple(score.score(run) for score in record.scores)
    if len({(score.subset, score.metric) for score in scores}) < len(scores):
        raise ValueError("two of its scores are of one subset and metric")
    return run, scores


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
