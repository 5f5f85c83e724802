"""JSON records that lie on disk, where anyone may have put or changed them: read with limits, or refused with a reason.

A record that passes can be written as JSON again, stored as text in UTF-8, and walked without end of the stack.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

Record = TypeVar("Record", bound="BaseModel")
MAX_BYTES = 16 << 20  # a run's record is 5 to 50 KB; the skipped items of a large data set may make megabytes
MAX_DEPTH = 32  # of lists and objects within one another
MAX_INTEGER = 2**63 - 1  # what a database's column holds


def read(path: Path, *, root: Path) -> dict[str, Any]:
    """The JSON object in a file below `root`. Raises OSError, and ValueError with what is wrong with it."""
    record = parse(read_bytes(path, root=root, most=MAX_BYTES).decode(), name=path.name)
    if not isinstance(record, dict):
        raise ValueError(f"{path.name} holds no object")
    return record


def parse(text: str, *, name: str) -> Any:
    """The value of a JSON text. Raises ValueError for one that is nested too deeply, or that no database can hold."""
    try:
        value = json.loads(text)
        if _depth(value) > MAX_DEPTH:
            raise RecursionError
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # ValueError for NaN and infinity
    except RecursionError:
        raise ValueError(f"{name} has lists within lists beyond {MAX_DEPTH} levels") from None
    except UnicodeEncodeError:
        raise ValueError(f"{name} has half a character, which no UTF-8 text can hold") from None
    return value


def _depth(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, children), default=0)


def validated(content: Any, model: type[Record]) -> Record:
    """The content as a pydantic model. Raises ValueError with the first field that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:100] or "it"
        raise ValueError(f"{where} is {short(first['input'])}: {first['msg']}") from None


def read_bytes(path: Path, *, root: Path, most: int) -> bytes:
    """A file's content. Raises as `check_file`."""
    check_file(path, root=root, most=most)
    return path.read_bytes()


def check_file(path: Path, *, root: Path, most: int) -> None:
    """Raises OSError, and ValueError for a link out of `root`, no plain file, or one above `most` bytes."""
    if path.is_symlink():
        check_inside(path, root=root)
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path.name} is no plain file")
    if status.st_size > most:
        raise ValueError(f"{path.name} has more than the {most / 2**20:.0f} MB that are read")


def check_inside(path: Path, *, root: Path) -> None:
    """Raises ValueError for a path that leads out of `root` by a link."""
    if not is_inside(path, root):
        raise ValueError(f"{path.name} is a link out of the folder {root.name}")


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path leads to a folder or somewhere below it; links are judged by where they lead."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def short(value: Any) -> str:
    """A value as an error shows it: one line of at most 60 characters."""
    return ascii(value)[:60] if not isinstance(value, list | dict) else f"a {type(value).__name__}"
