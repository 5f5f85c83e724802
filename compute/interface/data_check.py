"""Checks data of one's own before a model sees them: what was understood, what is wrong, what benchmarks have too, and
how small a difference their size can show."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from compute import paths
from compute.types import BadInput, LikenessError

if TYPE_CHECKING:
    from compute.catalog.own.suite import OwnSuite
    from compute.engine.checking.copies import HashedImages
    from compute.engine.checking.findings import DataFinding
    from compute.engine.checking.overlap import Overlap
    from compute.engine.checking.preview import ShownItem
    from compute.progress import Progress
    from compute.tasks.own import OwnData, OwnReading
    from compute.tasks.source import Source
    from compute.types import Task

EXAMPLES = 3  # of a finding, in a line
SKIP = "--skip-bad-items"
NOT_CHECKED = (
    "Not checked until the faults are corrected: repeated items, contradicting labels, images that cannot be read"
)
NO_FINDING = "No repeated items, no contradicting labels"


@dataclass(frozen=True, kw_only=True)
class CheckedTask:
    """One task's data. With `problem` nothing could be read; with faults there are no items."""

    title: str
    problem: str = ""  # why nothing could be read
    understood: tuple[tuple[str, str], ...] = ()
    faults: int = 0
    listed: tuple[str, ...] = ()  # the first faults, by row
    not_checked: str = ""  # what faults keep from being looked for, as a sentence
    sound: int | None = None  # rows that the findings are of, where others have faults
    findings: tuple[DataFinding, ...] = ()
    images: HashedImages | None = None
    items: tuple[ShownItem, ...] = ()
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
    overlap: Overlap | None = None  # None: not looked for
    problem: str = ""  # of the suite as a whole

    @property
    def runs(self) -> bool:
        """Whether all of it can be run as it is."""
        return not self.problem and all(task.runs for task in self.tasks)

    @property
    def has_command(self) -> bool:
        """Whether `command` runs it: all of it, or all but the images that cannot be read."""
        return not self.problem and not any(task.problem or task.faults for task in self.tasks)


@dataclass(kw_only=True)
class _Read:
    """What is to be checked, read as far as it can be. Tasks are known by their position in the suite."""

    title: str
    titles: dict[int, str] = field(default_factory=dict)
    parts: dict[int, OwnData] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    suite: OwnSuite | None = None  # None: what was read makes none
    problem: str = ""

    def settle(self, results: Path) -> dict[int, Task]:
        """The tasks as a run knows them, by position."""
        from compute.catalog.own import suite_records

        if self.suite is None:
            return {}
        return dict(zip(self.parts, suite_records.settled(self.suite, results=results).tasks, strict=True))


def check(
    data: Path | str,
    *,
    reading: OwnReading | None = None,
    results: Path | None = None,
    benchmarks: bool = True,
    benchmark_data: Path | None = None,
    most: int | None = None,
    offline: bool = False,
    progress: Progress | None = None,
    before_benchmarks: Callable[[Sequence[CheckedTask], int], None] | None = None,
) -> DataCheck:
    """Checks a manifest, a folder, a data set of the hub, or a suite's file; nothing is run and nothing recorded.

    `reading` says how data are read that do not tell themselves. With `benchmarks` the contents are compared with those
    of the benchmarks whose data is on this machine, in the folder `benchmark_data` or the hub's cache. Of more than
    `most` images some at random are decoded (default: 5,000; 0: all). Content keys and hashes are stored in the results
    folder. Before the comparison, which takes the longest, `before_benchmarks` is called with the checked tasks and the
    number of the benchmarks' tasks (0: no comparison). Raises BadInput where there is nothing that could be checked,
    and NotHere.
    """
    from compute.engine.checking import copies
    from compute.engine.checking import overlap as compared
    from compute.progress import Progress
    from compute.tasks.own import OwnReading
    from compute.tasks.source import Source

    root = (results or paths.RESULTS).absolute()
    source = Source.keeping(root, root=None, offline=offline)
    reading, progress = reading or OwnReading(), progress or Progress()
    most = copies.AT_MOST if most is None else most
    read = _read(data, reading, source=source)
    rows, roots = read.settle(root), (root, paths.COMPUTED)
    checked = {index: CheckedTask(title=read.titles[index], problem=words) for index, words in read.problems.items()}
    checked |= {
        index: _checked(
            part,
            title=read.titles[index],
            row=rows.get(index),
            most=most,
            cache=source.cache,
            roots=roots,
            progress=progress,
        )
        for index, part in read.parts.items()
    }
    sound = [index for index, part in read.parts.items() if not part.faults]
    tasks = tuple(checked[index] for index in sorted(checked))
    overlap, catalog = None, None
    if benchmarks and sound:
        from compute.catalog import shipped

        catalog = shipped()
    if before_benchmarks is not None:
        before_benchmarks(tasks, 0 if catalog is None else len(compared.candidates(catalog)))
    if catalog is not None:
        overlap = compared.overlap(
            [column for index in sound for column in copies.every_content(read.parts[index].items())],
            copies.joined([images for index in sound if (images := checked[index].images) is not None]),
            catalog=catalog,
            source=Source.keeping(root, root=benchmark_data, offline=True),
            roots=roots,
            most=most,
            progress=progress,
        )
    bad = any(task.images and task.images.bad for task in checked.values())
    return DataCheck(
        title=read.title,
        tasks=tasks,
        overlap=overlap,
        problem=read.problem,
        command=_command(data, reading, skip_bad=bad),
    )


def _read(data: Path | str, reading: OwnReading, *, source: Source) -> _Read:
    from compute.catalog.own import suite_file, suite_making
    from compute.tasks import own as own_tasks

    if suite_file.is_suite_file(data):
        return _read_suite(Path(data), reading, source=source)
    if own_tasks.manifest_of_pairs(data):
        raise BadInput(f"{data} is a manifest of pairs, which is shown by python -m compute pairs show {data}")
    part = own_tasks.read(data, shape=reading.shape, columns=reading.columns, images=reading.images, source=source)
    suite = None if part.faults else suite_making.of_data({part.shape.key: part}, name=reading.name or part.name)
    return _Read(title=part.title, titles={0: part.title}, parts={0: part}, suite=suite)


def _read_suite(path: Path, reading: OwnReading, *, source: Source) -> _Read:
    from compute.catalog import shipped
    from compute.catalog.own import suite_file
    from compute.tasks.own import OwnReading

    if reading != OwnReading(images=reading.images):
        raise BadInput(f"{path.name} says itself how its data are read: omit --name, --shape and --columns")
    stated = suite_file.parse(path, images=reading.images)
    read = _Read(title=stated.title)
    for index, listed in enumerate(stated.tasks):
        if not listed.file:
            continue
        read.titles[index] = listed.title or Path(listed.file).name
        try:
            read.parts[index] = listed.read(source=source)
        except LikenessError as error:
            read.problems[index] = str(error)
    if read.problems or any(part.faults for part in read.parts.values()):
        return read
    try:
        read.suite = suite_file.suite(stated, read.parts, catalog=shipped())
    except LikenessError as error:
        read.problem = str(error)
    return read


def _checked(
    part: OwnData,
    *,
    title: str,
    row: Task | None,
    most: int,
    cache: Path | None,
    roots: Sequence[Path],
    progress: Progress,
) -> CheckedTask:
    """One task's data checked by themselves."""
    from compute.engine.checking import copies
    from compute.engine.checking.findings import findings
    from compute.engine.checking.preview import preview
    from compute.engine.checking.resolution import sentence
    from compute.engine.checking.understood import understood

    items = part.sound_items()
    images = copies.hashed(
        copies.every_content(items), most=most, cache=cache, title=f"Reading the images of {title}", progress=progress
    )
    return CheckedTask(
        title=title,
        understood=(
            *understood(part, None if part.faults else items),
            *([("Category", row.category)] if row is not None else []),
        ),
        faults=part.faults,
        listed=tuple(map(str, part.problems)),
        not_checked=NOT_CHECKED if not items else "",
        sound=part.rows - len(part.bad) if part.faults and items else None,
        findings=(*(each for data in items.values() for each in findings(data)), *copies.within(items, images)),
        images=images,
        items=() if part.faults else tuple(preview(items)),
        resolution=sentence(row, roots=roots) if row is not None else "",
    )


def _command(data: Path | str, reading: OwnReading, *, skip_bad: bool) -> str:
    """The command that runs what was checked."""
    from compute.catalog.own.suite_file import is_suite_file

    parts = ["python -m compute run", "--suite" if is_suite_file(data) else "--data", shlex.quote(str(data))]
    options = {
        "--name": [reading.name],
        "--shape": [reading.shape],
        "--columns": [",".join(f"{name}={own}" for name, own in reading.columns.items())],
        "--images": [str(folder) for folder in reading.images],
    }
    for option, values in options.items():
        parts += [f"{option} {shlex.quote(value)}" for value in values if value]
    return " ".join([*parts, "--models tiny", *([SKIP] if skip_bad else [])])


def last_lines(checked: DataCheck) -> Iterator[str]:
    """What follows the tasks: the benchmarks, the verdict and the command."""
    if checked.overlap is not None:
        yield from overlap_lines(checked.overlap)
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
        return "Cannot be run as it is: correct the images that cannot be read, or leave them out"
    return "Can be run"


def task_lines(task: CheckedTask) -> Iterator[str]:
    """One task as lines of a terminal."""
    yield task.title
    for word, text in task.understood:
        yield f"  {word}: {text}"
    if task.problem:
        yield f"  Cannot be read: {task.problem}"
        return
    if task.faults:
        shown = "" if task.faults <= len(task.listed) else f", the first {len(task.listed)}"
        yield f"  Faults: {task.faults:,}{shown}"
        yield from (f"    {fault}" for fault in task.listed)
    if task.not_checked:
        yield f"  {task.not_checked}"
        return
    if task.sound is not None:
        yield f"  {looked_at(task.sound)}"
    if task.images and task.images.total:
        yield f"  Images: {images_read(task.images)}"
        yield from (f"    {name}: {problem}" for name, problem in task.images.bad)
    for finding in task.findings:
        yield f"  {'Fault' if finding.fault else 'Note'}: {finding.what}: {finding.count:,} ({_some(finding)})"
    if not task.findings:
        yield f"  {NO_FINDING}"
    if task.resolution:
        yield f"  {task.resolution}"


def looked_at(sound: int) -> str:
    """Which rows the findings are of, where others have faults."""
    return f"Of the {sound:,} row{'s' * (sound != 1)} without a fault:"


def images_read(images: HashedImages) -> str:
    """How many images there are, how many were decoded, and how many cannot be compared or read."""
    drawn = f", {images.drawn:,} of them decoded" if images.drawn < images.total else ", all decoded"
    bad = f"; that cannot be read: {len(images.bad):,}" if images.bad else ""
    plain = f"; of a plain colour, compared by content alone: {images.plain:,}" if images.plain else ""
    return f"{images.total:,} distinct{drawn}{plain}{bad}"


def overlap_lines(overlap: Overlap) -> Iterator[str]:
    """What was compared with benchmarks, what is shared, and what could not be compared."""
    from compute.engine.plan import counted

    if overlap.whole:
        some = f"; of {len(overlap.sampled)} not all images, for near copies" if overlap.sampled else ""
        whole = counted(len(overlap.whole), "benchmark task")
        yield f"Compared with the scored items of {whole} whose data is here{some}"
    if overlap.by_items:
        yield (
            f"Compared with the shown items of stored runs on {counted(len(overlap.by_items), 'benchmark task')} whose "
            "data is not here: only the same files can be recognised"
        )
    for shared in overlap.shared:
        counts = [
            f"{what}: {count:,} ({'; '.join(examples[:EXAMPLES])}{'; ...' if count > EXAMPLES else ''})"
            for count, what, examples in (
                (shared.same, "the same contents", shared.same_examples),
                (shared.near, "near copies of its images", shared.near_examples),
            )
            if count
        ]
        yield f"  Shared with {shared.title}: {', '.join(counts)}"
    if not overlap.shared and (overlap.whole or overlap.by_items):
        yield "  No shared content was found"
    for task, problem in overlap.unread.items():
        yield f"  {task} was not compared: {problem}"
    if overlap.missing:
        sets = ", ".join(f"{count:,} of {title}" for title, count in overlap.missing.items())
        yield f"Not checked, their data is not on this machine: data sets, {sets}"


def _some(finding: DataFinding) -> str:
    return ", ".join(finding.examples[:EXAMPLES]) + (", ..." if finding.count > EXAMPLES else "")
