"""Reads nouns from files: rows of a CSV, and fields of a JSON record. A field is parsed by its type."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from compute.io.tables import read_csv
from compute.types import BadInput, suggestion

if TYPE_CHECKING:
    from pydantic import BaseModel

Noun = TypeVar("Noun")
TRUTHS = {"true": True, "false": False}
NAMES = {float: "a number", int: "a number", bool: "true, false or empty", dict: "a JSON object"}


def strict(noun: type, *names: str, **others: Any) -> type[BaseModel]:
    """Returns the record type of a noun: these fields with its limits, and others by their types; no additional fields.

    A field may be missing if the noun has a default for it, unless it is among `others`, which may have defaults as
    pairs of type and default.
    """
    from pydantic import ConfigDict, Field, create_model

    hints = get_type_hints(noun, include_extras=True)
    defaults = {each.name: each.default for each in fields(noun) if each.default is not MISSING}
    stated = {name: (hints[name], defaults.get(name, ...)) for name in names if name not in others} | {
        name: kind if isinstance(kind, tuple) else (kind, ...) for name, kind in others.items()
    }
    for name, (kind, default) in stated.items():
        if _plain(kind) is tuple:  # JSON has lists
            stated[name] = Annotated[kind, Field(strict=False)], default
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)
    return create_model(f"{noun.__name__}Record", __config__=config, **stated)


def read_rows(path: Path, noun: type[Noun], *, required: Collection[str] = ()) -> tuple[Noun, ...]:
    """Returns the rows of a table with the noun's fields as columns, and no others; if `required` is given, only those
    must exist.

    An empty cell counts as a missing column. Raises BadInput with the file, the row and the column.
    """
    kinds = {name: _plain(hint) for name, hint in get_type_hints(noun, include_extras=True).items()}
    needed = [each.name for each in fields(noun) if each.default is each.default_factory is MISSING]
    frame = read_csv(path, columns=tuple(required or kinds))
    if unknown := [column for column in frame.columns if column not in kinds]:
        raise BadInput(
            f"{path.name} has a column {unknown[0]!r} that is not known.{suggestion(unknown[0], kinds)} "
            f"Known are: {', '.join(kinds)}"
        )
    rows = []
    for number, cells in enumerate(frame.to_dict("records"), 1):
        values = {}
        for column, text in cells.items():
            if required and not (text.isprintable() and (text.strip() or column not in required)):
                raise wrong_cell(path, number, column, "it is empty, or has more than one line")
            if text.strip() or column in needed:
                try:
                    values[column] = _value(text, kinds[column])
                except ValueError as error:
                    raise wrong_cell(path, number, column, f"{text!r} is not {error}") from error
        rows.append(noun(**values))
    return tuple(rows)


def wrong_cell(path: Path, number: int, column: str, problem: str) -> BadInput:
    """Returns the error of one cell of a table."""
    return BadInput(f"{path.name}, row {number}, column {column!r}: {problem}")


def parts(text: str, separator: str = ";") -> tuple[str, ...]:
    """Returns the parts of a cell that lists several."""
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _plain(hint: Any) -> Any:
    """Returns the class behind a field's type: tuple for `Annotated[tuple[str, ...], ...]`, float
    for `float | None`.
    """
    first = get_args(hint)[0] if get_args(hint) else None
    return _plain(first) if type(None) in get_args(hint) or hasattr(hint, "__metadata__") else get_origin(hint) or hint


def _value(text: str, kind: Any) -> Any:
    """Parses a cell as a value of a class. Raises ValueError that says what the text is not."""
    value = text
    if kind is tuple:
        value = parts(text)
    elif kind is bool:
        value = TRUTHS.get(text.strip().lower())
    elif kind in (float, int):
        with suppress(ValueError):
            value = float(text)
        value = kind(value) if value != text and math.isfinite(value) else None
    elif kind is dict:
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"JSON ({error})") from error
    if not isinstance(value, kind if isinstance(kind, type) else str):
        raise ValueError(NAMES[kind])
    return value
