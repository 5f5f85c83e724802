"""Reads evaluation results in the hub's format: `.eval_results/*.yaml` of a model's repository.

A data set and a task id identify the score of an entry (`compute.catalog.hub_tasks`). The unit of a value is what its
notes state, or mteb's percent if mteb is the source. Otherwise it is only known for values that cannot be fractions:
0.8 may be a share or a percentage, and is skipped rather than guessed.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AliasPath, BaseModel, ConfigDict, Field

from compute.catalog import Catalog, hub_tasks
from compute.catalog.hub_tasks import EVAL_RESULTS
from compute.importing.collection import Imported, SkippedFile, fingerprint, outside
from compute.io.files import short, validated
from compute.types import BadInput, Metric, Model, NotHere, Run, Score, Task, first_line

MTEB = "https://github.com/embeddings-benchmark/mteb"
REMEDY = "Correct the file, or ask who wrote it"
FACT = re.compile(r"([a-z0-9% ]{1,40}): (.*)")
DECIMAL = re.compile(r"\d+(\.\d*)?(e-?\d+)?")


class _ExactLoader(yaml.SafeLoader):
    """Loads numbers with all their digits, and dates as text."""


for _kind in ("int", "float"):
    _ExactLoader.add_constructor(
        f"tag:yaml.org,2002:{_kind}", lambda loader, node: Decimal(loader.construct_scalar(node))
    )
_ExactLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


class ResultEntry(BaseModel):
    """The fields of an entry in the hub's format."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    dataset: Annotated[str, Field(validation_alias=AliasPath("dataset", "id"))]
    task: Annotated[str, Field(validation_alias=AliasPath("dataset", "task_id"))]
    revision: Annotated[str | None, Field(validation_alias=AliasPath("dataset", "revision"))] = None
    value: Annotated[Decimal, Field(strict=True)]
    url: Annotated[str | None, Field(validation_alias=AliasPath("source", "url"))] = None
    date: str | None = None
    notes: str | None = None


def fetch_eval_results(repo: str, *, revision: str, offline: bool) -> tuple[Path, str]:
    """Returns the folder of a model's result files, downloaded or from the hub library's cache, with repository and
    commit.

    Raises NotHere if they are unavailable, BadInput for a repository without any.
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
    """Returns all scores of catalogue tasks in a folder's files, as runs of `model` (a hub id or a key).

    `path` is a file, the folder itself, or its parent. Entries of other tasks are `skipped`; `problems` names each file
    and entry that cannot be read or is ambiguous. Raises BadInput for a missing file.
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
    source = source or f"{EVAL_RESULTS} of {model}"
    targets, metrics = hub_tasks.table(catalog), {metric.key: metric for metric in catalog.metrics}
    # By task, subset and metric: the scores of all files, with the file's name.
    figures = defaultdict(list)
    problems, skipped = [], []
    for file in files:
        try:
            if not file.is_file():  # reading a pipe would block
                raise ValueError("it is not a regular file")
            entries = yaml.load(file.read_text(encoding="utf-8"), Loader=_ExactLoader)  # noqa: S506 (a safe loader)
            if not isinstance(entries, list) or not entries:
                raise ValueError("it holds no list of entries")
        except (OSError, ValueError, ArithmeticError, RecursionError, yaml.YAMLError) as error:
            reason = " ".join(str(error).split())[:80]
            problems.append(SkippedFile(file.name, f"cannot be read ({type(error).__name__}: {reason})", REMEDY))
            continue
        for position, item in enumerate(entries, start=1):
            where = f"{file.name}, entry {position}"
            try:
                entry = validated(item, ResultEntry)
                if target := targets.get((entry.dataset, entry.task)):
                    *place, metric = target
                    run, score = _figure(entry, *place, metrics[metric], model=model.lower(), source=source)
                    figures[run.task, score.subset, score.metric].append((run, score, file.name))
                    continue
                reason = f"the catalogue has no task {short(entry.task)} of {short(entry.dataset)}"
                remedy = "Add a row to assets/catalog/tasks.csv to read it"
                skipped.append(SkippedFile(where, reason, remedy))
            except (BadInput, ValueError) as error:
                problems.append(SkippedFile(where, str(error), REMEDY))
    runs = {}
    scores = []
    for (task, subset, metric), same in figures.items():
        if len({score.value for _, score, _ in same}) > 1:
            reason = f"{metric} of {task}, {subset} has {len(same)} values that differ, of different protocols perhaps"
            named = ", ".join(dict.fromkeys(file for *_, file in same))
            problems.append(SkippedFile(named, reason, "Give one of the files alone"))
        else:
            runs.setdefault(task, same[0][0])
            scores.append(same[0][1])
    organisation, _, name = model.rpartition("/")
    declared = Model(key=model.lower(), title=name, organisation=organisation, weights=model if organisation else "")
    return Imported(
        runs=tuple(runs.values()),
        scores=tuple(scores),
        models=() if declared.key in known or not runs else (declared,),
        problems=tuple(problems),
        skipped=tuple(skipped),
    )


def _figure(
    entry: ResultEntry, task: Task, subset: str, metric: Metric, *, model: str, source: str
) -> tuple[Run, Score]:
    """Returns an entry's score and its run. Raises BadInput with the reason only."""
    facts = dict(_facts(entry.notes or ""))
    if facts.get("metric", metric.key) != metric.key:
        raise BadInput(f"is {short(facts['metric'])} by its notes, but {entry.task} is {metric.key}")
    unit, printed = facts.get("unit", ""), hub_tasks.unit(metric)
    by_mteb = (entry.url or "").rstrip("/") == MTEB and printed == hub_tasks.PERCENT
    # A share above 1 or below -1 can only be a percentage; 0 is equal in both units.
    beyond = metric.upper == 1 and printed == hub_tasks.PERCENT and (abs(entry.value) > 1 or entry.value == 0)
    if unit == hub_tasks.FRACTION:
        value = float(entry.value)
    elif unit == printed or by_mteb or beyond or (not unit and metric.scale == 1):
        value = hub_tasks.stored(entry.value, metric)
    else:
        raise BadInput(
            f"value {entry.value} has the unit {short(unit)}; {metric.title} is read in {printed!r} or a fraction"
        )
    if reason := outside(value, metric):
        raise BadInput(f"value {reason}")
    # The number of items, the error and the share of answered items in the notes, if plausible.
    count, error = facts.get("n", ""), facts.get("standard error", "")
    answered = re.match(r"(\d{1,3}(\.\d{1,4})?)%", facts.get("answered", ""))
    stderr = float(error) / metric.scale if DECIMAL.fullmatch(error) else None
    spread = math.inf if metric.lower is None or metric.upper is None else metric.upper - metric.lower
    mark = fingerprint(model=model, task=task.key, source=source)
    run = Run(
        id=f"eval-results/{model}/{task.key}/{mark[:12]}",
        model=model,
        task=task.key,
        procedure=task.procedure,
        origin="imported",
        source=source,
        settings={
            "dataset": entry.dataset,
            "dataset_revision": entry.revision or "",
            "source_url": entry.url or "",
            "notes": entry.notes or "",
        },
        fingerprint=mark,
        started=entry.date or "",
        dtype=facts.get("dtype", "")[:40],
        device=facts.get("device", "")[:40],
    )
    return run, Score(
        run=run.id,
        subset=subset,
        metric=metric.key,
        value=value,
        printed=str(entry.value)[:40],
        n=int(count) if re.fullmatch(r"[1-9]\d{0,14}", count) else None,
        stderr=stderr if stderr is not None and stderr <= spread else None,
        coverage=float(answered[1]) / 100 if answered and float(answered[1]) <= 100 else None,
    )


def _facts(notes: str) -> Iterator[tuple[str, str]]:
    """Yields the `name: value` parts of notes, of which the first counts if a name appears twice."""
    for part in reversed(notes.split(";")):
        if match := FACT.fullmatch(part.strip()):
            yield match[1], match[2].strip()
