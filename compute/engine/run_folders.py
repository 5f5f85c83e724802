"""Run folders: the stored results of a run. They are the source of truth; the database is an index of them.

`<root>/<model, / as __>/<task, / as __>/<fingerprint>/` contains `scores.parquet`, `items.parquet` and, written last,
`run.json`, which marks the run as complete. A failed run leaves `failed.json` there instead, and counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from compute.arrays import mean_if_known
from compute.database import store
from compute.io.files import check_file, check_inside, locked, read_record, validated, write_text
from compute.io.nouns import strict
from compute.metrics import METRICS
from compute.types import WHOLE, Amount, BadInput, CannotWrite, Count, Model, Name, Run, Score, Share, Text, first_line

MARK, FAILED, SCORES, ITEMS = "run.json", "failed.json", "scores.parquet", "items.parquet"
SCORE_FIELDS = ("subset", "metric", "value", "n", "stderr", "coverage", "lower_bound", "low", "high", "bias")  # in MARK
CALIBRATIONS = "calibrations"
# Folders below the results folder without runs, which are not searched to save time.
OTHERS = (
    "features",
    "fetched",
    "imported",
    "thumbnails",
    "answers",
    "maps",
    "keys",
    "manifests",
    CALIBRATIONS,
    "suites",
    "models",
)
# A page shows at most this many items of a run, those whose names have the lowest MD5. They are the same for every
# model, independent of the loader's order, and a fair sample of the task.
PAGE_ITEMS = 2000
MAX_PARQUET = 4 << 30  # bytes: a million items with their details take under 1 GB
CLOCKS = timedelta(days=1)  # tolerance between the clocks of two machines
DIGITS = 6  # significant digits of a number in an item's detail


BOUNDS = {metric.key: (metric.lower, metric.upper) for metric in METRICS}


class RecordPart(BaseModel):
    """A part of a record that may hold more than is named here; what is named may be null."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, defer_build=True)


def _part(name: str, **fields: Any) -> type[RecordPart]:
    """Returns the type of a record part with these fields."""
    return create_model(name, __base__=RecordPart, **{field: (kind | None, None) for field, kind in fields.items()})


# Description that a page shows for a model no longer in any catalogue.
ModelDescription = strict(
    Model, *("title", "kind", "organisation", "family", "license", "parameters_m", "embed_dim", "open_weights")
)
# The parts of the settings that pages and plans read.
SettingsPart = _part(
    "SettingsPart",
    model=_part("ModelPart", packages=dict, options=dict),
    described=ModelDescription,
    procedure=_part("ProcedurePart", packages=dict),
    data=_part("DataPart", subsets=list[str]),
    adapter=dict,
    versions=dict,
    found=dict[str, dict],
    timings=dict[str, Amount],
    metrics=list,
    encodings=list[_part("PassRecord", encoded=Count, seconds=Amount)],
    left_out=list[str],
    doubts=list[str],
    variant=Name,
    contents=str,
    items=int,
    catalogue_items=int,
    coverage=Share,
    tied=Share,
)


def _in_utc(text: str) -> str:
    """Converts to UTC, so that times of all zones can be compared as texts."""
    when = datetime.fromisoformat(text) if text else None
    return text if when is None or when.tzinfo is None else when.astimezone(UTC).isoformat(timespec="seconds")


# Allowed content of `run.json`; anything else is refused because one wrong number would distort a suite for all its
# models: a negative standard error breaks the ranking, an accuracy of 12345 leads it.
ScoreRecord = strict(Score, *SCORE_FIELDS, "printed")
RunRecord = strict(
    Run,
    *(field.name for field in fields(Run)),
    id=Annotated[str, Field(max_length=600, pattern="^computed/")],
    origin=Literal["computed"],
    settings=SettingsPart,
    started=Annotated[Text, AfterValidator(_in_utc)],
    status=Literal["complete", "partial"],
    scores=Annotated[list[ScoreRecord], Field(min_length=1)],
)


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A complete run read from disk: the run, its scores, and its folder."""

    run: Run
    scores: tuple[Score, ...]
    folder: Path

    @property
    def variant(self) -> str:
        """The variant of the question; empty for the default."""
        return self.run.settings.get("variant", "")

    @property
    def revision(self) -> str:
        """The revision of the weights: a hub commit, or a digest of local files; empty if not recorded."""
        return str((self.run.settings.get("model") or {}).get("revision") or "")

    @property
    def short_revision(self) -> str:
        """The start of the weights' revision, for display."""
        return self.revision.removeprefix("files-")[:12]

    @property
    def coverage(self) -> float:
        """The share of the task's items that the scores cover."""
        return float(self.run.settings.get("coverage", 1.0))

    @property
    def date(self) -> str:
        """The time of the run, as text in UTC, to find the newest of several runs.

        Empty, which sorts before any date, if it is in the future: a wrong clock would win for years.
        """
        return "" if self.is_of_the_future else self.run.started

    @property
    def is_of_the_future(self) -> bool:
        """Whether its date is in the future."""
        return self.run.started > (datetime.now(UTC) + CLOCKS).isoformat(timespec="seconds")

    @property
    def tied(self) -> float:
        """The share of items decided by exact ties; 0 if not counted."""
        return float(self.run.settings.get("tied") or 0.0)

    @property
    def doubts(self) -> list[str]:
        """The reasons to doubt the result, in sentences."""
        return self.run.settings.get("doubts") or []


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Returns 20 hex digits of BLAKE2b over the settings as canonical JSON: equal settings have equal fingerprints."""
    return hashlib.blake2b(canonical(settings).encode(), digest_size=10).hexdigest()


def canonical(settings: Any) -> str:
    """Returns JSON with sorted keys and no spaces; tuples become lists, numpy numbers plain ones, bytes text."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=plain)


def plain(value: Any) -> Any:
    """Converts values that JSON does not support. Raises TypeError for other objects."""
    match value:
        case bytes():
            return value.decode()
        case np.generic():
            return value.item()
        case np.ndarray():
            return value.tolist()
        case set() | frozenset():
            return sorted(value)
        case Path():
            return str(value)
    raise TypeError(f"{type(value).__name__} is nothing that settings can hold")


def slug(key: str) -> str:
    """Returns a model's or task's key as a folder name."""
    return key.replace("/", "__")


def folder(root: Path, *, model: str, task: str, fingerprint: str) -> Path:
    """Returns the folder of a run. Calibration runs are on no board, and have a separate root."""
    root = root / CALIBRATIONS if task.startswith("calibration/") else root
    return root / slug(model) / slug(task) / fingerprint


def write(root: Path, *, run: Run, scores: Sequence[Score], items: pd.DataFrame) -> StoredRun:
    """Writes a complete run under `root`, replacing one with the same fingerprint; `run.json` is written last.

    `items` as `table` returns them. A reader never sees half a run, even if the writer is killed.
    """
    target = folder(root, model=run.model, task=run.task, fingerprint=run.fingerprint)
    target.mkdir(parents=True, exist_ok=True)
    summary = [{name: getattr(score, name) for name in SCORE_FIELDS} for score in scores]
    record = json.dumps(
        {**asdict(run), "scores": summary}, indent=1, sort_keys=True, ensure_ascii=False, default=plain, allow_nan=False
    )
    with locked(target):
        (target / MARK).unlink(missing_ok=True)
        store.write_parquet(
            target / SCORES,
            frame=pd.DataFrame([asdict(score) for score in scores]).astype(
                {
                    "n": "Int64",
                    **dict.fromkeys(("value", "stderr", "coverage", "lower_bound", "low", "high", "bias"), float),
                }
            ),
        )
        store.write_parquet(target / ITEMS, frame=items)
        write_text(target / MARK, record + "\n")
        (target / FAILED).unlink(missing_ok=True)
    return StoredRun(run=run, scores=tuple(scores), folder=target)


def note_failure(root: Path, *, run: Run, trace: str) -> Path | None:
    """Stores why a run failed in its folder, and returns the file.

    This is best effort: it returns None if the file cannot be written, since the disk itself may have failed.
    """
    target = folder(root, model=run.model, task=run.task, fingerprint=run.fingerprint)
    with contextlib.suppress(OSError, CannotWrite):
        target.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**asdict(run), "trace": trace}, indent=1, sort_keys=True, ensure_ascii=False, default=plain)
        write_text(target / FAILED, text + "\n")
        return target / FAILED
    return None


def find(root: Path, *, model: str, task: str, fingerprint: str) -> StoredRun | None:
    """Returns the complete run with this fingerprint; None if there is none or it is damaged."""
    place = folder(root, model=model, task=task, fingerprint=fingerprint)
    if not os.path.lexists(place / MARK):
        return None
    try:
        stored = read(place)
    except BadInput:
        return None
    return stored if stored.run.fingerprint == fingerprint else None


def read(folder: Path) -> StoredRun:
    """Reads one run folder. Raises BadInput with the folder's name and the error."""
    try:
        check_inside(folder, root=folder.parents[2])
        run, scores = _record(folder / MARK, root=folder.parents[2])
        if (slug(run.model), slug(run.task), run.fingerprint) != folder.parts[-3:]:
            raise ValueError(f"{MARK} is of another model, task or fingerprint")
        _check_whole(folder)
    except (OSError, ValueError) as error:
        reason = first_line(error)
        raise BadInput(
            f"Run folder {'/'.join(folder.parts[-3:])} is damaged ({reason}): remove it and run again"
        ) from error
    return StoredRun(run=run, scores=scores, folder=folder)


def _record(path: Path, *, root: Path) -> tuple[Run, tuple[Score, ...]]:
    """Returns the run and its scores from a `run.json` below `root`. Raises OSError, and ValueError with the error."""
    record = validated(read_record(path, root=root), RunRecord)
    stated = record.model_dump(exclude_unset=True)
    scores = stated.pop("scores")
    if len({(score["subset"], score["metric"]) for score in scores}) < len(scores):
        raise ValueError("two of its scores are of one subset and metric")
    for score in scores:
        if score.get("coverage") is None:
            score["coverage"] = record.settings.coverage
    return Run(**stated), tuple(_within_bounds(Score(run=record.id, **score)) for score in scores)


def _within_bounds(score: Score) -> Score:
    """Returns the score with rounding errors beyond its metric's bounds clipped. Raises ValueError for impossible
    values.
    """
    lower, upper = BOUNDS.get(score.metric, (None, None))
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    slack = 1e-9 * max(1.0, abs(score.value))  # a sum of floats may slightly exceed a bound
    moved = {}
    for name in ("value", "lower_bound", "low", "high"):
        value = getattr(score, name)
        if value is not None:
            if not least - slack <= value <= most + slack:
                raise ValueError(f"{name} of {score.metric} is {value:g}, outside of {least:g} to {most:g}")
            moved[name] = min(max(value, least), most)
    if score.stderr is not None and score.stderr > most - least + slack:
        raise ValueError(f"stderr of {score.metric} is {score.stderr:g}, more than its bounds are apart")
    if (score.low is None) != (score.high is None) or (score.low is not None and score.low > score.high):
        raise ValueError(f"the interval of {score.metric} has ends {score.low} and {score.high}")
    return replace(score, **moved)


def _check_whole(folder: Path) -> None:
    """Raises OSError for a missing file of the folder, ValueError for one that is not a complete Parquet file."""
    for name in (SCORES, ITEMS):
        path = folder / name
        check_file(path, root=folder.parents[2], most=MAX_PARQUET)
        with path.open("rb") as file:
            head, size = file.read(4), path.stat().st_size
            file.seek(max(0, size - 4))
            if size < 12 or (head, file.read(4)) != (b"PAR1", b"PAR1"):
                raise ValueError(f"{name} is not a whole Parquet file")


def stored(root: Path, *, model: str, task: str) -> list[StoredRun]:
    """Returns all complete runs of a model on a task; damaged ones are skipped."""
    runs = []
    for run in _folders(folder(root, model=model, task=task, fingerprint="")):
        with contextlib.suppress(BadInput):
            runs.append(read(run))
    return runs


def every(root: Path) -> Iterator[Path]:
    """Yields the folders of all complete runs under `root`, in the order of their names."""
    for model in _folders(root):
        if model.name not in OTHERS and not model.name.startswith("."):
            for task in _folders(model):
                yield from (run for run in _folders(task) if (run / MARK).is_file())


def newest(folders: Iterable[Path]) -> tuple[list[StoredRun], list[str]]:
    """Returns the complete runs in these folders, the newest for each id, and the errors of damaged ones."""
    runs: dict[str, StoredRun] = {}
    problems = []
    for folder in folders:
        try:
            one = read(folder)
        except BadInput as error:
            problems.append(str(error))
            continue
        if one.run.id not in runs or one.date > runs[one.run.id].date:
            runs[one.run.id] = one
    return list(runs.values()), problems


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    with os.scandir(root) as entries:
        return sorted(Path(entry.path) for entry in entries if entry.is_dir())


def table(evidence: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Returns all subsets' evidence as one frame to store: `item` is unique in the run, `subset` names its part.

    Columns are text (`expected`, `answer`), boolean (`correct`), numbers (`value` and every other numeric column) and
    `detail` as JSON. A `detail` that is a function is only called for the items that a page can show. Raises BadInput
    if an item appears twice.
    """
    parts = []
    for subset, items in evidence.items():
        part = pd.DataFrame({"item": items["item"].astype(str), "subset": subset})
        if len(evidence) > 1:
            part["item"] = subset + "/" + part["item"]
        for name, read in (("expected", _text), ("answer", _text), ("correct", bool), ("value", float)):
            part[name] = [None if _blank(value) else read(value) for value in items[name]] if name in items else None
        part["detail"] = items["detail"].to_numpy() if "detail" in items else None
        for name in items.columns:
            if name not in part.columns:
                part[name] = items[name] if pd.api.types.is_numeric_dtype(items[name]) else items[name].astype(str)
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    twice = frame["item"].duplicated()
    if twice.any():
        raise BadInput(f"The evidence names the item {frame['item'][twice].iloc[0]!r} twice: item names must be unique")
    opened = set(page_items(frame["item"].tolist()))
    frame["detail"] = [
        _detail(value, opened=item in opened) for item, value in zip(frame["item"], frame["detail"], strict=True)
    ]
    kinds = dict.fromkeys(("item", "subset", "expected", "answer", "detail"), object)
    return frame.astype({**kinds, "correct": "boolean", "value": float})


def _detail(value: Any, *, opened: bool) -> str | None:
    if callable(value):
        value = value() if opened else None
    return detail(value) if isinstance(value, dict) and value else None


def detail(value: Mapping[str, Any]) -> str:
    """Returns one item's detail as JSON for display, with numbers rounded to DIGITS digits and NaN and infinity as
    null.
    """
    return canonical(
        json.loads(
            canonical(value),
            parse_float=lambda text: float(f"{float(text):.{DIGITS}g}"),
            parse_constant=lambda name: None,
        )
    )


def _text(value: Any) -> str:
    return str(plain(value) if isinstance(value, np.generic | bytes) else value)


def _blank(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def page_items(items: Sequence[str], *, most: int = PAGE_ITEMS) -> list[str]:
    """Returns the items of a run that a page can show; see PAGE_ITEMS."""
    if len(items) <= most:
        return list(items)
    return sorted(items, key=lambda item: hashlib.md5(item.encode()).hexdigest())[:most]


def headline(stored: StoredRun) -> Score:
    """Returns the run's score of its first metric: that of the whole task, or the mean of its subsets if it has only
    those.

    The mean's error is the mean of the subsets' errors, which is an upper bound under any dependence.
    """
    parts = [score for score in stored.scores if score.metric == stored.scores[0].metric]
    whole = [score for score in parts if score.subset == WHOLE] or parts
    if len(whole) == 1:
        return whole[0]
    counts = [score.n for score in whole]
    bounds = [score.lower_bound if score.lower_bound is not None else score.value for score in whole]
    missing = any(score.lower_bound is not None for score in whole)
    return Score(
        run=stored.run.id,
        subset=WHOLE,
        metric=whole[0].metric,
        value=float(np.mean([score.value for score in whole])),
        stderr=mean_if_known([score.stderr for score in whole]),
        bias=mean_if_known([score.bias for score in whole]),
        n=None if None in counts else int(sum(counts)),
        coverage=stored.coverage,
        lower_bound=float(np.mean(bounds)) if missing else None,
    )
