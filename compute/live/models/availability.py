"""Whether a model can run on this machine: ready, to be downloaded, or impossible, each with the reason."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from compute import models
from compute.catalog.own import models as own_models
from compute.engine.estimate import by_parameters, size
from compute.engine.estimate import weights as weights_of
from compute.models.files import weights
from compute.models.judges import endpoint
from compute.types import Model
from compute.versions import install_command

READY, DOWNLOAD, IMPOSSIBLE = "ready", "download", "impossible"
GROWTH = 1.3  # memory over the size of the weights: buffers, and what a forward pass takes
SPARE_DISK = 1_000_000_000  # bytes that a download leaves free
PATIENCE, RECHECK = 1.5, 60.0  # seconds to wait for the network, and until it is tried again
PACKAGES = {"open_clip_torch": "open_clip", "pillow": "PIL"}  # a package's module where it has another name


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why several models cannot run here: `one` or `many` follow their number. `remedy` is what to do, in sentences."""

    key: str
    one: str
    many: str
    remedy: str


REASONS = (
    Reason(
        key="network",
        one="needs a download: no network here",
        many="need a download: no network here",
        remedy="Connect this machine. Or run python -m compute fetch --models KEY on a connected one, and copy its Hub "
        "cache here.",
    ),
    Reason(
        key="package",
        one="needs a package that is not installed",
        many="need packages that are not installed",
        remedy="Install what a model names, and start the app again.",
    ),
    Reason(
        key="endpoint",
        one="is asked through an endpoint, and none is set",
        many="are asked through an endpoint, and none is set",
        remedy="The host of this app sets LIKENESS_ENDPOINT, and LIKENESS_ENDPOINT_KEY where a key is needed.",
    ),
    Reason(
        key="offline",
        one="is asked through an endpoint on another machine, and the app runs offline",
        many="are asked through an endpoint on another machine, and the app runs offline",
        remedy="The host starts the app without --offline (HF_HUB_OFFLINE), or sets LIKENESS_ENDPOINT to a server on "
        "the app's own machine.",
    ),
    Reason(
        key="memory",
        one="is too large for this machine",
        many="are too large for this machine",
        remedy="Run the app on a machine with more memory, or raise LIKENESS_MODEL_MEMORY_MB where some is free.",
    ),
    Reason(
        key="disk",
        one="does not fit on the disk",
        many="do not fit on the disk",
        remedy="Free some space, and tick the model again.",
    ),
    Reason(
        key="files",
        one="lacks files that were here before",
        many="lack files that were here before",
        remedy="Ask the host to restore them.",
    ),
    Reason(
        key="code",
        one="brings code of its own, which this app does not run",
        many="bring code of their own, which this app does not run",
        remedy="Serve it behind an endpoint, and set LIKENESS_ENDPOINT.",
    ),
    Reason(
        key="published",
        one="has published figures only: nothing here computes it",
        many="have published figures only: nothing here computes them",
        remedy="The Board shows those figures.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Availability:
    """One of the three states; `bytes` is the size of the weights, None if unknown."""

    state: str
    why: str = ""
    bytes: int | None = None
    reason: str = ""  # of an impossible one: a key of REASONS

    @property
    def is_ready(self) -> bool:
        """Whether it can answer now."""
        return self.state == READY

    @property
    def is_downloadable(self) -> bool:
        """Whether it can answer once its weights are downloaded."""
        return self.state == DOWNLOAD


_impossible = partial(Availability, state=IMPOSSIBLE)
REQUESTS = 2  # to the endpoint for one question to a judge: its options in one order, and in reverse


def requests_per_question(row: Model) -> int:
    """How many requests to the host's endpoint one question to the model is; 0 for one that runs on this machine."""
    family = models.ADAPTERS.get(row.adapter)
    return REQUESTS if family is not None and family.variable else 0


class Network:
    """Whether the hub can be reached. Tried in the background: a name that does not resolve takes long to fail."""

    def __init__(self) -> None:
        self._answer, self._tried = False, -RECHECK
        self._done = threading.Event()
        self._lock = threading.Lock()

    def reachable(self) -> bool:
        """The last known answer; all callers wait for the first one, `PATIENCE` seconds in all."""
        if endpoint.is_offline():
            return False
        with self._lock:
            if time.monotonic() - self._tried >= RECHECK:
                self._tried = time.monotonic()
                threading.Thread(target=self._try, daemon=True, name="network").start()
        self._done.wait(max(0.0, self._tried + PATIENCE - time.monotonic()))
        return self._answer

    def _try(self) -> None:
        parts = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
        try:
            with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=PATIENCE):
                self._answer = True
        except OSError:
            self._answer = False
        self._done.set()


def availability(row: Model, *, network: Callable[[], bool], room: int) -> Availability:
    """The row's state on this machine; `room` is the memory for models in bytes."""
    family = models.ADAPTERS.get(row.adapter)
    if family is None:
        why = models.abilities.not_computable(row)
        return _impossible(reason="published", why=why[0].upper() + why[1:])
    missing = [package for package in family.packages if not _installed(package)]
    if missing:
        return _impossible(reason="package", why=f"Needs {', '.join(missing)}: {install_command(*missing)}")
    if family.variable:
        if not os.environ.get(family.variable, "").strip():
            return _impossible(reason="endpoint", why=f"Needs an endpoint: the host sets {family.variable}")
        if endpoint.is_offline() and endpoint.offline_problem():
            return _impossible(reason="offline", why="Its endpoint is on another machine, and the app runs offline")
        return Availability(state=READY, why="Asked through the host's endpoint: what you compare is sent there")
    if row.options.get("trust_remote_code") or row.options.get("remote_code"):
        return _impossible(reason="code", why="Its checkpoint brings code of its own, which this app does not run")
    if not family.weights and not family.needs:
        return Availability(state=READY)
    if _lacks_own_files(row):
        return _impossible(reason="files", why="Its files are no longer on this machine")
    return _by_size(row, network=network, room=room)


def memory_of(row: Model) -> int | None:
    """Bytes of memory that the loaded model will take, about; None if unknown."""
    size_on_disk, _ = weights_of(row)
    return round(size_on_disk * GROWTH) if size_on_disk is not None else None


def _lacks_own_files(row: Model) -> bool:
    """Whether files are gone from a folder of the host's, of the row or its LoRA: nothing fetches them."""
    if Path(row.weights).is_absolute() and not models.is_downloaded(row):
        return True
    others = [replace(row, weights=folder) for folder in own_models.folders(row) if folder != row.weights]
    return not all(weights.is_downloaded(other, required=weights.RequiredFiles()) for other in others)


def _by_size(row: Model, *, network: Callable[[], bool], room: int) -> Availability:
    need, is_downloaded = weights_of(row) if row.weights else (by_parameters(row), True)
    if is_downloaded and not models.is_downloaded(row):  # a stopped download, or files that belong in torch's cache
        need, is_downloaded = by_parameters(row), False
    if need is not None and need * GROWTH > room:
        return _impossible(
            bytes=need,
            reason="memory",
            why=f"Too large: it takes about {size(round(need * GROWTH))} of "
            f"memory, and {size(room)} are set aside for models",
        )
    if is_downloaded:
        return Availability(state=READY, bytes=need)
    if not network():
        return _impossible(
            bytes=need,
            reason="network",
            why="Its weights are not on this machine, and there is no network to download them",
        )
    if need is not None and need + SPARE_DISK > free_disk():
        return _impossible(
            bytes=need,
            reason="disk",
            why=f"Its weights take {size(need)}, and the disk has {size(free_disk())} left",
        )
    amount = f"about {size(need)}" if need else "weights of unknown size"
    return Availability(state=DOWNLOAD, bytes=need, why=f"Will download {amount}")


def free_disk() -> int:
    """Free bytes on the disk of the hub's cache."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _installed(package: str) -> bool:
    return importlib.util.find_spec(PACKAGES.get(package, package.replace("-", "_"))) is not None
