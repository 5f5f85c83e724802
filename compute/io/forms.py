"""Forms: the columns that a user's table must have, including other programs' names for them, and reading of its rows.

A form is a sequence of fields. A reader defines its forms and gets a frame with their names: `read` takes the first
form that a table's columns fit, and reports every wrong cell.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.arrays import Floats
from compute.io.numbers import has_decimal_comma, read_numbers
from compute.io.tables import TableFile, read_table
from compute.types import BadInput, shortened, suggestion

MOST = 8  # numbered columns of one name
NEAR = 0.8  # similarity of an unknown column to a known one, from which it counts as a typo
NAMED = 10  # wrong cells that an error names
# Kinds of cells. TEXT is never empty, BLANK may be; SHARE is 0.8 or 80%.
TEXT, BLANK, NUMBER, COUNT, WHOLE, SHARE = "text", "blank", "number", "count", "whole", "share"
WRONG: dict[str, tuple[Callable[[Floats], np.ndarray], str]] = {  # numbers that are not of the kind, and why
    NUMBER: (lambda values: ~np.isfinite(values), "is not a finite number"),
    COUNT: (lambda values: ~(np.isfinite(values) & (values >= 0)), "is not a count: it is negative, or not a number"),
    WHOLE: (lambda values: ~(np.floor(values) == values) | (values < 0), "is not a whole number from 0"),
    SHARE: (lambda values: ~((values >= 0) & (values <= 1)), "is not a share, from 0 to 1 or from 0% to 100%"),
}


class FormField(NamedTuple):
    """A column of a form; with `least` above 0, columns name_1, name_2, ..., from `least` to MOST of them."""

    name: str
    aliases: tuple[str, ...] = ()  # its names in files, in lower case; for numbered columns, names of the first
    kind: str = TEXT
    optional: bool = False
    least: int = 0

    def names(self, *, required: bool = False) -> tuple[str, ...]:
        """Returns its possible names; with `required`, only those that are required."""
        if not self.least:
            return () if required and self.optional else (self.name,)
        return tuple(f"{self.name}_{at}" for at in range(1, (self.least if required else MOST) + 1))


class Form(NamedTuple):
    """The columns of a table of one kind."""

    key: str
    fields: tuple[FormField, ...]

    @property
    def required(self) -> list[str]:
        """The columns that a table of this form must have."""
        return [name for field in self.fields for name in field.names(required=True)]

    @property
    def listed(self) -> str:
        """Its columns in words."""
        return ", ".join(
            f"{field.name}_1 to {field.name}_{MOST}" if field.least else field.name for field in self.fields
        )

    def columns(self, present: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
        """Maps its names to a table's columns, ignoring case; `given` ones take precedence."""
        given = given or {}
        free = {str(name).strip().lower(): name for name in reversed(present) if name not in given.values()}
        chosen = {}
        for field in self.fields:
            for at, name in enumerate(field.names()):
                spellings = (name, *(field.aliases if at == 0 else ()))
                own = next((names[each] for names in (given, free) for each in spellings if each in names), None)
                if own is not None:
                    chosen[name] = own
        return chosen

    def missing(self, present: Sequence[str], given: Mapping[str, str] | None = None) -> list[str]:
        """Returns the required columns that a table does not have."""
        chosen = self.columns(present, given)
        return [name for name in self.required if name not in chosen]

    def resolved(
        self, present: Sequence[str], given: Mapping[str, str], *, title: str
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """Returns the result of `columns`, and the table's unused columns.

        Raises BadInput for a missing column, numbered ones with a gap or above the maximum, a column that is nearly a
        known one, and unknown names.
        """
        known = [name for field in self.fields for name in field.names()]
        for name, own in given.items():
            if name not in (*known, *(alias for field in self.fields for alias in field.aliases)):
                near = suggestion(name, known)
                raise BadInput(f"{self.key} has no column {shortened(name)!r}.{near} It has: {self.listed}")
            if own not in present:
                near = suggestion(own, present)
                raise BadInput(f"{title} has no column {shortened(own)!r}.{near} It has: {', '.join(present)}")
        chosen = self.columns(present, given)
        free = tuple(name for name in present if name not in chosen.values())
        if missing := self.missing(present, given):
            raise BadInput(
                f"{title} has no column {missing[0]!r}, which {self.key} needs.{suggestion(missing[0], free)} It has: "
                f"{', '.join(present)}. Rename one, or name it: --columns {missing[0]}=NAME"
            )
        for field in (field for field in self.fields if field.least):
            there = [name in chosen for name in field.names()]
            if False in there and True in there[there.index(False) :]:
                gap = field.names()[there.index(False)]
                raise BadInput(
                    f"{title} has no column {gap!r}, but a later one: number {field.name}_1, {field.name}_2, ..."
                )
            beyond = [name for name in free if re.fullmatch(rf"{field.name}_\d+", name.strip().lower())]
            if beyond:
                raise BadInput(f"{title} has a column {beyond[0]!r}: there are at most {MOST}, numbered from 1")
        absent, bases = [name for name in known if name not in chosen], {field.name for field in self.fields}
        for name in free:
            nearest = difflib.get_close_matches(name.lower(), absent, n=1, cutoff=NEAR)
            if nearest and name.lower() not in bases:
                raise BadInput(
                    f"{title} has a column {name!r}, which {self.key} does not know. Did you mean {nearest[0]!r}? "
                    f"Columns that are not read may have any name that is not so near to one of: {self.listed}"
                )
        return chosen, free


def fitting(forms: Sequence[Form], present: Sequence[str], *, title: str) -> Form:
    """Returns the first form that a table with these columns fits. Raises BadInput with the nearest form and what is
    missing.
    """
    missing = {form.key: form.missing(present) for form in forms}
    near = min(forms, key=lambda form: len(missing[form.key]) / len(form.required))
    if lacks := missing[near.key]:
        kinds = [
            ", ".join(f"{field.name} ({', '.join(field.aliases)})" if field.aliases else field.name for field in needed)
            for needed in ([field for field in form.fields if not field.optional] for form in forms)
        ]
        raise BadInput(
            f"{title} has no column {lacks[0]!r}.{suggestion(lacks[0], present)} It has: "
            f"{', '.join(map(shortened, present))}. It needs {'; or '.join(kinds)}"
        )
    form, names = next(form for form in forms if not missing[form.key]), [name.strip().lower() for name in present]
    if twice := [own for own in form.columns(present).values() if names.count(own.strip().lower()) > 1]:
        raise BadInput(f"{title} has two columns {twice[0]!r}. Rename one of them")
    return form


def read(source: Path | TableFile, forms: Sequence[Form]) -> tuple[str, pd.DataFrame, tuple[str, ...]]:
    """Returns the key of the first form that a table fits, its columns under the form's names, and notes on reading.

    Texts are stripped, numbers are floats. Raises BadInput, which for cells names every wrong row.
    """
    names = {name for form in forms for field in form.fields for name in (*field.names(), *field.aliases)}
    table = source if isinstance(source, TableFile) else read_table(source, columns=names)
    form = fitting(forms, list(map(str, table.frame.columns)), title=table.title)
    table.rows()  # raises if there are none
    columns, frame, faults = form.columns(list(table.frame.columns)), {}, {}
    for field in form.fields:
        for name in filter(columns.__contains__, field.names()):
            cells = table.frame[columns[name]]
            frame[name], wrong = _cells(cells, field, comma=table.comma)
            for row, why in wrong.items():
                said = repr(shortened(str(cells[row]))) + " " if str(cells[row]).strip() and why != "is empty" else ""
                faults[row, name] = f"row {row + 1:,}: {columns[name]} {said}{why}"
    if faults:
        more = f". And {len(faults) - NAMED:,} cells more" if len(faults) > NAMED else ""
        raise BadInput(f"{table.title}, {'; '.join(faults[at] for at in sorted(faults)[:NAMED])}{more}")
    return form.key, pd.DataFrame(frame), table.notes


def _cells(cells: pd.Series, field: FormField, *, comma: bool | None) -> tuple[pd.Series, dict[int, str]]:
    """Returns the cells of a column by the field's kind, and the errors of some: row -> the end of a sentence."""
    texts = cells.astype("str").fillna("").str.strip()
    empty = (texts == "").to_numpy()
    if field.kind in (TEXT, BLANK):
        rows = np.flatnonzero(empty).tolist() if field.kind == TEXT and not field.optional else []
        return texts, dict.fromkeys(rows, "is empty")
    read = read_numbers(cells, comma=has_decimal_comma([cells], separator=comma))
    values = read.values
    if field.kind == SHARE:
        values = np.where(read.percent, values / 100, values)
        values = values / 100 if np.nanmax(values, initial=0) > 1 else values  # percent without the sign, throughout
    is_wrong, why = WRONG[field.kind]
    wrong = dict.fromkeys(np.flatnonzero(is_wrong(values)).tolist(), why) | read.wrong
    return pd.Series(values, index=cells.index), wrong
