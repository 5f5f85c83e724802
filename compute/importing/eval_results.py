"""Reads evaluation results in the hub's own form: `.eval_results/*.yaml` of a model's repository.

A data set and a task's id say which figure an entry is (`compute.catalog.hub_tasks`). The unit of a value is what its
notes say, or mteb's percent where mteb is the source. Else it follows only from a value that no fraction can be: 0.8
may be a share or a percentage, and is skipped rather than guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from compute.catalog import Catalog, hub_tasks
from compute.catalog.hub_tasks import EVAL_RESULTS
from compute.importing.figures import Imported, SkippedFile, fingerprint, outside
from compute.io.files import short, validated
from compute.types import BadInput, Metric, Model, NotHere, Run, Score, first_line

MTEB = "https://github.com/embeddings-benchmark/mteb"
REMEDY = "Correct the file, or ask who wrote it"
FACT = re.compile(r"([a-z0-9% ]{1,40}): (.*)")
DECIMAL = re.compile(r"\d+(\.\d*)?(e-?\d+)?")


class _ExactLoader(yaml.SafeLoader):
    """Numbers with all their digits; dates stay text."""


for _kind in ("int", "float"):
    _ExactLoader.add_constructor(
        f"tag:yaml.org,2002:{_kind}", lambda loader, node: Decimal(loader.construct_scalar(node))
    )
_ExactLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


class EntryPart(BaseModel):
    """A part of an entry, which may hold more than is named here."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class DatasetPart(EntryPart):
    id: str
    task_id: str
    revision: str | None = None


class SourcePart(EntryPart):
    url: str | None = None


class ResultEntry(EntryPart):
    """One entry of the hub's form."""

    dataset: DatasetPart
    value: Annotated[Decimal, Field(strict=True)]
    source: SourcePart | None = None
    date: str | None = None
    notes: str | None = None

    @property
    def source_url(self) -> str:
        return (self.source and self.source.url) or ""


def fetch_eval_results(repo: str, *, revision: str = "main", offline: bool = False) -> tuple[Path, str]:
    """A model's result files, downloaded or from the hub library's cache: their folder, and repository and commit.

    Raises NotHere where they cannot be had, BadInput for a repository without any.
    """
    import httpx2
    from huggingface_hub import snapshot_download

    try:
        folder = Path(
            snapshot_download(
                repo, revision=revision, allow_patterns=[f"{EVAL_RESULTS}/*.yaml"], local_files_only=offline
            )
        )
    except (OSError, ValueError, httpx2.HTTPError) as error:
        reason = first_line(error).rstrip(".")
        raise NotHere(
            f"The result files of {repo} at {revision[:12]} are not on this machine and could not be downloaded "
            f"({reason}). Check the name and the connection, or give a folder that holds {EVAL_RESULTS}"
        ) from error
    if not (folder / EVAL_RESULTS).is_dir():
        raise BadInput(f"{repo} has no {EVAL_RESULTS}: there is nothing to import")
    return folder, f"{repo} {EVAL_RESULTS} @ {folder.name[:12]}"


def read_eval_results(path: Path, *, model: str, catalog: Catalog, source: str = "") -> Imported:
    """Every figure of the catalogue's tasks in a folder's files, as runs of `model` (a hub id or a key).

    `path` is a file, the folder itself, or the one that holds it. Entries of other tasks are `skipped`; `problems`
    names each file and entry that cannot be read or is ambiguous. Raises BadInput for a missing file.
    """
    folder = path / EVAL_RESULTS if (path / EVAL_RESULTS).is_dir() else path
    files = [path] if path.is_file() else sorted((*folder.glob("*.yaml"), *folder.glob("*.yml")))
    if not files:
        raise BadInput(
            f"{folder} is not a .yaml file, nor a folder that has one: give a folder with {EVAL_RESULTS}/*.yaml, or a "
            "model as ORG/NAME"
        )
    if not model:
        raise BadInput(f"{path} does not say whose results it holds: name the model with --model ORG/NAME")
    known = {row.key for row in catalog.models}
    if not hub_tasks.HUB_ID.fullmatch(model) and model not in known:
        raise BadInput(f"{short(model)} is not a model: give it as ORG/NAME, or by a key of likeness list models")
    reader = _EntryReader(catalog=catalog, model=model.lower(), source=source or f"{EVAL_RESULTS} of {model}")
    for file in files:
        reader.read_file(file)
    runs, scores = reader.agreed()
    organisation, _, name = model.rpartition("/")
    declared = Model(key=model.lower(), title=name, organisation=organisation, weights=model if organisation else "")
    return Imported(
        runs=runs,
        scores=scores,
        models=() if declared.key in known or not runs else (declared,),
        problems=tuple(reader.problems),
        skipped=tuple(reader.skipped),
    )


class _EntryReader:
    """Collects while it reads; one instance reads one model's files."""

    def __init__(self, *, catalog: Catalog, model: str, source: str) -> None:
        self.model, self.source = model, source
        self.targets = hub_tasks.table(catalog)
        self.metrics = {metric.key: metric for metric in catalog.metrics}
        # By task, subset and metric: the scores of all files, with the file's name.
        self.figures: dict[tuple[str, str, str], list[tuple[Run, Score, str]]] = defaultdict(list)
        self.problems: list[SkippedFile] = []
        self.skipped: list[SkippedFile] = []

    def problem(self, path: str, reason: str, remedy: str = REMEDY) -> None:
        self.problems.append(SkippedFile(path=path, reason=reason, remedy=remedy))

    def read_file(self, path: Path) -> None:
        """Reads one file; what is wrong with it, or with an entry, is noted."""
        try:
            if not path.is_file():  # a pipe would be waited for
                raise ValueError("it is not a regular file")
            content = yaml.load(path.read_text(encoding="utf-8"), Loader=_ExactLoader)  # noqa: S506 (a safe loader)
        except (OSError, ValueError, ArithmeticError, RecursionError, yaml.YAMLError) as error:
            self.problem(path.name, f"cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:80]})")
            return
        if not isinstance(content, list) or not content:
            self.problem(path.name, "holds no list of entries")
            return
        for position, item in enumerate(content, start=1):
            where = f"{path.name}, entry {position}"
            try:
                self.read_entry(validated(item, ResultEntry), where=where, file=path.name)
            except (BadInput, ValueError) as error:
                self.problem(where, str(error))

    def read_entry(self, entry: ResultEntry, *, where: str, file: str) -> None:
        """Notes an entry's figure. Raises BadInput with the reason alone."""
        dataset = entry.dataset
        target = self.targets.get((dataset.id, dataset.task_id))
        if target is None:
            self.skipped.append(
                SkippedFile(
                    path=where,
                    reason=f"the catalogue has no task {short(dataset.task_id)} of {short(dataset.id)}",
                    remedy="Add a row to assets/catalog/tasks.csv to read it",
                )
            )
            return
        facts = dict(_facts(entry.notes or ""))
        if facts.get("metric", target.metric) != target.metric:
            raise BadInput(f"is {short(facts['metric'])} by its notes, but {dataset.task_id} is {target.metric}")
        metric, task = self.metrics[target.metric], target.task
        value = _stored(entry, metric, unit=facts.get("unit", ""))
        if reason := outside(value, metric):
            raise BadInput(f"value {reason}")
        mark = fingerprint(model=self.model, task=task.key, source=self.source)
        run = Run(
            id=f"eval-results/{self.model}/{task.key}/{mark[:12]}",
            model=self.model,
            task=task.key,
            procedure=task.procedure,
            origin="imported",
            source=self.source,
            settings={
                "dataset": dataset.id,
                "dataset_revision": dataset.revision or "",
                "source_url": entry.source_url,
                "notes": entry.notes or "",
            },
            fingerprint=mark,
            started=entry.date or "",
            dtype=facts.get("dtype", "")[:40],
            device=facts.get("device", "")[:40],
        )
        score = Score(
            run=run.id,
            subset=target.subset,
            metric=metric.key,
            value=value,
            printed=str(entry.value)[:40],
            **_precision(facts, metric),
        )
        self.figures[task.key, target.subset, metric.key].append((run, score, file))

    def agreed(self) -> tuple[tuple[Run, ...], tuple[Score, ...]]:
        """A run a task, with the scores of its scores; scores that contradict one another are problems."""
        runs: dict[str, Run] = {}
        scores = []
        for (task, subset, metric), figures in self.figures.items():
            run, score, _ = figures[0]
            if len({score.value for _, score, _ in figures}) > 1:
                self.problem(
                    ", ".join(dict.fromkeys(file for *_, file in figures)),
                    f"{metric} of {task}, {subset} has {len(figures)} values that differ, of different protocols "
                    "perhaps",
                    "Give one of the files alone",
                )
            else:
                runs.setdefault(task, run)
                scores.append(score)
        return tuple(runs.values()), tuple(scores)


def _facts(notes: str) -> Iterator[tuple[str, str]]:
    """The `name: value` parts of notes; of a name that appears twice the first."""
    for part in reversed(notes.split(";")):
        if match := FACT.fullmatch(part.strip()):
            yield match[1], match[2].strip()


def _stored(entry: ResultEntry, metric: Metric, *, unit: str) -> float:
    """The value in stored units. Raises BadInput where its unit is not known."""
    printed = hub_tasks.unit(metric)
    if unit == hub_tasks.FRACTION:
        return float(entry.value)
    by_mteb = entry.source_url.rstrip("/") == MTEB and printed == hub_tasks.PERCENT
    # A share above 1 or below -1 can only be a percentage; nothing is nothing in every unit.
    beyond = metric.upper == 1 and printed == hub_tasks.PERCENT and (abs(entry.value) > 1 or entry.value == 0)
    if unit == printed or by_mteb or beyond or (not unit and metric.scale == 1):
        return hub_tasks.stored(entry.value, metric)
    raise BadInput(
        f"value {entry.value} has the unit {short(unit)}; {metric.title} is read in {printed!r} or a fraction"
    )


def _precision(facts: Mapping[str, str], metric: Metric) -> dict[str, Any]:
    """What notes say of the number of items, the error and the share of items answered, where it makes sense."""
    count, error = facts.get("n", ""), facts.get("standard error", "")
    answered = re.match(r"(\d{1,3}(\.\d{1,4})?)%", facts.get("answered", ""))
    stderr = float(error) / metric.scale if DECIMAL.fullmatch(error) else None
    spread = float("inf") if metric.lower is None or metric.upper is None else metric.upper - metric.lower
    return {
        "n": int(count) if re.fullmatch(r"[1-9]\d{0,14}", count) else None,
        "stderr": stderr if stderr is not None and stderr <= spread else None,
        "coverage": float(answered[1]) / 100 if answered and float(answered[1]) <= 100 else None,
    }
