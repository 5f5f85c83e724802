"""Run folders: what one run left behind, on disk. They are the truth; the database is an index of them.

`<root>/<model, / as __>/<task, / as __>/<fingerprint>/` holds `scores.parquet`, `items.parquet` and, written last,
`run.json`: where it is, the run is whole. A run that failed leaves `failed.json` there instead, and counts as missing.
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
# Below the results folder there are folders that hold no runs; looking into them would only cost time.
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
# A page opens at most this many items of a run, those whose names have the lowest MD5: the same items for every model,
# whatever order a loader gives them in, and a fair draw of the task.
PAGE_ITEMS = 2000
MAX_PARQUET = 4 << 30  # bytes: a million items with their details take under 1 GB
CLOCKS = timedelta(days=1)  # how far the clocks of two machines may differ
DIGITS = 6  # significant ones of a number in an item's detail


BOUNDS = {metric.key: (metric.lower, metric.upper) for metric in METRICS}


class RecordPart(BaseModel):
    """A part of a record that may hold more than is named here; what is named may be null."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, defer_build=True)


def _part(name: str, **fields: Any) -> type[RecordPart]:
    """A record's part of these fields by their types."""
    return create_model(name, __base__=RecordPart, **{field: (kind | None, None) for field, kind in fields.items()})


# What a page shows of a model that has left every catalogue.
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
    """So that the times of all zones can be compared as texts."""
    when = datetime.fromisoformat(text) if text else None
    return text if when is None or when.tzinfo is None else when.astimezone(UTC).isoformat(timespec="seconds")


# What `run.json` may hold; anything else is refused, as one wrong number would spoil a suite for all its models: a
# negative standard error ends the ranking, an accuracy of 12345 leads.
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
    """A whole run read back: the run, its scores, and where it is."""

    run: Run
    scores: tuple[Score, ...]
    folder: Path

    @property
    def variant(self) -> str:
        """How the question was put where there are several ways; empty for the usual one."""
        return self.run.settings.get("variant", "")

    @property
    def revision(self) -> str:
        """Of the weights: a commit of the hub, or a digest of local files; empty where it was not recorded."""
        return str((self.run.settings.get("model") or {}).get("revision") or "")

    @property
    def short_revision(self) -> str:
        """The beginning of the weights' revision, as a reader is shown it."""
        return self.revision.removeprefix("files-")[:12]

    @property
    def coverage(self) -> float:
        """The share of the task's items that the scores rest on."""
        return float(self.run.settings.get("coverage", 1.0))

    @property
    def date(self) -> str:
        """When it was made, as text in UTC, to find the newest of several runs.

        Empty, which any other date beats, where it is in the future: a wrong clock would win for years.
        """
        return "" if self.is_of_the_future else self.run.started

    @property
    def is_of_the_future(self) -> bool:
        """Whether its date is still to come."""
        return self.run.started > (datetime.now(UTC) + CLOCKS).isoformat(timespec="seconds")

    @property
    def tied(self) -> float:
        """The share of items that exact ties decide; 0 where none were counted."""
        return float(self.run.settings.get("tied") or 0.0)

    @property
    def doubts(self) -> list[str]:
        """Why the result is doubtful, in sentences."""
        return self.run.settings.get("doubts") or []


def fingerprint(settings: Mapping[str, Any]) -> str:
    """20 hex digits of BLAKE2b over the settings as canonical JSON: equal settings have equal ones."""
    return hashlib.blake2b(canonical(settings).encode(), digest_size=10).hexdigest()


def canonical(settings: Any) -> str:
    """JSON with sorted keys and no spaces; tuples are lists, numpy numbers plain ones, bytes text."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=plain)


def plain(value: Any) -> Any:
    """What JSON lacks, as something it has. Raises TypeError for other objects."""
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
    """A model's or task's key as the name of a folder."""
    return key.replace("/", "__")


def folder(root: Path, *, model: str, task: str, fingerprint: str) -> Path:
    """Where the run of this fingerprint is stored: one that calibrates a model is on no board, and apart."""
    root = root / CALIBRATIONS if task.startswith("calibration/") else root
    return root / slug(model) / slug(task) / fingerprint


def write(root: Path, *, run: Run, scores: Sequence[Score], items: pd.DataFrame) -> StoredRun:
    """Writes a whole run under `root`, replacing an earlier one of the same fingerprint; `run.json` comes last.

    `items` as `table` gives it. A reader never sees half a run, whenever the writer is killed.
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
    """Keeps why a run failed, for who looks into its folder, and returns the file. Best effort: None where it cannot be
    written, as the disk itself may be what failed."""
    target = folder(root, model=run.model, task=run.task, fingerprint=run.fingerprint)
    with contextlib.suppress(OSError, CannotWrite):
        target.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**asdict(run), "trace": trace}, indent=1, sort_keys=True, ensure_ascii=False, default=plain)
        write_text(target / FAILED, text + "\n")
        return target / FAILED
    return None


def find(root: Path, *, model: str, task: str, fingerprint: str) -> StoredRun | None:
    """The whole run of this fingerprint, or None: where there is none, and where it is damaged."""
    place = folder(root, model=model, task=task, fingerprint=fingerprint)
    if not os.path.lexists(place / MARK):
        return None
    try:
        stored = read(place)
    except BadInput:
        return None
    return stored if stored.run.fingerprint == fingerprint else None


def read(folder: Path) -> StoredRun:
    """One run folder. Raises BadInput naming the folder and what is wrong with it."""
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
    """The run and its scores in a `run.json` below `root`. Raises OSError, and ValueError with what is wrong."""
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
    """The score with what is just beyond its metric's bounds on them. Raises ValueError with what cannot be."""
    lower, upper = BOUNDS.get(score.metric, (None, None))
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    slack = 1e-9 * max(1.0, abs(score.value))  # a sum of floats may end just beyond a bound
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
    """Raises OSError for a missing file of the folder, ValueError for one that is not a whole Parquet file of its
    size."""
    for name in (SCORES, ITEMS):
        path = folder / name
        check_file(path, root=folder.parents[2], most=MAX_PARQUET)
        with path.open("rb") as file:
            head, size = file.read(4), path.stat().st_size
            file.seek(max(0, size - 4))
            if size < 12 or (head, file.read(4)) != (b"PAR1", b"PAR1"):
                raise ValueError(f"{name} is not a whole Parquet file")


def stored(root: Path, *, model: str, task: str) -> list[StoredRun]:
    """All whole runs of a model on a task; what is damaged is skipped."""
    runs = []
    for run in _folders(folder(root, model=model, task=task, fingerprint="")):
        with contextlib.suppress(BadInput):
            runs.append(read(run))
    return runs


def every(root: Path) -> Iterator[Path]:
    """The folders of all whole runs under `root`, in the order of their names."""
    for model in _folders(root):
        if model.name not in OTHERS and not model.name.startswith("."):
            for task in _folders(model):
                yield from (run for run in _folders(task) if (run / MARK).is_file())


def newest(folders: Iterable[Path]) -> tuple[list[StoredRun], list[str]]:
    """The whole runs in these folders, of several of one id the newest; and what is wrong with damaged ones."""
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
    """All subsets' evidence as one frame to store: `item` is unique in the run, `subset` says which part it is of.

    Columns are text (`expected`, `answer`), truth (`correct`), numbers (`value` and every other numeric column) and
    `detail` as JSON, where it is a function only of the items that a page can open. Raises BadInput where an item
    appears twice.
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
    """One item's detail as JSON, to be shown: numbers to DIGITS digits, NaN and infinity, which JSON lacks, as null."""
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
    """Which of a run's items a page can open; see PAGE_ITEMS."""
    if len(items) <= most:
        return list(items)
    return sorted(items, key=lambda item: hashlib.md5(item.encode()).hexdigest())[:most]


def headline(stored: StoredRun) -> Score:
    """The run's figure of its first metric: the whole task's, or the mean of its subsets where it has only those.

    The mean's error is the mean of the subsets' errors: its upper bound, however much they depend on one another.
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
