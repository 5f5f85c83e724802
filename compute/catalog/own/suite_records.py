"""Suites of user data, recorded as `suites/<key>.json` in the results folder, and their addition to the catalogue.

Anyone may have changed a record: unreadable records are skipped, with the reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from compute.catalog.catalog import Catalog
from compute.catalog.own.suite import (
    AGGREGATES,
    BENCHMARK,
    BENCHMARKS,
    COMPARISONS,
    GENERATORS,
    GRID,
    MAX_WEIGHT,
    PAIRS,
    OwnSuite,
    benchmark_of,
    headline_first,
    own_generator,
    tasks_start,
)
from compute.io.files import is_inside, read_record, short, validated, write_text
from compute.io.nouns import strict
from compute.tasks.own import shapes
from compute.tasks.own.hub import PREFIX as HUB
from compute.tasks.source import OwnFile
from compute.types import Count, Model, Name, Suite, Task, Text, first_line

VERSION, FOLDER = 2, "suites"
KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}")
HUMAN = "human"  # the aggregate of generators that people rated


class StrictRecord(BaseModel):
    """A part of a record with exactly these fields and types."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class FileRecord(StrictRecord):
    """The source of tasks' items; paths are relative to the record's folder."""

    shape: Literal[PAIRS, *shapes.KEYS, *COMPARISONS]
    file: Text
    path: Text  # empty if on the hub, under the name in `file`
    digest: Text
    columns: dict[Name, Name] = {}
    images: list[Text] = []


# A task; `data` is the position of its file.
TaskRecord = strict(
    Task,
    *("key", "title", "category", "split", "subsets", "procedure", "metrics", "chance"),
    n_items=Count,
    modalities=Annotated[tuple[Literal["image", "text"], ...], MinLen(1)],
    languages=tuple[Name, ...],
    notes=Text,
    data=Count,
)
SuiteFacts = strict(Suite, "title", "description", aggregate=Literal[*AGGREGATES, HUMAN])
GeneratorRecord = strict(
    Model, "title", key=Annotated[str, StringConstraints(pattern=rf"^{BENCHMARK.key}/{KEY.pattern}$")]
)


class SuiteRecord(StrictRecord):
    """A recorded suite's file."""

    version: Literal[VERSION]
    data: list[FileRecord]
    synthetic: bool | None = None
    suite: SuiteFacts
    name: Name = ""
    weights: dict[Name, Annotated[float, Field(gt=0, le=MAX_WEIGHT)]] = {}
    shared: list[Name] = []
    tasks: list[TaskRecord]
    models: list[GeneratorRecord] = []


OF_TASK = tuple(name for name in TaskRecord.model_fields if name != "data")


def record(own: OwnSuite, *, results: Path) -> OwnSuite:
    """Writes the suite's record, unless one of the same content exists, and returns the suite as recorded.

    If other content already has the name, the start of the digest is appended. Raises CannotWrite.
    """
    named = keyed(own, results=results)
    path = results / FOLDER / f"{named.suite.key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    files = list({(file.shape, file.digest): file for file in named.data}.values())
    at = {(file.shape, file.digest): index for index, file in enumerate(files)}
    content = SuiteRecord(
        version=VERSION,
        data=[
            FileRecord(
                shape=file.shape,
                file=file.name,
                path=os.path.relpath(file.path, path.parent) if file.path else "",
                digest=file.digest,
                columns=dict(file.columns),
                images=[os.path.relpath(images, path.parent) for images in (*file.images, *file.elsewhere)],
            )
            for file in files
        ],
        synthetic=named.synthetic,
        suite={name: getattr(named.suite, name) for name in SuiteFacts.model_fields},
        name=named.name,
        weights=dict(named.suite.category_weights),
        shared=list(named.shared),
        tasks=[
            TaskRecord(data=at[file.shape, file.digest], **{name: getattr(task, name) for name in OF_TASK})
            for task, file in zip(named.tasks, named.data, strict=True)
        ],
        models=[GeneratorRecord(key=row.key, title=row.title) for row in named.models],
    )
    write_text(path, content.model_dump_json(indent=1) + "\n")
    return named


def keyed(own: OwnSuite, *, results: Path) -> OwnSuite:
    """Returns the suite under the key that `record` gives it."""
    known, _ = recorded(results)
    same = next((other for other in known if (other.shape, other.digest) == (own.shape, own.digest)), None)
    if same is not None:
        datasets = {task.revision: task.dataset for task in same.tasks}  # a renamed file is the same data
        tasks = tuple(replace(task, dataset=datasets.get(task.revision, task.dataset)) for task in own.tasks)
        data = tuple(replace(file, title=datasets.get(file.digest, "")) for file in own.data)
        return _renamed(replace(own, tasks=tasks, data=data), same.suite.key)
    keys = {task.key for task in own.tasks}
    if any(other.suite.key == own.suite.key or keys & {task.key for task in other.tasks} for other in known):
        return _renamed(own, f"{own.suite.key[:70]}-{own.digest[:8]}")
    return own


def _renamed(own: OwnSuite, key: str) -> OwnSuite:
    """Returns the suite and its tasks under a key; if the digest is part of the key, it is added to the titles."""
    own = replace(
        own,
        suite=replace(own.suite, key=key),
        tasks=tuple(
            replace(task, key=f"{tasks_start(key)}{task.key.rpartition('/')[2]}", suites=(key,)) for task in own.tasks
        ),
    )
    digest = own.digest[:8]
    if not key.endswith(f"-{digest}"):
        return own
    return replace(
        own,
        suite=replace(own.suite, title=f"{own.suite.title} ({digest})"),
        tasks=tuple(replace(task, title=f"{task.title} ({digest})") for task in own.tasks),
    )


def files(results: Path) -> list[Path]:
    """Returns all records in a results folder."""
    return sorted((results / FOLDER).glob("[!.]*.json"))


def recorded(results: Path) -> tuple[list[OwnSuite], list[str]]:
    """Returns the recorded suites, and why others are skipped."""
    remedy = "remove it, and run again with --data (in Python data=) to rebuild it"
    return read_all(files(results), partial(_read, root=results), noun="suite", remedy=remedy)


def read_all(paths: list[Path], read: Callable[[Path], Any], *, noun: str, remedy: str) -> tuple[list[Any], list[str]]:
    """Returns the readable records, and a sentence for each of the others."""
    rows, problems = [], []
    for path in paths:
        try:
            rows.append(read(path))
        except (OSError, ValueError) as error:
            reason = first_line(error)
            problems.append(f"The {noun} {path.name} is skipped ({reason}): {remedy}")
    return rows, problems


def extended(catalog: Catalog, suites: Sequence[OwnSuite]) -> tuple[Catalog, list[str]]:
    """Returns the catalogue with these suites, and why others are skipped: conflicting keys, or unknown metrics or
    tasks.
    """
    shipped = {task.key for task in catalog.tasks}
    taken = {*(row.key for row in catalog.suites), *shipped}
    metrics, listed = {row.key for row in catalog.metrics}, {row.key for row in catalog.models}
    added, problems = [], []
    for own in suites:
        unknown = sorted({name for task in own.tasks for name in task.metrics} - metrics)
        gone = sorted(set(own.shared) - shipped)
        keys = {own.suite.key, *(task.key for task in own.tasks)}
        if keys & taken or unknown or gone:
            why = f"no metric {unknown[0]!r} is known" if unknown else "another suite has its name or its tasks' keys"
            why = f"no task {gone[0]!r} is known" if gone else why
            problems.append(f"The suite {own.suite.key} of your data is skipped: {why}")
        else:
            added.append(own)
            taken |= keys
    models = {row.key: row for own in reversed(added) for row in own.models if row.key not in listed}
    tasks = [
        replace(task, suites=(*task.suites, *(own.suite.key for own in added if task.key in own.shared)))
        for task in catalog.tasks
    ]
    return replace(
        catalog,
        benchmarks=(*catalog.benchmarks, *(BENCHMARKS[key] for key in sorted({own.suite.benchmark for own in added}))),
        suites=(*catalog.suites, *(own.suite for own in added)),
        tasks=(*tasks, *(task for own in added for task in own.tasks)),
        models=(*catalog.models, *models.values()),
    ), problems


def with_runs(suites: Sequence[OwnSuite], *, tasks: Set[str]) -> tuple[list[OwnSuite], list[str]]:
    """Returns the suites that have a run on any of their tasks, and a sentence on each of the others.

    `tasks` are the keys of all tasks with a run. Suites with catalogue tasks always stay, since those have published
    scores. A suite whose runs all failed has nothing that a page could show.
    """
    shown = [own for own in suites if own.shared or any(task.key in tasks for task in own.tasks)]
    return shown, [
        f"The suite {own.suite.key} of your data has no complete run: it is skipped until one is made"
        for own in suites
        if own not in shown
    ]


def _read(path: Path, *, root: Path) -> OwnSuite:
    """Reads a record. Raises OSError, and ValueError with what is wrong."""
    read = validated(read_record(path, root=root), SuiteRecord)
    key = path.stem
    if not KEY.fullmatch(key):
        raise ValueError("its name is not a key: lower-case letters, digits, dots and dashes")
    if not read.tasks and not read.shared:
        raise ValueError("it has no tasks")
    if any(task.data >= len(read.data) for task in read.tasks):
        raise ValueError(f"a task's data is a file that is not listed: there are {len(read.data)}")
    files = []
    for file in read.data:
        if not file.path and not file.file.startswith(HUB):
            raise ValueError(f"its data {short(file.file)} has no path and is not on the hub")
        place, *images = (Path(os.path.normpath(path.parent / name)) for name in (file.path, *file.images))
        place = place if file.path else None
        near = [image for image in images if place and is_inside(image, place if place.is_dir() else place.parent)]
        files.append(
            OwnFile(
                shape=file.shape,
                digest=file.digest,
                path=place,
                hub="" if file.path else file.file,
                columns=file.columns,
                images=tuple(near),
                elsewhere=tuple(image for image in images if image not in near),
                title=file.file,
            )
        )
    kinds = {file.shape for file in files}
    if read.suite.aggregate == HUMAN and GENERATORS not in kinds:
        raise ValueError("its aggregate is human, which is for generators only")
    benchmark, start = benchmark_of(read.synthetic).key, tasks_start(key)
    for task in read.tasks:
        if not task.key.startswith(start) or not KEY.fullmatch(task.key.removeprefix(start)):
            raise ValueError(f"the task {short(task.key)} does not begin with {start}")
    data = tuple(files[task.data] for task in read.tasks)
    tasks = tuple(
        Task(
            **task.model_dump(exclude={"data"}),
            benchmark=benchmark,
            dataset=file.name,
            revision=file.digest,
            suites=(key,),
        )
        for task, file in zip(read.tasks, data, strict=True)
    )
    if len({task.key for task in tasks}) < len(tasks):
        raise ValueError("two of its tasks have one key")
    return OwnSuite(
        suite=Suite(key=key, benchmark=benchmark, category_weights=read.weights, **read.suite.model_dump()),
        name=read.name,
        shared=tuple(read.shared),
        tasks=headline_first(tasks) if GRID in kinds else tasks,
        data=data,
        models=tuple(own_generator(row.key.partition("/")[2], title=row.title) for row in read.models),
        synthetic=read.synthetic,
    )
