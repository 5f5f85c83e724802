"""Reads the public MTEB results repository: `results/<org>__<model>/<revision>/<Task>.json`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_validator

from compute.catalog import Catalog
from compute.catalog.catalog import MTEB
from compute.catalog.published import score_of
from compute.importing.collection import Imported, SkippedFile, fingerprint, outside
from compute.io.files import Record, short, validated
from compute.io.tables import MOST_BYTES
from compute.progress import followed
from compute.types import BadInput, Metric, Model, Run, Score, Task, counted, first_line

RUN = ("folder", "revision", "task", "split")  # columns that identify a run
REPOSITORY = "mteb/results"  # a data set on the hub
COLUMNS = {  # of the rows that are read, one per score, and of shipped rows
    "folder": "string",  # <organisation>__<model>
    "revision": "string",
    "task": "string",  # mteb's name
    "split": "string",
    "subset": "string",
    "metric": "string",
    "value": "float64",  # proportions as fractions
    "main": "bool",  # whether it is shown: of the newest revision with the task, and of the test split
    "primary": "bool",  # whether the revision is the model's newest, then the one with most tasks
    "field": "string",  # the field of the file that the value is from
    "main_score": "float64",  # the file's main_score, if that is another metric
    "dataset_revision": "string",
    "mteb_version": "string",
    "evaluation_time": "float64",  # seconds
    "date": "string",
}
FILE = "file"  # the path of a row's file, relative to the folder that is read
# Names of metrics in result files of different ages; otherwise the metric's own key.
FIELDS = {
    "hit_rate_at_1": ("hit_rate_at_1", "cv_recall_at_1"),
    "hit_rate_at_3": ("hit_rate_at_3", "cv_recall_at_3"),
    "text_accuracy": ("text_acc",),
    "image_accuracy": ("image_acc",),
    "group_accuracy": ("accuracy",),
}


class ModelMeta(BaseModel):
    """The fields of a model_meta.json that are read, and stored unchanged with the shipped results."""

    model_config = ConfigDict(strict=True)

    name: str
    revision: str | None = None
    license: str | None = None
    release_date: str | None = None
    n_parameters: int | None = None
    memory_usage_mb: float | None = None
    embed_dim: int | None = None
    max_tokens: float | None = None
    modalities: list[str] | None = None
    languages: list[str] | None = None
    open_weights: bool | None = None
    use_instructions: bool | None = None
    similarity_fn_name: str | None = None
    model_type: list[str] | None = None
    framework: list[str] | None = None
    loader: str | None = None
    reference: str | None = None
    citation: str | None = None  # BibTeX
    public_training_code: str | bool | None = None  # an address, or words that say there is none
    public_training_data: str | bool | None = None
    training_datasets: list[str] | None = None  # names of mteb's tasks and data sets; None: not stated

    @field_validator("max_tokens")
    @classmethod
    def _without_limit(cls, value: float | None) -> float | None:
        """Converts infinity to None, because JSON has no infinity."""
        return value if value is not None and math.isfinite(value) else None

    @field_validator("training_datasets", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        """Converts the mapping of names to splits in older files to a list of names."""
        return sorted(value) if isinstance(value, dict) else value

    @property
    def late_interaction(self) -> bool | None:
        """Whether the model has many vectors per item; None if the file does not say."""
        kinds = {(self.similarity_fn_name or "").replace("_", "").lower(), *(self.model_type or ())}
        return True if kinds & {"maxsim", "late-interaction"} else False if kinds & {"cosine", "dense"} else None


class SplitRow(BaseModel):
    """The scores of one subset; all other metrics are extra fields."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    main_score: float | None = None  # some files only have their metrics
    hf_subset: str = "default"


META = "model_meta"
REPAIR = "Download the file again, or delete it"
REPAIR_META = "Correct it; the model is listed by its name alone"


class ResultFile(BaseModel):
    """The fields of a task's result file."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    scores: dict[str, list[Any]]  # only the splits that the task is scored on are read
    task_name: str | None = None
    mteb_version: str | None = None
    dataset_revision: str | None = None
    evaluation_time: Annotated[float, Field(ge=0)] | None = None
    date: Any = None


def fetch_mteb_results(cache: Path, *, catalog: Catalog, revision: str) -> Path:
    """Downloads the result files of the catalogue's MIEB and ViDoRe tasks at one commit; returns their folder.

    `revision` is a commit, branch or tag. A branch is resolved first, and the folder is named after the commit, so that
    the import can be repeated. Raises BadInput if the revision does not exist or the hub cannot be reached.
    """
    import httpx2
    from huggingface_hub import HfApi, snapshot_download

    names = sorted(tasks_of(catalog))
    try:
        whole = re.fullmatch(r"[0-9a-f]{40}", revision)
        commit = revision if whole else str(HfApi().dataset_info(REPOSITORY, revision=revision).sha)
        # Real files: the hub's shared cache contains links, which the reader does not follow.
        snapshot_download(
            REPOSITORY,
            repo_type="dataset",
            revision=commit,
            local_dir=cache / commit,
            allow_patterns=[f"results/*/*/{name}.json" for name in (*names, META)],
        )
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise BadInput(
            f"Cannot download {REPOSITORY} at {revision[:12]} ({first_line(error)}). Check the connection and the "
            "revision, or give a folder of results that is already on this machine"
        ) from error
    return cache / commit


def read_mteb_results(path: Path, *, catalog: Catalog) -> Imported:
    """Returns every score of a catalogue task; `path` is the `results` folder or its parent.

    A damaged file never stops the import: it is named in `problems`. Of several revisions of a model, the one with the
    newest mteb version (then with most tasks) is primary. Its runs have `main` set, as do other revisions' runs of
    tasks that it does not have. Raises BadInput if the folder has no results at all.
    """
    if not path.is_dir():
        raise BadInput(f"There is no folder {path}: give the folder of the results repository")
    root = path / "results" if (path / "results").is_dir() else path
    tasks = tasks_of(catalog)
    metrics = {metric.key: metric for metric in catalog.metrics}
    every = []
    facts = {}
    problems = []
    skipped = []
    models, count = set(), 0

    def note(path: Path, reason: str, remedy: str, *, among: list[SkippedFile] = problems) -> None:
        among.append(SkippedFile(path.relative_to(root).as_posix(), reason, remedy))

    for folder in followed(list(_folders(root)), "Reading results", "model"):
        if "__" not in folder.name:
            note(folder, "the name is not <organisation>__<model>", "Rename the folder, or delete it")
            continue
        if model_key(folder.name) in models:
            note(folder, "is another spelling of a model already read", "Keep one of the two folders")
            continue
        models.add(model_key(folder.name))
        revisions = []  # newest mteb version, number of tasks, rows, description
        for revision in _folders(folder):
            rows, meta = [], None
            files = sorted(revision.glob("*.json"))
            count += len(files)
            for file in files:
                title = file.stem
                try:
                    if title == META:
                        read = _read(file, ModelMeta)
                        model_row(read, folder.name, catalog=catalog)  # raises for another model's file
                        meta = read
                    elif title in tasks:
                        about = {
                            "folder": folder.name,
                            "revision": revision.name,
                            FILE: f"{folder.name}/{revision.name}/{file.name}",
                        }
                        rows += [{**about, **row} for row in _rows(file, tasks[title], metrics)]
                    else:
                        reason = f"the catalogue has no task {title!r} of MIEB or ViDoRe"
                        note(file, reason, "Add a row to assets/catalog/tasks.csv to read it", among=skipped)
                except BadInput as error:
                    note(file, str(error), REPAIR_META if title == META else REPAIR)
            newest = max((version_key(row["mteb_version"]) for row in rows), default=())
            revisions.append((newest, len({row["task"] for row in rows}), rows, meta))
        taken = set()
        revisions.sort(key=lambda each: each[:2], reverse=True)
        for rank, (*_, rows, _) in enumerate(revisions):
            every += [{**row, "main": row["main"] and row["task"] not in taken, "primary": rank == 0} for row in rows]
            taken |= {row["task"] for row in rows}
        described = [meta for *_, meta in revisions if meta]
        if taken and described:
            facts[folder.name] = described[0]
    if not count:
        raise BadInput(
            f"{path} holds no MTEB results: give a folder laid out as results/<org>__<model>/<revision>/<Task>.json"
        )
    frame = pd.DataFrame(every, columns=[*COLUMNS, FILE]).astype(COLUMNS)
    made, runs, scores = recorded(frame, facts=facts, catalog=catalog)
    other = frame[frame["main_score"].notna()]["file"].nunique()
    why = "have another metric as main_score: the task's own is read"
    return Imported(
        notes=(f"{counted(other, 'file')} {why}",) if other else (),
        runs=tuple(runs),
        scores=tuple(scores),
        models=tuple(made),
        problems=tuple(problems),
        skipped=tuple(skipped),
        facts=facts,
        rows=frame,
    )


def recorded(
    rows: pd.DataFrame, *, facts: Mapping[str, ModelMeta], catalog: Catalog, commit: str = ""
) -> tuple[list[Model], list[Run], list[Score]]:
    """Returns the models missing from the catalogue, the runs and the scores of rows with COLUMNS and FILE.

    The rows of a run are adjacent. `facts` describe models, by folder.
    """
    tasks, metrics = tasks_of(catalog), {metric.key: metric for metric in catalog.metrics}
    known = {model.key for model in catalog.models}
    runs, scores = [], []
    for _, same in groupby(rows.itertuples(index=False), key=lambda row: tuple(getattr(row, name) for name in RUN)):
        cells = list(same)
        task = tasks[cells[0].task]
        first = next((cell for cell in cells if cell.metric == task.metrics[0]), cells[0])
        model = model_key(first.folder)
        settings = {
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


def tasks_of(catalog: Catalog) -> dict[str, Task]:
    """Returns the tasks that mteb has, by mteb's names."""
    return {task.title: task for task in catalog.tasks if task.benchmark in MTEB}


def model_key(folder: str) -> str:
    """Returns the catalogue's key of the model in folder `<org>__<model>`."""
    return folder.replace("__", "/", 1).lower()


def model_row(meta: ModelMeta | None, folder: str, *, catalog: Catalog) -> Model:
    """Returns a model row; its training data only include data sets of the catalogue.

    Its organisation is spelled as in the catalogue for the same hub account. Without `meta`, the row only has what the
    folder's name states. Raises BadInput if the folder is another model's.
    """
    account, _, name = folder.partition("__")
    organisations = {row.key.partition("/")[0]: row.organisation for row in catalog.models if row.organisation}
    bare = Model(key=model_key(folder), title=name, organisation=organisations.get(account.lower(), account))
    if meta is None:
        return bare
    if meta.name.replace("/", "__", 1) != folder:
        raise BadInput(f"names the model {short(meta.name)}, but the folder is {short(folder)}")
    modalities = tuple(meta.modalities or ())
    arxiv = re.findall(r"\b\d{4}\.\d{5}\b", meta.citation or "")
    released = meta.release_date or ""
    return replace(
        bare,
        weights=meta.name if meta.open_weights else "",
        revision=meta.revision or "",
        license=meta.license or "",
        training_code=_is_public(meta.public_training_code),
        training_data=_is_public(meta.public_training_data),
        paper=f"https://arxiv.org/abs/{arxiv[0]}" if arxiv else "",
        late_interaction=meta.late_interaction,
        instructions=meta.use_instructions,
        memory_mb=meta.memory_usage_mb,
        embed_dim=meta.embed_dim,
        max_tokens=int(meta.max_tokens) if meta.max_tokens else None,
        languages=tuple(language.replace("_", "-") for language in meta.languages or ()),
        trained_on=catalog.dataset_keys(sorted(meta.training_datasets or ())),
        facts_from="mteb model_meta",
        open_weights=meta.open_weights,
        parameters_m=meta.n_parameters / 1e6 if meta.n_parameters else None,
        modalities=modalities,
        released=released if re.fullmatch(r"\d{4}-\d{2}-\d{2}", released) else "",
        abilities=tuple(f"embed_{part}" for part in ("image", "text") if part in modalities),
    )


def _is_public(stated: str | bool | None) -> bool | None:
    """Returns whether training code or data are public, that is, have an address; None if the file does not say."""
    return None if stated in (None, "") else stated is True or str(stated).startswith("http")


def version_key(text: str) -> tuple[int, ...]:
    """Returns an mteb version as comparable numbers, for a range (`2.12.16-2.15.4`) its end; () if there is none."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", text.rpartition("-")[2])
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def _folders(parent: Path) -> Iterator[Path]:
    yield from (path for path in sorted(parent.iterdir()) if path.is_dir() and not path.name.startswith("."))


def _read(path: Path, kind: type[Record]) -> Record:
    """Reads a JSON file, with or without a byte order mark, as a record. Raises BadInput with the reason only."""
    try:
        if not path.is_file():  # reading a pipe would block
            raise ValueError("it is not a regular file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES / 1e6:,.0f} MB")
        return validated(json.loads(content), kind)
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"is not JSON of the expected form ({str(error)[:160]})") from error


def _rows(path: Path, task: Task, metrics: Mapping[str, Metric]) -> Iterator[dict[str, Any]]:
    """Yields a row per split and subset of one result file. Raises BadInput with the reason only.

    The field of the task's metric takes precedence over `main_score`, because some old files have another metric there.
    """
    content = _read(path, ResultFile)
    if (content.task_name or task.title) != task.title:
        raise BadInput(f"says it is for task {short(content.task_name)}")
    *others, wanted = task.split.split("|")  # with two splits, the task's score is that of the last
    own = next((split for split in (wanted, "test") if split in content.scores), "")
    if not own:
        raise BadInput(f"has the splits {', '.join(content.scores)[:60]}, but the task is scored on {wanted}")
    metric = metrics[task.metrics[0]]
    about = {
        "task": task.title,
        "metric": metric.key,
        "dataset_revision": content.dataset_revision or "",
        "mteb_version": content.mteb_version or "",
        "evaluation_time": content.evaluation_time,
        "date": str(content.date or ""),
    }
    found = {}
    for split in (*(split for split in others if split in content.scores), own):
        try:
            rows = [validated(row, SplitRow) for row in content.scores[split]]
        except ValueError as error:
            raise BadInput(f"split {split!r}: {error}") from error
        if not rows:
            raise BadInput(f"split {split!r} has no scores")
        of_split = {"field": "main_score", "split": split, "main": split == own}
        for row in rows:
            subset, value = row.hf_subset, row.main_score
            if subset == "default":  # of several subsets, their average
                subset = "average" if len(task.subsets) > 1 else subset
            elif subset not in task.subsets:
                raise BadInput(f"the task has no subset {short(subset)}")
            if (split, subset) in found:
                raise BadInput(f"split {split!r} has subset {subset!r} twice")
            for field in FIELDS.get(metric.key, (metric.key,)):
                named = getattr(row, field, None)
                if type(named) in (int, float) and abs(named) < 1e300:
                    of_split["field"] = field
                    if value is not None and abs(named - value) > 1e-6:
                        of_split["main_score"] = value
                    value = float(named)
                    break
            if value is None:
                raise BadInput(f"split {split!r} has neither main_score nor {metric.key}")
            if reason := outside(value, metric):
                raise BadInput(f"main_score of {split}/{subset}: {reason}")
            found[split, subset] = {"of": of_split, "subset": subset, "value": value}
            for other in task.metrics[1:]:
                for field in FIELDS.get(other, (other,)):
                    if type(named := getattr(row, field, None)) is float and not outside(named, metrics[other]):
                        cell = {"metric": other, "field": field, "split": split, "main": split == own}
                        found[split, subset, other] = {"of": cell, "subset": subset, "value": named}
    for row in found.values():
        yield {**about, **row.pop("of"), **row}
