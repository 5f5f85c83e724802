"""Storage by address: whole objects below `s3://bucket/folder` or another URL that fsspec knows; and a results folder
there as a local folder: what others wrote is fetched first, what is written here is put.

A write puts a whole object, which is there or not, and what several workers write under one name is the same: there are
no drafts and no locks. Rights come from the environment, as each service's own tools have it (AWS_ACCESS_KEY_ID,
HF_TOKEN, ...). Everything else works on the local folder as on any other. Encodings, which are large, are fetched shard
by shard where they are read (compute/features/store.py), and what can be fetched again is not part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from compute.io.files import DRAFT, locked, replacing, write_text
from compute.types import BadInput, CannotWrite, LikenessError, NotHere
from compute.versions import install_command

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://")
TOKENS = ("ETag", "etag", "xet_hash", "blob_id", "LastModified", "mtime", "created")  # what changes with an object
RIGHTS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and AWS_ENDPOINT_URL for a server that is "
    "not Amazon's",
    "hf": "set HF_TOKEN to a token with write access, or log in: hf auth login",
}

APART = ("features", "fetched", "keys", "manifests")  # encodings, and what is made again from data that are fetched
STATE = ".mirrored.json"  # name -> what it is there and here, when both were last the same
LAST = "run.json"  # its presence means that the run's folder is complete
NOTE = "failed.json"  # why a run failed, in the folder of the machine where it did

_open: dict[Path, Mirror] = {}  # of this process, by local folder


def is_url(location: Path | str) -> bool:
    """Returns whether a location is an address, not a path."""
    return isinstance(location, str) and bool(ADDRESS.match(location))


@dataclass(frozen=True)
class RemoteFolder:
    """Objects below an address. Names are relative to it, with `/`. May be sent to another process."""

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if not ADDRESS.match(self.url) or not (parts.netloc or parts.path.strip("/")):
            raise BadInput(f"{self.url!r} is not the address of a folder: write it like s3://bucket/folder")
        if "@" in parts.netloc or parts.query or parts.fragment:  # not repeated: they may hold a secret
            raise BadInput(f"An address takes no keys or parameters: {self._rights}")

    def below(self, name: str) -> RemoteFolder:
        """Returns a folder within it."""
        return RemoteFolder(f"{self.url.rstrip('/')}/{name}")

    def names(self) -> dict[str, str]:
        """Returns every object's name below the folder, with a token that differs once it is overwritten."""
        with self._told("read") as (files, root):
            files.invalidate_cache()
            try:
                found = files.find(root, detail=True)
            except FileNotFoundError:
                found = {}
            bucket = "/".join(root.split("/")[: 3 if self.url.startswith("hf:") else 1])
            if not found and bucket and not files.exists(bucket):
                raise FileNotFoundError(f"there is no {bucket}")
        names = {
            str(PurePosixPath(name).relative_to(root)): f"{entry.get('size')} {[entry.get(one) for one in TOKENS]}"
            for name, entry in sorted(found.items())
            if entry.get("type") == "file" and name.startswith(f"{root}/")
        }
        # Anyone with write access names the objects, and each becomes a local file of its name.
        if outside := [name for name in names if ".." in name.split("/")]:
            raise BadInput(f"{self.url} has an object whose name leads out of the folder, {outside[0]!r}: remove it")
        return names

    def get(self, name: str, path: Path) -> None:
        """Stores an object as a local file, whole or not at all. Raises NotHere if there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, self._told("read") as (files, root):
            files.get_file(f"{root}/{name}", str(draft))

    def put(self, path: Path, name: str) -> None:
        """Writes a local file as one object, which replaces another of its name."""
        with self._told("written") as (files, root):
            files.put_file(str(path), f"{root}/{name}")

    def remove(self, name: str) -> None:
        """Removes an object, if it exists."""
        with self._told("written") as (files, root):
            try:
                files.rm_file(f"{root}/{name}")
            except FileNotFoundError:
                return

    @property
    def _rights(self) -> str:
        return RIGHTS.get(urlsplit(self.url).scheme, "its rights come from the environment")

    @contextmanager
    def _told(self, verb: str) -> Iterator[tuple[Any, str]]:
        """The file system and the path there. Turns what libraries raise into a sentence that says what to do."""
        try:
            yield _file_system(self.url)
        except LikenessError:
            raise
        except FileNotFoundError as error:
            raise NotHere(
                f"{self.url}: there is no such object, bucket or repository ({error}). Create it, or check its name "
                f"and the rights: {self._rights}"
            ) from error
        except Exception as error:  # each library that serves an address has its own
            reason = " ".join(str(error).split())[:200]
            raise CannotWrite(
                f"{self.url} cannot be {verb} ({type(error).__name__}: {reason}). Check its name, the connection and "
                f"the rights ({self._rights}), then run the same command again: what is stored stays"
            ) from error


@cache
def _file_system(url: str) -> tuple[Any, str]:
    """Returns the file system of fsspec, and the path there."""
    import fsspec

    scheme = urlsplit(url).scheme
    try:
        files, root = fsspec.core.url_to_fs(url.rstrip("/"), skip_instance_cache=False)
    except ImportError as error:
        remedy = install_command("s3fs") if scheme == "s3" else " ".join(str(error).split())[:200]
        raise NotHere(f"Addresses that begin with {scheme}:// need another package: {remedy}") from error
    except ValueError as error:
        raise BadInput(f"{url}: addresses that begin with {scheme}:// are unknown. Use s3:// or hf://") from error
    return files, root.rstrip("/")


def folder_of(url: str) -> Path:
    """The local folder that stands for an address on this machine: below LIKENESS_CACHE, else in the hub's own."""
    from huggingface_hub import constants

    home = os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness"
    digest = hashlib.blake2b(url.rstrip("/").encode(), digest_size=8).hexdigest()
    return Path(home).expanduser().absolute() / "remote" / digest


def opened(location: Path | str) -> Path:
    """A results folder to work in: the path itself or, of an address, the local folder with what is stored there."""
    if not is_url(location):
        return Path(location)
    mirror = Mirror(RemoteFolder(str(location).rstrip("/")))
    mirror.pull()
    _open[mirror.folder] = mirror
    return mirror.folder


def location(folder: Path) -> Path | str:
    """Returns the address that a local folder stands for in this process; any other folder itself."""
    return _open[folder].remote.url if folder in _open else folder


def below(folder: Path, name: str) -> Path | str:
    """Returns a folder within a results folder, by path or by address."""
    return _open[folder].remote.below(name).url if folder in _open else folder / name


def push(folder: Path) -> None:
    """Uploads what was written to a results folder since; does nothing for one that is not a mirror."""
    if folder in _open:
        _open[folder].push()


def push_all() -> None:
    """As `push`, of every results folder that was opened at an address."""
    for each in list(_open.values()):
        each.push()


class Mirror:
    """One address and its local folder."""

    def __init__(self, remote: RemoteFolder) -> None:
        self.remote, self.folder = remote, folder_of(remote.url)

    def pull(self) -> None:
        """Fetches what is new or changed there, a run's `run.json` last, and removes what is gone there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            state, there = self._state(), self.remote.names()
            for name in sorted(filter(_is_part, there), key=_order):
                if state.get(name, [""])[0] != there[name] or not (self.folder / name).exists():
                    self.remote.get(name, self.folder / name)
                    state[name] = [there[name], self._here(name)]
            for name in state.keys() - there.keys():
                if (self.folder / name).exists() and self._here(name) == state[name][1]:
                    (self.folder / name).unlink()
                del state[name]
            self._write(state)

    def push(self) -> None:
        """Puts what was written here; a run's `run.json` comes last, and first leaves where it is written again."""
        with locked(self.folder):
            state = self._state()
            written = [path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()]
            parts = sorted(filter(_is_part, written), key=_order)
            changed = [name for name in parts if state.get(name, ["", None])[1] != self._here(name)]
            for name in changed:
                if Path(name).name == LAST and name in state:
                    self.remote.remove(name)
            for name in changed:
                state[name] = ["", self._here(name)]
                self.remote.put(self.folder / name, name)
            if changed:
                there = self.remote.names()
                self._write(state | {name: [there.get(name, ""), state[name][1]] for name in changed})

    def _here(self, name: str) -> list[int]:
        """Size and time of change of a local file."""
        status = (self.folder / name).stat()
        return [status.st_size, status.st_mtime_ns]

    def _state(self) -> dict[str, list]:
        path = self.folder / STATE
        return json.loads(path.read_text()) if path.exists() else {}

    def _write(self, state: dict[str, list]) -> None:
        write_text(self.folder / STATE, json.dumps(state, indent=0, sort_keys=True))


def _is_part(name: str) -> bool:
    parts = name.split("/")
    hidden = any(part.startswith(".") for part in parts)
    return not (hidden or parts[0] in APART or parts[-1] == NOTE or DRAFT.fullmatch(parts[-1]))


def _order(name: str) -> tuple[bool, str]:
    return name.rpartition("/")[2] == LAST, name
