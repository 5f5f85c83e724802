"""likeness task: checks user data before a model sees them: how they are read, their errors, and the smallest
difference that their size can show.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from annotated_types import Ge

from compute import paths
from compute.catalog import shipped
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_file, suite_records
from compute.cli.command import grouped
from compute.cli.workspace import Results, located
from compute.engine.checking.findings import findings, hashed, within
from compute.engine.checking.labels import in_words
from compute.engine.checking.resolution import sentence
from compute.engine.workspace import Columns, Images, Offline, RunSettings, Shape, is_suite_file
from compute.metrics.registry import METRICS
from compute.tasks import own
from compute.tasks.source import Source
from compute.types import BadInput, LikenessError, Task


def check(
    data: Annotated[str, "A manifest, a folder, hub:org/name@revision, or a suite's file, suite.toml."],
    *,
    name: Annotated[str, "Name of its suite, for the command that runs it."] = "",
    shape: Shape = "",
    columns: Columns = None,
    images: Images = (),
    decode: Annotated[int, "Of more images, decode and compare this many at random; 0: all.", Ge(0)] = 5000,
    offline: Offline = False,
    results: Results = None,
    after: Annotated[
        Path | None, located("Results with runs of these data: also list the items whose label may be wrong.")
    ] = None,
) -> Iterator[str]:
    """Reports how your data were read, and what is wrong with them.

    Exit code 1 if they cannot be run as they are.
    """
    settings = RunSettings(
        data=data,
        data_name=name,
        shape=shape,
        columns=columns,
        images=images,
        results=after or results,
        offline=offline,
    )
    data, root, images = settings.data, settings.results, settings.images
    source = Source(offline=offline, cache=root)
    parts = []  # a task's title, and its data or why they cannot be read
    if is_suite_file(data):
        if name or shape or settings.columns:
            raise BadInput(f"{Path(data).name} states how its data are read: omit --name, --shape and --columns")
        stated = suite_file.parse(Path(data), images=images)
        read = {}
        for index, listed in enumerate(stated.tasks):
            if listed.file:
                try:
                    part = read[index] = stated.read(index, source=source)
                except LikenessError as error:
                    part = str(error)
                parts.append((listed.title or Path(listed.file).name, part))
        make = partial(suite_file.suite, stated, read, catalog=shipped())
    elif own.manifest_of_pairs(data):
        raise BadInput(
            f"{data} is a manifest of pairs: run it, likeness run --suite pairbench --data {shlex.quote(str(data))}"
        )
    else:
        part = own.read(data, shape=shape, columns=settings.columns, images=images, source=source)
        parts.append((part.title, part))
        make = partial(own_suite.of_data, {part.shape.key: part}, name=name or part.name)
    rows, problem = [None] * len(parts), "correct what is listed, then check again"
    if all(isinstance(part, own.OwnData) and not part.faults for _, part in parts):
        try:
            rows, problem = suite_records.keyed(make(), results=root).tasks, ""
        except LikenessError as error:
            problem = str(error)
    bad = 0
    for (title, part), row in zip(parts, rows, strict=True):
        lines, unreadable = _checked(part, row=row, most=decode, root=root)
        lines += in_words(row, root=root) if row and after else []
        yield from (title, *(f"  {line}" for line in lines))
        bad += unreadable
    if problem:
        yield f"Cannot be run: {problem}"
        raise typer.Exit(1)
    yield "Cannot be run as it is: correct the images that cannot be read, or omit them" if bad else "Can be run"
    options = [
        ("--suite" if is_suite_file(data) else "--data", str(data)),
        ("--name", name),
        ("--shape", shape),
        ("--columns", ",".join(f"{column}={of}" for column, of in settings.columns.items())),
        *(("--images", str(folder)) for folder in images),
        ("--results", str(root) if after else ""),
    ]
    words = " ".join(f"{option} {shlex.quote(value)}" for option, value in options if value)
    yield f"Run it: likeness run {words} --models tiny{' --skip-bad-items' * bool(bad)}"
    if bad:
        raise typer.Exit(1)


def _checked(part: own.OwnData | str, *, row: Task | None, most: int, root: Path) -> tuple[list[str], int]:
    """Returns one task's data as lines, and how many images cannot be read; `row` is the task as a run knows it, or
    None.
    """
    if isinstance(part, str):
        return [f"Cannot be read: {part}"], 0
    lines = list(_summary(part))
    if part.faults:
        shown = "" if part.faults <= len(part.problems) else f", the first {len(part.problems)}"
        lines += [f"Faults: {part.faults:,}{shown}", *(f"  {fault}" for fault in part.problems)]
        return [*lines, "Not checked until these are corrected: repeats, contradicting labels, unreadable images"], 0
    lines += [f"Category: {row.category}"] if row else []
    items = part.items()
    images = hashed(items, most=most)
    if images.total:
        lines += [f"Images: {images.sentence}", *(f"  {name}: {problem}" for name, problem in images.bad)]
    found = [*(each for data in items.values() for each in findings(data)), *within(items, images)]
    lines += map(str, found) if found else ["No repeated items, no contradicting labels"]
    lines += [sentence(row, roots=(root, paths.COMPUTED))] if row else []
    return lines, len(images.bad)


def _summary(part: own.OwnData) -> Iterator[str]:
    """Yields the facts about data as read, one per line; for data with faults, only how they were read."""
    key, title = part.shape.key, part.shape.title.lower()
    yield f"Shape: {key}" + ("" if key.replace("-", " ") == title else f" ({title})")
    yield f"Rows: {part.rows:,}"
    tables = []  # the shape's name of each column, and the file's name if different
    for name, rows in part.read.items():
        used = ", ".join(own if own == column else f"{column} = {own}" for column, own in rows.columns.items())
        tables.append(f"{name}: {used}" if name else used)
    yield f"Columns: {'; '.join(tables)}"
    if part.ignored:
        yield f"Not read: {', '.join(part.ignored)}"
    yield from (f"Note: {note}" for note in part.notes)
    if part.faults:
        return
    known = part.facts
    metric = next(row for row in METRICS if row.key == known.metrics[0])
    chance = "not known" if known.chance is None else f"{known.chance * metric.scale:.1f}{metric.unit}"
    yield f"Items: {known.counts}"
    yield f"Of: {' and '.join(f'{kind}s' for kind in known.modalities)}"
    yield f"Scored by: {metric.title}; chance {chance}"


group = grouped(check)
