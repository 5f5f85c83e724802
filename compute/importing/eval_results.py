"""Reads evaluation results in the hub's own form: `.eval_results/*.yaml` of a model's repository.

A data set and a task's id say which figure an entry is (`compute.catalog.hub_tasks`). The unit of a value is what its
notes say, or mteb's percent where mteb is the source. Else it follows only from a value that no fraction can be: 0.8
may be a share or a percentage, and is left out rather than guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from compute.catalog import hub_tasks
from compute.catalog.hub_tasks import EVAL_RESULTS, HubTask
from compute.importing.figures import Imported, SkippedFile, fingerprint, outside, short
from compute.types import BadInput, Metric, Model, NotHere, Run, Score

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from compute.catalog import Catalog

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


@dataclass(frozen=True, kw_only=True)
class ResultsFolder:
    """Where a model's files are: `source` names it in a run, such as a repository with its commit."""

    folder: Path
    source: str


def fetch_eval_results(repo: str, *, revision: str = "main", offline: bool = False) -> ResultsFolder:
    """Downloads a model's result files, or takes them from the hub library's cache.

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
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise NotHere(
            f"The result files of {repo} at {revision[:12]} are not on this machine and could not be downloaded "
            f"({reason}). Check the name and the connection, or give a folder that holds {EVAL_RESULTS}"
        ) from error
    if not (folder / EVAL_RESULTS).is_dir():
        raise BadInput(f"{repo} has no {EVAL_RESULTS}: there is nothing to import")
    return ResultsFolder(folder=folder, source=f"{repo} {EVAL_RESULTS} @ {folder.name[:12]}")


def read_eval_results(path: Path, *, model: str, source: str = "", catalog: Catalog | None = None) -> Imported:
    """Every figure of the catalogue's tasks in a folder's files, as runs of `model` (a hub id or a key).

    `path` is a file, the folder itself, or the one that holds it. Entries of other tasks are `skipped`; `problems`
    names each file and entry that cannot be read or is ambiguous. Raises BadInput where there is no such file.
    """
    if catalog is None:
        from compute.catalog import shipped

        catalog = shipped()
    files = _files(path)
    if not model:
        raise BadInput(f"{path} does not say whose results it holds: name the model with --model ORG/NAME")
    if not hub_tasks.HUB_ID.fullmatch(model) and model not in {row.key for row in catalog.models}:
        raise BadInput(f"{short(model)} is no model: give it as ORG/NAME, or by a key of python -m compute list models")
    reader = _EntryReader(catalog=catalog, key=model.lower())
    for file in files:
        reader.read_file(file)
    runs, scores = reader.runs(source=source or f"{EVAL_RESULTS} of {model}")
    known = {row.key for row in catalog.models}
    organisation, _, name = model.rpartition("/")
    declared = Model(key=model.lower(), title=name, organisation=organisation, weights=model if organisation else "")
    return Imported(
        runs=runs,
        scores=scores,
        models=() if declared.key in known or not runs else (declared,),
        problems=tuple(reader.problems),
        skipped=tuple(reader.skipped),
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadInput(
            f"There is no file or folder {path}: give one with {EVAL_RESULTS}/*.yaml, or a model as ORG/NAME"
        )
    folder = path / EVAL_RESULTS if (path / EVAL_RESULTS).is_dir() else path
    files = sorted((*folder.glob("*.yaml"), *folder.glob("*.yml")))
    if not files:
        raise BadInput(
            f"{folder} holds no .yaml file: give a folder with {EVAL_RESULTS}/*.yaml, or a model as ORG/NAME"
        )
    return files


@dataclass(frozen=True, kw_only=True)
class _ReadEntry:
    """One entry that was understood."""

    target: HubTask
    value: float
    entry: EvalResultEntry
    facts: Mapping[str, str]
    file: str


class _EntryReader:
    """Collects while it reads; one instance reads one model's files."""

    def __init__(self, *, catalog: Catalog, key: str) -> None:
        self.key = key
        self.targets = hub_tasks.table(catalog)
        self.metrics = {metric.key: metric for metric in catalog.metrics}
        self.figures: dict[tuple[str, str, str], list[_ReadEntry]] = defaultdict(list)
        self.problems: list[SkippedFile] = []
        self.skipped: list[SkippedFile] = []

    def problem(self, path: str, reason: str, remedy: str = REMEDY) -> None:
        self.problems.append(SkippedFile(path=path, reason=reason, remedy=remedy))

    def read_file(self, path: Path) -> None:
        """Reads one file; what is wrong with it, or with an entry, is noted."""
        try:
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
                self.read_entry(item, where=where, file=path.name)
            except BadInput as error:
                self.problem(where, str(error))

    def read_entry(self, item: Any, *, where: str, file: str) -> None:
        """Notes an entry's figure. Raises BadInput with the reason alone."""
        entry = _entry(item)
        target = self.targets.get((entry.dataset_id, entry.task_id))
        if target is None:
            self.skipped.append(
                SkippedFile(
                    path=where,
                    reason=f"the catalogue has no task {short(entry.task_id)} of {short(entry.dataset_id)}",
                    remedy="Add a row to assets/catalog/tasks.csv to read it",
                )
            )
            return
        facts = dict(_facts(entry.notes or ""))
        if facts.get("metric", target.metric) != target.metric:
            raise BadInput(f"is {short(facts['metric'])} by its notes, but {entry.task_id} is {target.metric}")
        metric = self.metrics[target.metric]
        value = _stored(entry, metric, unit=facts.get("unit", ""))
        if reason := outside(value, metric):
            raise BadInput(f"value {reason}")
        figure = _ReadEntry(target=target, value=value, entry=entry, facts=facts, file=file)
        self.figures[target.task.key, target.subset, target.metric].append(figure)

    def runs(self, *, source: str) -> tuple[tuple[Run, ...], tuple[Score, ...]]:
        """A run a task, with the scores of its figures; figures that contradict one another are problems."""
        runs: dict[str, Run] = {}
        scores = []
        for (task, subset, key), figures in self.figures.items():
            first = figures[0]
            if len({figure.value for figure in figures}) > 1:
                self.problem(
                    ", ".join(dict.fromkeys(figure.file for figure in figures)),
                    f"{first.entry.task_id} has {len(figures)} values that differ, of different protocols perhaps",
                    "Give one of the files alone",
                )
                continue
            if task not in runs:
                settings = _settings(first.entry)
                mark = fingerprint(model=self.key, task=task, source=source)
                runs[task] = Run(
                    id=f"eval-results/{self.key}/{task}/{mark[:12]}",
                    model=self.key,
                    task=task,
                    procedure=first.target.task.procedure,
                    origin="imported",
                    source=source,
                    settings=settings,
                    fingerprint=mark,
                    started=first.entry.date or "",
                    dtype=first.facts.get("dtype", "")[:40],
                    device=first.facts.get("device", "")[:40],
                )
            scores.append(_score(runs[task], subset, self.metrics[key], first))
        return tuple(runs.values()), tuple(scores)


def _entry(item: Any) -> EvalResultEntry:
    """An entry whose parts are of their kinds. Raises BadInput with the reason alone."""
    from huggingface_hub import parse_eval_result_entries

    try:
        [entry] = parse_eval_result_entries([{name: item[name] for name in item if name not in ("error", "data")}])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"is no entry of the hub's form ({short(str(error))})") from error
    texts = (entry.dataset_id, entry.task_id, entry.source_url or "", entry.notes or "")
    if not all(isinstance(text, str) for text in texts):
        raise BadInput("has an id, address or notes that are not text")
    if not isinstance(entry.value, Decimal):
        raise BadInput(f"value is {short(entry.value)}, not a number")
    return replace(
        entry,
        date=None if entry.date is None else str(entry.date),
        dataset_revision=None if entry.dataset_revision is None else str(entry.dataset_revision),
    )


def _facts(notes: str) -> Iterator[tuple[str, str]]:
    """The `name: value` parts of notes; of a name that stands twice the first."""
    for part in reversed(notes.split(";")):
        if match := FACT.fullmatch(part.strip()):
            yield match[1], match[2].strip()


def _stored(entry: EvalResultEntry, metric: Metric, *, unit: str) -> float:
    """The value in stored units. Raises BadInput where its unit is not known."""
    printed = hub_tasks.unit(metric)
    if unit == hub_tasks.FRACTION:
        return float(entry.value)
    by_mteb = (entry.source_url or "").rstrip("/") == MTEB and printed == hub_tasks.PERCENT
    # A share above 1 or below -1 can only be a percentage; nothing is nothing in every unit.
    beyond = metric.upper == 1 and printed == hub_tasks.PERCENT and (abs(entry.value) > 1 or entry.value == 0)
    if unit == printed or by_mteb or beyond or (not unit and metric.scale == 1):
        return hub_tasks.stored(entry.value, metric)
    if unit:
        raise BadInput(f"its notes give the unit {short(unit)}; {metric.title} is read in {printed!r} or as a fraction")
    raise BadInput(
        f"value {entry.value} of {metric.title} may be a fraction or {printed!r}, and nothing says which",
    )


def _settings(entry: EvalResultEntry) -> dict[str, Any]:
    return {
        "dataset": entry.dataset_id,
        "dataset_revision": entry.dataset_revision or "",
        "source_url": entry.source_url or "",
        "notes": entry.notes or "",
    }


def _score(run: Run, subset: str, metric: Metric, figure: _ReadEntry) -> Score:
    """The score of a figure, with what its notes say of the number of items and the error."""
    count = figure.facts.get("n", "")
    error = figure.facts.get("standard error", "")
    stderr = float(error) / metric.scale if DECIMAL.fullmatch(error) else None
    spread = float("inf") if metric.lower is None or metric.upper is None else metric.upper - metric.lower
    return Score(
        run=run.id,
        subset=subset,
        metric=metric.key,
        value=figure.value,
        n=int(count) if re.fullmatch(r"\d{1,15}", count) and int(count) else None,
        stderr=stderr if stderr is not None and 0 <= stderr <= spread else None,
        printed=str(figure.entry.value)[:40],
        coverage=_coverage(figure.facts.get("answered", "")),
    )


def _coverage(text: str) -> float | None:
    match = re.match(r"(\d{1,3}(\.\d{1,4})?)%", text)
    return float(match[1]) / 100 if match and float(match[1]) <= 100 else None
