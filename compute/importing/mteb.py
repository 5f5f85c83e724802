"""Reads the public MTEB results repository: `results/<org>__<model>/<revision>/<Task>.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.analysis.ranks.ranking import binomial_stderr
from compute.importing.figures import Imported, SkippedFile, fingerprint, finite, load_json, short
from compute.importing.model_meta import bare_model, model_key, model_row
from compute.importing.splits import read_split
from compute.types import BadInput, Metric, Model, Run, Score, Task

if TYPE_CHECKING:
    from compute.catalog import Catalog

META = "model_meta.json"
MEND = "Download the file again, or delete it"


def read_mteb_results(path: Path, *, catalog: Catalog | None = None) -> Imported:
    """Every score of a task in the catalogue; `path` is the `results` folder or the one that holds it.

    A damaged file never stops the import: it is named in `problems`. Of several revisions of a model the one
    with the newest mteb version (then with most tasks) is primary; its runs have `main` set, and so have the
    other revisions' runs of tasks it does not have. Raises BadInput when the folder holds no results at all.
    """
    if catalog is None:
        from compute.catalog import shipped

        catalog = shipped()
    reader = _RepositoryReader(root=_results_folder(path), catalog=catalog)
    for folder in reader.folders(reader.root):
        if "__" in folder.name:
            reader.read_model(folder)
        else:
            reader.problem(folder, "the name is not <organisation>__<model>", "Rename the folder, or delete it")
    if not reader.files:
        raise BadInput(
            f"{path} holds no MTEB results: give a folder laid out as results/<org>__<model>/<revision>/<Task>.json"
        )
    return Imported(
        runs=tuple(reader.runs),
        scores=tuple(reader.scores),
        models=tuple(reader.models),
        problems=tuple(reader.problems),
        skipped=tuple(reader.skipped),
    )


def _results_folder(path: Path) -> Path:
    path = Path(path)
    if not path.is_dir():
        raise BadInput(f"There is no folder {path}: give the folder of the results repository")
    return path / "results" if (path / "results").is_dir() else path


def version_key(text: str) -> tuple[int, ...]:
    """An mteb version as comparable numbers; of a range (`2.12.16-2.15.4`) its end; () when there is none."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", text.rpartition("-")[2])
    return tuple(int(part) for part in match.group().split(".")) if match else ()


@dataclass(frozen=True, kw_only=True)
class _Revision:
    folder: Path
    version: tuple[int, ...]
    runs: tuple[Run, ...]


class _RepositoryReader:
    """Collects while it walks; one instance reads one repository."""

    def __init__(self, *, root: Path, catalog: Catalog) -> None:
        self.root = root
        self.tasks = {task.title: task for task in catalog.tasks if task.benchmark == "mieb"}
        self.metrics = {metric.key: metric for metric in catalog.metrics}
        self.known = {model.key for model in catalog.models}
        self.runs: list[Run] = []
        self.scores: list[Score] = []
        self.models: list[Model] = []
        self.problems: list[SkippedFile] = []
        self.skipped: list[SkippedFile] = []
        self.read: set[str] = set()
        self.files = 0

    def problem(self, path: Path, reason: str, remedy: str = MEND) -> None:
        """Notes a file or folder that is skipped."""
        self.problems.append(SkippedFile(path=self.name(path), reason=reason, remedy=remedy))

    def name(self, path: Path) -> str:
        """The path below the folder that is read."""
        return path.relative_to(self.root).as_posix()

    def folders(self, parent: Path) -> Iterator[Path]:
        """The folders below one, by name."""
        yield from (path for path in sorted(parent.iterdir()) if path.is_dir() and not path.name.startswith("."))

    def read_model(self, folder: Path) -> None:
        """Reads all revisions of one model."""
        if model_key(folder.name) in self.read:
            self.problem(folder, "is another spelling of a model already read", "Keep one of the two folders")
            return
        self.read.add(model_key(folder.name))
        revisions = []
        model: Model | None = None
        for revision in self.folders(folder):
            runs: list[Run] = []
            versions = [()]
            meta = None
            for path in sorted(revision.glob("*.json")):
                self.files += 1
                if path.name == META:
                    meta = self.read_meta(path, folder.name)
                    continue
                for run in self.read_task(path, model=model_key(folder.name), revision=revision.name):
                    runs.append(run)
                    versions.append(version_key(run.settings["mteb_version"]))
            revisions.append(_Revision(folder=revision, version=max(versions), runs=tuple(runs)))
            if meta and (model is None or max(versions) >= max(item.version for item in revisions)):
                model = meta
        self.keep(revisions)
        if any(item.runs for item in revisions) and model_key(folder.name) not in self.known:
            self.models.append(model or bare_model(folder.name))

    def keep(self, revisions: list[_Revision]) -> None:
        """Adds the runs of every revision; newest and fullest first, the first on a task is main."""
        order = sorted(revisions, key=lambda item: (item.version, len({run.task for run in item.runs})), reverse=True)
        taken: set[str] = set()
        for rank, item in enumerate(order):
            for run in item.runs:
                main = run.main and run.task not in taken
                self.runs.append(replace(run, main=main, settings={**run.settings, "primary": rank == 0}))
            taken |= {run.task for run in item.runs}

    def read_meta(self, path: Path, folder: str) -> Model | None:
        """The model row of a model_meta.json; None where it is damaged."""
        try:
            return model_row(load_json(path), folder)
        except BadInput as error:
            self.problem(path, str(error), "Correct it; the model is listed by its name alone")
            return None

    def read_task(self, path: Path, *, model: str, revision: str) -> list[Run]:
        """The runs of one result file; none where it is damaged or of an unknown task."""
        task = self.tasks.get(path.stem)
        if task is None:
            self.skipped.append(
                SkippedFile(
                    path=self.name(path),
                    reason=f"the catalogue has no MIEB task {path.stem!r}",
                    remedy="Add a row to assets/catalog/mieb_tasks.csv to read it",
                )
            )
            return []
        try:
            runs, scores = self.parse(load_json(path), path, task=task, model=model, revision=revision)
        except BadInput as error:
            self.problem(path, str(error))
            return []
        self.scores += scores
        return runs

    def parse(
        self, content: Any, path: Path, *, task: Task, model: str, revision: str
    ) -> tuple[list[Run], list[Score]]:
        """One result file as a run a split, with a score a subset. Raises BadInput with the reason alone."""
        splits = content.get("scores") if isinstance(content, dict) else None
        if not isinstance(splits, dict) or not splits:
            raise BadInput("has no scores")
        if content.get("task_name", task.title) != task.title:
            raise BadInput(f"says it is of task {short(content['task_name'])}")
        for name in ("mteb_version", "dataset_revision"):
            if not isinstance(content.get(name) or "", str):
                raise BadInput(f"{name} is {short(content[name])}, not text")
        seconds = content.get("evaluation_time")
        if seconds is not None and (finite(seconds) is None or seconds < 0):
            raise BadInput(f"evaluation_time is {short(seconds)}, not a number of seconds")
        required = [split for split in task.split.split("|") if split in splits] or ["test"]
        if required[0] not in splits:
            raise BadInput(f"has the splits {short(list(splits))}, but the task is scored on {task.split}")
        metric = self.metrics[task.metrics[0]]
        runs, scores = [], []
        organisation, _, name = path.parent.parent.name.partition("__")
        for split in required:
            values, fields = read_split(splits[split], split=split, task=task, metric=metric)
            settings = {
                "dataset_revision": content.get("dataset_revision") or "",
                "mteb_version": content.get("mteb_version") or "",
                "evaluation_time": seconds,
                "model_revision": revision,
                "split": split,
                "file": self.name(path),
                **fields,
            }
            run = Run(
                id=f"mteb/{model}/{revision}/{task.key}/{split}",
                model=model,
                task=task.key,
                procedure=task.procedure,
                origin="imported",
                source=f"mteb results repository, {organisation}/{name} @ {revision[:12]}",
                settings=settings,
                fingerprint=fingerprint(model=model, task=task.key, settings=settings),
                code=f"mteb {settings['mteb_version']}".strip(),
                seconds=None if seconds is None else float(seconds),
                started=str(content.get("date") or ""),
                # A task scored on two splits shows its test split; the other is stored beside it.
                main=split == ("test" if "test" in required else required[0]),
            )
            runs.append(run)
            scores += [_score(run, task, metric, subset, value) for subset, value in values.items()]
        return runs, scores


def _score(run: Run, task: Task, metric: Metric, subset: str, value: float) -> Score:
    n = task.independent_items if metric.proportion else None
    return Score(
        run=run.id,
        subset=subset,
        metric=metric.key,
        value=value,
        n=n,
        stderr=float(binomial_stderr(value=value, n=n)) if n else None,
    )
