"""Images by path: where each lies, whether it may be read, and its content key.

A path is relative to the manifest's folder, or to a folder that the user names. It may lead into these folders alone:
a manifest may come from anyone. Links are judged by where they lead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compute.content.items import content_key, unreadable
from compute.tasks.own.faults import LISTED
from compute.tasks.pairbench.sources import MAX_FILE, SUFFIXES
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import stored_keys
from compute.types import suggestion

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = "does not exist"
OUTSIDE = "leads out of the manifest's folder: move the images there, or name the folder they are in with --images"
MOST_NAMES = 2000  # files of a folder that a suggestion is looked for among


@dataclass(frozen=True, kw_only=True)
class LocatedFiles:
    """Files by their path as the manifest has it: (n,) distinct. A file with a problem has no path."""

    paths: list[str]  # absolute; empty with a problem, and for a text that is no path
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


def leads_out(name: str, *, folders: Sequence[Path]) -> bool:
    """Whether a path, as it is written, lies in none of the folders."""
    roots = [os.path.abspath(folder) for folder in folders]
    paths = [os.path.normpath(os.path.join(root, name)) for root in roots]
    return not any(path.startswith(f"{root.rstrip(os.sep)}{os.sep}") for path, root in zip(paths, roots, strict=True))


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
    allowed = tuple(f"{os.path.realpath(root).rstrip(os.sep)}{os.sep}" for root in roots)
    listings: dict[str, _Listing] = {}
    paths: list[str] = []
    problems: dict[int, str] = {}
    state: list[tuple[str, int, int]] = []
    for at, name in enumerate(names):
        path, problem = "", "is no path" if "\0" in name else ""
        listing: _Listing | None = None
        status: os.stat_result | None = None
        for root in roots if not problem else ():
            head, tail = os.path.split(os.path.join(root, name))
            listing = listings.get(head)
            if listing is None:
                listing = listings[head] = _Listing.of(head, roots=roots, allowed=allowed)
            path, problem, status = listing.find(tail, allowed)
            if not problem:
                break
        if status is None:
            if problem == MISSING and listing is not None and len(problems) < LISTED:
                near = suggestion(tail, list(listing.entries)[:MOST_NAMES])
                problem = f"{problem}.{near}" if near else problem
            problems[at] = problem
            path = ""
            state.append(("", 0, 0))
        else:
            state.append((path, status.st_size, status.st_mtime_ns))
        paths.append(path)
    return LocatedFiles(paths=paths, problems=problems, state=state)


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """The files of one folder by name; or why none of it may be read."""

    folder: str
    entries: dict[str, os.DirEntry[str]]
    problem: str = ""

    @classmethod
    def of(cls, head: str, *, roots: Sequence[str], allowed: tuple[str, ...]) -> _Listing:
        folder = os.path.normpath(head)
        if not any(f"{folder}{os.sep}".startswith(f"{root.rstrip(os.sep)}{os.sep}") for root in roots):
            return cls(folder=folder, entries={}, problem=OUTSIDE)
        if not f"{os.path.realpath(folder)}{os.sep}".startswith(allowed):
            return cls(folder=folder, entries={}, problem=OUTSIDE)
        try:
            with os.scandir(folder) as entries:
                return cls(folder=folder, entries={entry.name: entry for entry in entries})
        except (FileNotFoundError, NotADirectoryError):
            return cls(folder=folder, entries={}, problem=MISSING)
        except OSError as error:
            return cls(folder=folder, entries={}, problem=f"is in a folder that cannot be read ({error.strerror})")

    def find(self, name: str, allowed: tuple[str, ...]) -> tuple[str, str, os.stat_result | None]:
        """A file's path, or what is wrong with it, and its status."""
        if self.problem:
            return "", self.problem, None
        entry = self.entries.get(name)
        if entry is None:
            return "", MISSING, None
        path = f"{self.folder}{os.sep}{name}"
        if entry.is_symlink() and not os.path.realpath(path).startswith(allowed):
            return "", f"is a link that {OUTSIDE}", None
        try:
            if not entry.is_file():
                return "", "is no file" if not entry.is_symlink() else "is a link to nothing", None
            status = entry.stat()
        except OSError as error:
            return "", f"cannot be read ({error.strerror})", None
        if not 0 < status.st_size <= MAX_FILE:
            return "", "is empty" if not status.st_size else f"has more than {MAX_FILE >> 20} MB", None
        return path, "", status


def are_image_names(names: pa.LargeStringArray) -> np.ndarray:
    """(n,) bool, as `is_image_name` of each."""
    import pyarrow.compute as pc

    ends = "|".join(re.escape(suffix) for suffix in SUFFIXES)
    return np.asarray(pc.match_substring_regex(names, f"(?i)({ends})$"), dtype=bool)


def is_image_name(name: str) -> bool:
    """Whether a text is the name of an image's file, by its end."""
    return name.lower().endswith(SUFFIXES)
