"""Suites of one's own data, recorded as `suites/<key>.json`.

The record lies in the results folder, where anyone may have put or changed it: it is read with limits, and a build
leaves out what cannot be.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compute import drafts, records
from compute.catalog.own.suite import (
    AGGREGATES,
    BENCHMARK,
    COMPARISONS,
    GENERATORS,
    GRID,
    MAX_COLUMNS,
    MAX_NAME,
    MAX_SUBSETS,
    MAX_TASKS,
    MAX_TEXT,
    MAX_WEIGHT,
    PAIRS,
    OwnSuite,
    benchmark_of,
    headline_first,
    own_generator,
    tasks_start,
)
from compute.tasks.own import shapes
from compute.tasks.own.hub import PREFIX as HUB
from compute.tasks.source import OwnFile
from compute.types import Model, Suite, Task

VERSION, FOLDER = 2, "suites"
EARLIER = 1  # the version of records whose tasks have one file and shape together
KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}")
MAX_SUITES = 200
MAX_FOLDERS = 100  # of a file's images
MODALITIES = ("image", "text")
MAX_MODELS = 200  # generators of one suite
KNOWN = (PAIRS, *shapes.KEYS, *COMPARISONS)
AGGREGATES_OF_GENERATORS = ("task-mean", "human")  # the latter where people rated them
# What a record holds of a suite and of each task; the rest follows.
OF_SUITE = ("title", "description", "aggregate")
OF_TASK = (
    "key",
    "title",
    "category",
    "split",
    "subsets",
    "procedure",
    "metrics",
    "chance",
    "n_items",
    "modalities",
    "languages",
    "notes",
)


def record(own: OwnSuite, *, results: Path) -> OwnSuite:
    """Writes the suite's record, unless one of the same content is there; the suite as it is recorded.

    A name that another content has already gets the beginning of its digest. Raises CannotWrite.
    """
    named = settled(own, results=results)
    path = results / FOLDER / f"{named.suite.key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    files = list({(file.shape, file.digest): file for file in named.data}.values())
    at = {(file.shape, file.digest): index for index, file in enumerate(files)}
    content = {
        "version": VERSION,
        "data": [
            {
                "shape": file.shape,
                "file": file.name,
                "path": os.path.relpath(file.path, path.parent) if file.path else "",
                "digest": file.digest,
                "columns": dict(file.columns),
                **_images(file, folder=path.parent),
            }
            for file in files
        ],
        "synthetic": named.synthetic,
        "suite": {name: getattr(named.suite, name) for name in OF_SUITE},
        **({"name": named.name} if named.name else {}),
        **({"weights": named.suite.category_weights} if named.suite.category_weights else {}),
        **({"shared": named.shared} if named.shared else {}),
        "tasks": [
            {name: getattr(task, name) for name in OF_TASK} | {"data": at[file.shape, file.digest]}
            for task, file in zip(named.tasks, named.data, strict=True)
        ],
        **({"models": [{"key": row.key, "title": row.title} for row in named.models]} if named.models else {}),
    }
    drafts.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return named


def _images(file: OwnFile, *, folder: Path) -> dict[str, list[str]]:
    """The folders of a file's images as a record in `folder` has them."""
    folders = [os.path.relpath(images, folder) for images in (*file.images, *file.elsewhere)[:MAX_FOLDERS]]
    return {"images": folders} if folders else {}


def settled(own: OwnSuite, *, results: Path) -> OwnSuite:
    """The suite under the key that `record` gives it."""
    known, _ = recorded(results)
    same = next((other for other in known if (other.shape, other.digest) == (own.shape, own.digest)), None)
    if same is not None:
        datasets = {task.revision: task.dataset for task in same.tasks}  # a file that was renamed is the same data
        tasks = tuple(replace(task, dataset=datasets.get(task.revision, task.dataset)) for task in own.tasks)
        data = tuple(replace(file, title=datasets.get(file.digest, "")) for file in own.data)
        return _renamed(replace(own, tasks=tasks, data=data), same.suite.key, start=_start(same))
    keys = {task.key for task in own.tasks}
    if any(other.suite.key == own.suite.key or keys & {task.key for task in other.tasks} for other in known):
        return _renamed(own, f"{own.suite.key[:70]}-{own.digest[:8]}")
    return own


def _start(own: OwnSuite) -> str:
    """What the keys of its tasks begin with: those of earlier records repeat the suite's mark, and so do their runs."""
    key = next((task.key for task in own.tasks), "")
    return key[: key.rfind("/") + 1] or tasks_start(own.suite.key)


def _renamed(own: OwnSuite, key: str, *, start: str = "") -> OwnSuite:
    """The suite under a key, its tasks' keys beginning with `start`; where that is not the file's name, titles say so
    too."""

    def task_key(task: Task) -> str:
        return f"{start or tasks_start(key)}{task.key.rpartition('/')[2]}"

    own = replace(
        own,
        suite=replace(own.suite, key=key),
        tasks=tuple(replace(task, key=task_key(task), suites=(key,)) for task in own.tasks),
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
    """Every record in a results folder."""
    return sorted((results / FOLDER).glob("*.json"))


def recorded(results: Path) -> tuple[list[OwnSuite], list[str]]:
    """The recorded suites, and why others are left out."""
    suites: list[OwnSuite] = []
    problems: list[str] = []
    for path in files(results):
        if path.name.startswith("."):
            continue
        try:
            if len(suites) >= MAX_SUITES:
                raise ValueError(f"there are more than {MAX_SUITES} suites")
            suites.append(_read(path, root=results))
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            problems.append(
                f"The suite {path.name} is left out ({reason}): remove it, and run again with --data (in Python data=) "
                "to make it anew"
            )
    return suites, problems


def _read(path: Path, *, root: Path) -> OwnSuite:
    """A record. Raises OSError, and ValueError with what is wrong with it."""
    content = records.read(path, root=root)
    key = path.stem
    if not KEY.fullmatch(key):
        raise ValueError("its name is no key: lower-case letters, digits, dots and dashes")
    if content.get("version") not in (EARLIER, VERSION):
        raise ValueError(f"it is of version {records.short(content.get('version'))}; this program reads {VERSION}")
    if content["version"] == EARLIER:
        content = _of_earlier(content)
    data: Any = content.get("data")
    suite: Any = content.get("suite")
    tasks: Any = content.get("tasks")
    for name, value, kind in (("data", data, list), ("suite", suite, dict), ("tasks", tasks, list)):
        if not isinstance(value, kind):
            raise ValueError(f"it has no {name}")
    shared = content.get("shared", [])
    if not isinstance(shared, list) or len(shared) > MAX_TASKS:
        raise ValueError(f"its shared tasks are no list of at most {MAX_TASKS}")
    for task in shared:
        records.check_text(task, name="a shared task", most=MAX_NAME)
    for name, values in (("files", data), ("tasks", tasks)):
        if not (0 if shared else 1) <= len(values) <= MAX_TASKS:
            raise ValueError(f"it has {len(values)} {name}; 1 to {MAX_TASKS} are read")
    files = [_file(file, folder=path.parent) for file in data]
    of_tasks = [files[_index(task, len(files))] for task in tasks]
    for name in OF_SUITE:
        records.check_text(suite.get(name), name=f"the suite's {name}", most=MAX_TEXT)
    kinds = {file.shape for file in of_tasks}
    if len(kinds) > 1 and kinds & set(COMPARISONS):
        raise ValueError("a comparison of generators stands beside other tasks")
    aggregates = AGGREGATES_OF_GENERATORS[: 2 if GENERATORS in kinds else 1] if kinds & set(COMPARISONS) else AGGREGATES
    if suite["aggregate"] not in aggregates:
        raise ValueError(f"its aggregate is {records.short(suite['aggregate'])}, not {' or '.join(aggregates)}")
    synthetic = content.get("synthetic")  # earlier records have none
    if synthetic is not None and not isinstance(synthetic, bool):
        raise ValueError(f"synthetic is {records.short(synthetic)}, neither true, false nor null")
    benchmark = benchmark_of(synthetic).key
    parsed = tuple(
        _task(task, suite=key, benchmark=benchmark, file=file) for task, file in zip(tasks, of_tasks, strict=True)
    )
    if GRID in kinds:
        parsed = headline_first(parsed)
    if len({task.key for task in parsed}) < len(parsed):
        raise ValueError("two of its tasks have one key")
    return OwnSuite(
        suite=Suite(
            key=key,
            benchmark=benchmark,
            category_weights=_weights(content.get("weights", {})),
            **{name: suite[name] for name in OF_SUITE},
        ),
        name=_name(content.get("name", "")),
        shared=tuple(shared),
        tasks=parsed,
        data=tuple(of_tasks),
        models=_models(content.get("models", [])),
        synthetic=synthetic,
    )


def _weights(content: Any) -> dict[str, float]:
    if not isinstance(content, dict) or len(content) > MAX_TASKS:
        raise ValueError(f"its weights are no object of at most {MAX_TASKS}")
    for category, weight in content.items():
        records.check_text(category, name="a category", most=MAX_NAME)
        if records.number(weight, name="a weight", most=MAX_WEIGHT) <= 0:
            raise ValueError("a weight is not above 0")
    return {category: float(weight) for category, weight in content.items()}


def _name(content: Any) -> str:
    records.check_text(content, name="its name", most=MAX_NAME)
    return content


def _of_earlier(content: dict[str, Any]) -> dict[str, Any]:
    """A record of the first version as one of this: its tasks have one file and shape together."""
    data, tasks = content.get("data"), content.get("tasks")
    return {
        **content,
        "data": [{"columns": {}, **data, "shape": content.get("shape")}] if isinstance(data, dict) else None,
        "tasks": [{**task, "data": 0} if isinstance(task, dict) else task for task in tasks]
        if isinstance(tasks, list)
        else None,
    }


def _file(content: Any, *, folder: Path) -> OwnFile:
    """What the items of tasks are read from. Raises ValueError with what is wrong with it."""
    if not isinstance(content, dict) or set(content) - {"images"} != {"shape", "file", "path", "digest", "columns"}:
        raise ValueError("one of its files has not the fields shape, file, path, digest, columns")
    shape, columns = content["shape"], content["columns"]
    if not isinstance(shape, str) or shape not in KNOWN:
        raise ValueError(f"its shape is {records.short(shape)}; there are: {', '.join(KNOWN)}")
    for name in ("file", "path", "digest"):
        records.check_text(content[name], name=name, most=MAX_TEXT)
    if not content["path"] and not content["file"].startswith(HUB):
        raise ValueError(f"its data {records.short(content['file'])} has no path and is of no hub")
    if not isinstance(columns, dict) or len(columns) > MAX_COLUMNS:
        raise ValueError(f"its columns are no object of at most {MAX_COLUMNS}")
    for name, own in columns.items():
        records.check_text(name, name="a column", most=MAX_NAME)
        records.check_text(own, name="a column", most=MAX_NAME)
    named = content.get("images", [])
    if not isinstance(named, list) or len(named) > MAX_FOLDERS:
        raise ValueError(f"its folders of images are no list of at most {MAX_FOLDERS}")
    for name in named:
        records.check_text(name, name="a folder of images", most=MAX_TEXT)
    path = Path(os.path.normpath(folder / content["path"])) if content["path"] else None
    images = [Path(os.path.normpath(folder / name)) for name in named]
    inside = [
        each for each in images if path is not None and records.is_inside(each, path if path.is_dir() else path.parent)
    ]
    return OwnFile(
        shape=shape,
        digest=content["digest"],
        path=path,
        hub="" if content["path"] else content["file"],
        columns=columns,
        images=tuple(inside),
        elsewhere=tuple(each for each in images if each not in inside),
        title=content["file"],
    )


def _index(task: Any, files: int) -> int:
    """Which file a task's items are read from."""
    if not isinstance(task, dict) or set(task) != {*OF_TASK, "data"}:
        raise ValueError(f"a task has not the fields {', '.join(OF_TASK)}, data")
    if records.integer(task["data"], name="a task's data") >= files:
        raise ValueError(f"a task's data is file {task['data']}, there are {files}")
    return task["data"]


def _models(content: Any) -> tuple[Model, ...]:
    if not isinstance(content, list) or len(content) > MAX_MODELS:
        raise ValueError(f"its models are no list of at most {MAX_MODELS}")
    for row in content:
        if not isinstance(row, dict) or set(row) != {"key", "title"}:
            raise ValueError("a model has not the fields key, title")
        for name in ("key", "title"):
            records.check_text(row[name], name=f"a model's {name}", most=MAX_NAME)
        if not row["key"].startswith(f"{BENCHMARK.key}/") or not KEY.fullmatch(row["key"].partition("/")[2]):
            raise ValueError(f"the model {records.short(row['key'])} is not {BENCHMARK.key}/ and a name")
    return tuple(own_generator(row["key"].partition("/")[2], title=row["title"]) for row in content)


def _task(content: Mapping[str, Any], *, suite: str, benchmark: str, file: OwnFile) -> Task:
    for name in ("key", "title", "category", "split", "procedure"):
        records.check_text(content[name], name=f"a task's {name}", most=MAX_NAME)
    records.check_text(content["notes"], name="a task's notes", most=MAX_TEXT)
    start, earlier = tasks_start(suite), f"{BENCHMARK.key}/{suite}/"
    if not any(
        content["key"].startswith(each) and KEY.fullmatch(content["key"].removeprefix(each))
        for each in (start, earlier)
    ):
        raise ValueError(f"the task {records.short(content['key'])} does not begin with {start}")
    lists = {}
    for name, least in (("subsets", 1), ("metrics", 1), ("modalities", 1), ("languages", 0)):
        values = content[name]
        if not isinstance(values, list) or not least <= len(values) <= MAX_SUBSETS:
            raise ValueError(f"a task's {name} are no list of {least} to {MAX_SUBSETS}")
        for value in values:
            records.check_text(value, name=f"one of a task's {name}", most=MAX_NAME)
        lists[name] = tuple(values)
    if set(lists["modalities"]) - set(MODALITIES):
        raise ValueError(f"a task's modalities are {', '.join(lists['modalities'])}")
    if content["chance"] is not None:
        records.number(content["chance"], name="a task's chance")
    records.integer(content["n_items"], name="a task's n_items")
    return Task(
        **{name: lists.get(name, content[name]) for name in OF_TASK},
        benchmark=benchmark,
        dataset=file.name,
        revision=file.digest,
        suites=(suite,),
    )
