"""Location of a data set's files: a local folder, or the hub's cache at a pinned revision."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from compute.content.items import content_key
from compute.io.files import replacing
from compute.types import BadInput, NotHere

CARD = "README.md"


@dataclass(frozen=True)
class Member:
    """A file: in a folder, at an offset in a tar, or under a name in a zip."""

    container: Path
    offset: int | None = None
    size: int = 0
    inner: str = ""

    def read(self) -> bytes:
        """Returns the bytes of the file. Raises BadInput if a tar ends before them."""
        if self.inner:
            return _archive(self.container, os.getpid()).read(self.inner)
        if self.offset is None:
            return self.container.read_bytes()
        with self.container.open("rb") as file:
            file.seek(self.offset)
            data = file.read(self.size)
        if len(data) != self.size:
            raise BadInput(f"{self.container.name} ends within a member: it is damaged or half-copied")
        return data


@lru_cache(maxsize=8)
def _archive(path: Path, process: int) -> zipfile.ZipFile:
    """Opens a zip and leaves it open, because opening reads its list of members; reading is thread-safe. Each process
    opens it separately, because forked processes would share the file position.
    """
    return zipfile.ZipFile(path)


@dataclass(frozen=True, kw_only=True)
class Need:
    """The cost of a task: its data set, bytes, and contents to encode; None if unknown."""

    repo: str = ""  # empty: made at run time, nothing to fetch
    revision: str = ""
    bytes: int | None = 0  # exact if the files are downloaded, else estimated
    present: bool = True
    images: int | None = None  # distinct images to encode, as far as known without reading, including training items
    texts: int | None = None
    shared: str = ""  # equal for tasks with the same items
    comparisons: int | None = None  # pairs, or single images, that a model without vectors compares
    questions: int | None = None  # to a judge


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """A file, folder or hub data set with user items, and how to read it."""

    shape: str  # a key of compute/tasks/own/shapes.py; `pairs`; or of a comparison of generators
    digest: str  # of everything that determines the items: equal content is the same suite
    path: Path | None = None  # None: a data set of the hub
    hub: str = ""  # `hub:org/name@commit`
    columns: Mapping[str, str] = field(default_factory=dict)  # the shape's name of a column -> the file's
    images: tuple[Path, ...] = ()  # additional folders for images by path
    # Folders that a record names outside the data's folder. Anyone may have written the record, so nothing is read
    # there.
    elsewhere: tuple[Path, ...] = ()
    title: str = field(default="", compare=False)  # as first recorded, for a file that was renamed later
    data: Any = field(default=None, compare=False, repr=False)  # the OwnData, if it was read already

    @property
    def name(self) -> str:
        """Returns the name of the file without its folder."""
        return self.title or (self.path.name if self.path else self.hub)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A finder of data sets' files. It looks in `root/<org>/<name>/`, then in the hub's cache, then on the hub."""

    root: Path | None = None
    offline: bool = False
    cache: Path | None = None  # content keys are stored below it, so that a data set is read only once for them
    own: Mapping[str, OwnFile] = field(default_factory=dict, compare=False)  # user data, by its digest
    # Objects that loaders open once for all tasks and models of a run, by their identity.
    opened: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    # Many tasks share a data set.
    _unreachable: list[str] = field(default_factory=list, init=False, compare=False, repr=False)  # where the hub was
    _states: dict[tuple[str, str], str] = field(default_factory=dict, init=False, compare=False, repr=False)

    def folder(self, repo: str, *, revision: str, files: tuple[str, ...] = ()) -> Path:
        """Returns the local folder of a data set, fetched if necessary; `files` are patterns that limit what is
        fetched.

        Raises NotHere with the command that fetches it.
        """
        local = self._local(repo)
        if local is not None:
            return local
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        offline = self.offline or bool(self._unreachable)
        try:
            folder = Path(
                snapshot_download(
                    repo,
                    repo_type="dataset",
                    revision=revision or None,
                    allow_patterns=list(files) or None,
                    local_files_only=offline,
                )
            )
        except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
            if isinstance(error, LocalEntryNotFoundError) and not offline:
                self._unreachable.append(repo)  # the hub itself: each further attempt would wait as long
            raise self._missing(repo, revision=revision, files=files) from error
        if offline and not _holds(folder, files):
            raise self._missing(repo, revision=revision, files=files)
        return folder

    def _missing(self, repo: str, *, revision: str, files: tuple[str, ...]) -> NotHere:
        listed = () if files == (CARD,) else files  # without the card, its list of files is missing too
        return NotHere(
            f"Data set {repo!r} at {revision or 'its newest revision'} is not on this machine. "
            f"Fetch it: {command(repo, revision=revision, files=listed)}"
        )

    def state(self, repo: str, *, revision: str) -> str:
        """Returns the identity of the files that a run would see, for its fingerprint; empty if the revision alone
        identifies them.

        For a local folder, it is a digest of its files' names, sizes and modification times; for a branch, its commit,
        from the hub if it can be reached. It is determined once.
        """
        if (repo, revision) not in self._states:
            self._states[repo, revision] = self._state(repo, revision=revision)
        return self._states[repo, revision]

    def _state(self, repo: str, *, revision: str) -> str:
        local = self._local(repo)
        if local is not None:
            stats = [
                (str(path.relative_to(local)), path.stat().st_size, path.stat().st_mtime_ns)
                for path in sorted(local.rglob("*"))
                if path.is_file()
            ]
            return f"local {content_key(repr(stats)).decode()}"
        if revision:
            return ""
        try:
            folder = self.folder(repo, revision=revision, files=(CARD,))
        except NotHere:
            folder = self.present(repo, revision=revision)  # without a card
        return f"commit {folder.name}" if folder else ""  # not downloaded: loading will report it

    def present(self, repo: str, *, revision: str, files: tuple[str, ...] = ()) -> Path | None:
        """Returns the data set's folder if all of it, or of these patterns, is downloaded; nothing is fetched."""
        local = self._local(repo)
        if local is not None:
            return local
        try:
            return Source(offline=True).folder(repo, revision=revision, files=files)
        except NotHere:
            return None

    def _local(self, repo: str) -> Path | None:
        folder = self.root / repo if self.root else None
        return folder if folder and folder.is_dir() else None


def data_folder(named: str | Path | None) -> Path | None:
    """Returns a folder of data sets as a user names it, or none. Raises NotHere for a missing folder."""
    if named is None or not str(named):
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise NotHere(f"There is no folder {named}. Name the one that holds data sets as <org>/<name>/")
    return folder


def command(repo: str, *, revision: str, files: tuple[str, ...] = ()) -> str:
    """Returns the command line that fetches a data set into the hub's cache."""
    parts = ["hf download", repo, "--repo-type dataset", f"--revision {revision}" if revision else ""]
    return " ".join(part for part in (*parts, *(f"--include '{pattern}'" for pattern in files)) if part)


def _holds(folder: Path, files: tuple[str, ...]) -> bool:
    """Returns whether a snapshot has files for every pattern or, without patterns, any file besides its card. The hub's
    library does not distinguish a partial snapshot from a complete one.
    """
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    if files:
        return all(any(fnmatch(name, pattern) for name in names) for pattern in files)
    return any(name not in (CARD, ".gitattributes") for name in names)


def stored_keys(cache: Path | None, facts: str, count: Callable[[], np.ndarray]) -> np.ndarray:
    """Returns content keys computed by `count`, stored below `cache` under a digest of `facts`, so that files are read
    only once.
    """
    if cache is None:
        return count()
    path = cache / "keys" / f"{content_key(facts).decode()}.npy"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        counted = count()
        with replacing(path) as draft, draft.open("wb") as file:
            np.save(file, counted, allow_pickle=False)
    return np.load(path, allow_pickle=False)


def weight(folder: Path) -> int:
    """Returns the bytes of all files under a folder, with links followed: the hub's cache links to its blobs."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
