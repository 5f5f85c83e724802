"""A suite of several user tasks, as a TOML file: `suite.toml`.

    title = "Field photographs"
    aggregate = "category-mean"        # or task-mean, as without it
    weights = { "Species" = 2 }        # of a category in the mean; of others 1

    [[tasks]]
    file = "birds.csv"                 # a manifest or a folder next to this file, or hub:org/name@revision
    title = "Birds"
    category = "Species"               # without it the category of its shape: task check shows it
    shape = "choices"                  # without it the columns tell
    columns = { reference = "photo" }

    [[tasks]]
    task = "mini/odd-one-out"          # or a task of the catalogue, by its key

Anyone may have written it: it is read with limits, no value is run, and what it names is below its folder, links
judged by where they lead, or below a folder that the user names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from compute.catalog.catalog import Catalog
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_making
from compute.catalog.own.suite_records import StrictRecord
from compute.io.files import is_inside
from compute.tasks.own import OwnData, read
from compute.tasks.own.hub import PREFIX as HUB
from compute.tasks.own.layout import table_files
from compute.tasks.source import Source
from compute.types import BadInput, shortened, suggestion


def _line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be one line of text")
    return text


Line = Annotated[str, StringConstraints(max_length=own_suite.MAX_NAME), AfterValidator(_line)]
FilePath = Annotated[str, StringConstraints(max_length=own_suite.MAX_TEXT), AfterValidator(_line)]
Weight = Annotated[float, Field(gt=0, le=own_suite.MAX_WEIGHT)]


class TaskTable(StrictRecord):
    """What a table [[tasks]] may state."""

    file: FilePath = ""
    task: Line = ""
    title: Line = ""
    category: Line = ""
    shape: Line = ""
    columns: dict[str, str] = {}
    images: list[FilePath] = []


class SuiteTables(StrictRecord):
    """What the file may state."""

    title: Line = ""
    description: Annotated[str, StringConstraints(max_length=own_suite.MAX_TEXT // 2), AfterValidator(_line)] = ""
    aggregate: Literal[own_suite.AGGREGATES] = own_suite.AGGREGATES[0]
    synthetic: bool | None = None
    weights: dict[str, Weight] = {}  # of a category in the mean; of others 1
    tasks: Annotated[list[TaskTable], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class ListedTask:
    """A task as the file lists it: either a user file, or a task of the catalogue."""

    where: str  # for messages: `suite.toml, task 2 (birds.csv)`
    stated: TaskTable
    file: Path | str  # absolute, or `hub:org/name@revision`; empty: a task of the catalogue
    images: tuple[Path, ...]
    roots: tuple[Path, ...]  # the folder of the suite's file and those that the user names: all is below them

    @property
    def title(self) -> str:
        """What it is called in a check."""
        return self.stated.title or Path(self.stated.file).name

    def read(self, *, source: Source) -> OwnData:
        """The task's data. Raises BadInput, which names the task, and NotHere."""
        try:
            if isinstance(self.file, Path):
                for path in table_files(self.file):
                    _check_inside(path, self.roots, what=f"file {path.name}", where=self.where)
            return read(
                self.file, shape=self.stated.shape, columns=self.stated.columns, images=self.images, source=source
            )
        except BadInput as error:
            raise BadInput(f"{self.where}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class SuiteFile:
    """A suite as its file states it, before any data is read."""

    path: Path
    stated: SuiteTables
    tasks: tuple[ListedTask, ...]

    @property
    def title(self) -> str:
        """As stated, or the file's name."""
        return self.stated.title or self.path.stem


def parse(path: Path, *, images: Sequence[Path] = ()) -> SuiteFile:
    """The suite that a file states; `images` are folders that the user names, where its files and images may lie too.

    Raises BadInput with the line or the table that is wrong.
    """
    title = path.name
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{title} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{title} is not TOML: {error}") from error
    try:
        stated = SuiteTables.model_validate(content)
    except ValidationError as error:
        raise BadInput(_first(error, file=title)) from error
    roots = (path.absolute().parent, *(each.absolute() for each in images))
    tasks = tuple(
        _task(
            task, where=f"{title}, task {number} ({shortened(task.title or task.file or task.task, 60)})", roots=roots
        )
        for number, task in enumerate(stated.tasks, 1)
    )
    return SuiteFile(path=path.absolute(), stated=stated, tasks=tasks)


def _first(error: ValidationError, *, file: str) -> str:
    """The first thing that is wrong, with the nearest name where one is not known."""
    first = error.errors(include_url=False)[0]
    where, at, known = file, first["loc"], tuple(SuiteTables.model_fields)
    if at[:1] == ("tasks",) and len(at) > 1:
        where, at, known = f"{file}, task {at[1] + 1}", at[2:], tuple(TaskTable.model_fields)
    name = ".".join(map(str, at))
    if first["type"] == "extra_forbidden":
        return f"{where}: {_short(name)} is not known.{suggestion(name, known)} There are: {', '.join(known)}"
    if first["type"] == "missing":
        return f"{where} lists 0 tasks. A task is a table [[tasks]] with a file"
    return f"{where}: {name or 'it'} is {_short(first['input'])}: {first['msg']}"


def _task(stated: TaskTable, *, where: str, roots: tuple[Path, ...]) -> ListedTask:
    if bool(stated.file) == bool(stated.task):
        raise BadInput(f"{where} needs either your own file or a task of the catalogue, by its key")
    if stated.task and (more := sorted(stated.model_fields_set - {"task"})):
        raise BadInput(f"{where}: {more[0]} cannot be set: a task of the catalogue keeps its own")
    folder, *further = roots
    own_file: Path | str = stated.file
    if own_file and not own_file.startswith(HUB):
        own_file = folder / own_file
        _check_inside(own_file, roots, what="file", where=where)
    for name in stated.images:
        _check_inside(folder / name, roots, what=f"images {_short(name)}", where=where)
    images = (*further, *(folder / name for name in stated.images))
    return ListedTask(where=where, stated=stated, file=own_file, images=images, roots=roots)


def _check_inside(path: Path, roots: Sequence[Path], *, what: str, where: str) -> None:
    if not any(is_inside(path, root) for root in roots):
        raise BadInput(
            f"{where}: {what} leads out of the folder of {where.partition(',')[0]}: move it there, or name the folder "
            "it is in with --images"
        )


def _short(value: Any) -> str:
    return shortened(repr(value), 60)


def suite(file: SuiteFile, data: Mapping[int, OwnData], *, catalog: Catalog) -> own_suite.OwnSuite:
    """The suite of a file whose own tasks have these data, by their index in `file.tasks`.

    Raises BadInput for data with problems, tasks that no mean can hold together and weights of unknown categories,
    UnknownKey for a task that is not in the catalogue.
    """
    title, stated = file.path.name, file.stated
    names: dict[int, str] = {}
    for index, part in data.items():
        name = file.tasks[index].stated.title or part.name
        if name in names.values():
            raise BadInput(f"{file.tasks[index].where} has the title of another task: give it a different title")
        names[index] = name
    shared = []
    for listed in file.tasks:
        if listed.stated.task:
            task = catalog.task(listed.stated.task)
            if not task.ranked or all(catalog.suite(key).aggregate == "human" for key in task.suites):
                raise BadInput(f"{listed.where} is not a task that enters a mean of the catalogue's: name another")
            shared.append(task)
    if len({task.key for task in shared}) < len(shared):
        raise BadInput(f"{title} lists a task of the catalogue twice")
    drawn = not data and all(task.benchmark in own_suite.SYNTHETIC_BENCHMARKS for task in shared)
    synthetic = drawn or None if stated.synthetic is None else stated.synthetic
    made = suite_making.of_data(
        {names[index]: part for index, part in data.items()},
        name=file.title,
        title=f"Own suite: {file.title}{' (synthetic)' if synthetic else ''}",  # marked in every list
        categories={names[index]: name for index in data if (name := file.tasks[index].stated.category)},
        synthetic=synthetic,
    )
    tasks = tuple(
        replace(task, title=name[: own_suite.MAX_NAME]) for task, name in zip(made.tasks, names.values(), strict=True)
    )
    every = [*tasks, *shared]
    scales: dict[tuple[bool, float], str] = {}  # of the metrics: a mean needs one direction and scale
    for task in every:
        metric = catalog.metric(task.metrics[0])
        scales.setdefault((metric.higher_is_better, metric.scale), f"{task.title} is measured by {metric.title}")
    if len(scales) > 1:
        raise BadInput(f"{title}: {', '.join(scales.values())}, which make no mean: put them into their own suites")
    weights = {task.category: stated.weights.get(task.category, 1.0) for task in every}
    for name in stated.weights:
        if name not in weights:
            raise BadInput(
                f"{title}: weights names the category {_short(name)}.{suggestion(name, weights)} Its tasks have: "
                f"{', '.join(weights)}"
            )
    about = [stated.description, made.suite.description if data else ""]
    if shared:
        about.append(f"Tasks of the catalogue: {', '.join(task.title for task in shared)}.")
    if len(set(weights.values())) > 1:
        about.append(f"Weights in the mean: {', '.join(f'{name} {weight:g}' for name, weight in weights.items())}.")
    return replace(
        made,
        name=made.suite.key,
        tasks=tasks,
        shared=tuple(task.key for task in shared),
        suite=replace(
            made.suite,
            aggregate=stated.aggregate,
            description=shortened(" ".join(filter(None, about)), own_suite.MAX_TEXT),
            category_weights=dict(stated.weights),
        ),
    )
