"""A suite of several user tasks, as a TOML file: `suite.toml`.

    title = "Field photographs"
    aggregate = "category-mean"        # default: task-mean
    weights = { "Species" = 2 }        # of a category in the mean; default: 1

    [[tasks]]
    file = "birds.csv"                 # a manifest or a folder next to this file, or hub:org/name@revision
    title = "Birds"
    category = "Species"               # default: the category of its shape, see task check
    shape = "choices"                  # default: inferred from the columns
    columns = { reference = "photo" }

    [[tasks]]
    task = "mini/odd-one-out"          # or a task of the catalogue, by its key

The file is untrusted: it is read with limits and nothing in it is executed. The paths in it must resolve, links
included, to its folder or to a folder that the user names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr, StringConstraints, ValidationError, model_validator

from compute.catalog.catalog import Catalog
from compute.catalog.own import suite as own_suite
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


class ListedTask(StrictRecord):
    """A table [[tasks]]: either a user file, or a task of the catalogue."""

    file: FilePath = ""
    task: Line = ""
    title: Line = ""
    category: Line = ""
    shape: Line = ""
    columns: dict[str, str] = {}
    images: list[FilePath] = []

    @model_validator(mode="after")
    def _of_one_kind(self) -> ListedTask:
        if bool(self.file) == bool(self.task):
            raise ValueError("needs either your own file or a task of the catalogue, by its key")
        if self.task and (more := sorted(self.model_fields_set - {"task"})):
            raise ValueError(f"{more[0]} cannot be set: a task of the catalogue keeps its own")
        return self


class SuiteFile(StrictRecord):
    """What the file states, before any data is read."""

    title: Line = ""  # default: the file's name
    description: Annotated[str, StringConstraints(max_length=own_suite.MAX_TEXT // 2), AfterValidator(_line)] = ""
    aggregate: Literal[own_suite.AGGREGATES] = own_suite.AGGREGATES[0]
    synthetic: bool | None = None
    weights: dict[str, Weight] = {}  # of a category in the mean; default: 1
    tasks: Annotated[list[ListedTask], Field(min_length=1)]
    _name: str = PrivateAttr()
    _roots: tuple[Path, ...] = PrivateAttr()  # the folder of the file, and the folders that the user names

    def where(self, index: int) -> str:
        """Returns the name of a task in messages: `suite.toml, task 2 (birds.csv)`."""
        task = self.tasks[index]
        return f"{self._name}, task {index + 1} ({shortened(task.title or task.file or task.task, 60)})"

    def read(self, index: int, *, source: Source) -> OwnData:
        """Returns the data of a user's task. Raises BadInput with the name of the task, and NotHere."""
        task, (folder, *further) = self.tasks[index], self._roots
        images = [folder / name for name in task.images]
        data = task.file if task.file.startswith(HUB) else folder / task.file
        try:
            self._check_inside(images)
            if isinstance(data, Path):
                self._check_inside([data])
                self._check_inside(table_files(data))
            return read(data, shape=task.shape, columns=task.columns, images=(*further, *images), source=source)
        except BadInput as error:
            raise BadInput(f"{self.where(index)}: {error}") from error

    def _check_inside(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if not any(is_inside(path, root) for root in self._roots):
                raise BadInput(
                    f"{path.name} leads out of the folder of {self._name}: move it there, or name the folder it is in "
                    "with --images"
                )


def parse(path: Path, *, images: Sequence[Path] = ()) -> SuiteFile:
    """Reads a suite file; `images` are further folders that may contain its files and images.

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
        stated = SuiteFile.model_validate(content)
    except ValidationError as error:
        raise BadInput(_first(error, file=title)) from error
    stated.title, stated._name = stated.title or path.stem, title
    stated._roots = (path.absolute().parent, *(each.absolute() for each in images))
    return stated


def _first(error: ValidationError, *, file: str) -> str:
    """Returns the first error, with the nearest name if a name is unknown."""
    first = error.errors(include_url=False)[0]
    where, at, known = file, first["loc"], tuple(SuiteFile.model_fields)
    if at[:1] == ("tasks",) and len(at) > 1:
        where, at, known = f"{file}, task {at[1] + 1}", at[2:], tuple(ListedTask.model_fields)
    name = ".".join(map(str, at))
    if first["type"] == "extra_forbidden":
        return f"{where}: {_short(name)} is not known.{suggestion(name, known)} There are: {', '.join(known)}"
    if first["type"] == "missing":
        return f"{where} lists 0 tasks. A task is a table [[tasks]] with a file"
    return f"{where}: {name or 'it'} is {_short(first['input'])}: {first['msg']}"


def _short(value: Any) -> str:
    return shortened(repr(value), 60)


def suite(file: SuiteFile, data: Mapping[int, OwnData], *, catalog: Catalog) -> own_suite.OwnSuite:
    """Builds the suite of a file whose tasks have these data, by their index in `file.tasks`.

    Raises BadInput for data with problems, tasks without a common mean, and weights of unknown categories; UnknownKey
    for a task that is not in the catalogue.
    """
    title, names = file._name, {}
    for index, part in data.items():
        name = file.tasks[index].title or part.name
        if name in names.values():
            raise BadInput(f"{file.where(index)} has the title of another task: give it a different title")
        names[index] = name
    shared = []
    for index, listed in enumerate(file.tasks):
        if listed.task:
            task = catalog.task(listed.task)
            if not task.ranked or all(catalog.suite(key).aggregate == "human" for key in task.suites):
                raise BadInput(f"{file.where(index)} is not a task that enters a mean of the catalogue's: name another")
            shared.append(task)
    if len({task.key for task in shared}) < len(shared):
        raise BadInput(f"{title} lists a task of the catalogue twice")
    drawn = not data and all(task.benchmark in own_suite.SYNTHETIC_BENCHMARKS for task in shared)
    synthetic = drawn or None if file.synthetic is None else file.synthetic
    made = own_suite.of_data(
        {names[index]: part for index, part in data.items()},
        name=file.title,
        title=f"Own suite: {file.title}{' (synthetic)' if synthetic else ''}",  # marked in every list
        categories={names[index]: name for index in data if (name := file.tasks[index].category)},
        synthetic=synthetic,
    )
    tasks = tuple(
        replace(task, title=name[: own_suite.MAX_NAME]) for task, name in zip(made.tasks, names.values(), strict=True)
    )
    every = [*tasks, *shared]
    scales = {}  # of the metrics: a mean needs one direction and one scale
    for task in every:
        metric = catalog.metric(task.metrics[0])
        scales.setdefault((metric.higher_is_better, metric.scale), f"{task.title} is measured by {metric.title}")
    if len(scales) > 1:
        raise BadInput(f"{title}: {', '.join(scales.values())}, which make no mean: put them into their own suites")
    weights = {task.category: file.weights.get(task.category, 1.0) for task in every}
    for name in file.weights:
        if name not in weights:
            raise BadInput(
                f"{title}: weights names the category {_short(name)}.{suggestion(name, weights)} Its tasks have: "
                f"{', '.join(weights)}"
            )
    about = [file.description, made.suite.description if data else ""]
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
            aggregate=file.aggregate,
            description=shortened(" ".join(filter(None, about)), own_suite.MAX_TEXT),
            category_weights=dict(file.weights),
        ),
    )
