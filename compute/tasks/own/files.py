"""Images by path: where each lies, whether it may be read, and its content key.

A path is relative to the manifest's folder, or to a folder that the user names. It may lead into these folders alone:
a manifest may come from anyone. Links are judged by where they lead.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compute.content.items import content_key, unreadable
from compute.io.images import endings
from compute.tasks.own.faults import LISTED
from compute.tasks.pairbench.sources import MAX_FILE
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import stored_keys
from compute.types import suggestion

if TYPE_CHECKING:
    import pyarrow as pa

OUTSIDE = "leads out of the manifest's folder: move the images there, or name the folder they are in with --images"
MOST_NAMES = 2000  # files of a folder that a suggestion is looked for among


@dataclass(frozen=True, kw_only=True)
class LocatedFiles:
    """Files by their path as the manifest has it: (n,) distinct. A file with a problem has no path."""

    paths: list[str]  # absolute; empty with a problem, and for a text that is not a path
    problems: dict[int, str]  # position -> what is wrong, as the end of a sentence
    # Path, bytes and time of change of each, nothing of a file with a problem: for the keys' cache.
    state: list[tuple[str, int, int]]

    def keys(self, cache: Path | None) -> np.ndarray:
        """(n,) content keys, each file read once and never again while it stays the same. Raises LikenessError."""
        return stored_keys(
            cache,
            repr(self.state),
            lambda: np.array([content_key(read_bytes(path)) if path else NO_KEY for path in self.paths], dtype="S32"),
        )


def read_bytes(path: str) -> bytes:
    """A file's content. Raises LikenessError for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_FILE + 1)
    except OSError as error:
        raise unreadable(path, error) from error


def located(names: Sequence[str], *, folders: Sequence[Path]) -> LocatedFiles:
    """Looks for each of these distinct paths in the folders, the first that has it. Nothing is opened."""
    roots = [os.path.abspath(folder) for folder in folders]
    allowed = tuple(os.path.join(os.path.realpath(root), "") for root in roots)
    inside = tuple(os.path.join(root, "") for root in roots)
    paths: list[str] = []
    problems: dict[int, str] = {}
    state: list[tuple[str, int, int]] = []
    for at, name in enumerate(names):
        path, problem, status = "", "is not a path", None
        for root in roots if "\0" not in name else ():
            path = os.path.normpath(os.path.join(root, name))
            status, problem = None, OUTSIDE
            if path.startswith(inside) and os.path.realpath(path).startswith(allowed):
                status, problem = _status(path)
            if not problem:
                break
        if problem:
            if status is None and problem != OUTSIDE and len(problems) < LISTED:
                problem += _nearest(path)
            problems[at] = problem
        paths.append("" if problem else path)
        state.append(("", 0, 0) if problem or status is None else (path, status.st_size, status.st_mtime_ns))
    return LocatedFiles(paths=paths, problems=problems, state=state)


def _status(path: str) -> tuple[os.stat_result | None, str]:
    """A file's status, None where there is none, and what is wrong with it."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, "does not exist"
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    if not stat.S_ISREG(status.st_mode):
        return status, "is not a file"
    if not status.st_size:
        return status, "is empty"
    return status, f"has more than {MAX_FILE >> 20} MB" if status.st_size > MAX_FILE else ""


def _nearest(path: str) -> str:
    """The file of the same folder that may be meant, as a sentence."""
    folder, name = os.path.split(path)
    near = suggestion(name, os.listdir(folder)[:MOST_NAMES]) if os.path.isdir(folder) else ""
    return f".{near}" if near else ""


def are_image_names(names: pa.LargeStringArray) -> np.ndarray:
    """(n,) bool: whether each text is the name of an image's file, by its end."""
    import pyarrow.compute as pc

    ends = "|".join(map(re.escape, endings()))
    return np.asarray(pc.match_substring_regex(names, f"(?i)({ends})$"), dtype=bool)
