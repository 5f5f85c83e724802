"""Checks user data before a model sees them: how they were read, what is wrong, and how small a difference
their size can show."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compute import paths
from compute.types import BadInput, LikenessError

if TYPE_CHECKING:
    from compute.engine.checking.copies import HashedImages
    from compute.engine.checking.findings import DataFinding
    from compute.engine.settings import RunSettings
    from compute.tasks.own import OwnData
    from compute.types import Task

EXAMPLES = 3  # of a finding, in a line


@dataclass(frozen=True, kw_only=True)
class CheckedTask:
    """One task's data. With `problem` nothing could be read; with faults, it has no items."""

    title: str
    problem: str = ""  # why nothing could be read
    summary: tuple[tuple[str, str], ...] = ()
    faults: int = 0
    listed: tuple[str, ...] = ()  # the first faults, by row
    findings: tuple[DataFinding, ...] = ()
    images: HashedImages | None = None
    resolution: str = ""  # the smallest difference that its size can show, as a sentence

    @property
    def runs(self) -> bool:
        """Whether it can be run as it is."""
        return not (self.problem or self.faults or (self.images and self.images.bad))


@dataclass(frozen=True, kw_only=True)
class DataCheck:
    """What a check of a file, a folder or a suite gave."""

    title: str
    tasks: tuple[CheckedTask, ...]
    command: str  # that runs it
    problem: str = ""  # of the suite as a whole

    @property
    def runs(self) -> bool:
        """Whether all of it can be run as it is."""
        return not self.problem and all(task.runs for task in self.tasks)

    @property
    def has_command(self) -> bool:
        """Whether `command` runs it: all of it, or all but the images that cannot be read."""
        return not self.problem and not any(task.problem or task.faults for task in self.tasks)


def check(settings: RunSettings, *, most: int = 5000) -> DataCheck:
    """Checks the settings' data: a manifest, a folder, a data set of the hub, or a suite's file; nothing is run and
    nothing recorded.

    Of more than `most` images some at random are decoded (0: all). Content keys are stored in the results folder.
    Raises BadInput where there is nothing that could be checked, and NotHere.
    """
    from compute.catalog import shipped
    from compute.catalog.own import suite as own_suite
    from compute.catalog.own import suite_file, suite_making, suite_records
    from compute.tasks import own
    from compute.tasks.source import Source

    data, root, images = settings.data, settings.results, settings.images
    source = Source.keeping(root, root=None, offline=settings.offline)
    parts: list[tuple[str, OwnData | str]] = []  # a task's title, and its data or why they cannot be read
    suite, problem = None, ""
    if own_suite.is_suite_file(data):
        if settings.data_name or settings.shape or settings.columns:
            raise BadInput(f"{Path(data).name} states how its data are read: omit --name, --shape and --columns")
        stated = suite_file.parse(Path(data), images=images)
        title = stated.title
        read: dict[int, OwnData] = {}
        for index, listed in enumerate(stated.tasks):
            if listed.file:
                try:
                    read[index] = listed.read(source=source)
                    parts.append((listed.shown, read[index]))
                except LikenessError as error:
                    parts.append((listed.shown, str(error)))
        if all(isinstance(part, own.OwnData) and not part.faults for _, part in parts):
            try:
                suite = suite_file.suite(stated, read, catalog=shipped())
            except LikenessError as error:
                problem = str(error)
    elif own.manifest_of_pairs(data):
        raise BadInput(f"{data} is a manifest of pairs, which is shown by likeness pairs show {shlex.quote(str(data))}")
    else:
        part = own.read(data, shape=settings.shape, columns=settings.columns, images=images, source=source)
        title = part.title
        parts.append((title, part))
        suite = (
            None if part.faults else suite_making.of_data({part.shape.key: part}, name=settings.data_name or part.name)
        )
    rows = [None] * len(parts) if suite is None else suite_records.keyed(suite, results=root).tasks
    tasks = tuple(
        CheckedTask(title=name, problem=part)
        if isinstance(part, str)
        else _checked(part, title=name, row=row, most=most, root=root)
        for (name, part), row in zip(parts, rows, strict=True)
    )
    bad = any(task.images and task.images.bad for task in tasks)
    return DataCheck(title=title, tasks=tasks, problem=problem, command=_command(settings, skip_bad=bad))


def _checked(part: OwnData, *, title: str, row: Task | None, most: int, root: Path) -> CheckedTask:
    """One task's data; `row` is the task as a run knows it, None where there is none yet."""
    from compute.engine.checking import copies
    from compute.engine.checking.findings import findings
    from compute.engine.checking.resolution import sentence
    from compute.engine.checking.summary import summary

    items = {} if part.faults else part.items()
    images = copies.hashed(items, most=most)
    return CheckedTask(
        title=title,
        summary=(
            *summary(part, items),
            *([("Category", row.category)] if row is not None else []),
        ),
        faults=part.faults,
        listed=tuple(map(str, part.problems)),
        findings=(*(each for data in items.values() for each in findings(data)), *copies.within(items, images)),
        images=images,
        resolution=sentence(row, roots=(root, paths.COMPUTED)) if row is not None else "",
    )


def _command(settings: RunSettings, *, skip_bad: bool) -> str:
    """The command that runs what was checked."""
    from compute.catalog.own.suite import is_suite_file

    data = settings.data
    parts = ["likeness run", "--suite" if is_suite_file(data) else "--data", shlex.quote(str(data))]
    options = {
        "--name": [settings.data_name],
        "--shape": [settings.shape],
        "--columns": [",".join(f"{name}={own}" for name, own in settings.columns.items())],
        "--images": [str(folder) for folder in settings.images],
    }
    for option, values in options.items():
        parts += [f"{option} {shlex.quote(value)}" for value in values if value]
    return " ".join([*parts, "--models tiny", *(["--skip-bad-items"] if skip_bad else [])])


def lines(checked: DataCheck) -> Iterator[str]:
    """The whole as lines of a terminal."""
    for task in checked.tasks:
        yield from _task_lines(task)
    yield verdict(checked)
    if checked.has_command:
        yield f"Run it: {checked.command}"


def verdict(checked: DataCheck) -> str:
    """Whether it can be run, in a sentence."""
    if checked.problem:
        return f"Cannot be run: {checked.problem}"
    if any(task.problem or task.faults for task in checked.tasks):
        return "Cannot be run: correct what is listed, then check again"
    if not checked.runs:
        return "Cannot be run as it is: correct the images that cannot be read, or omit them"
    return "Can be run"


def _task_lines(task: CheckedTask) -> Iterator[str]:
    """One task as lines of a terminal."""
    yield task.title
    for word, text in task.summary:
        yield f"  {word}: {text}"
    if task.problem:
        yield f"  Cannot be read: {task.problem}"
        return
    if task.faults:
        shown = "" if task.faults <= len(task.listed) else f", the first {len(task.listed)}"
        yield f"  Faults: {task.faults:,}{shown}"
        yield from (f"    {fault}" for fault in task.listed)
        yield "  Not checked until these are corrected: repeats, contradicting labels, images that cannot be read"
        return
    if task.images and task.images.total:
        yield f"  Images: {images_read(task.images)}"
        yield from (f"    {name}: {problem}" for name, problem in task.images.bad)
    for finding in task.findings:
        some = ", ".join(finding.examples[:EXAMPLES]) + ", ..." * (finding.count > EXAMPLES)
        yield f"  {'Fault' if finding.fault else 'Note'}: {finding.what}: {finding.count:,} ({some})"
    if not task.findings:
        yield "  No repeated items, no contradicting labels"
    if task.resolution:
        yield f"  {task.resolution}"


def images_read(images: HashedImages) -> str:
    """How many images there are, how many were decoded, and how many cannot be compared or read."""
    drawn = f", {images.drawn:,} of them decoded" if images.drawn < images.total else ", all decoded"
    bad = f"; that cannot be read: {len(images.bad):,}" if images.bad else ""
    plain = f"; of a plain colour, compared by content alone: {images.plain:,}" if images.plain else ""
    return f"{images.total:,} distinct{drawn}{plain}{bad}"
