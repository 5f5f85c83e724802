"""User data as read: a manifest, a folder or a data set on the hub, its shape and its faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from compute.content.items import content_key
from compute.tasks.data import Data
from compute.tasks.own import hub, layout, shapes
from compute.tasks.own.rows import Faults, OwnFacts, OwnRows, RowFault, sentence
from compute.tasks.source import OwnFile, Source
from compute.types import WHOLE, BadInput, unknown

VERSION = 1  # of the items made from a file: increase it when any item changes


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """Data of one task, read and checked. If there are problems, it has neither facts nor items."""

    shape: shapes.TaskShape
    title: str  # of the file or folder
    path: Path | None  # None: on the hub
    hub: str = ""  # `hub:org/name@commit`
    rows: int
    columns: Mapping[str, str]  # as mapped by the user: the shape's name -> the file's
    images: tuple[Path, ...] = ()  # additional folders for images by path, as named by the user
    ignored: tuple[str, ...] = ()  # columns that are not read
    problems: tuple[RowFault, ...] = ()  # the first faulty rows of each kind
    faults: int = 0  # number of all faults
    known: OwnFacts | None = None
    read: Mapping[str, OwnRows] = field(repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns notes on how its files were read, and on unused files."""
        return tuple(note for rows in self.read.values() for note in (*rows.table.notes, *rows.notes))

    @property
    def name(self) -> str:
        """Returns the name for a suite: the file's name without its extension, the folder's, or the data set's."""
        if self.path is None:
            return self.title.partition("/")[2]
        return self.title if self.path.is_dir() else self.path.stem

    @property
    def facts(self) -> OwnFacts:
        """Returns the facts for the task's row. Raises BadInput with the problems if there are any."""
        self.check()
        return self.known

    def check(self) -> None:
        """Raises BadInput with the first problems, if there are any."""
        if self.faults:
            raise BadInput(sentence(self.title, self.problems, self.faults))

    def items(self) -> dict[str, Data]:
        """Returns the items by subset. Raises BadInput with the problems if there are any."""
        items = self.facts.items()
        return items if isinstance(items, dict) else {WHOLE: items}

    @cached_property
    def digest(self) -> str:
        """Returns 32 hex digits that identify the items: the rows, the images' contents, the shape and its columns.

        Reads each image once, unless its content key is already stored. Raises BadInput with the problems.
        """
        self.check()
        parts: list[object] = [VERSION, self.shape.key]
        for name, rows in sorted(self.read.items()):
            parts += [name, sorted(rows.columns.items()), rows.table.digest]
            for _, content in sorted(rows.images.items()):
                parts.append(content_key(np.ascontiguousarray(content.keys(rows.cache)).tobytes()).decode())
        return content_key(json.dumps(parts)).decode()

    @property
    def file(self) -> OwnFile:
        """Returns the record of it."""
        return OwnFile(
            path=self.path,
            hub=self.hub,
            digest=self.digest,
            shape=self.shape.key,
            columns=dict(self.columns),
            images=self.images,
            data=self,
        )


def read(
    data: Path | str,
    *,
    shape: str = "",
    columns: Mapping[str, str] | None = None,
    images: Sequence[Path] = (),
    source: Source | None = None,
) -> OwnData:
    """Reads and checks a manifest, a folder or a data set of the hub (`hub:org/name@revision`).

    The shape follows from the columns unless it is named (one of shapes.KEYS); `columns` maps the shape's names to the
    file's; `images` are additional folders for images by path. Raises BadInput if rows cannot be checked at all,
    because there is no file or its columns fit no shape. Faults of rows are in `problems`.
    """
    source = source or Source()
    given = dict(columns or {})
    faults = Faults()
    if shape and shape not in shapes.KEYS:
        raise BadInput(unknown("shape", shape, shapes.KEYS, listed=True))
    chosen = shapes.SHAPES[shapes.KEYS.index(shape)] if shape else None
    path, hub_name = None, ""
    named = images = tuple(Path(folder).absolute() for folder in images)
    if str(data).startswith(hub.PREFIX):
        title, hub_name, chosen, tables = hub.read(str(data), shape=chosen, given=given, source=source)
        if isinstance(tables, Path):
            cached = tables.parent.parent  # its files are links to blobs next to it
            if tables.parent.name == "snapshots" and cached.name.startswith("datasets--"):
                images = (*images, cached)
            chosen, tables = layout.read(tables, chosen)
    else:
        path = Path(data).absolute()
        title = path.name or str(path)
        chosen, tables = layout.read(path, chosen)
    if chosen is None:
        chosen = shapes.shape_of(tables[""].columns, given, title=title)
    ignored = ()
    rows = {}
    for name, table in tables.items():
        if not len(table):
            raise BadInput(f"{table.title} has no rows")
        told = shapes.of_table(given, name, tuple(tables))
        names, free = chosen.forms[name].resolved(table.columns, told, title=table.title)
        ignored += free
        folders = [folder for folder in (*images, table.folder) if folder is not None]
        rows[name] = OwnRows(table=table, columns=names, faults=faults, folders=folders, cache=source.cache)
    facts = chosen.facts(rows.get("", rows))
    return OwnData(
        shape=chosen,
        title=title,
        path=path,
        hub=hub_name,
        rows=sum(map(len, rows.values())),
        columns=given,
        images=named,
        ignored=ignored,
        problems=tuple(faults.by_row()),
        faults=faults.count,
        known=None if faults.count else facts,
        read=rows,
    )
