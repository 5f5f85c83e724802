"""Whether a model can run here: it is ready, it can be downloaded, or it is not possible, each with the reason."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from compute.engine.estimate import by_parameters, size
from compute.engine.estimate import weights as weights_of
from compute.models import ADAPTERS
from compute.models.judges.endpoint import URL
from compute.types import Model

READY, DOWNLOAD, IMPOSSIBLE = "ready", "download", "impossible"
GROWTH = 1.3  # memory over the size of the weights: buffers, and what a forward pass takes
SPARE_DISK = 1_000_000_000  # bytes that a download leaves free
PATIENCE, AGAIN = 1.5, 60.0  # seconds: how long the network is waited for, and how long an answer holds
PACKAGES = {"open_clip_torch": "open_clip", "pillow": "PIL"}  # a package's module where it has another name


@dataclass(frozen=True, kw_only=True)
class State:
    """One of the three states; `bytes` is what a download takes, None where nothing says."""

    state: str
    why: str = ""
    bytes: int | None = None


class Network:
    """Whether the hub can be reached; asked in the background: a name that does not resolve takes long to say so."""

    def __init__(
        self, *, offline: Callable[[], bool] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._offline, self._clock = offline or _offline, clock
        self._answer, self._asked = False, -AGAIN
        self._done = threading.Event()
        self._lock = threading.Lock()

    def reachable(self) -> bool:
        """The last answer known; for the first one all who ask wait, `PATIENCE` seconds in all."""
        if self._offline():
            return False
        with self._lock:
            if self._clock() - self._asked >= AGAIN:
                self._asked = self._clock()
                threading.Thread(target=self._look, daemon=True, name="network").start()
        self._done.wait(max(0.0, self._asked + PATIENCE - self._clock()))
        return self._answer

    def _look(self) -> None:
        parts = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
        try:
            with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=PATIENCE):
                self._answer = True
        except OSError:
            self._answer = False
        self._done.set()


def state(row: Model, *, network: Callable[[], bool], room: int) -> State:
    """The row's state on this machine; `room` is how many bytes of memory are set aside for models."""
    family = ADAPTERS.get(row.adapter)
    if family is None:
        return State(state=IMPOSSIBLE, why="Published figures only: nothing here loads it")
    missing = [package for package in family.packages if not _installed(package)]
    if missing:
        return State(state=IMPOSSIBLE, why=f"Needs a package: pip install {' '.join(missing)}")
    if row.adapter == "endpoint":
        ready = bool(os.environ.get(URL, "").strip())
        return (
            State(state=READY, why="Asked through the host's endpoint: what you compare is sent there")
            if ready
            else State(state=IMPOSSIBLE, why=f"Needs an endpoint: the host sets {URL}")
        )
    if row.options.get("trust_remote_code") or row.options.get("remote_code"):
        return State(state=IMPOSSIBLE, why="Its checkpoint brings code of its own, which this app does not run")
    if not family.weights and not family.needs:
        return State(state=READY)
    return _weighed(row, network=network, room=room)


def memory_of(row: Model) -> int | None:
    """Bytes of memory the loaded model will take, about; None where nothing says."""
    held, _ = weights_of(row)
    return round(held * GROWTH) if held is not None else None


def _weighed(row: Model, *, network: Callable[[], bool], room: int) -> State:
    held, here = weights_of(row) if row.weights else (by_parameters(row), True)
    if here and _lacks(row):
        held, here = by_parameters(row), False
    if held is not None and held * GROWTH > room:
        return State(
            state=IMPOSSIBLE,
            bytes=held,
            why=f"Too large: it takes about {size(round(held * GROWTH))} of "
            f"memory, and {size(room)} are set aside for models",
        )
    if here:
        return State(state=READY, bytes=held)
    if not network():
        return State(
            state=IMPOSSIBLE,
            bytes=held,
            why="Its weights are not on this machine, and there is no network to fetch them from",
        )
    if held is not None and held + SPARE_DISK > free_disk():
        return State(
            state=IMPOSSIBLE,
            bytes=held,
            why=f"Its weights take {size(held)}, and the disk has {size(free_disk())} left",
        )
    amount = f"about {size(held)}" if held else "weights of unknown size"
    return State(state=DOWNLOAD, bytes=held, why=f"Will download {amount}")


def free_disk() -> int:
    """Bytes free where the hub's cache lies."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _lacks(row: Model) -> bool:
    """Whether files of the row are missing: of a download that was stopped, or of those that lie in torch's cache."""
    from compute import models

    return not models.is_downloaded(row)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(PACKAGES.get(package, package.replace("-", "_"))) is not None


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
