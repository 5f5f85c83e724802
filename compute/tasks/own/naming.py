"""Which shape a file's columns make, and which of them is which of the shape's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from compute.tasks.own.shapes import KEYS, SHAPES, ShapeColumn, TaskShape
from compute.types import BadInput, shortened, suggestion, unknown

NEAR = 0.8  # likeness of an unknown column to a known one from which it is taken for a slip


def shape_named(key: str) -> TaskShape:
    """The shape of that key. Raises BadInput for another."""
    shape = next((shape for shape in SHAPES if shape.key == key), None)
    if shape is None:
        raise BadInput(unknown("shape", key, KEYS, listed=True))
    return shape


def shape_of(present: tuple[str, ...], given: Mapping[str, str], *, title: str) -> TaskShape:
    """The shape whose columns a table has, by their names, its aliases or `given` (the shape's name -> the file's).

    Raises BadInput with the nearest shape and what it lacks.
    """
    alone = [shape for shape in SHAPES if set(shape.columns) == {""}]
    missing = {shape.key: _missing(shape.columns[""], present, given) for shape in alone}
    for shape in alone:
        if shape.told and not missing[shape.key]:
            return shape
    near = min(alone, key=lambda shape: (len(missing[shape.key]) / len(_required(shape.columns[""])), not shape.told))
    lacks = missing[near.key]
    if len(lacks) == len(_required(near.columns[""])):
        raise BadInput(
            f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Say which is which, such as "
            f"--columns item={present[0]},label=NAME. docs/your-data.md lists the shapes ({', '.join(KEYS)}) "
            "and their columns"
        )
    raise BadInput(
        f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Nearest is {near.key}, which also "
        f"needs {', '.join(lacks)}. Rename columns, or say which is which: --columns {lacks[0]}=NAME"
    )


def resolved(
    columns: tuple[ShapeColumn, ...], present: tuple[str, ...], given: Mapping[str, str], *, shape: str, title: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The shape's names -> the file's columns, and the file's columns that nothing is read from.

    Raises BadInput for a missing column, a column that is nearly a known one, and names that are none.
    """
    known = [name for column in columns for name in column.names()]
    aliases = [alias for column in columns for alias in column.aliases]
    for name, own in given.items():
        if name not in (*known, *aliases):
            near = suggestion(name, known)
            raise BadInput(f"{shape} has no column {shortened(name)!r}.{near} It has: {_listed(columns)}")
        if own not in present:
            raise BadInput(
                f"{title} has no column {shortened(own)!r}.{suggestion(own, present)} It has: {', '.join(present)}"
            )
    chosen = _chosen(columns, present, given)
    if missing := _missing(columns, present, given):
        near = suggestion(missing[0], [name for name in present if name not in chosen.values()])
        raise BadInput(
            f"{title} has no column {missing[0]!r}, which {shape} needs.{near} It has: {', '.join(present)}. "
            f"Rename one, or name it: --columns {missing[0]}=NAME"
        )
    free = tuple(name for name in present if name not in chosen.values())
    _check_numbers(columns, chosen, present, title=title)
    absent, bases = [name for name in known if name not in chosen], {column.name for column in columns}
    for name in free:
        nearest = difflib.get_close_matches(name.lower(), absent, n=1, cutoff=NEAR)
        if nearest and name.lower() not in bases:
            raise BadInput(
                f"{title} has a column {name!r}, which {shape} does not know. Did you mean {nearest[0]!r}? "
                f"Columns that are not read may have any name that is not so near to one of: {_listed(columns)}"
            )
    return chosen, free


def _check_numbers(
    columns: tuple[ShapeColumn, ...], chosen: Mapping[str, str], present: tuple[str, ...], *, title: str
) -> None:
    """Raises BadInput for numbered columns with a gap, or above the most there can be."""
    for column in columns:
        if not column.least:
            continue
        there = [name in chosen for name in column.names()]
        if False in there and True in there[there.index(False) :]:
            gap = column.names()[there.index(False)]
            raise BadInput(
                f"{title} has no column {gap!r}, but a later one: number {column.name}_1, {column.name}_2, ..."
            )
        beyond = [name for name in present if re.fullmatch(rf"{column.name}_\d+", name.strip().lower())]
        if extra := [name for name in beyond if name not in chosen.values()]:
            raise BadInput(f"{title} has a column {extra[0]!r}: there are at most {column.most}, numbered from 1")


def of_table(given: Mapping[str, str], table: str, every: tuple[str, ...]) -> dict[str, str]:
    """Which columns of one of several tables are which of the shape's: `corpus.text=body`. Raises BadInput."""
    if every == ("",):
        return dict(given)
    for name in given:
        if name.partition(".")[0] not in every:
            raise BadInput(
                f"Columns are of {', '.join(every)}: write {every[0]}.{name}=NAME, not {shortened(name)}=NAME"
            )
    return {name.partition(".")[2]: own for name, own in given.items() if name.partition(".")[0] == table}


def _chosen(columns: Iterable[ShapeColumn], present: tuple[str, ...], given: Mapping[str, str]) -> dict[str, str]:
    free = {name.strip().lower(): name for name in reversed(present) if name not in given.values()}
    chosen = {}
    for column in columns:
        for at, name in enumerate(column.names()):
            spellings = (name, *(column.aliases if at == 0 else ()))
            own = next((names[each] for names in (given, free) for each in spellings if each in names), None)
            if own is not None:
                chosen[name] = own
    return chosen


def _missing(columns: tuple[ShapeColumn, ...], present: tuple[str, ...], given: Mapping[str, str]) -> list[str]:
    chosen = _chosen(columns, present, given)
    return [name for name in _required(columns) if name not in chosen]


def _required(columns: tuple[ShapeColumn, ...]) -> list[str]:
    return [name for column in columns for name in column.names(required=True)]


def _listed(columns: Iterable[ShapeColumn]) -> str:
    return ", ".join(
        f"{column.name}_1 to {column.name}_{column.most}" if column.least else column.name for column in columns
    )
