"""A results folder at an address, as a local folder: what others wrote is fetched first, what is written here is put.

Everything else works on the local folder as on any other. Encodings, which are large, are fetched shard by shard where
they are read (compute/features/store.py), and what can be fetched again is not part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from compute import drafts, storage

APART = ("features", "fetched", "keys", "manifests")  # encodings, and what is made again from data that are fetched
STATE = ".mirrored.json"  # name -> what it is there and here, when both were last the same
LAST = "run.json"  # its presence means that the run's folder is complete
NOTE = "failed.json"  # why a run failed: for who looks into the folder of the machine where it did

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
        """Fetches what is new or changed there, a run's `run.json` last, and removes what is gone there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with drafts.alone(self.folder):
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
        with drafts.alone(self.folder):
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
        drafts.write_text(self.folder / STATE, json.dumps(state, indent=0, sort_keys=True))


def _is_part(name: str) -> bool:
    parts = name.split("/")
    hidden = any(part.startswith(".") for part in parts)
    return not (hidden or parts[0] in APART or parts[-1] == NOTE or drafts.DRAFT.fullmatch(parts[-1]))


def _order(name: str) -> tuple[bool, str]:
    return name.rpartition("/")[2] == LAST, name
