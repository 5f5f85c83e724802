"""A results folder at an address, as a local folder: what others wrote is fetched first, what is written here is put.

Everything else works on the local folder as on any other. Encodings, which are large, are fetched shard by shard where
they are read (compute/features/store.py), and what can be fetched anew is not part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from compute import drafts, storage

APART = ("features", "fetched", "keys", "manifests")  # encodings, and what is made again from data that are fetched
STATE = ".mirror.json"  # name -> what it is there and here, when both were last the same
LAST = "run.json"  # its presence means that the run's folder is complete
FIRST_REMOVED = "failed.json"  # goes once a run has succeeded

_open: dict[Path, Mirror] = {}  # of this process, by local folder


def folder_of(url: str) -> Path:
    """The local folder that stands for an address on this machine: below LIKENESS_CACHE, else in the hub's own."""
    from huggingface_hub import constants

    home = os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness"
    digest = hashlib.blake2b(url.rstrip("/").encode(), digest_size=8).hexdigest()
    return Path(home).expanduser().absolute() / "remote" / digest


def opened(location: Path | str) -> Path:
    """A results folder to work in: the path itself or, of an address, the local folder with what is stored there."""
    if not storage.is_url(location):
        return Path(location)
    mirror = Mirror(storage.RemoteFolder(str(location).rstrip("/")))
    mirror.pull()
    _open[mirror.folder] = mirror
    return mirror.folder


def location(folder: Path) -> Path | str:
    """The address that a local folder stands for in this process; any other folder itself."""
    return _open[folder].remote.url if folder in _open else folder


def below(folder: Path, name: str) -> Path | str:
    """A folder within a results folder, by path or by address."""
    return _open[folder].remote.below(name).url if folder in _open else folder / name


def push(folder: Path) -> None:
    """Puts what was written in a results folder since; does nothing for one that is no mirror."""
    if folder in _open:
        _open[folder].push()


def push_all() -> None:
    """As `push`, of every results folder that was opened at an address."""
    for each in list(_open.values()):
        each.push()


class Mirror:
    """One address and its local folder."""

    def __init__(self, remote: storage.RemoteFolder) -> None:
        self.remote, self.folder = remote, folder_of(remote.url)

    def pull(self) -> None:
        """Fetches what is new or changed there; a run's `run.json` comes last.

        A note of failure that was removed here stays so, until one of another failure is there. A pull that is cut
        short has noted what it fetched.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with drafts.alone(self.folder):
            state, there = self._state(), self.remote.names()
            try:
                for name in sorted(filter(_is_part, there), key=_order):
                    unchanged = state.get(name, {}).get("there") == there[name]
                    if not unchanged or not ((self.folder / name).exists() or self._is_gone(name)):
                        self.remote.get(name, self.folder / name)
                        state[name] = {"there": there[name], "here": self._here(name)}
            finally:
                self._write(state)
            for name in [name for name in state if name not in there]:
                if self._here(name) == state[name]["here"]:  # removed there, and not written anew here
                    (self.folder / name).unlink(missing_ok=True)
                del state[name]
            self._write(state)

    def push(self) -> None:
        """Puts what was written here; a run's `run.json` comes last, and first leaves where it is written anew."""
        with drafts.alone(self.folder):
            state = self._state()
            changed = [name for name in self._files() if state.get(name, {}).get("here") != self._here(name)]
            if not changed and not any(self._is_gone(name) for name in state):
                return
            for name in [name for name in state if self._is_gone(name)]:
                self.remote.remove(name)
                del state[name]
            for name in changed:
                if Path(name).name == LAST and name in state:
                    self.remote.remove(name)
            for name in sorted(changed, key=_order):
                here = self._here(name)
                self.remote.put(self.folder / name, name)
                state[name] = {"there": "", "here": here}
            there = self.remote.names()
            for name in changed:
                state[name]["there"] = there.get(name, "")
            self._write(state)

    def _files(self) -> Iterator[str]:
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if _is_part(name) and path.is_file() and not drafts.DRAFT.fullmatch(path.name):
                yield name

    def _is_gone(self, name: str) -> bool:
        return Path(name).name == FIRST_REMOVED and not (self.folder / name).exists()

    def _here(self, name: str) -> list[int]:
        """Size and time of change of a local file; empty where there is none."""
        try:
            status = (self.folder / name).stat()
        except FileNotFoundError:
            return []
        return [status.st_size, status.st_mtime_ns]

    def _state(self) -> dict[str, dict]:
        try:
            return json.loads((self.folder / STATE).read_text())
        except (FileNotFoundError, ValueError):
            return {}

    def _write(self, state: dict[str, dict]) -> None:
        drafts.write_text(self.folder / STATE, json.dumps(state, indent=0, sort_keys=True))


def _is_part(name: str) -> bool:
    parts = name.split("/")
    return parts[0] not in APART and not any(part.startswith((".", "..")) for part in parts)


def _order(name: str) -> tuple[bool, str]:
    return name.rpartition("/")[2] == LAST, name
