"""Reads the public MTEB results repository: `results/<org>__<model>/<revision>/<Task>.json`, or `<Task>.json.gz`."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from compute.catalog import Catalog
from compute.catalog.catalog import MTEB
from compute.catalog.published import score_of
from compute.importing.figures import Imported, SkippedFile, fingerprint, outside
from compute.importing.model_meta import ModelMeta, model_key, model_row
from compute.io.files import Record, short, validated
from compute.io.tables import MOST_BYTES
from compute.types import BadInput, Metric, Model, Run, Score, Task

RUN = ("folder", "revision", "task", "split")  # the columns that tell runs apart
COLUMNS = {  # of the rows that are read, one a score; and of those that are shipped
    "folder": "string",  # <organisation>__<model>
    "revision": "string",
    "task": "string",  # mteb's name
    "split": "string",
    "subset": "string",
    "metric": "string",
    "value": "float64",  # proportions as fractions
    "main": "bool",  # whether it is the one shown: of the newest revision with the task, and of the test split
    "primary": "bool",  # whether the revision is the model's newest, then the one with most tasks
    "field": "string",  # of the file, from which the value is
    "main_score": "float64",  # what the file calls so, where that is another metric
    "dataset_revision": "string",
    "mteb_version": "string",
    "evaluation_time": "float64",  # seconds
    "date": "string",
}
FILE = "file"  # the path of a row's file below the folder that is read
# The names under which result files of different ages hold a metric; otherwise its own key.
FIELDS = {
    "hit_rate_at_1": ("hit_rate_at_1", "cv_recall_at_1"),
    "hit_rate_at_3": ("hit_rate_at_3", "cv_recall_at_3"),
    "text_accuracy": ("text_acc",),
    "image_accuracy": ("image_acc",),
    "group_accuracy": ("accuracy",),
}


class SplitRow(BaseModel):
    """The scores of one subset; every other metric is an extra field."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    main_score: float | None = None  # some files have their metrics alone
    hf_subset: str = "default"


def read_split(
    rows: Sequence[Any], *, split: str, task: Task, metric: Metric
) -> tuple[dict[str, float], dict[str, Any]]:
    """Value a subset, and which field of the file they are read from.

    The field of the task's own metric wins over `main_score`: some old files put another metric there.
    """
    values: dict[str, float] = {}
    fields: dict[str, Any] = {"field": "main_score"}
    try:
        checked = [validated(row, SplitRow) for row in rows]
    except ValueError as error:
        raise BadInput(f"split {split!r}: {error}") from error
    if not checked:
        raise BadInput(f"split {split!r} has no scores")
    for row in checked:
        subset = subset_key(row.hf_subset, task)
        if subset in values:
            raise BadInput(f"split {split!r} has subset {subset!r} twice")
        value = row.main_score
        for field in FIELDS.get(metric.key, (metric.key,)):
            named = getattr(row, field, None)
            if type(named) in (int, float) and abs(named) < 1e300:
                fields["field"] = field
                if value is not None and abs(named - value) > 1e-6:
                    fields["main_score"] = value
                value = float(named)
                break
        if value is None:
            raise BadInput(f"split {split!r} has neither main_score nor {metric.key}")
        if reason := outside(value, metric):
            raise BadInput(f"main_score of {split}/{subset}: {reason}")
        values[subset] = value
    return values, fields


def subset_key(name: str, task: Task) -> str:
    """Our name of a file's subset: an aggregate's `default` over several subsets is their `average`."""
    if name == "default":
        return "average" if len(task.subsets) > 1 else name
    if name not in task.subsets:
        raise BadInput(f"the task has no subset {short(name)}")
    return name


META = "model_meta.json"
REPAIR = "Download the file again, or delete it"
REPAIR_META = "Correct it; the model is listed by its name alone"


class ResultFile(BaseModel):
    """What is read of a task's result file."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    scores: dict[str, list[Any]]  # of which the splits that the task is scored on are read
    task_name: str | None = None
    mteb_version: str | None = None
    dataset_revision: str | None = None
    evaluation_time: Annotated[float, Field(ge=0)] | None = None
    date: Any = None


def read_mteb_results(path: Path, *, catalog: Catalog) -> Imported:
    """Every score of a task in the catalogue; `path` is the `results` folder or the one that holds it.

    A damaged file never stops the import: it is named in `problems`. Of several revisions of a model the one
    with the newest mteb version (then with most tasks) is primary; its runs have `main` set, and so have the
    other revisions' runs of tasks it does not have. Raises BadInput when the folder holds no results at all.
    """
    if not path.is_dir():
        raise BadInput(f"There is no folder {path}: give the folder of the results repository")
    reader = _RepositoryReader(root=path / "results" if (path / "results").is_dir() else path, catalog=catalog)
    reader.name_strays(reader.root)
    for folder in _folders(reader.root):
        if "__" in folder.name:
            reader.read_model(folder)
        else:
            reader.problem(folder, "the name is not <organisation>__<model>", "Rename the folder, or delete it")
    if not reader.files:
        raise BadInput(
            f"{path} holds no MTEB results: give a folder laid out as results/<org>__<model>/<revision>/<Task>.json"
        )
    rows = pd.DataFrame(reader.rows, columns=[*COLUMNS, FILE]).astype(COLUMNS)
    models, runs, scores = recorded(rows, facts=reader.facts, catalog=catalog)
    return Imported(
        runs=tuple(runs),
        scores=tuple(scores),
        models=tuple(models),
        problems=tuple(reader.problems),
        skipped=tuple(reader.skipped),
        facts=reader.facts,
        rows=rows,
    )


def recorded(
    rows: pd.DataFrame, *, facts: Mapping[str, ModelMeta], catalog: Catalog, commit: str = ""
) -> tuple[list[Model], list[Run], list[Score]]:
    """The models that the catalogue does not list, the runs and the scores of rows of COLUMNS and FILE.

    The rows of a run follow one another. `facts` are those of models by folder.
    """
    tasks, metrics = {task.title: task for task in catalog.tasks}, {metric.key: metric for metric in catalog.metrics}
    known = {model.key for model in catalog.models}
    runs, scores = [], []
    for _, same in groupby(rows.itertuples(index=False), key=lambda row: tuple(getattr(row, name) for name in RUN)):
        cells = list(same)
        first = cells[0]
        model, task = model_key(first.folder), tasks[first.task]
        settings: dict[str, Any] = {
            "dataset_revision": first.dataset_revision,
            "mteb_version": first.mteb_version,
            "evaluation_time": None if pd.isna(first.evaluation_time) else first.evaluation_time,
            "model_revision": first.revision,
            "split": first.split,
            "file": first.file,
            "field": first.field,
            **({} if pd.isna(first.main_score) else {"main_score": first.main_score}),
        }
        run = Run(
            id=f"mteb/{model}/{first.revision}/{task.key}/{first.split}",
            model=model,
            task=task.key,
            procedure=task.procedure,
            origin="imported",
            source=f"mteb results repository, {first.folder.replace('__', '/', 1)} @ {first.revision[:12]}",
            settings={**settings, "primary": bool(first.primary), **({"commit": commit} if commit else {})},
            fingerprint=fingerprint(model=model, task=task.key, settings=settings),
            code=f"mteb {first.mteb_version}".strip(),
            seconds=settings["evaluation_time"],
            started=first.date,
            main=bool(first.main),
        )
        runs.append(run)
        scores += [score_of(run.id, task, metrics[cell.metric], cell.subset, cell.value) for cell in cells]
    folders = [name for name in rows["folder"].unique() if model_key(name) not in known]
    return [model_row(facts.get(name), name, catalog=catalog) for name in folders], runs, scores


def version_key(text: str) -> tuple[int, ...]:
    """An mteb version as comparable numbers; of a range (`2.12.16-2.15.4`) its end; () when there is none."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", text.rpartition("-")[2])
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def _folders(parent: Path) -> Iterator[Path]:
    yield from (path for path in sorted(parent.iterdir()) if path.is_dir() and not path.name.startswith("."))


def _read(path: Path, kind: type[Record]) -> Record:
    """A JSON file, perhaps with a byte order mark or compressed, as a record. Raises BadInput with the reason alone."""
    try:
        if not path.is_file():  # a pipe would be waited for
            raise ValueError("it is not a regular file")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES / 1e6:,.0f} MB")
        return validated(json.loads(content), kind)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise BadInput(f"is not JSON of the expected form ({str(error)[:160]})") from error


@dataclass(frozen=True, kw_only=True)
class _Revision:
    rows: list[dict[str, Any]]
    meta: ModelMeta | None

    @property
    def order(self) -> tuple[tuple[int, ...], int]:
        """The newest mteb version, then the number of tasks."""
        versions = [version_key(row["mteb_version"]) for row in self.rows]
        return max(versions, default=()), len({row["task"] for row in self.rows})


class _RepositoryReader:
    """Collects while it walks; one instance reads one repository."""

    def __init__(self, *, root: Path, catalog: Catalog) -> None:
        self.root = root
        self.catalog = catalog
        self.tasks = {task.title: task for task in catalog.tasks if task.benchmark in MTEB}
        self.metrics = {metric.key: metric for metric in catalog.metrics}
        self.rows: list[dict[str, Any]] = []
        self.facts: dict[str, ModelMeta] = {}
        self.problems: list[SkippedFile] = []
        self.skipped: list[SkippedFile] = []
        self.read: set[str] = set()
        self.files = 0

    def problem(self, path: Path, reason: str, remedy: str) -> None:
        """Notes a file or folder that is skipped."""
        self.problems.append(SkippedFile(self.name(path), reason, remedy))

    def name(self, path: Path) -> str:
        """The path below the folder that is read."""
        return path.relative_to(self.root).as_posix()

    def read_model(self, folder: Path) -> None:
        """Reads all revisions of one model; newest and fullest first, the first on a task is main."""
        key = model_key(folder.name)
        if key in self.read:
            self.problem(folder, "is another spelling of a model already read", "Keep one of the two folders")
            return
        self.read.add(key)
        self.name_strays(folder)
        revisions = sorted(map(self.read_revision, _folders(folder)), key=lambda item: item.order, reverse=True)
        taken: set[str] = set()
        for rank, revision in enumerate(revisions):
            self.rows += [
                {**row, "main": row["main"] and row["task"] not in taken, "primary": rank == 0} for row in revision.rows
            ]
            taken |= {row["task"] for row in revision.rows}
        meta = next((revision.meta for revision in revisions if revision.meta), None)
        if taken and meta:
            self.facts[folder.name] = meta

    def name_strays(self, folder: Path) -> None:
        """Notes the results in a folder of models or of revisions."""
        for path in sorted(folder.iterdir()):
            if path.name.removesuffix(".gz").removesuffix(".json") in self.tasks and not path.is_dir():
                self.problem(path, "lies in no revision's folder", "Move it to <org>__<model>/<revision>/")

    def read_revision(self, folder: Path) -> _Revision:
        """The rows of one revision; a damaged file is noted."""
        rows, meta = [], None
        # Of a file that is there in both forms, the plain one.
        found = {
            path.name.removesuffix(".gz"): path for end in (".json.gz", ".json") for path in folder.glob(f"*{end}")
        }
        for name, path in sorted(found.items()):
            self.files += 1
            title = name.removesuffix(".json")
            try:
                if name == META:
                    read = _read(path, ModelMeta)
                    model_row(read, folder.parent.name, catalog=self.catalog)  # refuses another model's
                    meta = read
                elif task := self.tasks.get(title):
                    rows += self.read_task(path, task)
                else:
                    reason = f"the catalogue has no task {title!r} of MIEB or ViDoRe"
                    remedy = "Add a row to assets/catalog/tasks.csv to read it"
                    self.skipped.append(SkippedFile(self.name(path), reason, remedy))
            except BadInput as error:
                self.problem(path, str(error), REPAIR_META if name == META else REPAIR)
        return _Revision(rows=rows, meta=meta)

    def read_task(self, path: Path, task: Task) -> list[dict[str, Any]]:
        """One result file, a row a split and subset. Raises BadInput with the reason alone."""
        content = _read(path, ResultFile)
        if (content.task_name or task.title) != task.title:
            raise BadInput(f"says it is for task {short(content.task_name)}")
        *others, wanted = task.split.split("|")  # of two the task's score is that of the last
        own = next((split for split in (wanted, "test") if split in content.scores), "")
        if not own:
            raise BadInput(f"has the splits {', '.join(content.scores)[:60]}, but the task is scored on {wanted}")
        metric = self.metrics[task.metrics[0]]
        rows = []
        for split in (*(split for split in others if split in content.scores), own):
            values, fields = read_split(content.scores[split], split=split, task=task, metric=metric)
            about = {
                "folder": path.parent.parent.name,
                "revision": path.parent.name,
                "task": task.title,
                "split": split,
                "metric": metric.key,
                "main": split == own,
                "dataset_revision": content.dataset_revision or "",
                "mteb_version": content.mteb_version or "",
                "evaluation_time": content.evaluation_time,
                "date": str(content.date or ""),
                FILE: self.name(path),
                **fields,
            }
            rows += [{**about, "subset": subset, "value": value} for subset, value in values.items()]
        return rows
