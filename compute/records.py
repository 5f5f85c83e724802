"""JSON records that lie on disk, where anyone may have put or changed them: read with limits, or refused with a reason.

A record that passes can be written as JSON again, stored as text in UTF-8, and walked without end of the stack.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

Record = TypeVar("Record", bound="BaseModel")
MAX_BYTES = 16 << 20  # a run's record is 5 to 50 KB; the skipped items of a large data set may make megabytes
MAX_DEPTH = 32  # of lists and objects within one another
MAX_KEY = 400  # characters of a name in an object
MAX_INTEGER = 2**63 - 1  # what a database's column holds


def read(path: Path, *, root: Path) -> dict[str, Any]:
    """The JSON object in a file below `root`. Raises OSError, and ValueError with what is wrong with it."""
    record = parse(read_bytes(path, root=root, most=MAX_BYTES).decode(), name=path.name)
    if not isinstance(record, dict):
        raise ValueError(f"{path.name} holds no object")
    return record


def parse(text: str, *, name: str) -> Any:
    """The value of a JSON text. Raises ValueError with what is wrong with it, as `check`."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(_too_deep(name)) from None
    check(value, name=name)
    return value


def validated(content: Any, model: type[Record]) -> Record:
    """The content as a pydantic model. Raises ValueError with the first field that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None


def read_bytes(path: Path, *, root: Path, most: int) -> bytes:
    """A file's content. Raises OSError, and ValueError for a link out of `root`, no plain file, or one above `most`
    bytes."""
    check_file(path, root=root, most=most)
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(_too_large(path, most))
    return content


def check_file(path: Path, *, root: Path, most: int) -> None:
    """Raises OSError, and ValueError for a link out of `root`, no plain file, or one above `most` bytes."""
    if path.is_symlink():
        check_inside(path, root=root)
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path.name} is no plain file")
    if status.st_size > most:
        raise ValueError(_too_large(path, most))


def check_inside(path: Path, *, root: Path) -> None:
    """Raises ValueError for a path that leads out of `root` by a link."""
    if not is_inside(path, root):
        raise ValueError(f"{path.name} is a link out of the folder {root.name}")


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path leads to a folder or somewhere below it; links are judged by where they lead."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def check(record: Any, *, name: str) -> None:
    """Raises ValueError for a value that is nested too deeply, or that no database or JSON text can hold."""
    stack = [(record, 1)]
    while stack:
        value, depth = stack.pop()
        match value:
            case dict():
                for key in value:
                    check_text(key, name=f"a name in {name}", most=MAX_KEY)
                children = value.values()
            case list():
                children = value
            case str():
                check_text(value, name=f"a text in {name}", most=MAX_BYTES)
                continue
            case bool() | None:
                continue
            case int():
                if abs(value) > MAX_INTEGER:
                    raise ValueError(f"{name} has a number of more than 64 bits")
                continue
            case float():
                if not math.isfinite(value):
                    raise ValueError(f"{name} has a number that is not finite")
                continue
            case _:
                raise ValueError(f"{name} holds a {type(value).__name__}")
        if depth > MAX_DEPTH:
            raise ValueError(_too_deep(name))
        stack += [(child, depth + 1) for child in children]


def check_text(value: Any, *, name: str, most: int) -> None:
    """Raises ValueError unless it is text of at most `most` characters that UTF-8 can hold."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    if len(value) > most:
        raise ValueError(f"{name} has {len(value):,} characters; at most {most:,} are read")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} has half a character, which no UTF-8 text can hold") from None


def number(value: Any, *, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """The value as a finite float within the limits, to a billionth beyond. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} is no finite number: {short(value)}")
    slack = 1e-9 * max(1.0, abs(value))  # sums of floats may end beyond a bound
    if value < least - slack or value > most + slack:
        bounds = f"{least:g} to {most:g}" if math.isfinite(most) else f"{least:g} or more"
        raise ValueError(f"{name} is {value:g}, outside of {bounds}")
    return float(min(max(value, least), most))


def integer(value: Any, *, name: str, least: int = 0) -> int:
    """The value as a whole number of at most 64 bits. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_INTEGER:
        raise ValueError(f"{name} is no whole number from {least}: {short(value)}")
    return value


def short(value: Any) -> str:
    """A value as an error shows it: one line of at most 60 characters."""
    return ascii(value)[:60] if not isinstance(value, list | dict) else f"a {type(value).__name__}"


def _too_deep(name: str) -> str:
    return f"{name} has lists within lists beyond {MAX_DEPTH} levels"


def _too_large(path: Path, most: int) -> str:
    return f"{path.name} has more than the {most / 2**20:.0f} MB that are read"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it has a number that is not finite: {name}")
