"""Storage by address: objects below `s3://bucket/folder` or another URL that fsspec supports. A results folder at an
address is mirrored by a local folder: remote changes are fetched first, local changes are uploaded.

A write uploads a whole object or nothing, and several workers write the same content under one name, so there are no
drafts and no locks. Credentials come from the environment variables of each service (AWS_ACCESS_KEY_ID, HF_TOKEN, ...).
Everything else works on the local folder as on any other. Embeddings are large, so they are fetched shard by shard when
they are read (compute/features/store.py). Data that can be fetched again is not mirrored.
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
TOKENS = ("ETag", "etag", "xet_hash", "blob_id", "LastModified", "mtime", "created")  # change with an object
RIGHTS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and AWS_ENDPOINT_URL for a server that is "
    "not Amazon's",
    "hf": "set HF_TOKEN to a token with write access, or log in: hf auth login",
}

APART = ("features", "fetched", "keys", "manifests")  # embeddings, and what is rebuilt from fetched data
STATE = ".mirrored.json"  # name -> its remote and local version when both were last equal
LAST = "run.json"  # its presence means that the run's folder is complete
NOTE = "failed.json"  # why a run failed, on the machine where it failed

_open: dict[Path, Mirror] = {}  # mirrors of this process, by local folder


def is_url(location: Path | str) -> bool:
    """Returns whether a location is an address rather than a path."""
    return isinstance(location, str) and bool(ADDRESS.match(location))


@dataclass(frozen=True)
class RemoteFolder:
    """Objects below an address. Names are relative to it, with `/`. Can be pickled and sent to another process."""

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if not ADDRESS.match(self.url) or not (parts.netloc or parts.path.strip("/")):
            raise BadInput(f"{self.url!r} is not the address of a folder: write it like s3://bucket/folder")
        if "@" in parts.netloc or parts.query or parts.fragment:  # the message omits them: they may hold a secret
            raise BadInput(f"An address takes no keys or parameters: {self._rights}")

    def below(self, name: str) -> RemoteFolder:
        """Returns a subfolder."""
        return RemoteFolder(f"{self.url.rstrip('/')}/{name}")

    def names(self) -> dict[str, str]:
        """Returns the name of every object below the folder, with a token that changes when the object is
        overwritten.
        """
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
        # Anyone with write access chooses the names of the objects, and each becomes the name of a local file.
        if outside := [name for name in names if ".." in name.split("/")]:
            raise BadInput(f"{self.url} has an object whose name leads out of the folder, {outside[0]!r}: remove it")
        return names

    def get(self, name: str, path: Path) -> None:
        """Stores an object as a local file, whole or not at all. Raises NotHere if the object does not exist."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, self._told("read") as (files, root):
            files.get_file(f"{root}/{name}", str(draft))

    def put(self, path: Path, name: str) -> None:
        """Uploads a local file as one object, which replaces any object of that name."""
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
        """Yields the file system and the path on it. Turns exceptions of the libraries into a message that says what to
        do.
        """
        try:
            yield _file_system(self.url)
        except LikenessError:
            raise
        except FileNotFoundError as error:
            raise NotHere(
                f"{self.url}: there is no such object, bucket or repository ({error}). Create it, or check its name "
                f"and the rights: {self._rights}"
            ) from error
        except Exception as error:  # each storage library has its own exceptions
            reason = " ".join(str(error).split())[:200]
            raise CannotWrite(
                f"{self.url} cannot be {verb} ({type(error).__name__}: {reason}). Check its name, the connection and "
                f"the rights ({self._rights}), then run the same command again: what is stored stays"
            ) from error


@cache
def _file_system(url: str) -> tuple[Any, str]:
    """Returns fsspec's file system and the path on it."""
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
    """Returns the local folder that mirrors an address: below LIKENESS_CACHE, else below the hub's cache folder."""
    from huggingface_hub import constants

    home = os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness"
    digest = hashlib.blake2b(url.rstrip("/").encode(), digest_size=8).hexdigest()
    return Path(home).expanduser().absolute() / "remote" / digest


def opened(location: Path | str) -> Path:
    """Returns a results folder to work in: the path itself or, for an address, the local folder after a pull."""
    if not is_url(location):
        return Path(location)
    mirror = Mirror(RemoteFolder(str(location).rstrip("/")))
    mirror.pull()
    _open[mirror.folder] = mirror
    return mirror.folder


def location(folder: Path) -> Path | str:
    """Returns the address that a local folder mirrors in this process; for any other folder, the folder itself."""
    return _open[folder].remote.url if folder in _open else folder


def below(folder: Path, name: str) -> Path | str:
    """Returns a subfolder of a results folder, as a path or an address."""
    return _open[folder].remote.below(name).url if folder in _open else folder / name


def push(folder: Path) -> None:
    """Uploads what was written to a results folder since the last push; does nothing for a folder that is not a
    mirror.
    """
    if folder in _open:
        _open[folder].push()


def push_all() -> None:
    """Pushes every results folder that was opened by its address."""
    for each in list(_open.values()):
        each.push()


class Mirror:
    """One address and its local folder."""

    def __init__(self, remote: RemoteFolder) -> None:
        self.remote, self.folder = remote, folder_of(remote.url)

    def pull(self) -> None:
        """Fetches new and changed objects, a run's `run.json` last, and removes local files whose objects are gone."""
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
        """Uploads local changes, a run's `run.json` last. A `run.json` that is rewritten is first removed from the
        address.
        """
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
        """Returns the size and modification time of a local file."""
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
