"""What a run's `run.json` may hold: types, lengths, numbers within the metrics' bounds. Anything else is refused.

One wrong number would spoil a suite for all its models: a negative standard error ends the ranking, an accuracy of
12345 leads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compute import records
from compute.metrics import METRICS
from compute.types import Metric, Run, Score

MAX_SCORES = 20_000  # a run's subsets times its metrics: MIEB's largest task has under 40 of each
MAX_NAME = 200  # characters of a key or a subset
MAX_TEXT = 4000  # characters of any other text
NAMES = ("id", "model", "task", "procedure", "fingerprint")
TEXTS = ("source", "code", "dtype", "device", "started", "error")
# Parts of the settings that pages and plans read: each may be missing or null.
SETTINGS: dict[str, type | tuple[type, ...]] = {
    "model": dict,
    "procedure": dict,
    "data": dict,
    "adapter": dict,
    "versions": dict,
    "found": dict,
    "timings": dict,
    "metrics": list,
    "encodings": list,
    "left_out": list,
    "variant": str,
    "contents": str,
    "items": int,
    "catalogue_items": int,
    "coverage": (int, float),
    "tied": (int, float),
}
_METRICS = {metric.key: metric for metric in METRICS}


def read(path: Path, *, root: Path) -> tuple[Run, tuple[Score, ...]]:
    """The run and its scores in a `run.json` below `root`. Raises OSError, and ValueError with what is wrong."""
    record = records.read(path, root=root)
    scores = record.pop("scores", None)
    missing = [field.name for field in fields(Run) if field.name not in record]
    unknown = sorted(set(record) - {field.name for field in fields(Run)})
    if missing or unknown:
        what = f"lacks {missing[0]!r}" if missing else f"has the unknown field {records.short(unknown[0])}"
        raise ValueError(f"{path.name} {what}")
    run = _run(record)
    if not isinstance(scores, list) or not 0 < len(scores) <= MAX_SCORES:
        raise ValueError(f"{path.name} has no list of 1 to {MAX_SCORES:,} scores")
    parsed = tuple(_score(score, run) for score in scores)
    if len({(score.subset, score.metric) for score in parsed}) < len(parsed):
        raise ValueError("two of its scores are of one subset and metric")
    return run, parsed


def _run(record: Mapping[str, Any]) -> Run:
    for name in NAMES:
        records.check_text(record[name], name=name, most=MAX_NAME * (3 if name == "id" else 1))
    for name in TEXTS:
        records.check_text(record[name], name=name, most=MAX_TEXT)
    if record["origin"] != "computed" or not record["id"].startswith("computed/"):
        raise ValueError(f"it is no computed run: its id is {records.short(record['id'])}")
    if record["status"] not in ("complete", "partial"):
        raise ValueError(f"its status is {records.short(record['status'])}, neither complete nor partial")
    if not isinstance(record["main"], bool):
        raise ValueError(f"main is {records.short(record['main'])}, neither true nor false")
    if record["seed"] is not None:
        records.integer(record["seed"], name="seed", least=-records.MAX_INTEGER)
    if record["seconds"] is not None:
        records.number(record["seconds"], name="seconds", least=0)
    _check_settings(record["settings"])
    return Run(**{**record, "started": _started(record["started"])})


def _started(text: str) -> str:
    """The date and time in UTC, so that runs of all time zones can be compared as texts."""
    if not text:
        return ""
    try:
        when = datetime.fromisoformat(text)
        return text if when.tzinfo is None else when.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise ValueError(f"started is no ISO date: {records.short(text)}") from None


def _check_settings(settings: Any) -> None:
    if not isinstance(settings, dict):
        raise ValueError("it has no settings")
    for name, kind in SETTINGS.items():
        value = settings.get(name)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool))):
            raise ValueError(f"settings: {name} is {records.short(value)}")
    for name in ("coverage", "tied"):
        if settings.get(name) is not None:
            records.number(settings[name], name=f"settings: {name}", least=0, most=1)
    records.check_text(settings.get("variant") or "", name="settings: variant", most=MAX_NAME)
    for name, value in (settings.get("timings") or {}).items():
        records.number(value, name=f"settings: timings of {name[:40]}", least=0)
    for name, part in (
        ("packages of the model", (settings.get("model") or {}).get("packages")),
        ("options of the model", (settings.get("model") or {}).get("options")),
        ("packages of the procedure", (settings.get("procedure") or {}).get("packages")),
        *((f"found in {subset[:40]}", part) for subset, part in (settings.get("found") or {}).items()),
    ):
        if part is not None and not isinstance(part, dict):
            raise ValueError(f"settings: {name} is {records.short(part)}")
    subsets = (settings.get("data") or {}).get("subsets") or []
    for name, texts in (("subsets of the data", subsets), ("left_out", settings.get("left_out") or [])):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"settings: {name} is no list of texts")
    for encoding in settings.get("encodings") or []:
        if not isinstance(encoding, dict):
            raise ValueError("settings: encodings is no list of objects")
        if encoding.get("encoded"):
            records.integer(encoding["encoded"], name="settings: items encoded")
            records.number(encoding.get("seconds"), name="settings: seconds of an encoding", least=0)


def _score(record: Any, run: Run) -> Score:
    if not isinstance(record, dict) or not {"subset", "metric", "value"} <= set(record):
        raise ValueError("one of its scores lacks a subset, a metric or a value")
    score = {"coverage": run.settings.get("coverage"), **record}
    for name in ("subset", "metric"):
        records.check_text(score[name], name=name, most=MAX_NAME)
    name = f"{score['metric']} of {score['subset']}"
    metric = _METRICS.get(score["metric"]) or Metric(
        key=score["metric"], title=score["metric"], higher_is_better=True, lower=None, upper=None, unit=""
    )
    low = float("-inf") if metric.lower is None else metric.lower
    high = float("inf") if metric.upper is None else metric.upper
    score["value"] = records.number(score["value"], name=name, least=low, most=high)
    if score.get("lower_bound") is not None:
        score["lower_bound"] = records.number(
            score["lower_bound"], name=f"the lower bound of {name}", least=low, most=high
        )
    ends = [score.get(end) for end in ("low", "high")]
    if ends != [None, None]:
        score["low"], score["high"] = (
            records.number(end, name=f"an end of the interval of {name}", least=low, most=high) for end in ends
        )
        if score["low"] > score["high"]:
            raise ValueError(f"the interval of {name} ends before it begins")
    if score.get("stderr") is not None:
        # Values within bounds spread over no more than the bounds are apart.
        score["stderr"] = records.number(
            score["stderr"], name=f"the standard error of {name}", least=0, most=high - low
        )
    if score.get("coverage") is not None:
        score["coverage"] = records.number(score["coverage"], name=f"the coverage of {name}", least=0, most=1)
    if score.get("n") is not None:
        records.integer(score["n"], name=f"n of {name}")
    records.check_text(score.get("printed", ""), name=f"the printed digits of {name}", most=MAX_NAME)
    unknown = sorted(set(score) - {field.name for field in fields(Score)} - {"run"})
    if unknown or "run" in record:
        raise ValueError(f"a score has the field {(unknown or ['run'])[0]!r}")
    return Score(run=run.id, **score)


def check_whole(folder: Path, *, names: Sequence[str], most: int) -> None:
    """Raises OSError for a missing file of the folder, ValueError for one that is no whole Parquet file of its size."""
    root = folder.parents[2]
    for name in names:
        path = folder / name
        records.check_file(path, root=root, most=most)
        with path.open("rb") as file:
            length, head = path.stat().st_size, file.read(4)
            file.seek(max(0, length - 4))
            tail = file.read(4)
        if length < 12 or head != b"PAR1" or tail != b"PAR1":
            raise ValueError(f"{name} is no whole Parquet file")
